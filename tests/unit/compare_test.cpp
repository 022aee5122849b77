#include "perf/compare/compare.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "dense/plan/block_plan.h"
#include "perf/compare/matrix.h"

namespace edgewire::perf {
namespace {

using plan::Strategy;

Matrix matrix() {
  return {{2},
          {1},
          {"tcp"},
          {Strategy::worker, Strategy::slots},
          {{"1G", 1'000'000'000, ""}, {"10G", 10'000'000'000, ""}}};
}

RunFigures run(double seconds) { return {{seconds, 20 * seconds, 80, 100, 0, 20}, "hash"}; }

/// Cells of matrix() with these times in three runs each.
Comparison comparison(const std::vector<std::vector<double>>& times) {
  Comparison result;
  result.graph = "a \"quoted\", <b>graph</b>.ew";
  result.vertices = 4;
  result.edges = 8;
  result.cores = 2;
  result.iterations = 20;
  std::vector<std::vector<RunFigures>> runs;
  for (const auto& cell : times) {
    runs.emplace_back();
    for (const double seconds : cell) runs.back().push_back(run(seconds));
  }
  result.rows = aggregate(cells_of(matrix()), runs);
  return result;
}

TEST_CASE("cells: one process is added, and alone it has neither strategy nor link") {
  const auto cells = cells_of(matrix());
  std::vector<std::string> names;
  for (const auto& cell : cells) names.push_back(cell.name());
  CHECK(names == std::vector<std::string>{"1 x 1", "2 x 1, tcp, worker, 1G", "2 x 1, tcp, worker, 10G",
                                          "2 x 1, tcp, slots, 1G", "2 x 1, tcp, slots, 10G"});
  Matrix with_one = matrix();
  with_one.processes = {2, 1};
  CHECK(cells_of(with_one).size() == cells.size());
}

TEST_CASE("cells: each ownership meets each strategy that goes with it") {
  Matrix several = matrix();
  several.ownerships = {"hash", "ranges", "hilbert"};
  several.links.pop_back();
  std::vector<std::string> names;
  for (const auto& cell : cells_of(several)) names.push_back(cell.name());
  CHECK(names == std::vector<std::string>{"1 x 1", "2 x 1, tcp, worker, 1G", "2 x 1, tcp, slots, 1G",
                                          "2 x 1, tcp, worker of ranges, 1G",
                                          "2 x 1, tcp, slots of ranges, 1G",
                                          "2 x 1, tcp, slots of hilbert, 1G"});
  CHECK(left_out(several) == "left out: worker with hilbert, where processes own edges and send with " +
                                 plan::strategies_for("hilbert"));
  several.strategies = {Strategy::edge, Strategy::worker, Strategy::process};
  several.ownerships = {"hash", "grid", "hilbert"};
  CHECK(cells_of(several).size() == 1 + 3);
  CHECK(left_out(several).starts_with("left out: edge, worker and process with grid and hilbert, where"));
  several.ownerships = {"hash", "parts-{}"};
  CHECK(left_out(several).empty());
  CHECK(cells_of(several).back().ownership == "parts-2");
  several.strategies.clear();  // of a kernel that follows a frontier
  CHECK(cells_of(several).size() == 1 + 2);
}

TEST_CASE("ownerships stand side by side, one table for each link") {
  Matrix several = matrix();
  several.ownerships = {"hash", "ranges", "hilbert"};
  const auto cells = cells_of(several);
  std::vector<std::vector<RunFigures>> runs;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    runs.push_back({run(static_cast<double>(c))});
    runs.back()[0].ownership = cells[c].ownership;
  }
  Comparison found;
  found.cores = 2;
  found.rows = aggregate(cells, runs);
  for (CompareRow& row : found.rows) row.bound_seconds = row.seconds.median / 2;
  const auto tables = side_by_side(found);
  REQUIRE(tables.size() == 2);
  CHECK(tables[0].name() == "2 processes x 1 worker, tcp, 1G");
  CHECK(tables[1].name() == "2 processes x 1 worker, tcp, 10G");
  // Rows: 1 alone; hash worker 1G, 10G, slots 1G, 10G; ranges the same; hilbert slots 1G, 10G.
  const report::Table& table = tables[1].table;
  CHECK(table.header == std::vector<std::string>{"strategy", "hash", "ranges", "hilbert"});
  const std::string rest = " s, 80 B, 50 %";
  CHECK(table.rows == std::vector<std::vector<std::string>>{{"worker", "2" + rest, "6" + rest, "-"},
                                                            {"slots", "4" + rest, "8" + rest, "10" + rest}});
  CHECK(to_text(found).find("2 processes x 1 worker, tcp, 10G\nstrategy ") != std::string::npos);
  CHECK(to_html(found).find("Ownerships side by side") != std::string::npos);
  // The best of all ownerships over 1G, and the best of 2015 over 10G.
  CHECK(headlines(found) ==
        std::vector<std::string>{"2 processes x 1: 1G with slots (3 s) is slower than "
                                 "10G with worker (2 s), the best strategy of 2015 there"});
  const auto csv = to_csv(found);
  CHECK(csv.find(",\"hilbert\"\n") != std::string::npos);
  CHECK(side_by_side(comparison({{4}, {3}, {1}, {1}, {1}})).empty());
}

TEST_CASE("rows of several ownerships have the bounds of their own") {
  Matrix several = matrix();
  several.ownerships = {"hash", "ranges", "hilbert"};
  several.strategies = {Strategy::slots};
  const auto cells = cells_of(several);
  std::vector<std::vector<RunFigures>> runs;
  for (const auto& cell : cells) {
    runs.push_back({run(1)});
    runs.back()[0].ownership = cell.ownership;
  }
  Comparison found;
  found.rows = aggregate(cells, runs);
  // Two cycles of 32 vertices: ranges and hilbert cut nothing, hash cuts them.
  std::vector<std::uint64_t> offsets{0};
  std::vector<VertexId> targets;
  for (std::uint32_t v = 0; v < 64; ++v) {
    targets.emplace_back(v < 32 ? (v + 1) % 32 : 32 + (v + 1) % 32);
    offsets.push_back(targets.size());
  }
  add_predictions(found, {offsets, targets}, plan::Encoding::f32);
  REQUIRE(found.rows.size() == 7);
  for (std::size_t r = 1; r < 7; ++r) {
    CHECK((found.rows[r].bound_seconds > 0) == (found.rows[r].cell.ownership == "hash"));
    CHECK(&found.first_link(found.rows[r]) == &found.rows[r - (r + 1) % 2]);
  }
  CHECK(nlohmann::json::parse(to_json(found)).at("rows")[5].at("ownership") == "hilbert");
}

TEST_CASE("a row has the median and the extremes of its runs") {
  CHECK(spread_of({3, 1, 2}).median == 2);
  CHECK(spread_of({4, 1, 2, 3}).median == 2.5);
  const auto rows = comparison({{4}, {3, 1, 2}, {1}, {1}, {1}}).rows;
  CHECK(rows[1].runs == 3);
  CHECK(rows[1].seconds.median == 2);
  CHECK(rows[1].seconds.min == 1);
  CHECK(rows[1].seconds.max == 3);
  CHECK(rows[1].seconds_total.median == 40);
  CHECK(rows[1].payload_bytes == 80);
  CHECK(rows[0].payload_bytes == 0);
}

TEST_CASE("predictions come from one process's compute rate and the counted volume") {
  auto found = comparison({{8e-3}, {5e-3}, {4e-3}, {4e-3}, {4e-3}});
  // Vertices by ranges: {0, 1} and {2, 3}. Process 0 has 5 edges, 3 of them to 2 and 3 (2 destinations).
  const std::vector<std::uint64_t> offsets{0, 3, 5, 7, 8};
  const std::vector<VertexId> targets{1, 2, 3, 0, 2, 3, 0, 2};
  found.local_hosts = true;
  for (auto& row : found.rows) row.cell.ownership = "ranges";
  add_predictions(found, {offsets, targets}, plan::Encoding::f32);
  const auto& worker = found.rows[1];
  CHECK(found.rows[0].prediction.seconds == 8e-3);
  CHECK(worker.prediction.cores_s == doctest::Approx(5e-3));  // 8 edges in 8 ms
  CHECK(worker.prediction.seconds == doctest::Approx(5e-3));
  CHECK(worker.prediction.limit == bounds::Limit::cores);
  CHECK(worker.bound_seconds > 0);
  CHECK(found.rows[2].bound_seconds == doctest::Approx(worker.bound_seconds / 10));
  CHECK(worker.prediction_error() == doctest::Approx(0));
  CHECK(found.rows[2].prediction_error() == doctest::Approx(0.25));
  CHECK(found.median_prediction_error() == doctest::Approx(0.25));
  CHECK(&found.first_link(found.rows[2]) == &worker);

  SUBCASE("hosts that share one core compute in turns") {
    found.cores = 1;
    add_predictions(found, {offsets, targets}, plan::Encoding::f32);
    CHECK(worker.prediction.cores_s == doctest::Approx(10e-3));
  }
}

TEST_CASE("where hosts take turns on cores, computing is what runs without a link take") {
  Matrix without = matrix();
  without.loopback = true;
  const auto cells = cells_of(without);
  REQUIRE(cells.size() == 7);
  CHECK(cells[1].name() == "2 x 1, tcp, worker, loopback");
  CHECK((cells[1].loopback() && !cells[0].loopback() && !cells[2].loopback()));
  std::vector<std::vector<RunFigures>> runs;
  for (const double seconds : {8., 6., 9., 8., 3., 4., 5.}) runs.push_back({run(seconds)});
  Comparison found;
  found.local_hosts = true;
  found.rows = aggregate(cells, runs);
  REQUIRE(found.rows.size() == 5);
  for (auto& row : found.rows) row.cell.ownership = "ranges";
  const std::vector<std::uint64_t> offsets{0, 3, 5, 7, 8};
  const std::vector<VertexId> targets{1, 2, 3, 0, 2, 3, 0, 2};
  found.cores = 2;
  add_predictions(found, {offsets, targets}, plan::Encoding::f32);
  CHECK(found.rows[1].prediction.seconds == doctest::Approx(6));
  CHECK(found.rows[4].prediction.seconds == doctest::Approx(3));
  CHECK(found.rows[4].prediction_error() == doctest::Approx(-0.4));
  found.cores = 1;
  add_predictions(found, {offsets, targets}, plan::Encoding::f32);
  CHECK(found.rows[4].prediction.seconds == doctest::Approx(3 + found.rows[4].bound_seconds / 4));
}

TEST_CASE(
    "the headline compares the slow link with the fast one, and overlapping spreads are no difference") {
  const auto says = [](const std::vector<double>& ours, const std::vector<double>& theirs) {
    const auto lines = headlines(comparison({{9}, {9}, theirs, ours, {9}}));
    REQUIRE(lines.size() == 1);
    return lines[0];
  };
  CHECK(says({1, 2, 3}, {4, 5, 6}) ==
        "2 processes x 1: 1G with slots (2 s) is faster than 10G with worker (5 s), the best "
        "strategy of "
        "2015 there");
  CHECK(says({4, 5, 6}, {1, 2, 3}).find("slower than") != std::string::npos);
  CHECK(says({1, 2, 5}, {4, 5, 6}).find("within the spread") != std::string::npos);
}

TEST_CASE("no conclusion is drawn from a row above its limit, nor where cores were lost") {
  auto found = comparison({{9}, {9}, {4}, {2}, {9}});
  CHECK(headlines(found)[0].find("faster than") != std::string::npos);
  SUBCASE("a row above its limit says so") {
    found.rows[3].bound_seconds = 2.03;  // rounding
    CHECK(headlines(found)[0].find("no conclusion") == std::string::npos);
    found.rows[3].bound_seconds = 2.05;
    CHECK(headlines(found) ==
          std::vector<std::string>{"2 processes x 1: no conclusion: 1G with slots was faster "
                                   "than its link allows"});
    CHECK(to_text(found).find("above the limit") != std::string::npos);
    CHECK(to_html(found).find("above the limit") != std::string::npos);
    CHECK(nlohmann::json::parse(to_json(found)).at("rows")[3].at("above_limit") == true);
  }
  SUBCASE("lost cores") {
    found.lost = {0.05, 0.05};
    CHECK(headlines(found)[0].find("no conclusion") == std::string::npos);
    found.lost = {0.25, 0.5};
    CHECK(headlines(found) ==
          std::vector<std::string>{
              "no conclusion: of 2 cores this machine lost 0.75 while the runs went on (0.25 "
              "to its hypervisor, 0.50 to other programs); compare again when it is quiet"});
    CHECK(nlohmann::json::parse(to_json(found)).at("lost_cores").at("to_programs") == 0.5);
  }
}

TEST_CASE(
    "a run that was faster than its link takes so many iterations that the first burst is 1 % of them") {
  RunFigures figures = run(1e-3);
  figures.bound_seconds_1g = 0.01;  // 1.25 MB
  CHECK(iterations_needed(figures, 1'000'000'000, 200'000) == 32);
  CHECK(iterations_needed(figures, 100'000'000, 20'000) == 0);  // 20 are enough: 12.5 MB against 0.02 MB
  figures.iterations = 32;
  CHECK(iterations_needed(figures, 1'000'000'000, 200'000) == 0);
  figures.iterations = 31;
  figures.seconds = 0.01;  // as fast as the link
  CHECK(iterations_needed(figures, 1'000'000'000, 200'000) == 0);
  figures.bound_seconds_1g = 0;  // nothing is sent
  CHECK(iterations_needed(figures, 1'000'000'000, 200'000) == 0);
  figures.bound_seconds_1g = 1e-12;
  figures.seconds = 1e-13;
  CHECK(iterations_needed(figures, 1'000'000'000, 200'000) == 1'000'000);
}

TEST_CASE("a run counts by the second half of its iterations, at least by ten") {
  const auto report = [](int iterations) {
    report::RunReport made;
    made.wire = "f32";
    made.bound.seconds_at = {{"1G", 0.5}, {"10G", 0.05}};
    for (int i = 1; i <= iterations; ++i) made.iterations.push_back({static_cast<double>(i), 80, 100});
    return figures_from(made);
  };
  CHECK(report(1).seconds == 1);
  CHECK(report(12).seconds == doctest::Approx(7.5));   // 3 to 12
  CHECK(report(40).seconds == doctest::Approx(30.5));  // 21 to 40
  CHECK(report(40).iterations == 40);
  CHECK(report(40).bound_seconds_1g == 0.5);
  CHECK_THROWS_AS(report(0), Error);
}

TEST_CASE("a comparison as text, JSON, CSV") {
  const auto found = comparison({{4}, {3, 1, 2}, {1}, {1}, {1}});
  CHECK(to_text(found).find("2 s [1 s to 3 s]") != std::string::npos);
  CHECK(to_text(found).find("2.00 x") != std::string::npos);  // 10G against 1G
  const auto rows = nlohmann::json::parse(to_json(found)).at("rows");
  REQUIRE(rows.size() == 5);
  CHECK(rows[1].at("strategy") == "worker");
  CHECK(rows[1].at("rate") == "1G");
  CHECK(rows[1].at("seconds_per_iteration") == 2.0);
  CHECK(rows[1].at("seconds_per_iteration_max") == 3.0);
  CHECK(rows[0].at("strategy") == "none");
  const std::string csv = to_csv(found);
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 6);
  CHECK(csv.find("\n\"a \"\"quoted\"\", <b>graph</b>.ew\",2,1,tcp,worker,1G,") != std::string::npos);
}

}  // namespace
}  // namespace edgewire::perf
