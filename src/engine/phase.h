// What a worker is busy with, told to whoever wants to know while it happens (perf/timeline.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace edgewire::engine {

/// compute: own edges into sums. send: values into slots, and driving the link. wait: for a peer, or for the
/// own workers. apply: what has arrived into new values.
enum class Phase : std::uint8_t { compute, send, wait, apply };
inline constexpr std::size_t kPhases = 4;
inline constexpr const char* kPhaseNames[kPhases] = {"compute", "send", "wait", "apply"};

/// Called at each change, a few times a tile column, by the worker that it is about; must not throw.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Before the first iteration and after the last one, on the worker's thread.
  virtual void begin(int worker) noexcept = 0;
  virtual void finish(int worker) noexcept = 0;
  /// The worker's phase changes. `item`: the column; of send, the chunk's ordinal among those of the worker's
  /// lane to `peer`. `peer`: who is sent to or waited for; this process itself: its own workers; -1: nobody.
  virtual void enter(int worker, Phase phase, std::size_t item, int peer) noexcept = 0;
  /// Inside wait: the wait would now end if this peer's values came.
  virtual void waits_for(int worker, int peer) noexcept = 0;
  /// Inside send: that much of the phase so far went by because nothing more could be queued to `peer`.
  virtual void stalled(int worker, int peer, std::uint64_t stalled_ns) noexcept = 0;
  /// So many chunks of the peer's lane `worker` have been seen to arrive since the first iteration.
  virtual void arrived(int worker, int peer, std::uint64_t chunks) noexcept = 0;
  /// All workers are through with this iteration (from 1). One worker, while the others rest.
  virtual void end_iteration(std::uint64_t iteration) noexcept = 0;
};

}  // namespace edgewire::engine
