#include "bounds/bound.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "bounds/memory.h"
#include "dense/plan/edge_partition.h"
#include "options/kernels.h"
#include "options/measures.h"
#include "partition/ownership.h"
#include "transport/handshake.h"

namespace edgewire::bounds {

namespace {

using plan::Strategy;
using plan::Traffic;

/// The traffic of one strategy, without encoding yet.
struct Counted {
  Strategy strategy;
  const Traffic* values;
  std::vector<std::uint64_t> computed_edges;
  /// Number of leaving edges, [process]; empty where processes own edges.
  std::vector<std::uint64_t> leaving_edges{};
  std::optional<CoverFigures> cover{};
};

std::uint64_t most_peers(const Traffic& traffic) {
  const auto processes = static_cast<std::size_t>(traffic.processes());
  std::uint64_t most = 0;
  for (std::size_t from = 0; from < processes; ++from) {
    std::uint64_t peers = 0;
    for (std::size_t to = 0; to < processes; ++to) peers += from != to && traffic.at(from, to) > 0 ? 1 : 0;
    most = std::max(most, peers);
  }
  return most;
}

class Calculator {
 public:
  Calculator(const plan::Rows& rows, const BoundOptions& options, const Progress& progress)
      : rows_(rows),
        options_(options),
        progress_(progress),
        count_{.workers = options.workers, .threads = options.threads, .memory_bytes = options.memory_bytes} {
  }

  Bound run() {
    for (const int processes : options_.processes)
      for (const auto& ownership : options_.ownerships) {
        if (partition::owns_edges(ownership))
          add_edge_owners(ownership, processes);
        else
          add_vertex_owners(ownership, processes);
        if (progress_)
          progress_({"counting", ++done_, options_.processes.size() * options_.ownerships.size(), "counts"});
      }
    return std::move(bound_);
  }

 private:
  bool wants(Strategy strategy) const {
    return std::ranges::find(options_.strategies, strategy) != options_.strategies.end();
  }

  void add_vertex_owners(const std::string& how, int processes) {
    const auto ownership =
        partition::Ownership::create(partition_path(how, processes), rows_.offsets, processes);
    const auto owned = plan::count_owned(rows_, ownership, count_);
    note(owned.memory_bytes, owned.passes);
    const auto at_source = plan::computed_edges(owned.edges);
    const auto leaving = owned.edges.sent(false);
    const std::pair<Strategy, const Traffic*> published[] = {{Strategy::edge, &owned.edges},
                                                             {Strategy::worker, &owned.worker},
                                                             {Strategy::process, &owned.process},
                                                             {Strategy::slots, &owned.process}};
    for (const auto& [strategy, values] : published)
      if (wants(strategy)) add_rows(how, {strategy, values, at_source, leaving});
    if (!wants(Strategy::cover)) return;
    const auto cover = plan::count_cover(rows_, ownership, owned.edges, count_);
    note(cover.memory_bytes, owned.passes);
    const std::uint64_t values = plan::volume(cover.values, {8}).values_sent_total;
    add_rows(how, {Strategy::cover, &cover.values, plan::computed_edges(owned.edges, &cover.moved_edges),
                   leaving, CoverFigures{cover.matching, cover.gap(values), cover.core_seconds}});
  }

  void add_edge_owners(const std::string& how, int processes) {
    if (!wants(Strategy::slots) && !wants(Strategy::cover)) return;
    const auto partition = plan::partition_edges(how, rows_, processes, options_.threads);
    for (const Strategy strategy : {Strategy::slots, Strategy::cover}) {
      if (!wants(strategy)) continue;
      const auto counted = plan::count_blocks(rows_, partition, strategy, count_);
      note(counted.memory_bytes, counted.passes);
      add_rows(how, {strategy, &counted.values, counted.computed_edges});
    }
  }

  void add_rows(const std::string& ownership, const Counted& counted) {
    const bool was_published = counted.strategy == Strategy::edge || counted.strategy == Strategy::worker ||
                               counted.strategy == Strategy::process;
    for (const auto encoding : options_.encodings) {
      add_row(ownership, counted, encoding, false);
      if (options_.as_published_2015 && was_published && !plan::is_rounded(encoding))
        add_row(ownership, counted, encoding, true);
    }
  }

  void add_row(const std::string& ownership, const Counted& counted, plan::Encoding encoding,
               bool with_self) {
    BoundRow row;
    row.processes = counted.values->processes();
    row.workers = options_.workers;
    row.ownership = ownership;
    row.strategy = counted.strategy;
    row.encoding = encoding;
    row.self_traffic = with_self;
    row.volume = plan::volume(*counted.values, plan::value_size(counted.strategy, encoding), with_self);
    row.edges_max = std::ranges::max(counted.computed_edges);
    row.edges_mean = static_cast<double>(rows_.edges()) / row.processes;
    row.cover = counted.cover;
    row.memory_bytes = memory_of(counted, encoding);
    const std::uint64_t wire_bytes = row.volume.wire_bytes_max[options_.framing];
    for (const auto& [name, bits] : options_.rates)
      row.seconds_at.push_back(plan::seconds_at(wire_bytes, bits));
    if (options_.model && !with_self) add_predictions(row, most_peers(*counted.values));
    bound_.rows.push_back(std::move(row));
  }

