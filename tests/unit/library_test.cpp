// The public headers, as a C++ caller uses them: kernels, programs and frontiers, in two processes.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/rooms.h"
#include "bootstraps.h"
#include "edgewire/bound.h"
#include "edgewire/frontier.h"
#include "edgewire/kernels.h"
#include "edgewire/program.h"
#include "edgewire/sort.h"
#include "graph_test.h"
#include "library_test.h"
#include "spoken.h"
#include "triangles.h"

namespace edgewire {

namespace {

const std::vector<Strategy> kAllStrategies{Strategy::edge, Strategy::worker, Strategy::process,
                                           Strategy::slots, Strategy::cover};

using Labels = std::vector<PlainId>;
using Numbers = std::vector<double>;
constexpr PlainId kUnreached = 0xffffffff;
constexpr double kNone = std::numeric_limits<double>::infinity();

/// Calls a kernel in each of two processes. Returns what rank 0 got; the other one gets nothing.
template <class Value>
Result<Value> run_in_two(const std::function<Result<Value>(launch::Bootstrap&)>& call) {
  Result<Value> found;
  in_processes(2, [&](launch::Bootstrap& bootstrap) {
    auto result = call(bootstrap);
    if (bootstrap.rank() == 0) {
      found = std::move(result);
      return;
    }
    CHECK(result.values.empty());
    CHECK(result.report.json.empty());
    CHECK(result.report.steps == 0);
  });
  CHECK(found.report.seconds > 0);
  CHECK(found.report.wire_bytes >= found.report.payload_bytes);
  CHECK(!found.report.text.empty());
  return found;
}

/// Returns the one line with which `work` is refused as a UsageError.
std::string usage_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const UsageError& error) {
    CHECK(std::string(error.what()).find('\n') == std::string::npos);
    return error.what();
  }
  return "nothing was refused";
}

bool names(const std::string& line, const std::string& option, const std::string& value) {
  return graph::contains(line, option) && graph::contains(line, value);
}

}  // namespace

TEST_CASE("kernels that follow a frontier return known values and a report, with every tool") {
  const auto built = graph::triangles();
  const auto& graph = built.graph;
  const JobOptions job{.workers = 2, .verify = true, .bound = true, .profile = true};
  const Labels sets{0, 0, 0, 3, 3, 3, 6};
  const auto check_report = [](const Report& report, const char* kernel) {
    INFO(report.json);
    CHECK(report.steps > 0);
    CHECK(graph::contains(report.json, "\"kernel\": \"" + std::string(kernel) + "\""));
    for (const char* field : {"\"rules_kept\"", "\"least\"", "\"profile\""})
      CHECK(graph::contains(report.json, field));
  };
  SUBCASE("bfs") {
    const auto found = run_in_two<PlainId>([&](auto& b) { return bfs(b, graph, 4, {}, job); });
    CHECK(found.values == Labels{kUnreached, kUnreached, kUnreached, 1, 0, 1, kUnreached});
    CHECK(found.report.steps == 2);
    CHECK(found.report.required_bytes <= found.report.payload_bytes);
    check_report(found.report, "bfs");
    CHECK(run_in_two<PlainId>([&](auto& b) {
            return bfs(b, graph, 4, {.parents = true, .deterministic = true});
          }).values == Labels{kNoVertex, kNoVertex, kNoVertex, 4, 4, 4, kNoVertex});
  }
  SUBCASE("sssp") {
    const auto found = run_in_two<double>([&](auto& b) { return sssp(b, graph, 0, {}, job); });
    CHECK(found.values == Numbers{0, 4, 2, kNone, kNone, kNone, kNone});
    check_report(found.report, "sssp");
    CHECK(run_in_two<double>([&](auto& b) {
            return sssp(b, graph, 0, {.delta = 3, .unit_weights = true});
          }).values == Numbers{0, 1, 1, kNone, kNone, kNone, kNone});
    const Labels parents = run_in_two<PlainId>([&](auto& b) { return sssp_parents(b, graph, 0); }).values;
    CHECK(Labels(parents.begin(), parents.begin() + 3) == Labels{0, 2, 0});
    CHECK(parents[6] == kNoVertex);
  }
  SUBCASE("bc") {
    const auto found = run_in_two<double>([&](auto& b) { return bc(b, graph, {}, {.weighted = true}, job); });
    CHECK(found.values == Numbers{0, 0, 2, 0, 0, 0, 0});
    // Searches that are tasks: nobody counts what they had to send.
    CHECK(found.report.required_bytes == 0);
    CHECK(graph::contains(found.report.json, "\"rules_kept\""));
    CHECK(graph::contains(found.report.json, "\"profile\""));
    CHECK(run_in_two<double>([&](auto& b) {
            return bc(b, graph, {0, 4}, {.endpoints = true, .deterministic = true});
          }).values == Numbers{2, 1, 1, 1, 2, 1, 0});
  }
  SUBCASE("wcc, scc, cdlp") {
    const auto weak = run_in_two<PlainId>([&](auto& b) { return wcc(b, graph, job); });
    CHECK(weak.values == sets);
    check_report(weak.report, "wcc");
    const auto strong = run_in_two<PlainId>([&](auto& b) { return scc(b, graph, job); });
    CHECK(strong.values == sets);
    check_report(strong.report, "scc");
    const auto communities = run_in_two<PlainId>([&](auto& b) { return cdlp(b, graph, {}, job); });
    CHECK(communities.values == sets);
    check_report(communities.report, "cdlp");
  }
  SUBCASE("lcc") {
    const auto found = run_in_two<double>([&](auto& b) { return lcc(b, graph, job); });
    CHECK(found.values == Numbers{1, 1, 1, 1, 1, 1, 0});
    CHECK(graph::contains(found.report.json, "\"triangles\": 2"));
    check_report(found.report, "lcc");
  }
  SUBCASE("tc") {
    const auto count = run_in_two<std::uint64_t>([&](auto& b) { return tc(b, graph, {}, job); });
    CHECK(count.values == std::vector<std::uint64_t>{2});
    check_report(count.report, "tc");
    CHECK(run_in_two<std::uint64_t>([&](auto& b) { return tc(b, graph, {.vertices = true}, job); }).values ==
          std::vector<std::uint64_t>{1, 1, 1, 1, 1, 1, 0});
  }
}

