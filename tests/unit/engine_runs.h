// Whole iterations of jobs whose processes are threads, over every usable backend.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/rooms.h"
#include "block_lists.h"
#include "bootstraps.h"
#include "dense/engine/iteration.h"
#include "dense/plan/block_plan.h"
#include "dense/plan/edge_partition.h"
#include "dense/tiles/build_tiles.h"
#include "edgewire/detail/program_loops.h"
#include "engine_programs.h"
#include "exchange_checks.h"
#include "graph/file/builder.h"
#include "graph_test.h"
#include "launch/agreement.h"
#include "transport_fixture.h"

namespace edgewire::engine {

using plan::Strategy;

inline double total_of(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += value;
  return sum;
}

/// An observer of a worker whose peer reads nothing until this one has computed a column; it notes what went
/// before that.
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
  std::vector<Order>* orders = nullptr;  ///< orders, [process]
  bool least_source = false;             ///< whether to run LeastSource, else Integers
  tiles::Order order = tiles::Order::strips;
  const char* blocks = "";  ///< ownership of edges; empty: processes own vertices
};

struct Outcome {
  std::vector<float> values;                          ///< values by vertex
  std::vector<std::vector<IterationRecord>> records;  ///< records, [process]
  std::uint64_t slots = 0;                            ///< number of slots of all outgoing streams
};

/// Returns free edges that move although they need not.
inline std::vector<std::uint64_t> some_free_edges(const plan::PairCovers& covers, std::uint64_t) {
  return std::vector<std::uint64_t>(covers.size(), 50);
}

/// The plan of a process, with columns of at most 64 destinations.
struct Part {
  exchange::Exchange exchange;
  std::vector<std::uint32_t> bounds;
  plan::OwnedVertices owned;
  tiles::Tiles tiles;
  std::vector<tiles::Tiles> mirror_tiles;
};

inline constexpr std::uint32_t kWidth = 64;
inline constexpr std::uint64_t kColumnEdges = 200;

inline Part plan_vertices(const Graph& graph, const Run& run, launch::Bootstrap& bootstrap,
                          transport::Transport& link, topology::WorkerPool& pool, const ForEach& for_each) {
  const auto ownership = partition::Ownership::hash(graph.vertices(), run.processes);
  plan::ExchangePlan plan(graph, ownership, bootstrap.rank(),
                          {graph, ownership, bootstrap.rank(), plan::Layout::degree, for_each}, run.strategy,
                          run.workers, for_each, graph.weighted(), some_free_edges);
  auto exchange = exchange::Exchange::agree(bootstrap, link, plan, run.encoding, run.workers, for_each);
  Part part{std::move(exchange), plan.cut_columns(kWidth, kColumnEdges, for_each), {}, {}, {}};
  plan.to_addresses(part.bounds, for_each);
  part.tiles = tiles::build_tiles(pool, plan, part.bounds);
  const auto local = std::ranges::upper_bound(part.bounds, plan.sources()) - part.bounds.begin();
  part.mirror_tiles.resize(static_cast<std::size_t>(run.processes));
  for (const auto& stream : part.exchange.incoming()) {
    if (!stream.mirrors || stream.sources.empty()) continue;
    const auto addresses = plan.owned_addresses();
    const plan::MovedRows rows(part.exchange.take_moved(stream.peer), stream.peer,
                               static_cast<std::uint32_t>(stream.sources.size()), plan.sources(),
                               plan.weight_bytes(), addresses);
    part.mirror_tiles[static_cast<std::size_t>(stream.peer)] =
        tiles::build_tiles(pool, rows, std::span(part.bounds).first(static_cast<std::size_t>(local)));
  }
  part.owned = std::move(plan).take_owned(part.bounds, for_each);
  return part;
}

inline Part plan_blocks(const Graph& graph, const Run& run, launch::Bootstrap& bootstrap,
                        transport::Transport& link, topology::WorkerPool& pool, const ForEach& for_each) {
  const plan::Rows rows{graph.offsets(), graph.targets()};
  const auto partition = plan::partition_edges(run.blocks, rows, run.processes, 1);
  auto blocks = plan::read_blocks(rows, graph.weights(), partition, 0,
                                  static_cast<std::uint32_t>(run.processes), 4, for_each);
  const auto rank = static_cast<std::size_t>(bootstrap.rank());
  auto lists = plan::lists_of_all(blocks, partition.owners());
  plan::OwnedVertices owned(graph, partition.owners(), bootstrap.rank(), plan::Layout::degree, for_each);
  plan::BlockPlan plan(graph, std::move(blocks[rank]), std::move(lists[rank]), partition.owners(),
                       bootstrap.rank(), owned, plan::Layout::degree, run.workers, for_each,
                       graph.weighted());
  auto exchange =
      exchange::Exchange::of_block(bootstrap, link, plan, Strategy::slots, run.encoding, run.workers);
  auto bounds = plan.cut_columns(kWidth, kColumnEdges);
  plan.to_addresses(bounds, for_each);
  std::vector<tiles::Tiles> built;
  for (std::size_t p = 0; p < static_cast<std::size_t>(run.processes); ++p)
    built.push_back(tiles::build_tiles(pool, plan::BlockPlan::Rows(plan, p), bounds));
  auto own = std::exchange(built[static_cast<std::size_t>(bootstrap.rank())], {});
  return {std::move(exchange), std::move(bounds), std::move(owned), std::move(own), std::move(built)};
}