  /// Returns the bytes of memory of the process that needs most of it.
  std::uint64_t memory_of(const Counted& counted, plan::Encoding encoding) const {
    const auto sent = counted.values->sent(false);
    std::uint64_t most = 0;
    for (std::size_t p = 0; p < sent.size(); ++p)
      most = std::max(most,
                      dense_memory({.processes = counted.values->processes(),
                                    .strategy = counted.strategy,
                                    .edges_owned = counted.leaving_edges.empty(),
                                    .vertices = rows_.vertices() / sent.size() + 1,
                                    .edges = counted.computed_edges[p],
                                    .leaving = counted.leaving_edges.empty() ? 0 : counted.leaving_edges[p],
                                    .values = sent[p],
                                    .value_bytes = plan::message_bytes(encoding),
                                    .weight_bytes = options_.weight_bytes}));
    return most;
  }

  void add_predictions(BoundRow& row, std::uint64_t messages) const {
    const auto edges = static_cast<double>(row.edges_max);
    const auto vertices = static_cast<double>(rows_.vertices()) / row.processes;
    const Demand demand{.processes = row.processes,
                        .edges = edges,
                        .wire_bytes = row.volume.wire_bytes_max[options_.framing],
                        .messages = messages,
                        .memory_bytes = memory_bytes(edges, vertices, 2 * row.volume.values_sent_max,
                                                     plan::message_bytes(row.encoding))};
    for (const auto& [name, bits] : options_.rates) {
      Rates rates = *options_.model;
      rates.line_bits_per_s = static_cast<double>(bits);
      row.predictions.push_back(predict(demand, rates));
    }
  }

  void note(std::uint64_t bytes, std::uint32_t passes) {
    bound_.counting_bytes = std::max(bound_.counting_bytes, bytes);
    bound_.passes = std::max(bound_.passes, passes);
  }

  const plan::Rows& rows_;
  const BoundOptions& options_;
  const Progress& progress_;
  std::size_t done_ = 0;
  plan::CountOptions count_;
  Bound bound_;
};

}  // namespace

void check(const BoundOptions& options) {
  const auto some = [](bool there, const char* name) {
    if (!there) throw UsageError(fmt::format("{}: name at least one", name));
  };
  some(!options.processes.empty(), "processes");
  some(!options.ownerships.empty(), "ownerships");
  some(!options.strategies.empty(), "strategies");
  some(!options.encodings.empty(), "encodings");
  for (const int processes : options.processes)
    check_range(opt::bound_processes, processes, 1, static_cast<int>(partition::kMaxProcesses));
  check_ownerships(options.ownerships, options.processes, false);
  check_range(opt::bound_workers, options.workers, 1, 1 << 14);
  check_range(opt::threads, options.threads, 1, static_cast<int>(opt::threads.most));
  check_range("framing", options.framing, std::size_t{0}, plan::kFramings.size() - 1);
  check_range(opt::bound_memory, options.memory_bytes, std::uint64_t{1}, ~std::uint64_t{0});
  for (const auto& [name, bits] : options.rates)
    check_range("rates", bits, std::uint64_t{1}, std::uint64_t{1'000'000'000'000'000});
  if (!options.model) return;
  constexpr double kLeast = 1e-300, kMost = 1e300;
  check_range("edges_per_core_s", options.model->edges_per_core_s, kLeast, kMost);
  check_range("cores", options.model->cores, 1, 1 << 16);
  check_range("memory_bytes_per_s", options.model->memory_bytes_per_s, 0, kMost);
  check_range("latency_s", options.model->latency_s, 0, kMost);
}

std::uint64_t setup_messages(int processes, int workers) {
  constexpr int kCollectiveCalls = 13;  // command, workers, nodes, options, rows here, layout, sizes,
                                        // addresses, places, order, chunks, traffic, tiles' order
  constexpr int kLists = 2;             // lists of the values sent, and of the order in which they are taken
  const int connections = 1 + workers;
  const int a_peer =
      static_cast<int>(transport::Handshake::kMessages) * connections + kCollectiveCalls + kLists;
  return static_cast<std::uint64_t>(processes - 1) * static_cast<std::uint64_t>(a_peer);
}

Bound compute_bound(const plan::Rows& rows, const BoundOptions& options, const Progress& progress) {
  check(options);
  check_partition_files(options.ownerships, options.processes, rows.vertices());
  return Calculator(rows, options, progress).run();
}

std::string partition_path(const std::string& ownership, int processes) {
  std::string path = ownership;
  if (const auto hole = path.find("{}"); hole != std::string::npos)
    path.replace(hole, 2, std::to_string(processes));
  return path;
}

void check_ownerships(std::span<const std::string> ownerships, std::span<const int> processes,
                      bool may_be_auto) {
  const std::span all(partition::kOwnershipNames);
  const auto offered = may_be_auto ? all : all.first(all.size() - 1);
  for (const std::string& one : ownerships) {
    if (one == "auto" && !may_be_auto)
      throw options::wrong(opt::ownership("auto"), "each ownership is counted: name them, as in hash,ranges");
    for (const int p : processes) partition::check_ownership_name(partition_path(one, p), offered);
  }
}

void check_partition_files(std::span<const std::string> ownerships, std::span<const int> processes,
                           std::uint64_t vertices) {
  for (const int p : processes)
    for (const std::string& one : ownerships)
      if (const auto path = partition::partition_file(partition_path(one, p)); !path.empty())
        partition::Ownership::from_file(path, vertices, p);
}

}  // namespace edgewire::bounds
