#include "dense/plan/count.h"

#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <numeric>

#include "base/bits.h"
#include "base/error.h"
#include "base/parallel.h"
#include "dense/plan/cover.h"

namespace edgewire::plan {

namespace {

constexpr std::uint64_t kRowsAtOnce = 4096;

/// Counters for pairs of processes that several threads increase. Each thread has a copy, if the copies are
/// small.
class Tally {
 public:
  Tally(int processes, int threads)
      : processes_(static_cast<std::size_t>(processes)),
        shared_(processes > 256),
        counts_(processes_ * processes_ * static_cast<std::size_t>(shared_ ? 1 : threads)) {}

  /// Returns the counters of one process towards all.
  std::uint64_t* row(int thread, std::size_t from) noexcept {
    return counts_.data() +
           ((shared_ ? 0 : static_cast<std::size_t>(thread)) * processes_ + from) * processes_;
  }
  void raise(std::uint64_t& count) const noexcept {
    if (shared_) {
      std::atomic_ref(count).fetch_add(1, std::memory_order_relaxed);  // read after the threads have ended
    } else {
      ++count;
    }
  }
  Traffic sum() const {
    Traffic traffic(static_cast<int>(processes_));
    for (std::size_t i = 0; i < counts_.size(); ++i)
      traffic.at(i / processes_ % processes_, i % processes_) += counts_[i];
    return traffic;
  }
  std::uint64_t bytes() const noexcept { return counts_.size() * sizeof(std::uint64_t); }

 private:
  std::size_t processes_;
  bool shared_;
  std::vector<std::uint64_t> counts_;
};

/// Does the part of count_owned() for the destinations [first, last).
template <class Scheme>
void count_range(const Rows& rows, const Scheme& scheme, std::uint64_t first, std::uint64_t last,
                 const CountOptions& options, Bits& worker_bits, Bits& process_bits, Tally& edges,
                 Tally& worker, Tally& process) {
  const std::uint64_t width = last - first;
  const auto workers = static_cast<std::uint32_t>(options.workers);
  const bool all = width == rows.vertices();
  const auto count_row = [&](int thread, VertexId source) {
    const auto home = scheme.home(source);
    std::uint64_t* const edge_counts = edges.row(thread, home.owner);
    std::uint64_t* const worker_counts = worker.row(thread, home.owner);
    std::uint64_t* const process_counts = process.row(thread, home.owner);
    const std::uint64_t worker_base = (std::uint64_t{home.owner} * workers + home.local % workers) * width;
    const std::uint64_t process_base = home.owner * width;
    auto targets = rows.targets.subspan(rows.offsets[source],
                                        rows.offsets[source + std::size_t{1}] - rows.offsets[source]);
    if (!all) {
      const auto begin = std::lower_bound(targets.begin(), targets.end(), first);
      targets = {begin, std::lower_bound(begin, targets.end(), last)};
    }
    for (const VertexId target : targets) {
      const std::uint32_t owner = scheme.home(target).owner;
      edges.raise(edge_counts[owner]);
      if (workers > 1 && !worker_bits.set(worker_base + target - first)) continue;
      if (workers > 1) worker.raise(worker_counts[owner]);
      if (process_bits.set(process_base + target - first)) process.raise(process_counts[owner]);
    }
  };
  parallel_for(options.threads, (rows.vertices() + kRowsAtOnce - 1) / kRowsAtOnce,
               [&](int thread, std::uint64_t block) {
                 const std::uint64_t end = std::min(rows.vertices(), (block + 1) * kRowsAtOnce);
                 for (std::uint64_t source = block * kRowsAtOnce; source < end; ++source)
                   count_row(thread, VertexId(static_cast<PlainId>(source)));
               });
}

/// The edges of one process towards one other, with storage.
struct Pair {
  std::vector<PairRow> rows;
  std::vector<LocalNumber> targets;
};

/// Returns the bytes for a pair and its cover; see minimum_cover().
std::uint64_t pair_bytes(std::uint64_t edges, std::uint64_t sources, std::uint64_t destinations) {
  return edges * sizeof(std::uint32_t) + std::min(edges, sources) * (16 + 32 + 4) + destinations * (9 + 4);
}

/// Returns the edges of process `from` to the processes [first, last).
template <class Scheme>
std::vector<Pair> gather(const Rows& rows, const Scheme& scheme, const Traffic& edges, std::uint32_t from,
                         std::uint32_t first, std::uint32_t last) {
  std::vector<Pair> pairs(last - first);
  for (std::uint32_t to = first; to < last; ++to) {
    if (to != from) pairs[to - first].targets.reserve(edges.at(from, to));  // rows point into the memory
  }
  const std::uint32_t sources = scheme.count(from);
  for (LocalNumber local{}; local < sources; ++local) {
    const VertexId source = scheme.vertex(from, local);
    for (std::uint64_t e = rows.offsets[source]; e < rows.offsets[source + std::size_t{1}]; ++e) {
      const auto home = scheme.home(rows.targets[e]);
      if (home.owner - first >= last - first || home.owner == from) continue;
      Pair& pair = pairs[home.owner - first];
      if (pair.rows.empty() || pair.rows.back().source != local)
        pair.rows.push_back({pair.targets.data() + pair.targets.size(), 0, local});
      ++pair.rows.back().edges;
      pair.targets.push_back(home.local);
    }
  }
  return pairs;
}

/// A process and the receivers [first, last) whose pairs are gathered together.
struct Group {
  std::uint32_t from, first, last;
};

/// Divides the pairs into groups of at most `bytes`. A pair that needs more is a group alone.
std::vector<Group> cut_into_groups(const partition::Ownership& ownership, const Traffic& edges,
                                   std::uint64_t bytes) {
  std::vector<Group> groups;
  const auto processes = static_cast<std::uint32_t>(ownership.processes());
  for (std::uint32_t from = 0; from < processes; ++from) {
    std::uint64_t sum = 0;
    groups.push_back({from, 0, 0});
    for (std::uint32_t to = 0; to < processes; ++to) {
      const auto more =
          from == to ? 0 : pair_bytes(edges.at(from, to), ownership.count(from), ownership.count(to));
      if (sum + more > bytes && groups.back().last > groups.back().first) {
        groups.push_back({from, to, to});
        sum = 0;
      }
      sum += more;
      groups.back().last = to + 1;
    }
  }
  return groups;
}

/// Returns the CPU time of this thread, without time in which other threads had its core.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::uint64_t largest_pair_bytes(const partition::Ownership& ownership, const Traffic& edges) {
  std::uint64_t largest = 1;
  const auto processes = static_cast<std::uint32_t>(ownership.processes());
  for (std::uint32_t from = 0; from < processes; ++from) {
    for (std::uint32_t to = 0; to < processes; ++to) {
      if (from == to) continue;
      largest = std::max(largest, pair_bytes(edges.at(from, to), ownership.count(from), ownership.count(to)));
    }
  }
  return largest;
}

}  // namespace

