#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "frontier_test.h"
#include "kernels/bc/bc.h"
#include "kernels/bc/by_source.h"

namespace edgewire::kernels::betweenness_resumed {

using namespace frontier;

namespace {

using Ids = std::vector<VertexId>;
using Scores = std::vector<double>;

struct Cut : JobCut {
  bool apart = false;
};
const std::vector<Cut> kCuts = {
    {}, {{.processes = 2, .workers = 2}}, {{.workers = 2}, true}, {{.processes = 3}, true}};

/// By vertex: `before`, and what is added to it in calls for these sources.
Scores run(const Graph& graph, const Cut& cut, const Scores& before, const std::vector<Ids>& calls) {
  Scores found(graph.vertices());
  const Options options{.record_bytes = kWideRecordBytes, .for_tasks = cut.apart};
  run_in_each(graph, cut, options, [&](Job& job) {
    if (cut.apart) {
      BcBySource searches(job, {});
      searches.resume(job.rank() == 0 ? before : Scores());
      for (const Ids& sources : calls) searches.run(sources);
      if (job.rank() == 0) found = searches.scores();
      return;
    }
    Bc levels(job);
    Scores mine;
    for (LocalNumber i{}; i < job.owned(); ++i) mine.push_back(before[job.ownership().vertex(job.rank(), i)]);
    levels.resume(mine);
    for (const Ids& sources : calls) {
      std::size_t told = 0;
      levels.run(sources, [&](std::size_t done) { transport::require(done == ++told, "another source"); });
      transport::require(told == sources.size(), "other sources");
    }
    put(job, levels.scores(), found);
  });
  return found;
}

}  // namespace

TEST_CASE("searches go on from the scores of an earlier run, however both jobs are cut") {
  const graph::BuiltGraph built(40, graph::random_edges(40, 120, 8));
  Ids sources(40);
  std::iota(sources.begin(), sources.end(), VertexId{});
  const auto from = [&](int first, int last) { return Ids(sources.begin() + first, sources.begin() + last); };
  const Scores none(40), right = run(built.graph, {}, none, {sources});
  CHECK(*std::ranges::max_element(right) > 100);
  for (const Cut& one : kCuts) {
    const Scores before = run(built.graph, one, none, {from(0, 17)});
    for (const Cut& other : kCuts) {
      CAPTURE(one.label());
      CAPTURE(other.label());
      const Scores found = run(built.graph, other, before, {from(17, 18), from(18, 40), {}});
      for (std::size_t v = 0; v < right.size(); ++v)
        CHECK(found[v] == doctest::Approx(right[v]).epsilon(1e-12));
    }
  }
}

TEST_CASE("scores of another graph are refused") {
  const graph::BuiltGraph built(3, {{0, 1, 1.0F}});
  for (const bool apart : {false, true})
    run_in_each(built.graph, {}, {.record_bytes = kWideRecordBytes, .for_tasks = apart}, [&](Job& job) {
      if (apart)
        CHECK_THROWS_AS(BcBySource(job, {}).resume(Scores(2)), Error);
      else
        CHECK_THROWS_AS(Bc(job).resume(Scores(4)), Error);
    });
}

}  // namespace edgewire::kernels::betweenness_resumed
