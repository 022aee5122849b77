// The frontier folder runs kernels that follow only the edges of vertices that have changed. This file has
// what such a kernel needs before it starts. Rows come from the mapped file, or from disks.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/seconds.h"
#include "disk/read_probe.h"
#include "edgewire/frontier.h"
#include "edgewire/graph.h"
#include "edgewire/progress.h"
#include "frontier/boundary.h"
#include "frontier/known_rows.h"
#include "frontier/records.h"
#include "frontier/row_cache.h"
#include "frontier/row_pages.h"
#include "frontier/row_reader.h"
#include "launch/bootstrap.h"
#include "partition/owned_rows.h"
#include "partition/ownership.h"
#include "partition/row_loader.h"
#include "process/local_process.h"

namespace edgewire::frontier {

/// Counts, bytes and time of one superstep in one process.
struct Superstep {
  std::uint64_t step = 0;  ///< number that the kernel counts: a bucket, a level, a round
  std::uint64_t kind = 0;  ///< kind of the superstep, where the kernel has several
  /// Number of vertices whose edges were followed; a vertex may count more than once.
  std::uint64_t frontier = 0;
  std::uint64_t edges = 0;  ///< number of edges out of them
  Sent sent;
  double seconds = 0;

  /// Adds the counts and times of another one; `step` and `kind` stay.
  Superstep& operator+=(const Superstep& more) noexcept {
    frontier += more.frontier;
    edges += more.edges;
    sent += more.sent;
    seconds += more.seconds;
    return *this;
  }
};

struct Options {
  process::ProcessOptions process{};
  std::string ownership = "hash";             ///< ownership: hash, ranges or the path of a partition file
  std::size_t record_bytes = sizeof(Record);  ///< size of all records
  RowReading rows = RowReading::automatic;    ///< way of reading rows: own, where they go to disks
  RowDisks disks{};
  /// Whether the link is left to a tasks::TaskJob, which connects it: there are no records() then, and all
  /// rows are checked in each process.
  bool for_tasks = false;
  std::string kernel{};  ///< name of the computation, which must be the same in all processes
  /// Called after each superstep of this process, by the thread that runs the kernel.
  std::function<void(const Superstep&)> listener = [](const Superstep&) {};
  /// Called by any worker with the progress of this process within a long superstep: the number of sources
  /// from which it has searched, where Searches are tasks; the number of vertices that Lcc has looked at.
  Progress progress{};
};

/// Throws UsageError when an option makes no sense, and Error when the graph lacks what it asks for.
void check(const Options& options, const Graph& graph);

/// Throws UsageError unless the vertex is one of the graph.
void expect_vertex(const Graph& graph, VertexId vertex);

/// Returns up to how many edges are few: then a process goes on alone, and nobody counts what comes next.
inline std::uint64_t few_edges(const Graph& graph) {
  constexpr std::uint64_t kPart = 1024, kLeast = 64, kMost = 4096;
  return std::clamp(graph.edges() / kPart, kLeast, kMost);
}

/// A function that gives owned vertices, in spans that stay until the next call; an empty one is the last.
using TakeOwned = std::function<std::span<const LocalNumber>()>;

/// One process's part of the job. Collective; throws Error. `graph` and `bootstrap` outlive it.
class Job {
 public:
  Job(launch::Bootstrap& bootstrap, const Graph& graph, const Options& options);
  /// Makes a job for one thread alone, which owns all vertices; a vertex and its local number are the same.
  /// The rows have been checked. `alone`: the result of launch::alone(). `rows` are those of all vertices;
  /// they outlive it, so that jobs share them. Empty: those of the file, or of make_rows().
  Job(launch::Bootstrap& alone, const Graph& graph, std::optional<KnownRows> rows = {});

