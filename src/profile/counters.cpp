#include "profile/counters.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/perf_event.h>
#ifdef EDGEWIRE_PFM
#include <perfmon/pfmlib_perf_event.h>
#endif
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <utility>

#include "base/seconds.h"
#include "base/usage.h"

namespace edgewire::profile {

namespace {

constexpr std::uint64_t reads(std::uint64_t which, std::uint64_t result) {
  return which | PERF_COUNT_HW_CACHE_OP_READ << 8U | result << 16U;
}
constexpr std::uint64_t kSeen = PERF_COUNT_HW_CACHE_RESULT_ACCESS, kMissed = PERF_COUNT_HW_CACHE_RESULT_MISS;

/// The makers of processors that give generic events a meaning of their own.
enum class Maker : std::uint8_t { any, amd, arm, other };

struct Generic {
  Event event;
  std::uint32_t type;
  std::uint64_t config;
  Maker maker = Maker::any;  ///< maker; elsewhere the event is that of an inner cache or TLB
};
constexpr Generic kGeneric[] = {
    {Event::cycles, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {Event::instructions, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {Event::stalled_frontend, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
    {Event::stalled_backend, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
    {Event::llc_references, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, Maker::other},
    {Event::llc_misses, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, Maker::other},
    {Event::llc_references, PERF_TYPE_HW_CACHE, reads(PERF_COUNT_HW_CACHE_LL, kSeen), Maker::arm},
    {Event::llc_misses, PERF_TYPE_HW_CACHE, reads(PERF_COUNT_HW_CACHE_LL, kMissed), Maker::arm},
    {Event::dtlb_misses, PERF_TYPE_HW_CACHE, reads(PERF_COUNT_HW_CACHE_DTLB, kMissed), Maker::other},
    {Event::remote_reads, PERF_TYPE_HW_CACHE, reads(PERF_COUNT_HW_CACHE_NODE, kMissed)},
    {Event::task_clock_ns, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {Event::page_faults, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {Event::context_switches, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {Event::migrations, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
};

Maker maker() {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_is("amd") != 0 ? Maker::amd : Maker::other;
#elif defined(__aarch64__)
  return Maker::arm;
#else
  return Maker::other;
#endif
}

#ifdef EDGEWIRE_PFM
/// The names of an event on one family of processors after another; libpfm4 knows only those of the family at
/// hand. AMD counts lines that come into the first-level cache by origin, but not those fetched ahead.
constexpr std::pair<Event, const char*> kNamed[] = {
    // These are for Skylake and later; Ivy Bridge to Broadwell; Zen 4; Zen to Zen 3, of full queues only.
    {Event::stalled_backend, "CYCLE_ACTIVITY:STALLS_TOTAL"},
    {Event::stalled_backend, "CYCLE_ACTIVITY:CYCLES_NO_EXECUTE"},
    {Event::stalled_backend, "CYCLES_NO_RETIRE:NOT_COMPLETE_LOAD_AND_ALU"},
    {Event::stalled_backend,
     "DISPATCH_RESOURCE_STALL_CYCLES_1:INT_PHY_REG_FILE_RSRC_STALL:LOAD_QUEUE_RSRC_STALL:"
     "STORE_QUEUE_RSRC_STALL"},
    // These are for Zen 4, 3, 2.
    {Event::llc_references,
     "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:LOCAL_CCX:NEAR_CACHE_NEAR_FAR:FAR_CACHE_NEAR_FAR:DRAM_IO_NEAR:"
     "DRAM_IO_FAR"},
    {Event::llc_references,
     "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:INT_CACHE:EXT_CACHE_LCL:EXT_CACHE_RMT:MEM_IO_LCL:MEM_IO_RMT"},
    {Event::llc_references,
     "DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_LCL_CACHE:LS_MABRESP_RMT_CACHE:LS_MABRESP_LCL_DRAM:"
     "LS_MABRESP_RMT_DRAM"},
    {Event::llc_misses, "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_NEAR:DRAM_IO_FAR"},
    {Event::llc_misses, "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:MEM_IO_LCL:MEM_IO_RMT"},
    {Event::llc_misses, "DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_LCL_DRAM:LS_MABRESP_RMT_DRAM"},
    // These count walks of the page table, on Intel and on Zen.
    {Event::dtlb_misses, "DTLB_LOAD_MISSES:WALK_COMPLETED"},
    {Event::dtlb_misses,
     "L1_DTLB_MISS:TLB_RELOAD_1G_L2_MISS:TLB_RELOAD_2M_L2_MISS:TLB_RELOAD_COALESCED_PAGE_MISS:"
     "TLB_RELOAD_4K_L2_MISS"},
    // These are for Xeons from Skylake on, and before; Zen 4, 3, 2.
    {Event::remote_reads, "MEM_LOAD_L3_MISS_RETIRED:REMOTE_DRAM"},
    {Event::remote_reads, "MEM_LOAD_UOPS_L3_MISS_RETIRED:REMOTE_DRAM"},
    {Event::remote_reads, "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:FAR_CACHE_NEAR_FAR:DRAM_IO_FAR"},
    {Event::remote_reads, "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:EXT_CACHE_RMT:MEM_IO_RMT"},
    {Event::remote_reads, "DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_RMT_CACHE:LS_MABRESP_RMT_DRAM"},
    // These are for Neoverse.
    {Event::llc_references, "LL_CACHE_RD"},
    {Event::llc_misses, "LL_CACHE_MISS_RD"},
    {Event::dtlb_misses, "DTLB_WALK"},
    {Event::remote_reads, "REMOTE_ACCESS"},
};

void add_named(EventCodes& codes) {
  if (pfm_initialize() != PFM_SUCCESS) return;
  for (const auto& [event, name] : kNamed) {
    perf_event_attr attr{};
    attr.size = sizeof(attr);
    pfm_perf_encode_arg_t argument{};
    argument.attr = &attr;
    argument.size = sizeof(argument);
    if (pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &argument) == PFM_SUCCESS)
      codes[static_cast<std::size_t>(event)].push_back({attr.type, attr.config, attr.config1});
  }
  pfm_terminate();
}
#else
void add_named(EventCodes&) {}
#endif

/// Opens an event; -1 and errno say that it cannot. Without the right to see the kernel, counts user space.
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
  // The scheduler never works in user space.
  const bool only_in_kernel =
      code.type == PERF_TYPE_SOFTWARE &&
      (code.config == PERF_COUNT_SW_CONTEXT_SWITCHES || code.config == PERF_COUNT_SW_CPU_MIGRATIONS);
  int descriptor = call();
  if (descriptor < 0 && (errno == EACCES || errno == EPERM) && !only_in_kernel) {
    attr.exclude_kernel = 1;
    descriptor = call();
  }
  return descriptor;
}

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

EventCodes find_event_codes() {
  EventCodes codes;
  add_named(codes);
  for (const auto& one : kGeneric)
    if (one.maker == Maker::any || one.maker == maker())
      codes[static_cast<std::size_t>(one.event)].push_back({one.type, one.config, 0});
  return codes;
}

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
      descriptor = open_event(code, files_.empty() ? -1 : files_[0].descriptor(), cpu);
      if (descriptor >= 0) break;
    }
    if (descriptor < 0) {
      if (event == *events.begin()) error_ = errno;
      continue;
    }
    files_.emplace_back(descriptor);
    events_.push_back(event);
  }
}

void EventGroup::read(CounterValues& counts) const noexcept {
  if (files_.empty()) return;
  std::array<std::uint64_t, 3 + kEvents> words{};  // words: number, enabled, running, values
  const auto bytes = static_cast<ssize_t>((3 + events_.size()) * sizeof(std::uint64_t));
  if (::read(files_[0].descriptor(), words.data(), sizeof(words)) != bytes) return;
  for (std::size_t i = 0; i < events_.size(); ++i) counts[events_[i]] = {words[3 + i], words[1], words[2]};
}

ThreadCounters::ThreadCounters() noexcept
    : schedule_(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}

CounterValues ThreadCounters::read() const noexcept {
  CounterValues counts;
  const std::uint64_t wall_ns = now_ns();
  const auto set = [&](Event event, std::uint64_t value) { counts[event] = {value, wall_ns, wall_ns}; };
  set(Event::task_clock_ns, clock_ns(CLOCK_THREAD_CPUTIME_ID));
  const rusage usage = usage_of(RUSAGE_THREAD);
  set(Event::page_faults, static_cast<std::uint64_t>(usage.ru_minflt + usage.ru_majflt));
  set(Event::context_switches, static_cast<std::uint64_t>(usage.ru_nvcsw + usage.ru_nivcsw));
  set(Event::involuntary_switches, static_cast<std::uint64_t>(usage.ru_nivcsw));
  std::array<char, 80> text{};  // nanoseconds on a core, nanoseconds waiting for one, turns
  if (pread(schedule_.descriptor(), text.data(), text.size() - 1, 0) > 0) {
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
      "virtual PMU or the bare machine; make bench-cachegrind simulates the caches",
      std::strerror(error));
}

}  // namespace edgewire::profile