TEST_CASE("kernels that pass over all edges return known values, and send what bound() counts") {
  const auto built = graph::triangles();
  const auto& graph = built.graph;
  SUBCASE("pagerank") {
    const JobOptions job{.wire = Wire::f64, .verify = true, .profile = true};
    const auto found =
        run_in_two<double>([&](auto& b) { return pagerank(b, graph, {.iterations = 100}, job); });
    // A vertex alone has rank r = 0.15 / 7 + 0.85 * r / 7; the six others are alike.
    const double alone = 0.15 / (7 - 0.85);
    CHECK(found.values[6] == doctest::Approx(alone).epsilon(1e-6));
    CHECK(found.values[4] == doctest::Approx((1 - alone) / 6).epsilon(1e-6));
    CHECK(found.report.steps == 100);
    CHECK(graph::contains(found.report.json, "\"verify\""));
    CHECK(graph::contains(found.report.json, "\"profile\""));
    const auto weighted =
        run_in_two<double>([&](auto& b) { return pagerank(b, graph, {.weighted = true}, job); }).values;
    CHECK(weighted[0] > weighted[2]);
    const auto settled = run_in_two<double>([&](auto& b) { return pagerank(b, graph, {.tolerance = 0.01}); });
    CHECK(settled.report.steps < 20);
  }
  SUBCASE("bound of one bit") {
    const Bound counted =
        bound(graph,
              {.processes = {2}, .ownerships = {"hash"}, .strategies = kAllStrategies, .wires = {Wire::bit}});
    std::vector<Strategy> strategies;
    for (const BoundRow& row : counted.rows) strategies.push_back(row.strategy);
    CHECK(strategies ==
          std::vector<Strategy>{Strategy::slots, Strategy::cover});  // no job sends bits with ids
  }
  SUBCASE("bound") {
    const Bound counted = bound(graph, {.processes = {2},
                                        .ownerships = {"hash", "ranges"},
                                        .strategies = kAllStrategies,
                                        .wires = {Wire::f32, Wire::u16}});
    CHECK(counted.rows.size() == 2 * (5 + 2));  // 16 bits go with slots and cover
    CHECK(graph::contains(counted.text, "cover"));
    CHECK(graph::contains(counted.json, "\"encoding\": \"u16\""));
    for (const BoundRow& row : counted.rows) {
      CAPTURE(static_cast<int>(row.strategy));
      const JobOptions job{
          .workers = 1, .ownership = row.ownership, .strategy = row.strategy, .wire = row.wire};
      const auto found =
          run_in_two<double>([&](auto& b) { return pagerank(b, graph, {.iterations = 3}, job); });
      CHECK(found.report.payload_bytes == 3 * row.payload_bytes);
      CHECK(found.report.required_bytes == 3 * row.payload_bytes);
      CHECK(row.seconds_at.size() == 4);
    }
  }
  SUBCASE("ppr") {
    const auto found =
        run_in_two<double>([&](auto& b) { return ppr(b, graph, {{3}}, {}, {.verify = true}); });
    CHECK(found.values[0] == 0);
    CHECK(found.values[3] > found.values[4]);
    CHECK(found.values[3] + found.values[4] + found.values[5] == doctest::Approx(1));
  }
  SUBCASE("spmv uses the weights that the graph has") {
    const JobOptions job{.verify = true};
    CHECK(run_in_two<double>([&](auto& b) {
            return spmv(b, graph, {1, 10, 100, 0, 0, 1, 0}, {}, job);
          }).values == Numbers{250, 205, 22, 2, 2, 0, 0});
    const auto plain = graph::triangles(false);
    CHECK(run_in_two<double>([&](auto& b) {
            return spmv(b, plain.graph, {}, {.iterations = 3}, job);
          }).values == Numbers{8, 8, 8, 8, 8, 8, 0});
  }
}