  launch::Bootstrap& bootstrap() noexcept { return bootstrap_; }
  const Graph& graph() const noexcept { return graph_; }
  const partition::Ownership& ownership() const noexcept { return *ownership_; }
  /// Returns the degrees and weights of the owned vertices, see partition::load_rows(). For ids see ids_of().
  const partition::OwnedRows& owned_rows() const noexcept { return owned_rows_; }
  /// Returns the row of an owned vertex. `room`: takes ids where rows have become numbers.
  std::span<const VertexId> ids_of(LocalNumber local, std::vector<VertexId>& room) const {
    if (!ids_are_numbers()) return owned_rows_.row(ownership_->vertex(rank(), local));
    room.clear();
    for (const KnownNumber n : rows_[local]) room.push_back(boundary_->vertex(n));
    return room;
  }
  /// Returns the same as a function, to be called later.
  IdsOf all_ids() const {
    return [this](LocalNumber local, std::vector<VertexId>& room) { return ids_of(local, room); };
  }
  /// Returns the number of vertices of this process; they have the local numbers 0 to owned() - 1.
  std::uint32_t owned() const noexcept { return owned_; }
  std::uint32_t rank() const noexcept { return static_cast<std::uint32_t>(bootstrap_.rank()); }
  process::LocalProcess& process() noexcept { return process_; }
  topology::WorkerPool& pool() noexcept { return process_.pool(); }
  transport::Transport& link() noexcept { return process_.link(); }
  Records& records() noexcept { return *records_; }
  /// Returns the boundary, empty in a process alone. It is there unless the link is left to tasks.
  const Boundary& boundary() const noexcept { return *boundary_; }
  /// Returns the number of vertices that this process knows.
  std::uint32_t known() const noexcept { return boundary_ ? boundary_->known() : owned(); }
  /// Makes the rows of known vertices, where rows are in memory, and there are several processes or the ids
  /// of the file are wider than numbers; once. Kernels that follow rows call it. Memory: see OwnKnownRows,
  /// and 8 bytes more for each owned vertex where edges have weights; none where rows are in memory already,
  /// where their ids become numbers.
  void make_rows();
  /// Returns a copy of the rows of the owned vertices, with the numbers that another boundary gives to
  /// vertices; null: this process owns all vertices.
  OwnKnownRows copy_rows(const Boundary* boundary);
  /// Returns the rows of the owned vertices, after make_rows(), where rows are in memory.
  KnownRows rows() const noexcept { return rows_; }
  /// Returns how many edges lead out of an owned vertex; after make_rows().
  std::uint64_t degree(LocalNumber local) const noexcept {
    if (!on_disks()) return rows_[local].size();
    return owned_rows_.degree(ownership_->vertex(rank(), local));
  }
  /// Calls work(known) with a Boundary::Known or AllKnown, which have the numbers of vertices.
  template <class Work>
  void visit_known(const Work& work) const {
    if (const Boundary* const boundary = numbering())
      boundary->visit(work);
    else
      work(AllKnown{});
  }
  /// Returns whether no other process takes part.
  bool is_only() const noexcept { return bootstrap_.size() == 1; }
  /// Returns, in all processes, the sums of the numbers that they pass. Collective, between supersteps.
  template <std::size_t Count>
  std::array<std::uint64_t, Count> sum_of_all(const std::array<std::uint64_t, Count>& mine) {
    if (is_only()) return mine;
    std::array<std::uint64_t, Count> sum{};
    const auto all = records().allgather(mine);
    for (std::size_t i = 0; i < all.size(); ++i) sum[i % Count] += all[i];
    return sum;
  }
  std::uint64_t sum_of_all(std::uint64_t mine) { return sum_of_all(std::array{mine})[0]; }
  /// Returns the least of the numbers that all processes pass.
  std::uint64_t min_of_all(std::uint64_t mine) { return is_only() ? mine : records().min_of_all(mine); }
  /// Returns when all processes have called it, see process::barrier(). Collective, while workers rest.
  void wait_for_all();
  void tell(Superstep done) const {
    done.kind = told_kind_.value_or(done.kind);
    if (listener_) listener_(done);
  }
  const Progress& progress() const noexcept { return progress_; }
  /// Reports supersteps from here on with this kind, or their own: another kernel runs as a part of one.
  void tell_as(std::optional<std::uint64_t> kind) noexcept { told_kind_ = kind; }

  /// Returns the size of each of records().
  std::size_t record_bytes() const noexcept { return record_bytes_; }

  // Kernels check their needs before they run. All of these functions throw UsageError.
  /// Throws unless the vertex is one of the graph.
  void expect_vertex(VertexId vertex) const { frontier::expect_vertex(graph_, vertex); }
  /// Throws unless Options::record_bytes is that of the kernel's records, and the link is not left to tasks.
  void expect_records(std::size_t bytes) const;
  /// Throws unless edges have weights, or have none: see Options::disks.
  void expect_weights(bool weighted) const;
  /// Throws unless Options::for_tasks was set.
  void expect_tasks() const;