OwnedTraffic count_owned(const Rows& rows, const partition::Ownership& ownership,
                         const CountOptions& options) {
  const auto processes = static_cast<std::uint64_t>(ownership.processes());
  const auto workers = static_cast<std::uint64_t>(options.workers);
  Tally edges(ownership.processes(), options.threads);
  Tally worker(ownership.processes(), options.threads);
  Tally process(ownership.processes(), options.threads);
  const std::uint64_t sets = processes * (workers > 1 ? workers + 1 : 1);
  const std::uint64_t tally_bytes = edges.bytes() + worker.bytes() + process.bytes();
  const std::uint64_t bits_bytes = options.memory_bytes - std::min(options.memory_bytes, tally_bytes);
  const std::uint64_t fitting = std::max<std::uint64_t>(64, bits_bytes * 8 / sets);
  const std::uint64_t width = std::min(rows.vertices(), fitting);
  OwnedTraffic result;
  for (std::uint64_t first = 0; first < rows.vertices(); first += width) {
    const std::uint64_t last = std::min(rows.vertices(), first + width);
    Bits worker_bits(workers > 1 ? processes * workers * (last - first) : 0);
    Bits process_bits(processes * (last - first));
    ownership.visit([&](const auto& scheme) {
      count_range(rows, scheme, first, last, options, worker_bits, process_bits, edges, worker, process);
    });
    result.memory_bytes = std::max(result.memory_bytes, worker_bits.bytes() + process_bits.bytes());
    ++result.passes;
  }
  result.memory_bytes += tally_bytes;
  result.edges = edges.sum();
  result.process = process.sum();
  result.worker = workers > 1 ? worker.sum() : result.process;
  return result;
}