TEST_CASE("kernels refuse what makes no sense, in one line that names it") {
  const options::Spoken face(options::Face::cpp);
  const auto built = graph::triangles();
  const auto& graph = built.graph;
  const auto alone = launch::alone();
  auto& b = *alone;
  const auto refuse = [&](const std::function<void(JobOptions&)>& set) {
    JobOptions job;
    set(job);
    return usage_of([&] { pagerank(b, graph, {}, job); });
  };
  CHECK(names(refuse([](auto& o) { o.ownership = "xyz"; }), "ownership", "xyz"));
  CHECK(names(refuse([](auto& o) { o.workers = -1; }), "workers", "-1"));
  CHECK(names(refuse([](auto& o) { o.workers = 100000; }), "workers", "100000"));
  CHECK(names(refuse([](auto& o) { o.memory_bytes = 1; }), "memory_bytes", "1"));
  CHECK(names(refuse([](auto& o) { o.disks = {"/tmp"}; }), "disks", "plan_cache"));
  CHECK(names(refuse([](auto& o) { o.disks = {""}; }), "disks", "no name"));
  const JobOptions grid{.ownership = "grid"};
  CHECK(names(usage_of([&] { wcc(b, graph, grid); }), "ownership", "grid"));
  const JobOptions tiles{.strategy = Strategy::slots}, verify{.verify = true}, bound_too{.bound = true},
      weighted{.weighted = true};
  for (const auto& line :
       {usage_of([&] { wcc(b, graph, tiles); }), usage_of([&] { bfs(b, graph, 0, {}, tiles); }),
        usage_of([&] { pagerank(b, graph, {}, bound_too); }),
        usage_of([&] { spmv(b, graph, {}, {}, weighted); }), usage_of([&] { sort(b, {}, verify); }),
        usage_of([&] { sort(b, {}, tiles); })}) {
    CAPTURE(line);
    CHECK(names(line, "JobOptions::", "has no such option; leave it out"));
  }

  for (const auto& refusal :
       std::vector<std::pair<std::string, std::string>>{{"bfs", usage_of([&] { bfs(b, graph, 7); })},
                                                        {"sssp", usage_of([&] { sssp(b, graph, 7); })},
                                                        {"bc", usage_of([&] {
                                                           bc(b, graph, {2, 7});
                                                         })},
                                                        {"ppr", usage_of([&] { ppr(b, graph, {{7}}); })}}) {
    CAPTURE(refusal.first);
    CHECK(names(refusal.second, "source", "7 is no vertex"));
  }
  CHECK(names(usage_of([&] { ppr(b, graph, {{3, 0}}); }), "sources", "ascending"));
  CHECK(names(usage_of([&] { bc(b, graph, {3, 0}); }), "sources", "ascending"));
  CHECK(names(usage_of([&] { ppr(b, graph, {}); }), "sources", "at least one"));
  CHECK(names(usage_of([&] { spmv(b, graph, {1, 2}); }), "x has 2 values", "7"));
  CHECK(names(usage_of([&] { spmv(b, graph, Numbers(7, std::nan(""))); }), "x", "vertex 0 is nan"));
  CHECK(names(usage_of([&] { spmv(b, graph, {}, {.iterations = -1}); }), "iterations", "-1"));
  CHECK(names(usage_of([&] { pagerank(b, graph, {.iterations = -1}); }), "iterations", "-1"));
  CHECK(names(usage_of([&] { pagerank(b, graph, {.damping = 2}); }), "damping", "2"));
  CHECK(names(usage_of([&] { cdlp(b, graph, {.iterations = 0}); }), "iterations", "at least 1"));
  CHECK(names(usage_of([&] { bound(graph, {.wires = {}}); }), "wires", "none"));
  CHECK(names(usage_of([&] { bound(graph, {.strategies = {Strategy::automatic}}); }), "strategy", "auto"));
  CHECK(names(usage_of([&] { bound(graph, {.threads = -1}); }), "threads", "-1"));
  CHECK(pagerank(b, graph, {.iterations = 0}).values == Numbers(7, 1.0 / 7));
}

TEST_CASE("graphs of one vertex and of none have results") {
  const auto alone = launch::alone();
  const graph::BuiltGraph one(1, {}), none(0, {});
  CHECK(pagerank(*alone, one.graph).values == Numbers{1});
  CHECK(bfs(*alone, one.graph, 0).values == Labels{0});
  CHECK(lcc(*alone, one.graph).values == Numbers{0});
  CHECK(tc(*alone, one.graph).values == std::vector<std::uint64_t>{0});
  CHECK(run_in_two<PlainId>([&](auto& b) { return scc(b, one.graph); }).values == Labels{0});
  CHECK(run_in_two<double>([&](auto& b) { return spmv(b, none.graph); }).values.empty());
  CHECK(run_in_two<PlainId>([&](auto& b) { return wcc(b, none.graph); }).values.empty());
  CHECK(bc(*alone, none.graph).values.empty());
}

}  // namespace edgewire
