// What answers need of a frontier kernel's values: sizes of groups, and paths along parents.
#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "frontier/group_sizes.h"
#include "frontier_test.h"
#include "kernels/bfs/bfs.h"

namespace edgewire::kernels {

using namespace frontier;
namespace {

constexpr PlainId kNoParent = kNoVertex;

const std::vector<JobCut> kDivisions{{},
                                     {.workers = 3},
                                     {.processes = 2, .ownership = "ranges"},
                                     {.processes = 2, .workers = 2},
                                     {.processes = 3, .ownership = "ranges"},
                                     {.processes = 3, .workers = 2}};

/// A graph whose edges do not matter.
struct Edgeless : graph::BuiltGraph {
  explicit Edgeless(std::uint32_t vertices) : BuiltGraph(vertices, {}) {}
};

/// Runs work(job, mine) in each process; `mine` has what `all` says of its vertices.
template <class Work>
void run_with_values(const Edgeless& file, const JobCut& cut, const std::vector<PlainId>& all,
                     const Work& work) {
  run_in_each(file.graph, cut, {}, [&](Job& job) {
    std::vector<PlainId> mine(job.owned());
    for (LocalNumber local{}; local < mine.size(); ++local)
      mine[local] = all[job.ownership().vertex(job.rank(), local)];
    work(job, mine);
  });
}

void check_groups(const std::vector<PlainId>& labels) {
  const Edgeless file(static_cast<std::uint32_t>(labels.size()));
  std::map<PlainId, std::uint32_t> sizes;
  for (const PlainId label : labels) ++sizes[label];
  std::vector<process::Candidate<std::uint64_t>> sorted;
  for (const auto& [label, size] : sizes) sorted.push_back({size, label});
  std::stable_sort(sorted.begin(), sorted.end(), [](auto& a, auto& b) { return a.value > b.value; });
  const auto singles = static_cast<std::uint64_t>(
      std::count_if(sizes.begin(), sizes.end(), [](auto& one) { return one.second == 1; }));
  for (const JobCut& cut : kDivisions)
    for (const std::uint64_t largest : {1, 4, 10'000}) {
      CAPTURE(cut.processes);
      CAPTURE(largest);
      GroupSizes found;
      run_with_values(file, cut, labels, [&](Job& job, std::span<const PlainId> mine) {
        const auto own = count_groups(job, mine, largest);
        transport::require(own.groups == sizes.size() && own.singles == singles, "other sizes");
        if (job.rank() == 0) found = own;
      });
      CHECK(found.largest ==
            std::vector<process::Candidate<std::uint64_t>>(
                sorted.begin(),
                sorted.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(largest, sorted.size()))));
    }
}

TEST_CASE("sizes of groups are those that a table of all labels has") {
  std::minstd_rand random(3);
  std::vector<PlainId> labels(5000);
  for (std::uint32_t v = 0; v < labels.size(); ++v) labels[v] = v;
  SUBCASE("each vertex is alone") {}
  SUBCASE("one has all") { std::fill(labels.begin(), labels.end(), PlainId{4999}); }
  SUBCASE("many of all sizes") {
    for (PlainId& label : labels) label = static_cast<PlainId>(random() % (1 + random() % 5000));
  }
  SUBCASE("some of the same size") {
    for (std::uint32_t v = 0; v < labels.size(); ++v) labels[v] = v / 7 * 7;
  }
  check_groups(labels);
}

TEST_CASE("a graph of one vertex, and fewer vertices than processes") {
  check_groups({0});
  check_groups({1, 1});
}

TEST_CASE("a path goes along parents, from process to process") {
  constexpr std::uint32_t kCount = 300;
  const Edgeless file(kCount);
  std::vector<PlainId> parents(kCount, kNoParent);
  std::vector<VertexId> expected;
  // 7 is the source; each vertex of the path is far from the one before it.
  VertexId v{7};
  parents[v] = v;
  expected.push_back(v);
  for (int i = 0; i < 40; ++i) {
    const VertexId next((v + (i % 3 == 0 ? 1 : 61)) % kCount);
    parents[next] = v;
    expected.push_back(v = next);
  }
  parents[100] = 101;  // and a circle
  parents[101] = 100;
  REQUIRE(std::find(expected.begin(), expected.end(), VertexId{100}) == expected.end());
  CHECK(path_to(parents, 7, expected.back()) == expected);
  CHECK(path_to(parents, 7, 7) == std::vector<VertexId>{7});
  CHECK(path_to(parents, 7, 299).empty() == (parents[299] == kNoParent));
  CHECK_THROWS_WITH_AS((void)path_to(parents, 7, 100), doctest::Contains("circle"), Error);
  for (const JobCut& cut : kDivisions) {
    CAPTURE(cut.processes);
    run_with_values(file, cut, parents, [&](Job& job, std::span<const PlainId> mine) {
      transport::require(path_to(job, mine, 7, expected.back()) == expected, "another path");
      transport::require(path_to(job, mine, 7, 7) == std::vector<VertexId>{7}, "from a vertex to itself");
      transport::require(path_to(job, mine, 7, 299).empty() == (parents[299] == kNoParent), "no path");
    });
    CHECK_THROWS_WITH_AS(
        run_with_values(file, cut, parents,
                        [&](Job& job, std::span<const PlainId> mine) { path_to(job, mine, 7, 100); }),
        doctest::Contains("circle"), Error);
  }
}

}  // namespace
}  // namespace edgewire::kernels
