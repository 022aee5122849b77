// A loop of a known number of instructions, for tests of what counts them.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace edgewire {

/// Runs two instructions a turn, and a few more in all; 0 turns where this processor's are not known here.
inline std::uint64_t run_instructions(std::uint64_t count) {
  std::uint64_t turns = count / 2;
#if defined(__x86_64__)
  asm volatile("1: dec %0\n\tjnz 1b" : "+r"(turns) : : "cc");
#elif defined(__aarch64__)
  asm volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(turns) : : "cc");
#else
  return 0;
#endif
  return count;
}

/// Returns whether the system's counters are right where more events are asked for than the processor counts
/// at once. Some virtual machines lose events whenever the system gives a counter to another event. Asks the
/// system itself, without any code that is tested.
inline bool shared_counters_are_right() {
  constexpr double kInstructions = 100'000'000, kTolerance = 0.04;
  struct Reading {
    std::uint64_t value, enabled_ns, running_ns;
  };
  std::array<int, 24> events;
  std::array<Reading, events.size()> before{}, after{};
  perf_event_attr wanted{};
  wanted.size = sizeof wanted;
  wanted.type = PERF_TYPE_HARDWARE;
  wanted.config = PERF_COUNT_HW_INSTRUCTIONS;
  wanted.exclude_kernel = 1;
  wanted.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  for (int& event : events) event = static_cast<int>(syscall(SYS_perf_event_open, &wanted, 0, -1, -1, 0));
  bool right = true;
  const auto read_all = [&](auto& readings) {
    for (std::size_t e = 0; e < events.size(); ++e)
      right = read(events[e], &readings[e], sizeof(Reading)) == sizeof(Reading) && right;
  };
  read_all(before);
  run_instructions(static_cast<std::uint64_t>(kInstructions));
  read_all(after);
  for (std::size_t e = 0; e < events.size(); ++e) {
    const auto running = static_cast<double>(after[e].running_ns - before[e].running_ns);
    const auto enabled = static_cast<double>(after[e].enabled_ns - before[e].enabled_ns);
    const double scaled = static_cast<double>(after[e].value - before[e].value) * enabled / running;
    right = right && std::abs(scaled / kInstructions - 1) < kTolerance;  // not a number: false
    close(events[e]);
  }
  return right;
}

inline constexpr const char* kSharedCountersAreWrong =
    "skipped: this machine's counters lose events where several share them";

}  // namespace edgewire