CoverTraffic count_cover(const Rows& rows, const partition::Ownership& ownership, const Traffic& edges,
                         const CountOptions& options) {
  const std::uint64_t largest = largest_pair_bytes(ownership, edges);
  if (largest > options.memory_bytes)
    throw Error(
        fmt::format("strategy cover needs {} MB of memory for the edges between two of {} processes, the "
                    "limit is {} MB",
                    (largest >> 20) + 1, ownership.processes(), options.memory_bytes >> 20));
  const auto fitting = std::min<std::uint64_t>(options.memory_bytes / largest, 1 << 20);
  const int threads = std::min(options.threads, static_cast<int>(fitting));
  const auto groups =
      cut_into_groups(ownership, edges, options.memory_bytes / static_cast<std::uint64_t>(threads));
  CoverTraffic result{.values = Traffic(ownership.processes()), .moved_edges = Traffic()};
  Traffic moved(ownership.processes()), free(ownership.processes());
  std::atomic<std::uint64_t> matching{0};
  std::atomic<std::uint64_t> memory_bytes{0};
  std::atomic<std::uint64_t> nanoseconds{0};
  parallel_for(threads, groups.size(), [&](int /*thread*/, std::uint64_t index) {
    const Group group = groups[index];
    const double start = thread_seconds();
    auto pairs = ownership.visit(
        [&](const auto& scheme) { return gather(rows, scheme, edges, group.from, group.first, group.last); });
    std::uint64_t bytes = 0;
    for (std::uint32_t to = group.first; to < group.last; ++to) {
      Pair& pair = pairs[to - group.first];
      if (pair.rows.empty()) continue;
      bytes += pair_bytes(pair.targets.size(), pair.rows.size(), ownership.count(to));
      const PairEdges between{{pair.rows}, ownership.count(group.from), ownership.count(to)};
      auto cover = minimum_cover(between);
      count_moved(between, cover);
      pair = {};
      result.values.at(group.from, to) = cover.values();
      moved.at(group.from, to) = cover.moved_edges;
      free.at(group.from, to) = cover.free_edges;
      matching += cover.matching;
    }
    nanoseconds += static_cast<std::uint64_t>((thread_seconds() - start) * 1e9);
    std::uint64_t most = memory_bytes;
    while (most < bytes && !memory_bytes.compare_exchange_weak(most, bytes)) {
    }
  });
  result.moved_edges = balance(edges, std::move(moved), free);
  result.matching = matching;
  result.memory_bytes = memory_bytes * static_cast<std::uint64_t>(threads);
  result.core_seconds = static_cast<double>(nanoseconds) * 1e-9;
  return result;
}

namespace {
constexpr std::uint64_t kTolerated = 100;  // parts of the mean: up to 1 % above it is fine
}

std::vector<std::uint64_t> computed_edges(const Traffic& edges, const Traffic* moved) {
  std::vector<std::uint64_t> computed = edges.sent(true);
  if (moved == nullptr) return computed;
  for (std::size_t from = 0; from < computed.size(); ++from) {
    for (std::size_t to = 0; to < computed.size(); ++to) {
      computed[from] -= moved->at(from, to);
      computed[to] += moved->at(from, to);
    }
  }
  return computed;
}

Traffic balance(const Traffic& edges, Traffic moved, const Traffic& free) {
  auto computed = computed_edges(edges, &moved);
  if (computed.empty()) return moved;
  const std::uint64_t mean =
      std::accumulate(computed.begin(), computed.end(), std::uint64_t{0}) / computed.size();
  std::vector<std::size_t> order(computed.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t p, std::size_t q) { return computed[p] < computed[q]; });
  for (auto from = order.rbegin(); from != order.rend(); ++from) {
    if (computed[*from] <= mean + mean / kTolerated) break;
    for (const std::size_t to : order) {
      if (computed[*from] <= mean || computed[to] >= mean) continue;
      const std::uint64_t more = std::min({free.at(*from, to), computed[*from] - mean, mean - computed[to]});
      moved.at(*from, to) += more;
      computed[*from] -= more;
      computed[to] += more;
    }
  }
  return moved;
}

}  // namespace edgewire::plan
