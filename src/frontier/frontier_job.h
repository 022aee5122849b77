// The frontier folder runs kernels that follow only the edges of vertices that have changed. This file: what
// such a kernel needs before it starts. Rows are read straight from the mapped file; there are no tiles and
// no exchange plan.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "exchange/seat.h"
#include "frontier/records.h"
#include "graph/graph_file.h"
#include "graph/row.h"
#include "launch/bootstrap.h"
#include "launch/packing.h"
#include "plan/ownership.h"

namespace edgewire::frontier {

/// Counts, bytes and time of one superstep in one process.
struct Superstep {
  std::uint64_t step = 0;      ///< what the kernel counts by: a bucket, a level, a round
  std::uint64_t kind = 0;      ///< of the superstep, where the kernel has several
  std::uint64_t frontier = 0;  ///< vertices whose edges were followed; a vertex may count more than once
  std::uint64_t edges = 0;     ///< of them
  Sent sent;
  double seconds = 0;
};

struct Options {
  exchange::SeatOptions seat{};
  std::string ownership = "hash";             ///< hash, ranges or the path of a partition file
  std::size_t record_bytes = sizeof(Record);  ///< of all records
  std::string kernel;  ///< what is computed, in words: must be the same in all processes
  /// Called after each superstep of this process, by the thread that runs the kernel.
  std::function<void(const Superstep&)> listener = [](const Superstep&) {};
};

/// One process's part of the job. Collective; throws Error. `graph` and `bootstrap` outlive it.
class FrontierJob {
 public:
  FrontierJob(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const Options& options);

  launch::Bootstrap& bootstrap() noexcept { return bootstrap_; }
  const graph::GraphFile& graph() const noexcept { return graph_; }
  const plan::Ownership& ownership() const noexcept { return *ownership_; }
  /// Vertices of this process; they have the local numbers 0 to owned() - 1.
  std::uint32_t owned() const noexcept { return ownership_->count(rank()); }
  std::uint32_t rank() const noexcept { return static_cast<std::uint32_t>(bootstrap_.rank()); }
  topology::WorkerPool& pool() noexcept { return seat_.pool(); }
  transport::Transport& link() noexcept { return seat_.link(); }
  Records& records() noexcept { return *records_; }
  const std::string& place() const noexcept { return seat_.place(); }
  void tell(const Superstep& done) const { listener_(done); }

  /// Calls work(worker, first, last) for ranges of local numbers that together are all.
  void for_each_range(const std::function<void(int, std::uint32_t, std::uint32_t)>& work);

  double seconds_load = 0;  ///< checking the rows of the owned vertices, and connecting

 private:
  launch::Bootstrap& bootstrap_;
  const graph::GraphFile& graph_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  exchange::Seat seat_;
  std::function<void(const Superstep&)> listener_;
  std::optional<plan::Ownership> ownership_;
  std::optional<Records> records_;
};

/// At rank 0 the values of all vertices, by vertex; elsewhere nothing. `mine`: by local number. Collective.
template <class Value>
std::vector<Value> gather_values(FrontierJob& job, const std::vector<Value>& mine) {
  const auto parts = job.bootstrap().gather(launch::pack(mine));
  std::vector<Value> all(parts.empty() ? 0 : job.graph().vertices());
  for (std::uint32_t p = 0; p < parts.size(); ++p) {
    const auto part = launch::unpack<Value>(parts[p], p, job.ownership().count(p));
    for (std::uint32_t local = 0; local < part.size(); ++local)
      all[job.ownership().vertex(p, local)] = part[local];
  }
  return all;
}

}  // namespace edgewire::frontier
