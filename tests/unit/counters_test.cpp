#include "profile/counters.h"
#include "base/rooms.h"

#include <doctest/doctest.h>

#include <linux/perf_event.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "edgewire/detail/memory.h"
#include "known_instructions.h"

namespace edgewire::profile {
namespace {

TEST_CASE("an event that ran for half of the time is scaled up, and one that did not run is none") {
  CounterValues counts;
  counts[Event::cycles] = {1000, 200, 100};
  counts[Event::instructions] = {400, 200, 200};
  counts[Event::stalled_backend] = {0, 200, 0};
  counts[Event::stalled_frontend] = {100, 200, 200};
  counts[Event::llc_misses] = {10, 200, 200};
  CHECK(counts.count(Event::cycles) == 2000);
  CHECK(counts.share(Event::cycles) == 0.5);
  CHECK(!counts.has(Event::stalled_backend));
  CHECK(cycles_per_instruction(counts) == 5);
  CHECK(stalled_cycles_per_instruction(counts) == 0.25);
  CHECK(instructions_per_llc_miss(counts) == 40);
  CHECK(bytes_from_memory(counts) == 640);
  CounterValues twice = counts;
  twice += counts;
  CHECK(twice.count(Event::cycles) == 4000);
  CHECK((twice - counts).count(Event::cycles) == 2000);
  CHECK(instructions_per_llc_miss(CounterValues{}) == 0);
}

/// The processors that this thread may use.
std::vector<int> processors() {
  cpu_set_t set;
  REQUIRE(sched_getaffinity(0, sizeof(set), &set) == 0);
  std::vector<int> found;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) found.push_back(cpu);
  }
  return found;
}

void move_to(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  REQUIRE(sched_setaffinity(0, sizeof(set), &set) == 0);
}

/// The thread sanitizer keeps shadows of what is touched.
#if defined(__SANITIZE_THREAD__)
constexpr std::size_t kMostFaults = 4;
#else
constexpr std::size_t kMostFaults = 1;
#endif

/// Touches `pages` fresh ones: that many page faults, or up to kMostFaults times as many.
void fault(std::size_t pages) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* memory =
      mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  madvise(memory, pages * page, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i < pages; ++i) static_cast<volatile char*>(memory)[i * page] = 1;
  munmap(memory, pages * page);
}

long thread_clock() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000L + time.tv_nsec;
}

/// CPU time: however busy the machine is, the thread has had so much of a core.
void compute_ms(int ms) {
  const long end = thread_clock() + ms * 1'000'000L;
  while (thread_clock() < end) {
  }
}

// Software events go through the same opening, grouping, reading and scaling as those of the processor.
TEST_CASE("a group counts what is known to have happened") {
  constexpr std::size_t kPages = 5000;
  const EventGroup group{Event::page_faults, Event::task_clock_ns, Event::context_switches};
  if (group.error() != 0) {
    MESSAGE("skipped: this machine does not allow perf_event_open, errno ", group.error());
    return;
  }
  CounterValues before, after;
  group.read(before);
  fault(kPages);
  compute_ms(20);
  group.read(after);
  const CounterValues counts = after - before;
  CHECK(counts.count(Event::page_faults) >= kPages);
  CHECK(counts.count(Event::page_faults) < 1.2 * kMostFaults * kPages);  // sanitizers have pages of their own
  CHECK(counts.share(Event::page_faults) == 1);
  CHECK(counts.count(Event::task_clock_ns) > 0);
  CHECK(!counts.has(Event::cycles));
}

TEST_CASE("a group that runs for a part of the time is scaled to all of it") {
  constexpr std::size_t kPages = 5000;
  const auto cpus = processors();
  if (cpus.size() < 2) {
    MESSAGE("skipped: needs two processors");
    return;
  }
  // Counted on one processor only, as if the other half of the time belonged to other events.
  const EventGroup half({Event::page_faults, Event::task_clock_ns}, cpus[0]);
  const EventGroup whole{Event::page_faults};
  if (half.error() != 0) {
    MESSAGE("skipped: this machine does not allow perf_event_open, errno ", half.error());
    return;
  }
  CounterValues before, after, before_all, after_all;
  move_to({cpus[0]});
  half.read(before);
  whole.read(before_all);
  for (int turn = 0; turn < 10; ++turn) {
    for (const int cpu : {cpus[0], cpus[1]}) {
      move_to({cpu});
      compute_ms(3);
      fault(kPages / 10);
    }
  }
  half.read(after);
  whole.read(after_all);
  move_to(cpus);
  const CounterValues counts = after - before;
  const double all = (after_all - before_all).count(Event::page_faults);
  CHECK(all >= 2 * kPages);
  CHECK(counts[Event::page_faults].value >= kPages);
  CHECK(counts[Event::page_faults].value < kMostFaults * (kPages + kPages / 5));
  CHECK(counts.share(Event::page_faults) > 0.3);  // a half, and something for what faults cost
  CHECK(counts.share(Event::page_faults) < 0.7);
  CHECK(counts.count(Event::page_faults) ==
        doctest::Approx(static_cast<double>(counts[Event::page_faults].value) /
                        counts.share(Event::page_faults)));
}

