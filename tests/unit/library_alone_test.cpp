// The shortest ways to use the library: a graph from memory, a kernel in one line, and a job whose failures
// come as exceptions.
#include <doctest/doctest.h>

#include <array>
#include <csignal>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "edgewire/error.h"
#include "edgewire/kernels.h"
#include "edgewire/launch.h"
#include "graph_test.h"
#include "stderr_capture.h"

namespace edgewire {

namespace {

using graph::contains;
using graph::error_of;
using Numbers = std::vector<double>;

/// A square 0 -> 1 -> 2 -> 3 -> 0, and 4, which leads to 0 and is reached by nobody.
const std::vector<std::uint32_t> kSources{0, 1, 2, 3, 4}, kTargets{1, 2, 3, 0, 0};

launch::LaunchOptions processes(int count) {
  launch::LaunchOptions options;
  options.processes = count;
  return options;
}

}  // namespace

TEST_CASE("each kernel is one line on a graph from memory") {
  const auto graph = Graph::from_edges(kSources, kTargets, Numbers{1, 2, 3, 4, 10});
  CHECK(graph.vertices() == 5);
  CHECK(graph.edges() == 5);
  const double inf = std::numeric_limits<double>::infinity();
  const auto unreached = std::numeric_limits<PlainId>::max();
  const std::vector<PlainId> one_component(5, 0);
  CHECK(pagerank(graph, {.iterations = 0}).values == Numbers(5, 0.2));
  CHECK(ppr(graph, {{2}}, {.iterations = 0}).values == Numbers{0, 0, 1, 0, 0});
  CHECK(spmv(graph).values == Numbers{14, 1, 2, 3, 0});
  CHECK(bfs(graph, 1).values == std::vector<PlainId>{3, 0, 1, 2, unreached});
  CHECK(sssp(graph, 1).values == Numbers{9, 0, 2, 5, inf});
  CHECK(sssp_parents(graph, 1).values == std::vector<PlainId>{3, 1, 1, 2, unreached});
  static_assert(std::is_same_v<decltype(sssp_parents(graph, 1)), Result<PlainId>>);
  CHECK(bc(graph, {4}).values == Numbers{3, 2, 1, 0, 0});
  CHECK(wcc(graph).values == one_component);
  CHECK(scc(graph).values == std::vector<PlainId>{0, 0, 0, 0, 4});
  CHECK(cdlp(graph, {.iterations = 1}).values == std::vector<PlainId>{1, 0, 1, 0, 0});
  CHECK(lcc(graph).values == Numbers(5, 0));
  CHECK(tc(graph).values == std::vector<std::uint64_t>{0});
}

TEST_CASE("a graph is made of ids and weights of any type") {
  const std::array<std::int64_t, 3> sources{0, 1, 2}, targets{1, 2, 0};
  const std::span<const std::int64_t> from(sources), to(targets);
  CHECK_FALSE(Graph::from_edges(from, to).weighted());
  const auto whole = Graph::from_edges(from, to, std::vector<std::uint64_t>{7, 8, 1ULL << 40});
  CHECK(whole.weights().type() == graph::WeightType::u64);
  CHECK(whole.weights().at(2).as<std::uint64_t>() == 1ULL << 40);
  CHECK(Graph::from_edges(from, to, std::vector<float>{1, 2, 0.5}).weights()[2] == 0.5);
  const auto both = Graph::from_edges(from, to, {}, {.vertices = 9, .undirected = true});
  CHECK(both.vertices() == 9);
  CHECK(both.symmetric());
  CHECK(both.edges() == 6);
  const std::vector<std::uint64_t> far{1'000'000'000'000};
  CHECK(Graph::from_edges(far, far, {}, {.dense = true}).original_id(0) == far[0]);
  const std::vector<std::uint32_t> none;
  CHECK(Graph::from_edges(none, none).vertices() == 0);
}

TEST_CASE("edges that make no graph are refused") {
  const auto refusal = [](const Ids& sources, const Ids& targets, graph::Weights weights = {},
                          const EdgeOptions& options = {}) {
    return error_of([&] { Graph::from_edges(sources, targets, weights, options); });
  };
  const std::vector<std::uint32_t> one{0}, two{0, 1};
  const std::vector<std::int32_t> negative{-3};
  const Numbers infinite{std::numeric_limits<double>::infinity()};
  CHECK(contains(refusal(one, two), "unequal length"));
  CHECK(contains(refusal(two, two, infinite), "1 weights"));
  CHECK(contains(refusal(negative, one), "the source of edge 0 is -3"));
  CHECK(contains(refusal(one, one, infinite), "the weight of edge 0 is inf"));
  CHECK(contains(refusal(two, two, {}, {.vertices = 1}), "id 1 is no vertex of a graph of 1 vertices"));
  CHECK(contains(refusal(one, one, {}, {.names = {"a"}}), "convert_arrays()"));
  CHECK(contains(refusal(one, one, {}, {.workers = -1}), "workers"));
}

TEST_CASE("a job of one process passes on what its body throws, and prints nothing") {
  struct Own {
    int number;
  };
  StderrCapture capture;
  int seen = 0;
  try {
    launch::run({}, [](launch::Bootstrap&) { throw Own{42}; });
  } catch (const Own& own) {
    seen = own.number;
  }
  CHECK(seen == 42);
  CHECK(error_of([] { launch::run({}, {}); }) == "there is nothing to run in the processes");
  CHECK_THROWS_AS(launch::run(processes(0), [](launch::Bootstrap&) {}), UsageError);
  CHECK_NOTHROW(launch::run({}, [](launch::Bootstrap&) {}));
  CHECK(capture.text().empty());
}

TEST_CASE("what fails in a process of a job comes to its caller, and nothing is printed") {
  StderrCapture capture;
  const auto of = [](int count, const std::function<void(launch::Bootstrap&)>& body) {
    return error_of([&] { launch::run(processes(count), body); });
  };
  CHECK(of(3, [](launch::Bootstrap& bootstrap) {
          if (bootstrap.rank() == 1) throw Error("g.ew: no such file");
          bootstrap.allgather("");
        }) == "rank 1: g.ew: no such file");
  CHECK_THROWS_WITH_AS(launch::run(processes(2),
                                   [](launch::Bootstrap& bootstrap) {
                                     if (bootstrap.rank() == 0) throw UsageError("--x: too small");
                                     bootstrap.allgather("");
                                   }),
                       "rank 0: --x: too small", UsageError);
  const std::string killed = of(2, [](launch::Bootstrap& bootstrap) {
    if (bootstrap.rank() == 1) raise(SIGKILL);
    bootstrap.allgather("");
  });
  CHECK(contains(killed, "rank 1 was ended by signal 9"));
  CHECK(contains(of(2, [](launch::Bootstrap&) { _exit(3); }), "ended with status 3"));
  CHECK_NOTHROW(launch::run(processes(2), [](launch::Bootstrap& bootstrap) { bootstrap.allgather(""); }));
  CHECK(capture.text().empty());
}

}  // namespace edgewire
