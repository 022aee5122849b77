#include "profile/counters.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>

namespace edgewire::profile {

namespace {

/// Returns whether the event is counted only in the kernel: the scheduler never works in user space.
bool only_in_kernel(const EventCode& code) {
  return code.type == PERF_TYPE_SOFTWARE &&
         (code.config == PERF_COUNT_SW_CONTEXT_SWITCHES || code.config == PERF_COUNT_SW_CPU_MIGRATIONS);
}

/// Opens an event. Returns -1 and sets errno when it cannot be counted. Without the right to see the kernel,
/// it counts user space alone.
int open_event(const EventCode& code, int leader, int cpu) {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.type = code.type;
  attr.config = code.config;
  attr.config1 = code.config1;
  attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  attr.exclude_hv = 1;
  const auto call = [&] {
    return static_cast<int>(syscall(SYS_perf_event_open, &attr, 0, cpu, leader, PERF_FLAG_FD_CLOEXEC));
  };
  int descriptor = call();
  if (descriptor < 0 && (errno == EACCES || errno == EPERM) && !only_in_kernel(code)) {
    attr.exclude_kernel = 1;
    descriptor = call();
  }
  return descriptor;
}

std::uint64_t nanoseconds(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

bool CounterValues::has(Event event) const noexcept { return (*this)[event].running_ns > 0; }

double CounterValues::count(Event event) const noexcept {
  const One& one = (*this)[event];
  if (one.running_ns == 0) return 0;
  return static_cast<double>(one.value) * static_cast<double>(one.enabled_ns) /
         static_cast<double>(one.running_ns);
}

double CounterValues::share(Event event) const noexcept {
  const One& one = (*this)[event];
  return ratio(static_cast<double>(one.running_ns), static_cast<double>(one.enabled_ns));
}

CounterValues& CounterValues::operator+=(const CounterValues& other) noexcept {
  for (std::size_t e = 0; e < kEvents; ++e) {
    ones_[e].value += other.ones_[e].value;
    ones_[e].enabled_ns += other.ones_[e].enabled_ns;
    ones_[e].running_ns += other.ones_[e].running_ns;
  }
  return *this;
}

CounterValues CounterValues::operator-(const CounterValues& before) const noexcept {
  CounterValues result = *this;
  for (std::size_t e = 0; e < kEvents; ++e) {
    result.ones_[e].value -= before.ones_[e].value;
    result.ones_[e].enabled_ns -= before.ones_[e].enabled_ns;
    result.ones_[e].running_ns -= before.ones_[e].running_ns;
  }
  return result;
}

double cycles_per_instruction(const CounterValues& counts) noexcept {
  return ratio(counts.count(Event::cycles), counts.count(Event::instructions));
}

double stalled_cycles_per_instruction(const CounterValues& counts) noexcept {
  const Event stalled = counts.has(Event::stalled_backend) ? Event::stalled_backend : Event::stalled_frontend;
  return ratio(counts.count(stalled), counts.count(Event::instructions));
}

double instructions_per_llc_miss(const CounterValues& counts) noexcept {
  return ratio(counts.count(Event::instructions), counts.count(Event::llc_misses));
}

double bytes_from_memory(const CounterValues& counts) noexcept {
  return 64 * counts.count(Event::llc_misses);
}

EventGroup::EventGroup(std::initializer_list<Event> events, int cpu) noexcept {
  static const EventCodes kCodes = find_event_codes();
  for (const Event event : events) {
    int descriptor = -1;
    errno = ENOENT;
    for (const auto& code : kCodes[static_cast<std::size_t>(event)]) {
      descriptor = open_event(code, descriptors_.empty() ? -1 : descriptors_[0], cpu);
      if (descriptor >= 0) break;
    }
    if (descriptor < 0) {
      if (event == *events.begin()) error_ = errno;
      continue;
    }
    descriptors_.push_back(descriptor);
    events_.push_back(event);
  }
}

EventGroup::~EventGroup() {
  for (const int descriptor : descriptors_) close(descriptor);
}

void EventGroup::read(CounterValues& counts) const noexcept {
  if (descriptors_.empty()) return;
  std::array<std::uint64_t, 3 + kEvents> words{};  // words: number, enabled, running, values
  const auto bytes = static_cast<ssize_t>((3 + events_.size()) * sizeof(std::uint64_t));
  if (::read(descriptors_[0], words.data(), sizeof(words)) != bytes) return;
  for (std::size_t i = 0; i < events_.size(); ++i) counts[events_[i]] = {words[3 + i], words[1], words[2]};
}

ThreadCounters::ThreadCounters() noexcept
    : schedule_(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}

ThreadCounters::~ThreadCounters() {
  if (schedule_ >= 0) close(schedule_);
}

CounterValues ThreadCounters::read() const noexcept {
  CounterValues counts;
  timespec wall{};
  clock_gettime(CLOCK_MONOTONIC, &wall);
  const std::uint64_t wall_ns = nanoseconds(wall);
  const auto set = [&](Event event, std::uint64_t value) { counts[event] = {value, wall_ns, wall_ns}; };
  timespec cpu{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
  set(Event::task_clock_ns, nanoseconds(cpu));
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  set(Event::page_faults, static_cast<std::uint64_t>(usage.ru_minflt + usage.ru_majflt));
  set(Event::context_switches, static_cast<std::uint64_t>(usage.ru_nvcsw + usage.ru_nivcsw));
  set(Event::involuntary_switches, static_cast<std::uint64_t>(usage.ru_nivcsw));
  std::array<char, 80> text{};  // nanoseconds on a core, nanoseconds waiting for one, turns
  if (schedule_ >= 0 && pread(schedule_, text.data(), text.size() - 1, 0) > 0) {
    char* end = nullptr;
    std::strtoull(text.data(), &end, 10);
    set(Event::core_wait_ns, std::strtoull(end, nullptr, 10));
  }
  for (const auto* group : {&cycles_, &cache_, &memory_, &system_}) group->read(counts);
  return counts;
}

std::string explain_missing_counters(int error) {
  if (error == 0) return {};
  if (error == EACCES || error == EPERM) {
    int paranoid = -1;
    std::ifstream("/proc/sys/kernel/perf_event_paranoid") >> paranoid;
    return fmt::format(
        "no hardware counters: the kernel does not allow them (perf_event_paranoid is {}): as root, sysctl "
        "kernel.perf_event_paranoid=1; in a container, also add CAP_PERFMON and a seccomp profile with "
        "perf_event_open",
        paranoid);
  }
  if (error == ENOSYS)
    return "no hardware counters: this kernel or container has no perf_event_open: use a kernel with "
           "CONFIG_PERF_EVENTS, or allow the call in the seccomp profile";
  return fmt::format(
      "no hardware counters: the machine gives none ({}), as most virtual machines: use a host with a "
      "virtual "
      "PMU or the bare machine; make bench-cachegrind simulates the caches",
      std::strerror(error));
}

}  // namespace edgewire::profile
