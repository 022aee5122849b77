#include "job/dense_job.h"

#include <fmt/core.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "disk/busy_devices.h"
#include "error.h"
#include "job/compute_rate.h"
#include "job/layout_choice.h"
#include "job/ownership_choice.h"
#include "job/plan_cache.h"
#include "launch/agreement.h"
#include "launch/packing.h"
#include "plan/balance.h"
#include "plan/block_plan.h"
#include "seconds.h"
#include "tiles/plan_readers.h"
#include "topology/machine.h"

namespace edgewire::job {

namespace {

using Clock = std::chrono::steady_clock;

const graph::GraphFile& checked(const graph::GraphFile& graph, const DenseOptions& options) {
  check(options, graph);
  return graph;
}

}  // namespace

std::uint64_t column_edges(std::uint64_t edges, int workers) noexcept {
  return std::max<std::uint64_t>(edges / (tiles::kColumnsPerWorker * static_cast<std::uint64_t>(workers)),
                                 1 << 16);
}

tiles::TileSizes tile_sizes(const DenseOptions& options, const topology::Machine& machine) {
  return tiles::TileSizes::for_caches(machine.l1_bytes, machine.l2_bytes,
                                      plan::message_bytes(options.encoding));
}

DenseJob::DenseJob(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const DenseOptions& options,
                   const topology::Machine& machine)
    : bootstrap_(bootstrap),
      graph_(checked(graph, options)),
      weighted_(options.weighted),
      seat_(bootstrap, options.seat, exchange::kFirstLaneKind + options.seat.workers, machine) {
  agree(options);
  std::optional<PlanCache> cache;
  if (!options.plan_cache.empty()) cache.emplace(*this, options, machine);
  if (!cache || !cache->take()) {
    if (plan::owns_edges(options.ownership)) {
      build_block(options, machine);
    } else {
      choose_ownership(options);
      build(options, machine);
    }
    choose_order(options, machine);
    if (cache) cache->keep();
  } else {
    choose_order(options, machine);
  }
  if (disk_tiles_) plan_reads(options);
  place_inbox();
  malloc_trim(0);  // iterating needs little of what the plan took
}

void DenseJob::agree(const DenseOptions& options) {
  const std::string strategy =
      options.choose_strategy ? "auto" : std::string(plan::to_name(options.strategy));
  const auto yes = [](bool holds) { return std::string(holds ? "yes" : "no"); };
  launch::check_agreement(
      bootstrap_, {{"the kernel", options.kernel},
                   {"the graph", fmt::format("{:016x} ({} vertices, {} edges)", graph_.checksum(),
                                             graph_.vertices(), graph_.edges())},
                   {"the ownership", plan::fact_of(options.ownership)},
                   {"the transport", std::string(seat_.link().name())},
                   {"the strategy", strategy},
                   {"the encoding", std::string(plan::to_name(options.encoding))},
                   {"the layout", options.choose_layout ? "auto" : "set"},
                   {"the order", options.order.choose ? "auto" : std::string(to_name(options.order.order))},
                   {"the number of workers", std::to_string(options.seat.workers)},
                   {"the assumed rate of computing", fmt::format("{} edges/s", options.assumed_compute_rate)},
                   {"the link's rate", options.assumed_link_rate > 0 ? "assumed" : "measured"},
                   {"the use of a plan cache", yes(!options.plan_cache.empty())},
                   {"the use of weights", yes(options.weighted)},
                   {"the check of integrity", yes(options.seat.integrity)},
                   {"the number of disks for edges", std::to_string(options.devices.size())}});
}

double DenseJob::link_rate(const DenseOptions& options) {
  if (options.assumed_link_rate > 0) return options.assumed_link_rate;
  if (link_bytes_per_s_ == 0) link_bytes_per_s_ = measure_link();
  return link_bytes_per_s_;
}

double DenseJob::compute_rate(const DenseOptions& options) {
  if (options.assumed_compute_rate > 0) return options.assumed_compute_rate;
  if (worker_edges_per_s_ == 0) {
    worker_edges_per_s_ = launch::allreduce(bootstrap_, measure_compute_rate(seat_.pool()), std::ranges::min);
  }
  return worker_edges_per_s_;
}

void DenseJob::choose_ownership(const DenseOptions& options) {
  ownership_name_ = options.ownership;
  if (options.ownership == "auto" || options.ownership.starts_with("auto,")) {
    std::vector<std::string> candidates{"hash", "ranges"};
    if (options.ownership != "auto") candidates.push_back(options.ownership.substr(5));
    ownership_name_ = "hash";
    if (bootstrap_.size() > 1) {
      auto choice = job::choose_ownership(bootstrap_, seat_.pool(), graph_, candidates,
                                          {link_rate(options), compute_rate(options) * options.seat.workers,
                                           plan::value_bytes(options.encoding)});
      ownership_name_ = choice.ownership;
      ownership_table_ = std::move(choice.table);
    }
  }
  ownership_ = plan::Ownership::create(ownership_name_, graph_.offsets(), bootstrap_.size());
}

void DenseJob::choose_order(const DenseOptions& options, const topology::Machine& machine) {
  const auto start = Clock::now();
  OrderOptions wanted = disk_tiles_ ? OrderOptions{} : options.order;
  if (wanted.choose && !order_.reason.empty()) wanted = {order_.order, false, order_.reason};  // from a cache
  const std::uint64_t workers = static_cast<std::uint64_t>(options.seat.workers) * bootstrap_.local_size();
  order_ = order_tiles(wanted,
                       {tiles_,
                        column_bounds_,
                        column_nodes_,
                        owned_->count() + mirror_sources_,
                        {machine.l2_bytes, machine.l3_bytes, machine.l3_bytes / workers},
                        options.weighted},
                       *exchange_, bootstrap_, seat_.pool());
  seconds_plan += seconds_since(start);
}

/// Tells of the progress of `step`. Both outlive it.
plan::ForEach DenseJob::on_workers(const DenseOptions& options, const std::string_view& step) {
  return [this, &options, &step](std::uint64_t count, const std::function<void(int, std::uint64_t)>& work) {
    std::atomic<std::uint64_t> done{0};
    seat_.pool().for_each(count, [&](int worker, std::uint64_t index) {
      work(worker, index);
      if (options.progress) options.progress(step, done.fetch_add(1, std::memory_order_relaxed) + 1, count);
    });
  };
}

void DenseJob::build(const DenseOptions& options, const topology::Machine& machine) {
  std::string_view step = "load";
  const plan::ForEach for_each = on_workers(options, step);
  auto start = Clock::now();
  const auto sizes = tile_sizes(options, machine);
  order_vertices(options, sizes, for_each);
  seconds_load = seconds_since(start);

  start = Clock::now();
  step = "plan";
  const auto made = make_plan(options, for_each);
  plan::ExchangePlan& plan = *made;
  matching_ = plan.matching();
  if (!plan.covers().empty()) balance(plan, for_each);
  exchange_ = std::make_unique<exchange::Exchange>(bootstrap_, seat_.link(), *owned_, plan, strategy_,
                                                   options.encoding, options.seat.workers, for_each);
  std::vector<std::uint64_t> edges;
  column_bounds_ = plan.cut_columns(sizes.column_width, column_edges(plan.edges(), options.seat.workers),
                                    for_each, &edges);
  plan.address_by_column(column_bounds_, *owned_, for_each);
  spread_columns(machine, edges);
  if (options.devices.empty())
    tiles_ = tiles::build_tiles(seat_.pool(), tiles::PlanReader(plan), column_bounds_, memory_nodes_, sizes);
  else
    build_on_disks(options, plan, sizes);
  build_mirror_tiles(plan, sizes);
  plan.return_indexes(column_bounds_, *owned_, for_each);
  deal_columns();
  count_traffic();
  for_each_rows(for_each,
                [this](std::uint64_t first, std::uint64_t last) { graph_.release_rows(first, last); });
  seconds_plan = seconds_since(start);
}

/// Calls work(first, last) for pieces of the graph's rows.
void DenseJob::for_each_rows(const plan::ForEach& for_each,
                             const std::function<void(std::uint64_t, std::uint64_t)>& work) const {
  const std::uint64_t rows =
      graph_.vertices() / (16 * static_cast<std::uint64_t>(seat_.pool().workers())) + 1;
  for_each((graph_.vertices() + rows - 1) / rows, [&](int, std::uint64_t piece) {
    work(piece * rows, std::min((piece + 1) * rows, graph_.vertices()));
  });
}

void DenseJob::order_vertices(const DenseOptions& options, const tiles::TileSizes& sizes,
                              const plan::ForEach& for_each) {
  layout_ = options.layout;
  if (!options.choose_layout) {
    owned_ = std::make_unique<plan::OwnedVertices>(graph_, *ownership_, bootstrap_.rank(), layout_, for_each);
    return;
  }
  auto choice = choose_layout(bootstrap_, graph_, *ownership_, seat_.pool(), sizes, for_each);
  owned_ = std::move(choice.owned);
  layout_ = choice.layout;
  layout_reason_ = std::move(choice.reason);
}

std::unique_ptr<plan::ExchangePlan> DenseJob::make_plan(const DenseOptions& options,
                                                        const plan::ForEach& for_each) {
  const auto with = [&](plan::Strategy strategy) {
    strategy_ = strategy;
    return std::make_unique<plan::ExchangePlan>(graph_, *ownership_, bootstrap_.rank(), *owned_, strategy,
                                                options.seat.workers, for_each, options.weighted);
  };
  auto plan = with(options.choose_strategy ? plan::Strategy::slots : options.strategy);
  if (!options.choose_strategy || bootstrap_.size() == 1 || !options.devices.empty()) return plan;
  const double rate = link_rate(options);
  double values = 0;
  for (const auto& stream : plan->streams()) values += stream.slots;
  const std::vector<double> mine{
      values * static_cast<double>(plan::value_bytes(options.encoding)) / rate,
      static_cast<double>(owned_->edges()) / (compute_rate(options) * options.seat.workers)};
  // Seconds sending and computing, of the most loaded process.
  const auto most = launch::allreduce(bootstrap_, mine, std::ranges::max);
  const bool wire_limits = most[0] > most[1];
  if (wire_limits) plan = with(plan::Strategy::cover);
  strategy_reason_ = fmt::format(
      "{}: sending all sums would take {:.4f} s at the link's {:.2f} Gbit/s ({}), computing {:.4f} s at "
      "{:.2g} "
      "edges/s a worker ({})",
      plan::to_name(strategy_), most[0], rate * 8e-9, options.assumed_link_rate > 0 ? "assumed" : "measured",
      most[1], compute_rate(options), options.assumed_compute_rate > 0 ? "assumed" : "measured");
  return plan;
}

void DenseJob::build_mirror_tiles(const plan::ExchangePlan& plan, const tiles::TileSizes& sizes) {
  mirror_tiles_.resize(static_cast<std::size_t>(bootstrap_.size()));
  if (plan.covers().empty()) return;
  const auto bounds = std::span(column_bounds_).first(column_nodes_.size() + 1);
  const auto addresses = plan.owned_addresses();
  for (const auto& stream : exchange_->incoming()) {
    if (!stream.mirrors || stream.targets.empty()) continue;
    const plan::MovedRows rows(exchange_->take_moved(stream.peer), stream.peer,
                               static_cast<std::uint32_t>(stream.targets.size()), owned_->count(),
                               plan.weight_bytes());
    mirror_tiles_[static_cast<std::size_t>(stream.peer)] =
        tiles::build_tiles(seat_.pool(), tiles::MovedReader(rows, addresses), bounds,
                           std::span(memory_nodes_).first(bounds.size() - 1), sizes);
  }
}

/// All processes agree which edges either of two of them computes, and hand over those that move.
void DenseJob::balance(plan::ExchangePlan& plan, const plan::ForEach& for_each) {
  const auto processes = static_cast<std::size_t>(bootstrap_.size());
  const auto& covers = plan.covers();
  std::vector<std::uint64_t> mine(2 * processes);  // of moved and free edges, and all that are in neither
  for (std::size_t p = 0; p < processes; ++p) {
    mine[p] = covers[p].moved_edges;
    mine[processes + p] = covers[p].free_edges;
  }
  mine.push_back(plan.edges());
  plan::Traffic edges(bootstrap_.size()), moved(bootstrap_.size()), free(bootstrap_.size());
  const auto rows = launch::allgather(bootstrap_, mine);
  for (std::size_t from = 0; from < processes; ++from) {
    const auto& row = rows[from];
    edges.at(from, from) = row.back();
    for (std::size_t to = 0; to < processes; ++to) {
      moved.at(from, to) = row[to];
      free.at(from, to) = row[processes + to];
      if (from != to) {
        edges.at(from, to) = row[to];
        edges.at(from, from) -= row[to];
      }
    }
  }
  const auto balanced = plan::balance(edges, moved, free);
  const auto me = static_cast<std::size_t>(bootstrap_.rank());
  std::vector<std::uint64_t> more;
  for (std::size_t to = 0; to < processes; ++to) more.push_back(balanced.at(me, to) - moved.at(me, to));
  plan.move_edges(more, for_each);
}

void DenseJob::count_traffic() {
  traffic_ = plan::Traffic(bootstrap_.size());
  std::vector<std::uint64_t> to(static_cast<std::size_t>(bootstrap_.size()));
  for (const auto& stream : exchange_->outgoing()) to[static_cast<std::size_t>(stream.peer)] += stream.slots;
  const auto rows = launch::allgather(bootstrap_, to);
  for (std::size_t p = 0; p < rows.size(); ++p) {
    for (std::size_t q = 0; q < to.size(); ++q) traffic_.at(p, q) = rows[p][q];
  }
}

engine::IterationResult DenseJob::iterate(engine::Loops& loops, engine::IterationOptions options) {
  options.column_nodes = column_nodes_;
  options.column_workers = column_workers_;
  options.worker_nodes = worker_nodes_;
  setup_messages_ = bootstrap_.messages_sent() + seat_.handshake_messages() + exchange_->setup_messages();
  const auto run = [&] {
    return engine::iterate(seat_.pool(), *exchange_, column_bounds_, owned_->indexes(), loops, options);
  };
  if (!disk_tiles_) {
    auto result = run();
    count_memory(loops, result);
    return result;
  }
  const disk::BusyDevices devices(disk_tiles_->paths());
  const auto start = Clock::now();
  auto result = run();
  disk_figures_.seconds = seconds_since(start);
  disk_figures_.seconds_busy = devices.seconds();
  disk_figures_.bytes_read = disk_tiles_->bytes_read();
  disk_figures_.stored_bytes = disk_tiles_->where().padded_bytes();
  count_memory(loops, result);
  return result;
}

}  // namespace edgewire::job
