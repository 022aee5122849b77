// The phases of a worker, and the interface of an observer that is told of them (profile/timeline.h). Whoever
// runs workers tells it: the engine's loop itself, for all others WorkerPool and what they wait with.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace edgewire::topology {

/// compute: edges into accumulators, or what else a kernel works on. send: values into slots, records into
/// rings, progress of the link. wait: for a peer, a disk, or other workers here. apply: what has arrived.
enum class Phase : std::uint8_t { compute, send, wait, apply };
inline constexpr std::size_t kPhases = 4;
inline constexpr const char* kPhaseNames[kPhases] = {"compute", "send", "wait", "apply"};

/// The worker that it is about calls each, a few times for a tile column or batch. None may throw.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Tells of the time before the first iteration and after the last one, on the worker's thread.
  virtual void begin(int worker) noexcept = 0;
  virtual void finish(int worker) noexcept = 0;
  /// Says that the worker enters a phase. `item`: the column; in phase send, the ordinal of the chunk among
  /// those of the worker's lane to `peer`. `peer`: the process that is sent to or waited for. In phase wait
  /// this process itself stands for its other workers; -1: nobody.
  virtual void enter(int worker, Phase phase, std::size_t item, int peer) noexcept = 0;
  /// Says, in phase wait, that values of this peer are what is still missing.
  virtual void waits_for(int worker, int peer) noexcept = 0;
  /// Says that the worker was, for so long and besides what was told so far, in phase `phase` and not in the
  /// one that it has entered. This is for what is too short or comes too often to be entered.
  virtual void aside(int worker, Phase phase, int peer, std::uint64_t ns) noexcept = 0;
  /// Says that `chunks` have arrived on lane `worker` of the peer since the first iteration.
  virtual void arrived(int worker, int peer, std::uint64_t chunks) noexcept = 0;
  /// Says that all workers have finished this iteration (counted from 1). One calls it; the others wait.
  virtual void end_iteration(std::uint64_t iteration) noexcept = 0;
};

/// Tells an observer what a worker does aside, piece by piece. Without an observer (null) no clock is read.
class Asides {
 public:
  Asides(Observer* observer, int worker, int peer) noexcept
      : observer_(observer), worker_(worker), peer_(peer) {
    if (observer_ != nullptr) since_ = Clock::now();
  }
  /// Says what the worker did since the last call, or since this was made.
  void was(Phase phase) noexcept {
    if (observer_ == nullptr) return;
    const auto now = Clock::now();
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now - since_).count();
    observer_->aside(worker_, phase, peer_, static_cast<std::uint64_t>(ns));
    since_ = now;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Observer* observer_;
  int worker_, peer_;
  Clock::time_point since_{};
};

}  // namespace edgewire::topology