using Clock = std::chrono::steady_clock;

double ns_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

TEST_CASE("waiting for a core is told from waiting for anything else") {
  const ThreadCounters counters;
  if (!counters.read().has(Event::core_wait_ns)) {
    MESSAGE("skipped: this kernel does not tell (CONFIG_SCHED_INFO)");
    return;
  }
  // Sleeping is in none of it. Who loses its core on the way to sleep waits for both: then once more.
  bool apart = false;
  for (int turn = 0; turn < 20 && !apart; ++turn) {
    const auto start = Clock::now();
    const CounterValues before = counters.read();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const double waited = (counters.read() - before).count(Event::core_wait_ns);
    apart = 50e6 + waited < 1e6 + ns_since(start);
  }
  CHECK(apart);

  const auto cpus = processors();
  move_to({cpus[0]});
  std::atomic<bool> done{false};  // a single flag; pairs with nothing
  std::thread other([&] {
    while (!done) continue;
  });
  // Until the other one has had the core. A moment counts in `least` when it is surely between the two reads,
  // and in `most` when it may be.
  const auto first = Clock::now();
  const CounterValues before = counters.read();
  const auto second = Clock::now();
  CounterValues counts;
  double least = 0, most = 0;
  do {
    compute_ms(20);
    least = ns_since(second);
    counts = counters.read() - before;
    most = ns_since(first);
  } while ((counts.count(Event::core_wait_ns) < 20e6 || counts.count(Event::involuntary_switches) == 0) &&
           most < 60e9);
  done = true;
  other.join();
  move_to(cpus);
  CHECK(counts.count(Event::core_wait_ns) > 20e6);
  const double sum = counts.count(Event::core_wait_ns) + counts.count(Event::task_clock_ns);
  CHECK(sum > 0.9 * least);
  CHECK(sum < 1.1 * most);
  CHECK(counts.count(Event::involuntary_switches) > 0);
  CHECK(counts.count(Event::involuntary_switches) <= counts.count(Event::context_switches));
}

#ifdef EDGEWIRE_PFM
/// Whether an event of the processor `family` (libpfm4's name for it) is asked for by this number first.
/// Answered by a run of this program on the next test case: the library remembers what processors it saw.
bool asks(const char* family, Event event, std::uint64_t config) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("LIBPFM_FORCE_PMU", family, 1);
    setenv("TEST_EVENT", std::to_string(static_cast<int>(event)).c_str(), 1);
    setenv("TEST_CONFIG", std::to_string(config).c_str(), 1);
    execl("/proc/self/exe", "perf_test", "--out=/dev/null", "--test-case=other events are*", nullptr);
    _exit(127);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return status == 0;
}

TEST_CASE("cycles are generic") {
  CHECK(find_event_codes()[static_cast<std::size_t>(Event::cycles)][0].type == PERF_TYPE_HARDWARE);
}

TEST_CASE("other events are those of the processor that the environment names") {
  const char* event = std::getenv("TEST_EVENT");
  if (event == nullptr) {
    MESSAGE("skipped: it is a part of the next test case, which names an event (TEST_EVENT)");
    return;
  }
  const auto all = find_event_codes();
  const auto& codes = all[std::stoul(event)];
  REQUIRE(!codes.empty());
  CHECK(codes[0].type == PERF_TYPE_RAW);
  CHECK(codes[0].config == std::stoull(std::getenv("TEST_CONFIG")));
}

