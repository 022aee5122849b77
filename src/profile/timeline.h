// This file records what the workers of a process do, phase by phase, while a job runs.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "profile/counters.h"
#include "topology/phase.h"
#include "transport/transport.h"

namespace edgewire::profile {

/// An interval in which a worker was in one phase. Times are nanoseconds of CLOCK_MONOTONIC.
struct Span {
  std::uint64_t begin_ns = 0, end_ns = 0;
  std::uint64_t iteration = 0;  ///< number of the iteration, from 1
  std::uint32_t item = 0;       ///< item, see topology::Observer::enter()
  std::int16_t peer = -1;
  topology::Phase phase = topology::Phase::wait;
};

/// The arrival of the chunks `first`..`end` of a peer's lane, counted from the first iteration.
struct Arrival {
  std::uint64_t at_ns = 0, first = 0, end = 0;
  std::int32_t peer = 0;
};

using PhaseTimes = std::array<std::uint64_t, topology::kPhases>;  ///< nanoseconds of each phase

/// The times of an iteration of this process.
struct IterationTimes {
  std::uint64_t begin_ns = 0, end_ns = 0;
  PhaseTimes phases{};                ///< phases summed over workers
  std::uint64_t slowest_work_ns = 0;  ///< time of compute, send and apply of the worker with most of it
  std::uint64_t own_wait_ns = 0;      ///< part of wait that was for workers of this process, summed over them
};

/// The figures of one worker when the run is over.
struct WorkerTimes {
  PhaseTimes phases{};
  std::array<CounterValues, topology::kPhases> counts{};  ///< counts of the iterations that were counted
  PhaseTimes counted_ns{};                                ///< time of the iterations that were counted
  CounterValues whole{};                                  ///< counts of all iterations
  std::uint64_t whole_ns = 0;
  int counter_error = 0;  ///< error, see ThreadCounters::error()
};

struct TimelineOptions {
  int rank = 0;
  int processes = 1, workers = 1, iterations = 1;
  std::size_t spans = std::size_t{1} << 15;  ///< spans kept for each worker; the oldest are overwritten
};

/// The recorder of the phases of workers. Memory is bounded: it keeps the latest spans and arrivals of each
/// worker, and the latest kKeptIterations iterations. Sums cover all of them. Counters are read at each
/// change of phase, but only in so few iterations that reading them takes at most half a percent of the time.
class Timeline final : public topology::Observer {
 public:
  static constexpr std::size_t kKeptIterations = 1000;

  explicit Timeline(const TimelineOptions& options);
  ~Timeline() override;

  void begin(int worker) noexcept override;
  void finish(int worker) noexcept override;
  void enter(int worker, topology::Phase phase, std::size_t item, int peer) noexcept override;
  void waits_for(int worker, int peer) noexcept override;
  void aside(int worker, topology::Phase phase, int peer, std::uint64_t ns) noexcept override;
  void arrived(int worker, int peer, std::uint64_t chunks) noexcept override;
  void end_iteration(std::uint64_t iteration) noexcept override;

  // For jobs that run several times, or whose pool reports to this: one worker calls these; the others rest.
  /// Begins a run: all workers have begun, and the first iteration starts now.
  void begin_run() noexcept;
  /// Ends a run, before the workers finish. The time since its last iteration is a part of that; a run
  /// without one leaves no times.
  void end_run() noexcept;

  // Call these when the run is over.
  /// Returns the latest iterations, in order.
  std::vector<IterationTimes> iterations() const;
  std::vector<Span> spans(int worker) const;
  std::vector<Arrival> arrivals(int worker) const;
  WorkerTimes worker(int worker) const;
  std::uint64_t iterations_done() const noexcept { return done_; }
  /// Returns waited_ns(peer) for each peer.
  std::vector<std::uint64_t> waited_ns() const;

  // Any thread may call these at any time.
  /// Returns the CPU time of the worker's thread since begin(); 0 before.
  std::uint64_t cpu_ns(int worker) const noexcept;
  /// The numbers of chunks that were ready to be sent, and that have come from peers, since begin().
  struct Chunks {
    std::uint64_t ready = 0, arrived = 0;
  };
  Chunks chunks() const noexcept;
  /// Returns the nanoseconds of waiting for the peer (this rank: for own workers) in phases that are over.
  std::uint64_t waited_ns(int peer) const noexcept;

 private:
  struct Worker;
  void close(Worker& worker, std::uint64_t now) noexcept;
  void add_all_to(IterationTimes& times, std::uint64_t now) noexcept;

  TimelineOptions options_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<IterationTimes> iterations_;  ///< ring of iterations
  std::uint64_t done_ = 0;  ///< number of iterations that are done; written while the workers rest
  std::uint64_t done_before_run_ = 0;
  std::uint64_t began_ns_ = 0;       ///< time when this iteration began
  std::uint64_t counted_every_ = 1;  ///< number of iterations from one that is counted to the next
  bool counting_ = true;             ///< whether this iteration is counted; written while the workers rest
};

}  // namespace edgewire::profile
