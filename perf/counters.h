// What the processor and the kernel count of one thread: cycles, cache misses, faults, switches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace edgewire::perf {

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
};
inline constexpr std::size_t kEvents = 12;
inline constexpr std::size_t kHardwareEvents = 8;
inline constexpr std::array<const char*, kEvents> kEventNames{
    "cycles",           "instructions", "stalled_cycles_frontend", "stalled_cycles_backend", "llc_references",
    "llc_misses",       "dtlb_misses",  "remote_numa_reads",       "task_clock_ns",          "page_faults",
    "context_switches", "migrations"};

/// Counts of a stretch of time, or a sum of such stretches. An event that shares the processor's counters
/// with others runs for a part of the time only: count() scales it up.
class Counts {
 public:
  /// None when the machine does not count the event, or it did not run.
  bool has(Event event) const noexcept;
  /// Estimated for the whole time; 0 when there is none.
  double count(Event event) const noexcept;
  /// Share of the time in which the event was counted.
  double share(Event event) const noexcept;
  Counts& operator+=(const Counts& other) noexcept;
  Counts operator-(const Counts& before) const noexcept;

  struct One {
    std::uint64_t value = 0;
    std::uint64_t enabled_ns = 0;
    std::uint64_t running_ns = 0;  ///< 0: not counted
  };
  One& operator[](Event event) noexcept { return ones_[static_cast<std::size_t>(event)]; }
  const One& operator[](Event event) const noexcept { return ones_[static_cast<std::size_t>(event)]; }

 private:
  std::array<One, kEvents> ones_{};
};

/// Figures that come from counts; 0 where an event is missing.
double cycles_per_instruction(const Counts& counts) noexcept;
double stalled_cycles_per_instruction(const Counts& counts) noexcept;
double instructions_per_llc_miss(const Counts& counts) noexcept;
/// 64 for each miss of the last-level cache.
double bytes_from_memory(const Counts& counts) noexcept;

/// The counters of the thread that makes it. Software figures are always there; hardware events as far as
/// the machine and its rights allow (perf_event_open(2)), in groups that are counted together.
class ThreadCounters {
 public:
  ThreadCounters() noexcept;
  ~ThreadCounters();
  ThreadCounters(const ThreadCounters&) = delete;
  ThreadCounters& operator=(const ThreadCounters&) = delete;

  /// Since it was made. By the same thread.
  Counts read() const noexcept;
  /// errno of the first hardware event; 0 when it is counted.
  int error() const noexcept { return error_; }

 private:
  struct Group {
    int leader = -1;
    std::vector<int> descriptors;
    std::vector<Event> events;
  };
  void open(std::initializer_list<Event> events) noexcept;
  std::vector<Group> groups_;
  int error_ = 0;
};

/// Why there are no hardware counters and what would help, as one line; empty when error is 0.
std::string explain_missing_counters(int error);

}  // namespace edgewire::perf
