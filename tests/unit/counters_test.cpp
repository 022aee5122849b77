#include "perf/counters.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <vector>

#include "topology/memory.h"

namespace edgewire::perf {
namespace {

TEST_CASE("an event that ran for half of the time is scaled up, and one that did not run is none") {
  Counts counts;
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
  Counts twice = counts;
  twice += counts;
  CHECK(twice.count(Event::cycles) == 4000);
  CHECK((twice - counts).count(Event::cycles) == 2000);
  CHECK(instructions_per_llc_miss(Counts{}) == 0);
}

TEST_CASE("software figures are there on every machine") {
  const ThreadCounters counters;
  const Counts before = counters.read();
  const topology::NodeMemory memory(std::size_t{1} << 20, -1, "test");
  std::uint64_t sum = 0;
  for (int turn = 0; turn < 20; ++turn) {
    for (auto& word : memory.as<std::uint64_t>()) sum += word++;
  }
  CHECK(sum > 0);
  const Counts counts = counters.read() - before;
  CHECK(counts.count(Event::task_clock_ns) > 0);
  CHECK(counts.count(Event::page_faults) > 0);
  CHECK(counts.has(Event::context_switches));
}

TEST_CASE("hardware events are counted, or there is one line that says why not") {
  const ThreadCounters counters;
  const Counts before = counters.read();
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < 10'000'000; ++i) {
    sum += i;
    asm volatile("" : "+r"(sum));
  }
  const Counts counts = counters.read() - before;
  if (counters.error() != 0) {
    CHECK(!counts.has(Event::cycles));
    CHECK(!explain_missing_counters(counters.error()).empty());
    MESSAGE("skipped: ", explain_missing_counters(counters.error()));
    return;
  }
  CHECK(counts.count(Event::instructions) > 10e6);
  CHECK(counts.count(Event::cycles) > 1e6);
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
}  // namespace edgewire::perf
