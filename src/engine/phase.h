// The phases of a worker, and the interface of an observer that is told of them (perf/timeline.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace edgewire::engine {

/// compute: edges into accumulators. send: values into slots, and progress of the link. wait: for a peer, or
/// for other workers of this process. apply: what has arrived into new values.
enum class Phase : std::uint8_t { compute, send, wait, apply };
inline constexpr std::size_t kPhases = 4;
inline constexpr const char* kPhaseNames[kPhases] = {"compute", "send", "wait", "apply"};

/// Each function is called by the worker that it is about, a few times for each tile column. None may throw.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Before the first iteration and after the last one, on the worker's thread.
  virtual void begin(int worker) noexcept = 0;
  virtual void finish(int worker) noexcept = 0;
  /// The worker enters a phase. `item`: the column; in phase send, the ordinal of the chunk among those of
  /// the worker's lane to `peer`. `peer`: the process that is sent to or waited for. In phase wait this
  /// process itself stands for its other workers; -1: nobody.
  virtual void enter(int worker, Phase phase, std::size_t item, int peer) noexcept = 0;
  /// In phase wait: values of this peer are what is still missing.
  virtual void waits_for(int worker, int peer) noexcept = 0;
  /// In phase send: for so long, in this phase so far, the queue to `peer` was full.
  virtual void stalled(int worker, int peer, std::uint64_t stalled_ns) noexcept = 0;
  /// `chunks` have arrived on lane `worker` of the peer since the first iteration.
  virtual void arrived(int worker, int peer, std::uint64_t chunks) noexcept = 0;
  /// All workers have finished this iteration (counted from 1). One worker calls it; the others wait.
  virtual void end_iteration(std::uint64_t iteration) noexcept = 0;
};

}  // namespace edgewire::engine
