// Comparisons of kernels that follow a frontier, and what is counted for them.
#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "bounds/frontier_bound.h"
#include "graph_test.h"
#include "perf/compare/compare.h"
#include "perf/compare/runs.h"

namespace edgewire::perf {

using namespace kernels;
namespace {

Matrix two_links() {
  return {{2}, {1}, {"tcp"}, {}, {{"1G", 1'000'000'000, ""}, {"10G", 10'000'000'000, ""}}, {"hash"}};
}

RunFigures records_run(double seconds, std::uint64_t record_bytes = 80) {
  RunFigures figures;
  figures.seconds = seconds;
  figures.seconds_total = 2 * seconds;
  figures.ownership = "hash";
  figures.record_bytes = record_bytes;
  return figures;
}

/// Of bfs: one process, two over 1G, two over 10G, with these times.
Comparison of_search(const std::vector<double>& slow, const std::vector<double>& fast) {
  Comparison result;
  result.kernel = "bfs";
  result.kernel_options = {"--source", "0"};
  result.graph = "g.ew";
  result.cores = 2;
  std::vector<std::vector<RunFigures>> runs(3, std::vector<RunFigures>{records_run(9)});
  runs[1].clear();
  runs[2].clear();
  for (const double seconds : slow) runs[1].push_back(records_run(seconds));
  for (const double seconds : fast) runs[2].push_back(records_run(seconds));
  result.rows = aggregate(cells_of(two_links()), runs);
  return result;
}

/// A path 0, 1, ... over all vertices but the last one, which leads to 0 and hears of nobody.
graph::BuiltGraph path_graph(std::uint32_t vertices) {
  std::vector<graph::Edge> edges{{vertices - 1, 0, 0.0F}};
  for (std::uint32_t v = 0; v + 2 < vertices; ++v) edges.emplace_back(v, v + 1, 0.0F);
  return {vertices, edges};
}

TEST_CASE("cells of a kernel without strategies: one for each ownership and link") {
  Matrix several = two_links();
  several.ownerships = {"hash", "ranges"};
  std::vector<std::string> names;
  for (const auto& cell : cells_of(several)) names.push_back(cell.name());
  CHECK(names == std::vector<std::string>{"1 x 1", "2 x 1, tcp, records, 1G", "2 x 1, tcp, records, 10G",
                                          "2 x 1, tcp, records of ranges, 1G",
                                          "2 x 1, tcp, records of ranges, 10G"});
}

/// A comparison of bfs, whose runs of several processes do what is said.
struct SaidRuns {
  explicit SaidRuns(std::function<int(const TakeReport&)> run_of_several)
      : several(std::move(run_of_several)) {
    settings.kernel = "bfs";
    settings.graph = "g.ew";
  }
  CompareRuns start() const {
    return {settings, two_links(), built.graph, [this](const Cell& cell, int, const TakeReport& take) {
              if (cell.processes > 1) return several(take);
              take(report_of(1));
              return 0;
            }};
  }
  static report::RunReport report_of(double seconds) {
    report::RunReport report;
    report.has_supersteps = true;
    report.seconds_kernel = seconds;
    report.ownership = "ranges";
    report.options = {{"source", "0"}};
    return report;
  }

