// Whole iterations of jobs whose processes are threads, over every usable backend, with a kernel of integers:
// sums of small integers are exact in float, so the result must equal the sequential one to the bit.
#include "engine/iteration.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "bootstraps.h"
#include "graph_test.h"
#include "transport_fixture.h"

namespace edgewire::engine {
namespace {

using graph::GraphFile;
using plan::Strategy;

constexpr double kModulus = 97;

/// What moves to a peer with one mirror, see plan::MovedEdges.
constexpr std::size_t kMovedHeader = 2;

/// New value = (sum over in-edges, times their weights, + sum over all vertices) modulo 97. Start: id
/// modulo 5.
template <class Message>
class Integers final : public Step<Message> {
 public:
  Integers(const plan::OwnedVertices& owned, const plan::ExchangePlan& plan, exchange::Exchange& exchange,
           const std::vector<std::uint32_t>& bounds)
      : bounds_(bounds), edges_(bounds.size()), mirrored_(exchange.incoming().size()) {
    for (const auto v : owned.ids()) values_.push_back(static_cast<Message>(v % 5));
    next_ = values_;
    plan::EdgeRows rows;
    for (std::uint32_t first = 0; first < owned.count(); first += plan::ExchangePlan::kRowBlock) {
      const std::uint32_t last = std::min(owned.count(), first + plan::ExchangePlan::kRowBlock);
      plan.read(first, last, rows);
      for (std::size_t i = 0, e = 0; i < rows.ends.size(); ++i)
        for (; e < rows.ends[i]; ++e)
          edges_[column_of(rows.destinations[e])].push_back({rows.destinations[e],
                                                             first + static_cast<std::uint32_t>(i),
                                                             plan.weighted() ? rows.weights[e] : 1});
    }
    for (const auto& stream : exchange.incoming()) {
      if (!stream.mirrors) continue;
      const auto moved = exchange.take_moved(stream.peer);
      const std::size_t words = plan.weighted() ? 2 : 1;
      for (std::size_t at = 0; at < moved.size(); at += kMovedHeader + words * moved[at + 1]) {
        const std::size_t count = moved[at + 1];
        for (std::size_t e = at + kMovedHeader; e < at + kMovedHeader + count; ++e)
          mirrored_[static_cast<std::size_t>(stream.peer)].push_back(
              {owned.indexes()[moved[e]], moved[at],
               plan.weighted() ? std::bit_cast<float>(moved[e + count]) : 1});
      }
    }
  }

  double start() const {
    double sum = 0;
    for (const Message value : values_) sum += static_cast<double>(value);
    return sum;
  }
  std::span<const Message> values() const override { return values_; }
  double largest_value() const override { return 1 << 15; }
  void compute(int, std::size_t column, std::span<double> sums) override {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (const auto& [destination, source, weight] : edges_[column])
      sums[destination - bounds_[column]] += static_cast<double>(values_[source] * weight);
  }
  void add_mirrors(int peer, const Message* mirrors, std::size_t column, std::span<double> sums) override {
    for (const auto& [destination, slot, weight] : mirrored_[static_cast<std::size_t>(peer)])
      if (column_of(destination) == column)
        sums[destination - bounds_[column]] += static_cast<double>(mirrors[slot] * weight);
  }
  exchange::Scalars finish(std::uint32_t first, std::span<const double> sums,
                           const exchange::Scalars& totals) override {
    exchange::Scalars mine{};
    for (std::size_t i = 0; i < sums.size(); ++i) {
      next_[first + i] = static_cast<Message>(std::fmod(sums[i] + totals[0], kModulus));
      mine[0] += static_cast<double>(next_[first + i]);
    }
    return mine;
  }
  void keep(std::uint32_t first, std::span<const double> sums) override {
    for (std::size_t i = 0; i < sums.size(); ++i) next_[first + i] = static_cast<Message>(sums[i]);
  }
  void take(std::uint32_t first, std::span<double> sums) override {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = static_cast<double>(next_[first + i]);
  }
  void advance() override { values_.swap(next_); }
  bool reached(const exchange::Scalars& totals) override { return totals[0] == goal; }

  double goal = -1;

 private:
  struct Edge {
    std::uint32_t destination, source;
    float weight;
  };
  std::size_t column_of(std::uint32_t destination) const {
    return static_cast<std::size_t>(std::upper_bound(bounds_.begin(), bounds_.end(), destination) -
                                    bounds_.begin()) -
           1;
  }
  std::vector<std::uint32_t> bounds_;
  std::vector<std::vector<Edge>> edges_;     ///< [column]
  std::vector<std::vector<Edge>> mirrored_;  ///< [peer]; source: slot
  std::vector<Message> values_, next_;
};

/// The values after each iteration, [0]: at the start.
std::vector<std::vector<float>> sequentially(const GraphFile& graph, int iterations) {
  std::vector<std::vector<float>> all(1);
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) all[0].push_back(static_cast<float>(v % 5));
  for (int t = 0; t < iterations; ++t) {
    double total = 0;
    std::vector<double> sums(graph.vertices());
    for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
      total += all.back()[v];
      for (std::uint64_t e = graph.offsets()[v]; e < graph.offsets()[v + 1]; ++e)
        sums[graph.targets()[e]] += all.back()[v] * (graph.weighted() ? graph.weights()[e] : 1);
    }
    std::vector<float> next;
    for (const double sum : sums) next.push_back(static_cast<float>(std::fmod(sum + total, kModulus)));
    all.push_back(std::move(next));
  }
  return all;
}

