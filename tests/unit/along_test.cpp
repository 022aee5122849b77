// Programs that need the weights of edges, those that ignore them, and what goes along edges without any.
#include <atomic>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/rooms.h"
#include "bootstraps.h"
#include "dense/job/dense_job.h"
#include "edgewire/program.h"
#include "refusals.h"
#include "transport_fixture.h"

namespace edgewire {
namespace {

/// One iteration adds up what comes along the edges.
struct Sum {
  using Value = double;
  struct Constant {};
  using Message = float;
  using Accumulator = double;
  struct Totals {
    double none;
  };
  static double identity() { return 0; }
  static double combine(double a, double b) { return a + b; }
  static double start(const graph::Row& row) { return row.vertex + 1; }
  static Constant constant(const graph::Row&) { return {}; }
  static Message message(double value, Constant) { return static_cast<Message>(value); }
  static int prepare(const Totals&) { return 0; }
  static double apply(double, double sum, Constant, int, Totals& own) {
    own.none = 0;
    return sum;
  }
  static Totals first_totals(std::span<const double>, std::span<const Constant>) { return {}; }
  static bool done(const Totals&) { return false; }
};
struct NeedsWeights : Sum {
  static double along(Message message, double weight) { return double{message} * weight; }
};
struct WithoutWeights : Sum {
  static double along(Message message) { return 10 * double{message}; }
};

struct AgainstEdges : WithoutWeights {
  static constexpr auto direction = graph::Direction::in;
};
struct BothWays : WithoutWeights {
  static constexpr auto direction = graph::Direction::both;
};

/// By vertex, after one iteration of as many processes; at rank 0.
template <class P>
std::vector<double> run(const Graph& graph, const job::DenseOptions& options, int processes = 1) {
  auto bootstraps = launch::bootstraps(processes);
  if (processes == 1) bootstraps[0] = launch::alone();
  std::vector<double> values;
  std::vector<std::string> failures(bootstraps.size());
  std::vector<std::thread> threads;
  for (std::size_t p = 0; p < bootstraps.size(); ++p)
    threads.emplace_back([&, p] {
      failures[p] = refusal([&] {
        DenseJob job(*bootstraps[p], graph, options);
        P program;
        DenseRun run(job, program);
        run.iterate({.iterations = 1});
        const auto all = run.gather();
        if (p == 0) values = all;
        if (p != 0 && !all.empty()) throw Error("a process but rank 0 got values");
        bootstraps[p]->finish();
      });
    });
  for (auto& thread : threads) thread.join();
  if (processes == 1 && failures[0] != "nothing was refused") throw UsageError(failures[0]);
  for (const auto& failure : failures) CHECK(failure == "nothing was refused");
  return values;
}

TEST_CASE("programs that need weights, and those that have none") {
  const File weighted(true), plain(false);
  // The values are 1, 2, 3 and 4.
  CHECK(run<NeedsWeights>(weighted.graph, dense(true)) == std::vector<double>{32, 2, 6, 0});
  check_line(refusal([&] { run<NeedsWeights>(weighted.graph, {}); }), "JobOptions::weighted");
  check_line(refusal([&] { run<NeedsWeights>(plain.graph, {}); }), "JobOptions::weighted");
  check_line(refusal([&] { run<NeedsWeights>(plain.graph, dense(true)); }), "no weights");
  const std::vector<double> tenfold{70, 10, 20, 0};
  CHECK(run<WithoutWeights>(weighted.graph, {}) == tenfold);
  CHECK(run<WithoutWeights>(weighted.graph, dense(true)) == tenfold);
  for (const auto strategy : plan::kStrategies) {
    CAPTURE(plan::to_name(strategy));
    CHECK(run<WithoutWeights>(plain.graph, dense(false, "tcp", strategy), 2) == tenfold);
    CHECK(run<NeedsWeights>(weighted.graph, dense(true, "tcp", strategy), 2) ==
          std::vector<double>{32, 2, 6, 0});
  }
}

TEST_CASE("programs that follow edges against their direction, or both ways") {
  const File file(false);  // 0 -> 1 -> 2 -> 0 and 3 -> 0
  const auto turned = [&](graph::Direction direction) {
    return graph::view(Graph::open(file.graph.path()), direction);
  };
  const auto in = turned(graph::Direction::in), both = turned(graph::Direction::both);
  for (const int processes : {1, 2}) {
    CHECK(run<AgainstEdges>(in, dense(false, "tcp"), processes) == std::vector<double>{20, 30, 10, 10});
    CHECK(run<BothWays>(both, dense(false, "tcp"), processes) == std::vector<double>{90, 40, 30, 10});
    CHECK(run<WithoutWeights>(both, dense(false, "tcp"), processes) == std::vector<double>{90, 40, 30, 10});
  }
  check_line(refusal([&] { run<AgainstEdges>(file.graph, {}); }), "graph::view(graph, graph::Direction::in)");
  check_line(refusal([&] { run<BothWays>(in, {}); }), "graph::view(graph, graph::Direction::both)");
}

/// Which vertices can be reached from vertex 0, by as many edges as there are iterations.
struct Reached {
  using Value = std::uint32_t;
  struct Constant {};
  using Message = std::uint32_t;
  using Accumulator = std::uint32_t;
  struct Totals {
    double reached;
  };
  static constexpr bool one_bit = true;
  static std::uint32_t identity() { return 0; }
  static std::uint32_t along(std::uint32_t message) { return message; }
  static std::uint32_t combine(std::uint32_t a, std::uint32_t b) { return a | b; }
  static std::uint32_t start(const graph::Row& row) { return row.vertex == 0 ? 1 : 0; }
  static Constant constant(const graph::Row&) { return {}; }
  static std::uint32_t message(std::uint32_t value, Constant) { return value; }
  static int prepare(const Totals&) { return 0; }
  static std::uint32_t apply(std::uint32_t old, std::uint32_t found, Constant, int, Totals& own) {
    own.reached = old | found;
    return old | found;
  }
  static Totals first_totals(std::span<const std::uint32_t>, std::span<const Constant>) { return {}; }
  static bool done(const Totals&) { return false; }
};

TEST_CASE("messages of one bit") {
  std::mt19937 random(5);
  std::vector<graph::Edge> edges;
  for (int i = 0; i < 9000; ++i) edges.emplace_back(random() % 3001, random() % 3001, 0.0F);
  const graph::BuiltGraph built(3001, edges, {});
  std::vector<std::uint32_t> expected(3001);
  expected[0] = 1;
  for (int t = 0; t < 6; ++t) {
    const auto before = expected;
    for (const auto& [source, target, weight] : edges) expected[target] |= before[source];
  }
  REQUIRE(std::accumulate(expected.begin(), expected.end(), 0U) > 50);
  for (const char* ownership : {"hash", "ranges", "hilbert", "grid"})
    for (const char* transport : {"shm", "tcp"})
      for (const auto strategy : {plan::Strategy::slots, plan::Strategy::cover}) {
        CAPTURE(ownership);
        CAPTURE(transport);
        CAPTURE(plan::to_name(strategy));
        auto options = dense(false, transport, strategy);
        options.ownership = ownership;
        options.process.workers = 2;
        std::uint64_t sent[2]{};
        for (const auto encoding : {plan::Encoding::bit, plan::Encoding::f32}) {
          options.encoding = encoding;
          std::atomic<std::uint64_t> bytes{0};
          const auto bootstraps = launch::bootstraps(3);
          transport::parallel(3, [&](int p) {
            auto& bootstrap = *bootstraps[static_cast<std::size_t>(p)];
            DenseJob job(bootstrap, built.graph, options);
            Reached program;
            DenseRun run(job, program);
            for (const auto& record : run.iterate({.iterations = 6})) bytes += record.payload_bytes;
            const auto all = run.gather();
            if (p == 0) CHECK(all == expected);
            bootstrap.finish();
          });
          sent[encoding == plan::Encoding::bit ? 0 : 1] = bytes;
        }
        CHECK(sent[0] * 32 >= sent[1]);
        CHECK(sent[0] * 16 < sent[1]);  // chunks end within bytes, and begin within one
      }
  auto options = dense(false);
  options.encoding = plan::Encoding::bit;
  check_line(refusal([&] { run<WithoutWeights>(built.graph, options); }),
             "encoding bit is only for programs");
  options.strategy = plan::Strategy::process;
  check_line(refusal([&] { check(options, built.graph); }), "--wire bit needs --strategy slots or cover");
}

}  // namespace
}  // namespace edgewire
