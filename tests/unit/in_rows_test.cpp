#include "frontier/both_rows.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "frontier_test.h"
#include "process/barrier.h"

namespace edgewire::frontier {

TEST_CASE("in-rows have the sources of all edges to the owned vertices" * doctest::test_suite("schedules")) {
  // More vertices than a worker takes at once; loops and an edge that occurs twice; vertex 7 has edges from
  // all.
  constexpr std::uint32_t kVertices = 9000;
  std::vector<graph::Edge> edges;
  std::map<std::uint32_t, std::vector<std::uint32_t>> right;
  const auto add = [&](std::uint32_t u, std::uint32_t v) {
    edges.emplace_back(u, v, 0.0F);
    right[v].push_back(u);
  };
  for (std::uint32_t u = 0; u < kVertices; ++u) {
    add(u, 7);
    add(u, u * 31 % (kVertices / 2));
  }
  add(8999, 8999);
  add(5, 8998);
  add(5, 8998);
  const graph::BuiltGraph built(kVertices, edges);
  for (const JobCut& cut :
       {JobCut{.processes = 2, .workers = 2}, JobCut{.processes = 2, .workers = 2, .ownership = "ranges"},
        JobCut{.processes = 2, .workers = 2, .hosts = true}}) {
    CAPTURE(cut.label());
    std::map<std::uint32_t, std::vector<std::uint32_t>> found;
    std::mutex mutex;
    run_in_each(built.graph, cut, {}, [&](Job& job) {
      if (cut.hosts) job.make_rows();  // ids in memory have become numbers
      const InRows rows(job);
      std::unique_lock lock(mutex);
      for (LocalNumber local{}; local < job.owned(); ++local) {
        const auto sources = rows.sources(local);
        if (!sources.empty())
          found[job.ownership().vertex(job.rank(), local)].assign(sources.begin(), sources.end());
      }
      lock.unlock();
      process::barrier(job.bootstrap(), job.link());  // a peer may still be connecting
    });
    for (auto& [v, sources] : found) std::ranges::sort(sources);
    for (auto& [v, sources] : right) std::ranges::sort(sources);
    CHECK((found == right));
  }
}

}  // namespace edgewire::frontier