double total_of(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += value;
  return sum;
}

/// Of a worker whose peer reads nothing until this one has computed a column; notes what went before that.
class Order final : public Observer {
 public:
  Order(bool reads, std::atomic<bool>& computed) : reads_(reads), computed_(computed) {}
  void begin(int) noexcept override {}
  void finish(int) noexcept override {}
  void enter(int, Phase phase, std::size_t, int) noexcept override {
    if (!reads_) {
      computed_.wait(false);
    } else if (phase == Phase::compute) {
      computed_ = true;
      computed_.notify_all();
    } else if (phase == Phase::send && !computed_) {
      ++sends_before;
    }
  }
  void waits_for(int, int) noexcept override {}
  void stalled(int, int, std::uint64_t) noexcept override {}
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
};

struct Outcome {
  std::vector<float> values;                          ///< by vertex
  std::vector<std::vector<IterationRecord>> records;  ///< [process]
  std::uint64_t slots = 0;                            ///< of all outgoing streams
};

/// Mirrors go first, then of each peer what costs the fewest edges a value.
void check_order(const exchange::Exchange& exchange, std::span<const std::uint32_t> bounds,
                 const std::function<std::uint64_t(std::size_t)>& edges) {
  for (int lane = 0; lane < exchange.lanes(); ++lane) {
    std::vector<double> last(exchange.outgoing().size());
    bool sums = false;
    for (const auto& chunk : exchange.lane_chunks(lane)) {
      if (exchange.outgoing()[chunk.stream].mirrors) {
        if (sums) throw Error("mirrors after sums");
        continue;
      }
      sums = true;
      const double cost =
          static_cast<double>(edges(chunk.column)) / (bounds[chunk.column + 1] - bounds[chunk.column]);
      if (cost < last[chunk.stream]) throw Error("a costly column before a cheap one");
      last[chunk.stream] = cost;
    }
  }
}

template <class Message>
void run_process(const GraphFile& graph, const Run& run, launch::Bootstrap& bootstrap, const std::string& job,
                 Outcome& outcome, std::atomic<std::uint64_t>& slots) {
  topology::WorkerPool pool(
      {std::vector<topology::WorkerPlace>(static_cast<std::size_t>(run.workers)), true});
  const plan::ForEach for_each = [&](std::uint64_t count,
                                     const std::function<void(int, std::uint64_t)>& work) {
    pool.for_each(count, work);
  };
  exchange::check_agreement(bootstrap, job);
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
  const plan::OwnedVertices owned(graph, ownership, bootstrap.rank(), plan::Layout::degree, for_each);
  plan::ExchangePlan plan(graph, ownership, bootstrap.rank(), owned, run.strategy, run.workers, for_each,
                          graph.weighted());
  // Some of the edges that either process can compute move, too.
  const auto processes = static_cast<std::size_t>(run.processes);
  if (!plan.covers().empty()) plan.move_edges(std::vector<std::uint64_t>(processes, 50), for_each);
  exchange::Exchange exchange(bootstrap, *link, owned, plan, run.strategy, run.encoding, run.workers,
                              for_each);
  const auto bounds = plan.cut_columns(64, 200, for_each);
  const auto edges = [](std::size_t column) { return std::uint64_t{1} + column * 37 % 101; };
  exchange.deal_columns(bounds, edges);
  check_order(exchange, bounds, edges);
  for (const auto& stream : exchange.outgoing()) slots += stream.slots;
  Integers<Message> step(owned, plan, exchange, bounds);
  step.goal = run.goal;
  IterationOptions options;
  options.iterations = run.iterations;
  options.has_goal = run.goal >= 0;
  options.start = {step.start(), 0};
  if (run.orders != nullptr) options.observer = &(*run.orders)[static_cast<std::size_t>(bootstrap.rank())];
  outcome.records[static_cast<std::size_t>(bootstrap.rank())] =
      iterate<Message>(pool, exchange, bounds, owned.indexes(), step, options).records;
  for (std::uint32_t i = 0; i < owned.count(); ++i)
    outcome.values[owned.ids()[i]] = static_cast<float>(step.values()[i]);
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
    const auto one = run.encoding == plan::Encoding::f64 ? run_process<double> : run_process<float>;
    one(graph, run, bootstrap, p == 1 ? another_job : "the same", outcome, slots);
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

TEST_CASE("messages of 8 bytes and weights of edges arrive with every strategy") {
  const graph::TemporaryDirectory directory;
  const auto graph = random_graph(directory, 700, 5000, true);
  const auto expected = sequentially(graph, 6);
  for (const char* backend : {"shm", "tcp"}) {
    for (const auto strategy : kStrategies) {
      for (const auto encoding : {plan::Encoding::f32, plan::Encoding::f64}) {
        CAPTURE(backend);
        CAPTURE(plan::to_name(strategy));
        CAPTURE(plan::to_name(encoding));
        const auto outcome = execute(graph, {{backend}, strategy, 3, 2, 6, -1, encoding});
        CHECK(outcome.values == expected.back());
        CHECK(outcome.records[0].size() == 6);
        std::uint64_t sent = 0;
        for (const auto& records : outcome.records) sent += records[5].payload_bytes;
        CHECK(sent == outcome.slots * plan::bytes_a_value(strategy, encoding));
      }
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
    CHECK(graph::contains(error.what(), "another graph or other options"));
  }
}

}  // namespace
}  // namespace edgewire::engine
