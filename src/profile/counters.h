// This file counts events of one thread: cycles and cache misses by the processor, faults by the kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/file_calls.h"

namespace edgewire::profile {

enum class Event : std::uint8_t {
  cycles,
  instructions,
  stalled_frontend,
  stalled_backend,
  llc_references,
  llc_misses,
  dtlb_misses,
  remote_reads,  ///< loads served by another NUMA node
  task_clock_ns,
  page_faults,
  context_switches,
  migrations,
  involuntary_switches,  ///< switches that took the core away
  core_wait_ns,          ///< time of being ready to run without a core
};
inline constexpr std::size_t kEvents = 14;
inline constexpr std::size_t kHardwareEvents = 8;
inline constexpr const char* kEventNames[kEvents] = {
    "cycles",           "instructions", "stalled_cycles_frontend", "stalled_cycles_backend", "llc_references",
    "llc_misses",       "dtlb_misses",  "remote_numa_reads",       "task_clock_ns",          "page_faults",
    "context_switches", "migrations",   "involuntary_switches",    "core_wait_ns",
};

/// The counts of an interval of time, or a sum of such counts. An event that shares the counters of the
/// processor with others is counted in a part of the time only; count() extrapolates.
class CounterValues {
 public:
  /// Returns whether the event was counted. It was not when the machine does not count it, or it did not run.
  bool has(Event event) const noexcept;
  /// Returns the count, estimated for the whole time; 0 when there is none.
  double count(Event event) const noexcept;
  /// Returns the share of the time in which the event was counted.
  double share(Event event) const noexcept;
  CounterValues& operator+=(const CounterValues& other) noexcept;
  CounterValues operator-(const CounterValues& before) const noexcept;

  struct One {
    std::uint64_t value = 0;
    std::uint64_t enabled_ns = 0;
    std::uint64_t running_ns = 0;  ///< time of counting; 0: not counted
  };
  One& operator[](Event event) noexcept { return ones_[static_cast<std::size_t>(event)]; }
  const One& operator[](Event event) const noexcept { return ones_[static_cast<std::size_t>(event)]; }

 private:
  std::array<One, kEvents> ones_{};
};

/// These functions compute figures from counts. They return 0 where an event is missing.
double cycles_per_instruction(const CounterValues& counts) noexcept;
double stalled_cycles_per_instruction(const CounterValues& counts) noexcept;
double instructions_per_llc_miss(const CounterValues& counts) noexcept;
/// Returns 64 bytes for each miss of the last-level cache.
double bytes_from_memory(const CounterValues& counts) noexcept;

/// A group of events of the thread that makes it. At any time all count, or none (perf_event_open(2)).
class EventGroup {
 public:
  /// Begins to count what it can and may of `events`; with a `cpu`, only while the thread is on that core.
  explicit EventGroup(std::initializer_list<Event> events, int cpu = -1) noexcept;
  /// Sets `counts` to the counts since the group was made.
  void read(CounterValues& counts) const noexcept;
  /// Returns the errno of the first event; 0 when it is counted.
  int error() const noexcept { return error_; }

 private:
  std::vector<OpenFile> files_;
  std::vector<Event> events_;
  int error_ = 0;
};

/// The counters of the thread that makes it. Software figures are always there. Hardware events are there as
/// far as the machine and its rights allow, in groups that the counters of most processors hold.
class ThreadCounters {
 public:
  ThreadCounters() noexcept;
  /// Returns the counts since it was made. The same thread calls it.
  CounterValues read() const noexcept;
  /// Returns the errno of the first hardware event; 0 when it is counted.
  int error() const noexcept { return cycles_.error(); }

 private:
  EventGroup cycles_{Event::cycles, Event::instructions, Event::stalled_frontend, Event::stalled_backend};
  EventGroup cache_{Event::llc_references, Event::llc_misses};
  EventGroup memory_{Event::dtlb_misses, Event::remote_reads};
  EventGroup system_{Event::migrations};
  OpenFile schedule_;  ///< the thread's schedstat in /proc
};

/// Returns one line on why there are no hardware counters, and the remedy; nothing when error is 0.
std::string explain_missing_counters(int error);

/// The type and the number of an event, as in perf_event_attr, see perf_event_open(2).
struct EventCode {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::uint64_t config1 = 0;
};

/// The codes of each event on this processor, the best first: those of the processor's own events (libpfm4,
/// where this build has it), then the kernel's generic events. These do not exist everywhere, and on AMD and
/// Arm they mean other things: cache misses are those of the second or first level, dTLB misses those of the
/// first. The sources are the events' tables in the Intel SDM, volume 3B, the AMD PPR of families 17h and 19h
/// and Arm's manuals of Neoverse cores, by libpfm4's names.
using EventCodes = std::array<std::vector<EventCode>, kEvents>;
EventCodes find_event_codes();

}  // namespace edgewire::profile