  CompareSettings settings;
  graph::BuiltGraph built = path_graph(8);
  std::function<int(const TakeReport&)> several;
};

TEST_CASE("a run is a child: its figures and what it says come back, and nothing else") {
  int runs = 0;  // in this process
  const SaidRuns said([&](const TakeReport& take) {
    ++runs;
    note("a note");
    take(SaidRuns::report_of(2.5));
    return 0;
  });
  auto comparing = said.start();
  REQUIRE(comparing.run(2));
  const Comparison found = comparing.result();
  CHECK(runs == 0);
  REQUIRE(found.rows.size() == 3);
  CHECK(found.rows[0].seconds.median == 1);
  CHECK(found.rows[2].runs == 2);
  CHECK(found.rows[2].seconds.median == 2.5);
  CHECK(found.rows[2].cell.ownership == "ranges");
  CHECK(found.rows[2].bound_record_bytes > 0);  // of the source that runs reported
  CHECK(std::ranges::count(found.notes, "a note") == 1);
}

TEST_CASE("a run that fails ends the comparison with its status, also where a signal has ended it") {
  const auto status_of = [](const std::function<int()>& run) {
    const SaidRuns said([&](const TakeReport&) { return run(); });
    try {
      said.start().run(1);
    } catch (const RunFailed& failed) {
      return failed.status;
    }
    return 0;
  };
  CHECK(status_of([] { return 2; }) == 2);
  CHECK(status_of([] { return std::raise(SIGKILL); }) == 128 + SIGKILL);
}

TEST_CASE("a rank that has no figures has no results") {
  const SaidRuns said([](const TakeReport&) { return 0; });
  CHECK_FALSE(said.start().run(1));
}

TEST_CASE("a run counts by the time of its kernel and the records of all its supersteps") {
  auto report = SaidRuns::report_of(2);
  report.seconds_total = 3;
  report.options = {{"source", "ada"}};
  report.supersteps.resize(2);
  report.supersteps[0].record_bytes = 8;
  report.supersteps[0].payload_bytes_sent = 10;
  report.supersteps[0].wire_bytes_sent = 100;
  report.supersteps[1].record_bytes = 16;
  report.supersteps[1].payload_bytes_sent = 20;
  report.supersteps[1].wire_bytes_sent = 200;
  const RunFigures figures = figures_from(report);
  CHECK(figures.seconds == 2);
  CHECK(figures.seconds_total == 3);
  CHECK(figures.record_bytes == 24);
  CHECK(figures.payload_bytes == 30);
  CHECK(figures.wire_bytes == 300);
  CHECK(figures.source == "ada");
  CHECK(iterations_needed(figures, 1, 1'000'000) == 0);
}

TEST_CASE("records that depend on timing: a row has their median") {
  const auto rows = aggregate(
      cells_of(two_links()),
      {{records_run(1)}, {records_run(1, 8), records_run(1, 24), records_run(1, 80)}, {records_run(1)}});
  CHECK(rows[1].record_bytes == 24);
  CHECK(rows[0].record_bytes == 0);
}

TEST_CASE("the headline says whether the faster link helps, and nothing where spreads overlap") {
  const auto says = [](const std::vector<double>& slow, const std::vector<double>& fast) {
    const auto lines = headlines(of_search(slow, fast));
    REQUIRE(lines.size() == 1);
    return lines[0];
  };
  CHECK(says({4, 5, 6}, {1, 2, 3}) == "2 processes x 1: 10G (2 s) is faster than 1G (5 s)");
  CHECK(says({1, 2, 3}, {4, 5, 6}) == "2 processes x 1: 10G (5 s) is slower than 1G (2 s)");
  CHECK(says({4, 5, 6}, {1, 2, 5}) ==
        "2 processes x 1: 10G (2 s) is as fast, within the spread of the runs, as 1G (5 s)");
  auto above = of_search({4}, {2});
  above.rows[1].bound_seconds = 5;
  CHECK(headlines(above)[0] ==
        "2 processes x 1: no conclusion: 1G sends so little that much of it passes in bursts");
  auto one_link = of_search({4}, {2});
  one_link.rows.pop_back();
  CHECK(headlines(one_link).empty());
}

TEST_CASE("the ownership that a headline took is named, unless it is hash") {
  Matrix several = two_links();
  several.ownerships = {"hash", "ranges"};
  Comparison found;
  found.kernel = "wcc";
  std::vector<std::vector<RunFigures>> runs{
      {records_run(9)}, {records_run(4)}, {records_run(3)}, {records_run(5)}, {records_run(2)}};
  const auto cells = cells_of(several);
  for (std::size_t c = 0; c < cells.size(); ++c) runs[c][0].ownership = cells[c].ownership;
  found.rows = aggregate(cells, runs);
  CHECK(headlines(found)[0] == "2 processes x 1: 10G with records of ranges (2 s) is faster than 1G (4 s)");
}

TEST_CASE("bounds of rows are those of their processes, ownership and line rate") {
  const auto built = path_graph(64);
  auto found = of_search({4}, {2});
  for (auto& row : found.rows) row.cell.ownership = "ranges";
  add_frontier_bounds(found, built.graph, "0");
  CHECK(found.has_bounds);
  CHECK(found.rows[1].exactness == Exactness::exact);
  CHECK(found.rows[1].bound_record_bytes == 8);  // one edge of the path leads from one half to the other
  CHECK(found.rows[1].bound_seconds > 0);
  CHECK(found.rows[1].bound_seconds == doctest::Approx(10 * found.rows[2].bound_seconds));
  CHECK(found.rows[0].bound_record_bytes == 0);

  bounds::BoundOptions options;
  options.processes = {2};
  options.ownerships = {"ranges"};
  options.strategies = {plan::Strategy::slots};
  options.memory_bytes = 1;
  options.rates = {{"10G", 10'000'000'000}};
  const auto bounds = bounds::frontier_bound(built.graph, count_breadth_first(built.graph, 0), options);
  CHECK(found.rows[2].bound_seconds == doctest::Approx(bounds[0].seconds_at[0]));
}

TEST_CASE("runs that nobody counts have no bounds, and a note says why") {
  const auto built = path_graph(8);
  const auto why = [&](const std::string& kernel, const std::vector<std::string>& options,
                       const std::string& source) {
    auto found = of_search({4}, {2});
    found.kernel = kernel;
    found.kernel_options = options;
    found.iterations = kernel == "cdlp" ? 3 : 0;
    add_frontier_bounds(found, built.graph, source);
    CHECK(found.has_bounds == found.notes.empty());
    CHECK((to_text(found).find("wire limit  ") != std::string::npos) == found.has_bounds);
    return found.notes.empty() ? "" : found.notes[0];
  };
  CHECK(why("bfs", {"--samples=3"}, "") ==
        "no wire limit: edgewire bound counts what bfs sends without --samples");
  CHECK(why("bfs", {"--source", "0", "--parallel", "levels"}, "0") ==
        "no wire limit: edgewire bound counts what bfs sends without --parallel");
  CHECK(why("bc", {}, "") == "no wire limit: edgewire bound counts what bc sends without several sources");
  CHECK(why("bc", {"--source", "0"}, "0").empty());
  CHECK(why("sssp", {"--source=0", "--unit-weights"}, "0").empty());
  for (const char* kernel : {"wcc", "scc", "lcc", "tc", "cdlp"}) CHECK(why(kernel, {}, "").empty());
}

TEST_CASE("scc: where edges are few, all processes get those that may be on a cycle") {
  // A cycle of three, an edge into it and one out of it, one of its edges twice, and a loop.
  const graph::BuiltGraph built(
      5, {{0, 1, 0.0F}, {1, 2, 0.0F}, {1, 2, 0.0F}, {2, 0, 0.0F}, {3, 0, 0.0F}, {2, 4, 0.0F}, {3, 3, 0.0F}});
  const auto count = count_strong_components(built.graph);
  CHECK(count.exactness == Exactness::exact);
  const auto steps = count.count(partition::Ownership::create("ranges", built.graph.offsets(), 3));
  REQUIRE(steps.size() == 2);
  CHECK(steps[1].frontier == 3);  // 0, 1, 2: only they have an edge in and an edge out
  std::uint64_t sent = 0, received = 0;
  for (std::size_t p = 0; p < 3; ++p) {
    sent += steps[1].load.sent[p];
    received += steps[1].load.received[p];
  }
  CHECK(sent == 2 * 5);  // to two others each: 1 + 2 + 2 edges
  CHECK(received == sent);

  const graph::BuiltGraph path(3, {{0, 1, 0.0F}, {2, 1, 0.0F}});
  const auto none = count_strong_components(path.graph)
                        .count(partition::Ownership::create("hash", path.graph.offsets(), 2));
  CHECK(none.size() == 1);  // nothing is left to collect
}

TEST_CASE("text, JSON, CSV and page of a kernel that follows a frontier") {
  auto found = of_search({3, 1, 2}, {1});
  found.rows[1].bound_seconds = 0.5;
  found.rows[1].bound_record_bytes = 72;
  found.rows[1].exactness = Exactness::at_least;
  const std::string text = to_text(found);
  CHECK(text.starts_with("bfs --source 0, g.ew: 0 vertices, 0 edges; medians of 1 run [min to max]\n"));
  CHECK(text.find("2 s [1 s to 3 s]") != std::string::npos);
  CHECK(text.find("at least") != std::string::npos);
  CHECK(text.find("25 %") != std::string::npos);
  CHECK(text.find("no prediction: ") != std::string::npos);
  CHECK(text.find("prediction error") == std::string::npos);

  const auto json = nlohmann::json::parse(to_json(found));
  CHECK(json.at("kernel") == "bfs");
  CHECK(json.at("kernel_options") == std::vector<std::string>{"--source", "0"});
  CHECK_FALSE(json.contains("median_prediction_error"));
  const auto& row = json.at("rows")[1];
  CHECK(row.at("strategy") == "records");
  CHECK(row.at("seconds_kernel") == 2.0);
  CHECK(row.at("seconds_kernel_max") == 3.0);
  CHECK(row.at("record_bytes") == 80);
  CHECK(row.at("bound_record_bytes") == 72);
  CHECK(row.at("exactness") == "at least");
  for (const char* absent : {"seconds_per_iteration", "predicted_seconds", "limited_by"})
    CHECK_FALSE(row.contains(absent));

  const std::string csv = to_csv(found);
  CHECK(csv.find("\n\"g.ew\",2,1,tcp,records,1G,\"\",3,2,1,3,4,0,0,80,72,at least,0.5,\"hash\"\n") !=
        std::string::npos);
  const std::string page = to_html(found);
  CHECK(page.find("<title>bfs --source 0: 1G against 10G</title>") != std::string::npos);
  CHECK(page.find("Where the link stops to matter") == std::string::npos);

  found.has_bounds = false;
  CHECK_FALSE(nlohmann::json::parse(to_json(found)).at("rows")[1].contains("bound_seconds"));
  CHECK(to_csv(found).find(",80,,,,\"hash\"\n") != std::string::npos);
  CHECK(to_html(found).find("wire limit") == std::string::npos);
}

}  // namespace
}  // namespace edgewire::perf