  /// Calls work(known edges) for the rows of the vertices that take() gives (see TakeOwned), in this order.
  /// By a worker, after make_rows(). Edges have weights where Options::disks says so. Where work() returns
  /// false, the row will be asked for again, which helps where rows are on disks. Throws Error.
  template <class Take, class Work>
  void each_row(int worker, const Take& take, const Work& work) {
    if (on_disks()) {
      each_row_on_disks(worker, std::cref(take), [&](const FrontierRow& edges) {
        if constexpr (std::is_void_v<decltype(work(edges))>) {
          work(edges);
          return true;
        } else {
          return work(edges);
        }
      });
      return;
    }
    const KnownRows rows = rows_;
    const KnownWeights weights = weights_;
    for (std::span<const LocalNumber> chunk = take(); !chunk.empty(); chunk = take()) {
      for (std::size_t i = 0; i < chunk.size(); ++i) {
        if (chunk.size() - i > kAhead) {
          rows.fetch_begin(chunk[i + kAhead]);
          weights.fetch_begin(chunk[i + kAhead]);
          const auto next = rows[chunk[i + kAhead / 2]];
          fetch(next.data(), next.size());
          fetch(weights.of(chunk[i + kAhead / 2], next.size()).bytes().data(), next.size());
        }
        const auto targets = rows[chunk[i]];
        work(FrontierRow{chunk[i], targets, weights.of(chunk[i], targets.size())});
      }
    }
  }
  /// Does the same for a list of owned vertices that the workers share: `next`, 0 before, is the first vertex
  /// that none has taken. Calls fetch(vertex) some time before work().
  template <class Work, class Fetch = void (*)(KnownNumber)>
  void each_shared_row(
      int worker, std::span<const KnownNumber> list, std::atomic<std::size_t>& next, const Work& work,
      const Fetch& fetch = [](KnownNumber) {}) {
    // The first rows of a piece are not fetched ahead, so pieces are long where there are enough for all.
    constexpr std::size_t kPieces = 8, kMost = 1024;  // pieces of a worker, and most rows of a piece
    const std::size_t pieces = kPieces * static_cast<std::size_t>(pool().workers());
    const std::size_t at_once =
        on_disks() ? rows_at_once() : std::clamp(list.size() / pieces, rows_at_once(), kMost);
    each_row(
        worker,
        [&] {
          const std::size_t at = std::min(next.fetch_add(at_once), list.size());
          const auto taken = list.subspan(at, std::min(at_once, list.size() - at));
          for (const KnownNumber v : taken) fetch(v);
          return numbered<LocalNumber>(plain(taken));
        },
        work);
  }
  /// Does what each_row() does from disks, for a kernel that reads each row once and seldom needs all of it:
  /// work() gets the first targets of the row, and then the others where wants(local) says so.
  void each_row_once(int worker, const TakeOwned& take, std::size_t first,
                     const std::function<bool(LocalNumber)>& wants,
                     const std::function<void(const FrontierRow&)>& work);
  /// Returns how many vertices take() best gives at a time. From disks, rows side by side are read at once.
  std::size_t rows_at_once() const noexcept { return on_disks() ? 4096 : 64; }
  bool on_disks() const noexcept { return pages_ != nullptr; }
  /// Returns the pages of the rows where rows are on disks; else null.
  const RowPages* pages() const noexcept { return pages_.get(); }
  /// Returns, after the kernel, the figures of reads from disks, and their limit. Collective.
  disk::ReadFigures measure_disks();

  /// Calls work(first, last) for pieces of a list of `count`, in all workers where they are many.
  template <class Work>
  void for_pieces(std::size_t size, const Work& work) {
    constexpr std::size_t kPiece = 1 << 12;
    if (size <= kPiece) return work(0, size);
    pool().for_each((size + kPiece - 1) / kPiece, [&](int, std::uint64_t piece) {
      work(piece * kPiece, std::min(size, (piece + 1) * kPiece));
    });
  }
  /// Calls work(worker, first, last) for ranges of local numbers that together are all.
  void for_each_range(const std::function<void(int, LocalNumber, LocalNumber)>& work);

  /// Returns the time that it took to check rows or to write them to disks, and to connect.
  double seconds_load() const noexcept { return seconds_load_; }

 private:
  /// Number of rows that are fetched into the cache before they are read.
  static constexpr std::size_t kAhead = 16;
  /// Fetches the first two cache lines; the processor itself fetches on from there.
  static void fetch(const void* row, std::size_t edges) noexcept {
    __builtin_prefetch(row);
    if (edges > kAhead) __builtin_prefetch(static_cast<const std::byte*>(row) + 64);
  }
  /// Makes the readers of the rows of pages_, in the memory that vertices leave.
  void make_readers(const RowDisks& disks);
  /// Returns the boundary whose numbers rows have; null where these are the ids of all vertices.
  const Boundary* numbering() const noexcept { return is_only() || !boundary_ ? nullptr : &*boundary_; }
  bool ids_are_numbers() const noexcept { return own_rows_ && !owned_rows_.in_file(); }
  void each_row_on_disks(int worker, const TakeOwned& take,
                         const std::function<bool(const FrontierRow&)>& work);

  launch::Bootstrap& bootstrap_;
  const Graph& graph_;
  Clock::time_point start_ = Clock::now();
  process::LocalProcess process_;
  std::function<void(const Superstep&)> listener_;
  Progress progress_;
  std::optional<std::uint64_t> told_kind_;
  std::optional<partition::Ownership> ownership_;
  partition::OwnedRows owned_rows_;
  std::uint32_t owned_ = 0;
  std::optional<Records> records_;
  std::optional<Boundary> boundary_;
  std::optional<OwnKnownRows> own_rows_;  ///< rows in memory, where the rows of the file will not do

  std::size_t record_bytes_ = sizeof(Record);
  bool weighted_;
  bool has_rows_ = !kIds64;  ///< whether rows_ are there
  KnownRows rows_;           ///< rows in memory: own_rows_, or those of the file
  /// Starts of rows among the weights, [local], in a job of several processes: see KnownWeights.
  std::vector<std::uint64_t> weights_begin_;
  KnownWeights weights_;
  std::unique_ptr<RowPages> pages_;
  std::optional<RowCache> cache_;
  std::uint64_t read_ahead_ = 0;  ///< bytes that all readers read ahead
  double seconds_load_ = 0;
  std::vector<std::unique_ptr<RowReader>> readers_;  ///< readers by worker, where rows are on disks
};

}  // namespace edgewire::frontier