// libpfm4 knows the processors of the architecture that it is built for. Numbers from the makers' manuals; of
// x86: event, unit mask << 8, counter mask << 24.
#if defined(__aarch64__)
TEST_CASE("events that have no generic name are asked for by the processor's own") {
  for (const char* family : {"arm_n1", "arm_n2", "arm_v1"}) {
    CHECK(asks(family, Event::llc_references, 0x36));
    CHECK(asks(family, Event::llc_misses, 0x37));
    CHECK(asks(family, Event::dtlb_misses, 0x34));
    CHECK(asks(family, Event::remote_reads, 0x31));
  }
}
#else
TEST_CASE("events that have no generic name are asked for by the processor's own") {
  for (const char* family : {"skx", "clx", "icx", "spr"}) {
    CHECK(asks(family, Event::stalled_backend, 0x040004A3));  // CYCLE_ACTIVITY.STALLS_TOTAL
    CHECK(asks(family, Event::remote_reads, 0x02D3));         // MEM_LOAD_L3_MISS_RETIRED.REMOTE_DRAM
  }
  CHECK(asks("skl", Event::stalled_backend, 0x040004A3));
  CHECK(asks("hsw_ep", Event::remote_reads, 0x04D3));  // MEM_LOAD_UOPS_L3_MISS_RETIRED.REMOTE_DRAM
  CHECK(asks("icx", Event::dtlb_misses, 0x0E08));      // DTLB_LOAD_MISSES.WALK_COMPLETED
  CHECK(asks("spr", Event::dtlb_misses, 0x0E12));
  for (const char* family : {"amd64_fam19h_zen4", "amd64_fam19h_zen3"}) {
    CHECK(asks(family, Event::llc_misses, 0x4844));      // fills from memory, near and far
    CHECK(asks(family, Event::llc_references, 0x5E44));  // all fills that the second level had not
    CHECK(asks(family, Event::remote_reads, 0x5044));    // from the far cache, from far memory
  }
  CHECK(asks("amd64_fam17h_zen2", Event::llc_misses, 0x4843));
  CHECK(asks("amd64_fam17h_zen2", Event::remote_reads, 0x5043));
  CHECK(asks("amd64_fam19h_zen4", Event::stalled_backend, 0x02D6));
  for (const char* family :
       {"amd64_fam17h_zen1", "amd64_fam17h_zen2", "amd64_fam19h_zen3", "amd64_fam19h_zen4"})
    CHECK(asks(family, Event::dtlb_misses, 0xF045));
}
#endif
#endif

TEST_CASE("software figures are there on every machine") {
  const ThreadCounters counters;
  const CounterValues before = counters.read();
  const topology::NodeMemory memory(std::size_t{1} << 20, -1, "test");
  std::uint64_t sum = 0;
  for (int turn = 0; turn < 20; ++turn) {
    for (auto& word : memory.as<std::uint64_t>()) sum += word++;
  }
  CHECK(sum > 0);
  const CounterValues counts = counters.read() - before;
  CHECK(counts.count(Event::task_clock_ns) > 0);
  CHECK(counts.count(Event::page_faults) > 0);
  CHECK(counts.has(Event::context_switches));
}

TEST_CASE("hardware events are counted, or there is one line that says why not") {
  const ThreadCounters counters;
  const CounterValues before = counters.read();
  const auto known = static_cast<double>(run_instructions(100'000'000));
  const CounterValues counts = counters.read() - before;
  if (counters.error() != 0) {
    CHECK(!counts.has(Event::cycles));
    CHECK(!explain_missing_counters(counters.error()).empty());
    MESSAGE("skipped: ", explain_missing_counters(counters.error()));
    return;
  }
  if (!shared_counters_are_right()) {
    CHECK(counts.count(Event::instructions) > 0);
    MESSAGE(kSharedCountersAreWrong);
    return;
  }
  CHECK(counts.count(Event::instructions) >= 0.98 * known);  // scaled where the counters are shared
  CHECK(counts.count(Event::instructions) <= 1.05 * known);  // with the kernel's ticks
  CHECK(counts.count(Event::cycles) > 0.1 * known);
  CHECK(counts.share(Event::cycles) == counts.share(Event::instructions));
}

TEST_CASE("groups that share the processor's counters are scaled to what is known to have happened") {
  std::vector<std::unique_ptr<EventGroup>> groups;  // more than any processor counts at once
  for (int i = 0; i < 24; ++i)
    groups.push_back(std::make_unique<EventGroup>(std::initializer_list<Event>{Event::instructions}));
  if (groups[0]->error() != 0) {
    MESSAGE("skipped: ", explain_missing_counters(groups[0]->error()));
    return;
  }
  if (!shared_counters_are_right()) {
    MESSAGE(kSharedCountersAreWrong);
    return;
  }
  std::vector<CounterValues> before(groups.size()), after(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i]->read(before[i]);
  const auto known = static_cast<double>(run_instructions(400'000'000));
  double shares = 0, value = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups[i]->read(after[i]);
    const CounterValues counts = after[i] - before[i];
    shares += counts.share(Event::instructions);
    value += static_cast<double>(counts[Event::instructions].value);
    CHECK(counts.count(Event::instructions) == doctest::Approx(known).epsilon(0.05));
  }
  CHECK(shares < 23);
  CHECK(value < shares * known * 1.05);  // what was read is of those shares of the time only
}

TEST_CASE("why counters are missing names the remedy, in one line") {
  for (const int error : {ENOENT, EACCES, EPERM, ENOSYS, EOPNOTSUPP}) {
    const auto line = explain_missing_counters(error);
    CAPTURE(line);
    CHECK(line.find("no hardware counters: ") == 0);
    CHECK(line.find('\n') == std::string::npos);
  }
  CHECK(explain_missing_counters(EACCES).find("perf_event_paranoid") != std::string::npos);
  CHECK(explain_missing_counters(0).empty());
}

}  // namespace
}  // namespace edgewire::profile
