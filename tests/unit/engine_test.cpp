// Whole iterations of jobs whose processes are threads, over every usable backend, with a kernel of integers:
// sums of small integers are exact in float, so the result must equal the sequential one to the bit.
#include "engine/iteration.h"

#include <doctest/doctest.h>

#include <numeric>
#include <random>

#include "bootstraps.h"
#include "engine/program_loops.h"
#include "engine_programs.h"
#include "exchange_checks.h"
#include "graph/builder.h"
#include "graph_test.h"
#include "launch/agreement.h"
#include "tiles/plan_readers.h"
#include "transport_fixture.h"

namespace edgewire::engine {
namespace {

using graph::GraphFile;
using plan::Strategy;

double total_of(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += value;
  return sum;
}

/// Of a worker whose peer reads nothing until this one has computed a column; notes what went before that.
class Order final : public topology::Observer {
 public:
  Order(bool reads, std::atomic<bool>& computed) : reads_(reads), computed_(computed) {}
  void begin(int) noexcept override {}
  void finish(int) noexcept override {}
  void enter(int, topology::Phase phase, std::size_t, int) noexcept override {
    if (!reads_) {
      computed_.wait(false);
    } else if (phase == topology::Phase::compute) {
      computed_ = true;
      computed_.notify_all();
    } else if (phase == topology::Phase::send && !computed_) {
      ++sends_before;
    }
  }
  void waits_for(int, int) noexcept override {}
  void aside(int, topology::Phase, int, std::uint64_t) noexcept override {}
  void arrived(int, int, std::uint64_t) noexcept override {}
  void end_iteration(std::uint64_t) noexcept override {}

  std::size_t sends_before = 0;