template <class P>
void run_process(P program, const Graph& graph, const Run& run, launch::Bootstrap& bootstrap,
                 const std::string& job, Outcome& outcome, std::atomic<std::uint64_t>& slots) {
  topology::WorkerPool pool(
      {std::vector<topology::WorkerPlace>(static_cast<std::size_t>(run.workers)), true});
  const ForEach for_each = [&](std::uint64_t count, const auto& work) { pool.for_each(count, work); };
  launch::check_agreement(bootstrap, {{"the job", job}});
  transport::Settings settings{bootstrap.rank(),
                               bootstrap.size(),
                               run.workers,
                               exchange::kFirstLaneKind + run.workers,
                               bootstrap.secret(),
                               "",
                               10,
                               &bootstrap.health()};
  // Hosts of shm+tcp: 0 | 1 2 | 3.
  for (int p = 0; p < bootstrap.size(); ++p) settings.nodes.push_back((p + 1) / 2);
  const auto link = run.subject.make(settings);
  const bool blocks = *run.blocks != 0;
  auto [exchange, bounds, owned, tiles, mirror_tiles] =
      (blocks ? plan_blocks : plan_vertices)(graph, run, bootstrap, *link, pool, for_each);
  const auto work = [](std::size_t column) {
    return exchange::ColumnWork{1 + column * 37 % 101, column % 3 == 1};
  };
  const auto column_nodes = in_turn(bounds.size() - 1, 3),
             lane_nodes = in_turn(static_cast<std::size_t>(run.workers), 2);
  exchange.deal_columns(bounds, work, column_nodes, lane_nodes);
  check_order(exchange, bounds, work);
  check_nodes(exchange, owned.count(), column_nodes, lane_nodes);
  for (const auto& stream : exchange.outgoing()) slots += stream.slots;
  const auto local =
      static_cast<std::size_t>(std::ranges::lower_bound(bounds, owned.count()) - bounds.begin());
  const auto order = run.order == tiles::Order::strips ? tiles::TileOrder(bounds)
                     : run.order == tiles::Order::hilbert
                         ? tiles::TileOrder(tiles, groups_of(exchange, local))
                         : tiles::TileOrder(tiles, bounds, tiles::make_bins(pool, tiles, owned.count()));
  if (run.order == tiles::Order::bins) CHECK_MESSAGE(order.bins().edges() > 0, "some tiles are thin");
  ProgramLoops loops(program, owned.count(), tiles, order, mirror_tiles);
  IterationOptions options;
  options.iterations = run.iterations;
  options.has_goal = run.goal >= 0;
  options.start = loops.start(pool, [&vertices = owned](OwnedIndex i) {
    return std::pair(P::start(vertices.ids()[i]), typename P::Constant{});
  });
  if (run.orders != nullptr) options.observer = &(*run.orders)[static_cast<std::size_t>(bootstrap.rank())];
  outcome.records[static_cast<std::size_t>(bootstrap.rank())] =
      iterate(pool, exchange, bounds, owned.indexes(), loops, options).records;
  for (OwnedIndex i{}; i < owned.count(); ++i)
    outcome.values[owned.ids()[i]] = static_cast<float>(loops.values()[i]);
  bootstrap.finish();
}

inline Outcome execute(const Graph& graph, const Run& run, const std::string& another_job = "the same") {
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

inline Graph random_graph(const graph::TemporaryDirectory& directory, std::uint32_t vertices,
                          std::size_t edges, bool weighted = false) {
  std::mt19937 random(vertices);
  std::vector<graph::Edge> list(edges);
  for (auto& edge : list) edge = {random() % vertices, random() % vertices * (random() % 8) / 8, 0.0F};
  if (weighted)
    for (auto& edge : list) std::get<2>(edge) = static_cast<float>(random() % 4);
  graph::build(directory / "g.ew", vertices, list, {.weighted = weighted});
  return Graph::open(directory / "g.ew");
}

}  // namespace edgewire::engine