 private:
  bool reads_;
  std::atomic<bool>& computed_;
};

struct Run {
  transport::Subject subject;
  Strategy strategy = Strategy::slots;
  int processes = 3;
  int workers = 2;
  int iterations = 6;
  double goal = -1;
  plan::Encoding encoding = plan::Encoding::f32;
  std::vector<Order>* orders = nullptr;  ///< [process]
  bool least_source = false;             ///< else Integers
  tiles::Order order = tiles::Order::strips;
};

struct Outcome {
  std::vector<float> values;                          ///< by vertex
  std::vector<std::vector<IterationRecord>> records;  ///< [process]
  std::uint64_t slots = 0;                            ///< of all outgoing streams
};

/// Edges move that need not.
std::vector<std::uint64_t> some_free_edges(const plan::PairCovers& covers, std::uint64_t) {
  return std::vector<std::uint64_t>(covers.size(), 50);
}

template <class P>
void run_process(P program, const GraphFile& graph, const Run& run, launch::Bootstrap& bootstrap,
                 const std::string& job, Outcome& outcome, std::atomic<std::uint64_t>& slots) {
  topology::WorkerPool pool(
      {std::vector<topology::WorkerPlace>(static_cast<std::size_t>(run.workers)), true});
  const plan::ForEach for_each = [&](std::uint64_t count, const auto& work) { pool.for_each(count, work); };
  launch::check_agreement(bootstrap, {{"the job", job}});
  transport::Settings settings{bootstrap.rank(),
                               bootstrap.size(),
                               run.workers,
                               exchange::kFirstLaneKind + run.workers,
                               bootstrap.secret(),
                               "",
                               10,
                               &bootstrap.health()};
  for (int p = 0; p < bootstrap.size(); ++p)
    settings.nodes.push_back((p + 1) / 2);  // of shm+tcp: 0 | 1 2 | 3
  const auto link = run.subject.make(settings);
  const auto ownership = plan::Ownership::hash(graph.vertices(), run.processes);
  auto agreed = exchange::Exchange::agree(
      bootstrap, *link,
      plan::PlanDraft(graph, ownership, bootstrap.rank(),
                      {graph, ownership, bootstrap.rank(), plan::Layout::degree, for_each}, run.strategy,
                      run.workers, for_each, graph.weighted(), some_free_edges),
      run.encoding, run.workers, for_each);
  auto& exchange = agreed.exchange;
  const auto bounds = agreed.plan.cut_columns(64, 200, for_each);
  const auto edges = [](std::size_t column) { return std::uint64_t{1} + column * 37 % 101; };
  const auto column_nodes = in_turn(bounds.size() - 1, 3),
             lane_nodes = in_turn(static_cast<std::size_t>(run.workers), 2);
  exchange.deal_columns(bounds, edges, column_nodes, lane_nodes);
  check_order(exchange, bounds, edges);
  check_nodes(exchange, agreed.plan.sources(), column_nodes, lane_nodes);
  for (const auto& stream : exchange.outgoing()) slots += stream.slots;
  plan::ExchangeColumns columns(std::move(agreed.plan), bounds, for_each);
  const auto tiles = tiles::build_tiles(pool, tiles::PlanReader(columns), bounds);
  const auto local = std::ranges::upper_bound(bounds, columns.sources()) - bounds.begin();
  std::vector<tiles::Tiles> mirror_tiles(static_cast<std::size_t>(run.processes));
  for (const auto& stream : exchange.incoming()) {
    if (!stream.mirrors || stream.sources.empty()) continue;
    const auto addresses = columns.owned_addresses();
    const plan::MovedRows rows(exchange.take_moved(stream.peer), stream.peer,
                               static_cast<std::uint32_t>(stream.sources.size()), columns.sources(),
                               columns.weight_bytes());
    mirror_tiles[static_cast<std::size_t>(stream.peer)] = tiles::build_tiles(
        pool, tiles::MovedReader(rows, addresses), std::span(bounds).first(static_cast<std::size_t>(local)));
  }
  const auto owned = std::move(columns).take_owned(for_each);
  const auto order = run.order == tiles::Order::strips ? tiles::TileOrder(bounds)
                     : run.order == tiles::Order::hilbert
                         ? tiles::TileOrder(tiles, groups_of(exchange, static_cast<std::size_t>(local) - 1))
                         : tiles::TileOrder(tiles, bounds, tiles::Bins(pool, tiles, owned.count()));
  if (run.order == tiles::Order::bins) CHECK_MESSAGE(order.bins().edges() > 0, "some tiles are thin");
  ProgramLoops loops(program, owned.count(), tiles, order, mirror_tiles);
  IterationOptions options;
  options.iterations = run.iterations;
  options.has_goal = run.goal >= 0;
  options.start = loops.start(
      pool, [&](OwnedIndex i) { return std::pair(P::start(owned.ids()[i]), typename P::Constant{}); });
  if (run.orders != nullptr) options.observer = &(*run.orders)[static_cast<std::size_t>(bootstrap.rank())];
  outcome.records[static_cast<std::size_t>(bootstrap.rank())] =
      iterate(pool, exchange, bounds, owned.indexes(), loops, options).records;
  for (OwnedIndex i{}; i < owned.count(); ++i)
    outcome.values[owned.ids()[i]] = static_cast<float>(loops.values()[i]);
  bootstrap.finish();
}

Outcome execute(const GraphFile& graph, const Run& run, const std::string& another_job = "the same") {
  Outcome outcome;
  outcome.values.resize(graph.vertices());
  outcome.records.resize(static_cast<std::size_t>(run.processes));
  std::atomic<std::uint64_t> slots{0};
  const auto bootstraps = launch::bootstraps(run.processes);
  transport::parallel(run.processes, [&](int p) {
    auto& bootstrap = *bootstraps[static_cast<std::size_t>(p)];
    const std::string name = p == 1 ? another_job : "the same";
    if (run.least_source)
      run_process(LeastSource{}, graph, run, bootstrap, name, outcome, slots);
    else if (run.encoding == plan::Encoding::raw16)
      run_process(Both{}, graph, run, bootstrap, name, outcome, slots);
    else if (run.encoding == plan::Encoding::f64)
      run_process(Integers<double>{run.goal}, graph, run, bootstrap, name, outcome, slots);
    else
      run_process(Integers<float>{run.goal}, graph, run, bootstrap, name, outcome, slots);
  });
  outcome.slots = slots;
  return outcome;
}

GraphFile random_graph(const graph::TemporaryDirectory& directory, std::uint32_t vertices, std::size_t edges,
                       bool weighted = false) {
  std::mt19937 random(vertices);
  std::vector<graph::Edge> list(edges);
  for (auto& edge : list) edge = {random() % vertices, random() % vertices * (random() % 8) / 8, 0.0F};
  if (weighted)
    for (auto& edge : list) std::get<2>(edge) = static_cast<float>(random() % 4);
  graph::build(directory / "g.ew", vertices, list, {.weighted = weighted});
  return GraphFile::open(directory / "g.ew");
}

constexpr std::array kStrategies{Strategy::edge, Strategy::worker, Strategy::process, Strategy::slots,
                                 Strategy::cover};

TEST_CASE("every strategy over every backend gives the sequential result and sends what the plan says") {
  const graph::TemporaryDirectory directory;
  const auto graph = random_graph(directory, 700, 5000);
  const auto expected = sequentially(graph, 6);
  for (const auto& subject : transport::subjects()) {
    for (const auto strategy : kStrategies) {
      CAPTURE(subject.label());
      CAPTURE(plan::to_name(strategy));
      const auto outcome = execute(graph, {subject, strategy});
      CHECK(outcome.values == expected.back());
      std::uint64_t sent = 0;
      for (const auto& records : outcome.records) {
        REQUIRE(records.size() == 6);
        for (const auto& record : records) {
          sent += record.payload_bytes;
          if (subject.backend != "shm+tcp") CHECK(record.wire_bytes >= record.payload_bytes);
        }
      }
      CHECK(sent == 6 * outcome.slots * plan::bytes_a_value(strategy, plan::Encoding::f32));
    }
  }
}

TEST_CASE("values of thin tiles go through bins with every strategy") {
  const graph::TemporaryDirectory directory;
  const auto graph = random_graph(directory, 2000, 8000);
  const auto expected = sequentially(graph, 6);
  for (const auto strategy : kStrategies) {
    for (const auto encoding : {plan::Encoding::f32, plan::Encoding::f64}) {
      CAPTURE(plan::to_name(strategy));
      CAPTURE(plan::to_name(encoding));
      Run run{{"shm"}, strategy, 3, 2, 6, -1, encoding};
      run.order = tiles::Order::bins;
      CHECK(execute(graph, run).values == expected.back());
    }
  }
}

TEST_CASE("messages of 8 bytes and weights of edges arrive with every strategy and order of tiles") {
  const graph::TemporaryDirectory directory;
  const auto graph = random_graph(directory, 700, 5000, true);
  const auto expected = sequentially(graph, 6);
  for (const char* backend : {"shm", "tcp"}) {
    for (const auto strategy : kStrategies) {
      for (const auto encoding : {plan::Encoding::f32, plan::Encoding::f64}) {
        CAPTURE(backend);
        CAPTURE(plan::to_name(strategy));
        CAPTURE(plan::to_name(encoding));
        Run run{{backend}, strategy, 3, 2, 6, -1, encoding};
        run.order = encoding == plan::Encoding::f64 ? tiles::Order::strips : tiles::Order::hilbert;
        const auto outcome = execute(graph, run);
        CHECK(outcome.values == expected.back());
        CHECK(outcome.records[0].size() == 6);
        std::uint64_t sent = 0;
        for (const auto& records : outcome.records) sent += records[5].payload_bytes;
        CHECK(sent == outcome.slots * plan::bytes_a_value(strategy, encoding));
      }
    }
  }
}

TEST_CASE("weights that no float holds arrive without change") {
  const graph::TemporaryDirectory directory;
  constexpr std::uint32_t kVertexCount = 700, kNoFloat = (1 << 24) + 1;
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  graph::Builder builder(kVertexCount, 5000, {.weighted = true});
  for (int e = 0; e < 5000; ++e)
    builder.add(0, below(kVertexCount), below(kVertexCount), kNoFloat * below(4));
  graph::OutputFile file(directory / "g.ew");
  builder.write(file, {}, 0, {});
  const auto graph = GraphFile::open(directory / "g.ew");
  REQUIRE(!graph.float_weights());
  const auto expected = sequentially(graph, 6);
  for (const auto strategy : kStrategies) {
    for (const auto order : {tiles::Order::strips, tiles::Order::hilbert}) {
      CAPTURE(plan::to_name(strategy));
      Run run{{"shm"}, strategy, 3, 2, 6, -1, plan::Encoding::f64};
      run.order = order;
      CHECK(execute(graph, run).values == expected.back());
    }
  }
}

TEST_CASE("a program of unsigned integers and minima ends when nothing changes") {
  const graph::TemporaryDirectory directory;
  const auto graph = random_graph(directory, 700, 900, true);  // its weights are ignored
  std::vector<float> expected;
  for (const std::uint32_t least : least_sources(graph)) expected.push_back(static_cast<float>(least));
  for (const char* backend : {"shm", "tcp"}) {
    for (const auto strategy : kStrategies) {
      CAPTURE(backend);
      CAPTURE(plan::to_name(strategy));
      Run run{{backend}, strategy, 3, 2, 1000, 0};
      run.least_source = true;
      const auto outcome = execute(graph, run);
      CHECK(outcome.values == expected);
      CHECK(outcome.records[0].size() < 1000);
    }
  }
}

TEST_CASE("messages of 16 bytes hold an integer beside a sum") {
  const graph::TemporaryDirectory directory;
  const auto graph = random_graph(directory, 200, 300);
  const int iterations = 6;
  const auto sums = sequentially(graph, iterations).back();
  std::vector<std::uint32_t> least(graph.vertices());
  std::iota(least.begin(), least.end(), 0);
  for (int t = 0; t < iterations; ++t) {
    const auto before = least;
    for (std::uint32_t v = 0; v < graph.vertices(); ++v)
      for (std::uint64_t e = graph.offsets()[v]; e < graph.offsets()[v + 1]; ++e)
        least[graph.targets()[e]] = std::min(least[graph.targets()[e]], before[v]);
  }
  for (const char* backend : {"shm", "tcp"}) {
    for (const auto strategy : kStrategies) {
      CAPTURE(backend);
      CAPTURE(plan::to_name(strategy));
      const auto outcome = execute(graph, {{backend}, strategy, 3, 2, iterations, -1, plan::Encoding::raw16});
      std::uint64_t sent = 0;
      for (std::uint32_t v = 0; v < graph.vertices(); ++v)
        CHECK(outcome.values[v] == sums[v] + 1000 * static_cast<float>(least[v]));
      for (const auto& records : outcome.records) sent += records[5].payload_bytes;
      CHECK(sent == outcome.slots * plan::bytes_a_value(strategy, plan::Encoding::raw16));
    }
  }
}

TEST_CASE("messages that do not fit the encoding are refused") {
  const graph::TemporaryDirectory directory;
  const auto graph = random_graph(directory, 50, 100);
  for (const auto& [encoding, cause] :
       {std::pair(plan::Encoding::f64, "messages of 4 bytes do not fit encoding f64, which is for 8 bytes"),
        std::pair(plan::Encoding::f16, "encoding f16 is only for programs that say")}) {
    Run run{{"shm"}, Strategy::slots, 2, 1, 5, -1, encoding};
    run.least_source = true;
    try {
      execute(graph, run);
      FAIL("nothing was thrown");
    } catch (const Error& error) {
      CHECK(graph::contains(error.what(), cause));
    }
  }
}

TEST_CASE("while the link has no room for the values of edges, local columns are computed") {
  const graph::TemporaryDirectory directory;
  const auto graph = random_graph(directory, 20000, 4'000'000);  // 8 MB from each process to the other
  std::atomic<bool> computed = false;
  std::vector<Order> orders{{true, computed}, {false, computed}};
  const auto outcome = execute(graph, {{"tcp"}, Strategy::edge, 2, 1, 2, -1, plan::Encoding::f32, &orders});
  CHECK(outcome.values == sequentially(graph, 2).back());
  CHECK(orders[0].sends_before > 0);
  CHECK(orders[0].sends_before < outcome.slots / 2 / 64);  // fewer than there are chunks, of 64 slots at most
}

TEST_CASE("values that 16 bits hold exactly arrive exactly, in half the bytes") {
  const graph::TemporaryDirectory directory;
  const auto graph = random_graph(directory, 200, 400);  // sums below 2048
  const auto expected = sequentially(graph, 6);
  for (const auto encoding : {plan::Encoding::f16, plan::Encoding::u16}) {
    for (const auto strategy : {Strategy::slots, Strategy::cover}) {
      for (const char* backend : {"shm", "tcp"}) {
        const auto outcome = execute(graph, {{backend}, strategy, 3, 2, 6, -1, encoding});
        CHECK(outcome.values == expected.back());
        std::uint64_t sent = 0;
        for (const auto& records : outcome.records)
          for (const auto& record : records) sent += record.payload_bytes;
        CHECK(sent == 6 * outcome.slots * 2);
      }
    }
  }
}

TEST_CASE("graphs that leave processes without vertices or edges") {
  const graph::TemporaryDirectory directory;
  for (const std::uint32_t vertices : {0U, 1U, 3U}) {
    graph::build(directory / "g.ew", vertices,
                 vertices == 3 ? std::vector<graph::Edge>{{0, 2, 0.0F}} : std::vector<graph::Edge>{}, {});
    const auto graph = GraphFile::open(directory / "g.ew");
    for (const auto strategy : kStrategies) {
      for (const char* backend : {"shm", "tcp"}) {
        const auto outcome = execute(graph, {{backend}, strategy, 4, 1, 3});
        CHECK(outcome.values == sequentially(graph, 3).back());
      }
    }
  }
}

TEST_CASE("no iterations, one process, and a goal that all processes reach together") {
  const graph::TemporaryDirectory directory;
  const auto graph = random_graph(directory, 300, 1000);
  const auto expected = sequentially(graph, 8);
  CHECK(execute(graph, {{"shm"}, Strategy::slots, 3, 2, 0}).values == expected[0]);
  CHECK(execute(graph, {{"shm"}, Strategy::slots, 1, 3, 8}).values == expected[8]);
  for (const char* backend : {"shm", "tcp"}) {
    const auto outcome = execute(graph, {{backend}, Strategy::slots, 3, 2, 8, total_of(expected[5])});
    CHECK(outcome.values == expected[5]);
    for (const auto& records : outcome.records) CHECK(records.size() == 5);
  }
}

TEST_CASE("processes that do not agree end at the start") {
  const graph::TemporaryDirectory directory;
  const auto graph = random_graph(directory, 50, 100);
  try {
    execute(graph, {{"shm"}, Strategy::slots, 2, 1}, "another");
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(graph::contains(error.what(), "different graphs or options: the job is "));
  }
}

}  // namespace
}  // namespace edgewire::engine
