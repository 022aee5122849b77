// What transport.h promises of wait(), over every usable backend, bare and with seeded faults.
#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <vector>

#include "schedule.h"
#include "transport_fixture.h"

namespace edgewire::transport {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kForEver = 60s;  ///< no event takes so long, however busy the machine is

/// Threads that wait for something, as others see them.
struct Waiting {
  std::vector<std::atomic<pid_t>> threads;  ///< set before the first wait
  std::atomic<int> back{0};

  explicit Waiting(std::size_t count) : threads(count) {}

  bool all_are_back() const { return back == static_cast<int>(threads.size()); }
  /// Until all of them sleep: then the event finds them where they are to be woken.
  void until_asleep() const {
    const auto deadline = Clock::now() + kForEver;
    for (const auto& thread : threads)
      while (!sleeps(thread)) {
        require(Clock::now() < deadline, "a thread that waits does not sleep");
        std::this_thread::yield();
      }
  }

 private:
  static bool sleeps(pid_t thread) {
    std::string line;
    std::getline(std::ifstream(fmt::format("/proc/self/task/{}/stat", thread)), line);
    const std::size_t name_end = line.rfind(')');
    return thread != 0 && name_end != line.npos && line.substr(name_end, 3) == ") S";
  }
};

/// Waits in thread `i` of them until rank 0 has signalled `count`. Throws when a wait was not ended by that,
/// but by its timeout.
void wait_for_signal(const Endpoint& me, std::uint64_t count, Waiting& waiting, std::size_t i) {
  me.progress();
  waiting.threads[i] = gettid();
  bool goes_on = true, woken = true;
  while (goes_on && woken && me.transport->signalled(0, 0) < count) {
    const auto start = Clock::now();
    goes_on = me.transport->wait(kForEver);
    woken = Clock::now() - start < kForEver / 2;
  }
  ++waiting.back;
  require(goes_on, "the job failed");
  require(woken, "a thread that waits was not woken");
}

/// Signals, and goes on until the others know it: faults may hold the doorbell.
void signal_until_back(const Endpoint& me, std::uint64_t count, const Waiting& waiting) {
  me.signal(0, 1, 0, count);
  me.transport->ring_doorbell(0);
  const auto deadline = Clock::now() + 2 * kForEver;
  while (!waiting.all_are_back() && Clock::now() < deadline) {
    me.progress();
    std::this_thread::yield();
  }
}

TEST_CASE("waiting ends when something arrives, for all threads that wait" *
          doctest::test_suite("schedules")) {
  for (const Subject& subject : subjects()) {
    CAPTURE(subject.label());
    const Job job = make_job(subject, 2, 64);
    Waiting waiting(3);
    REQUIRE_NOTHROW(parallel(4, [&](int i) {
      if (i < 3) return wait_for_signal(*job[1], 1, waiting, static_cast<std::size_t>(i));
      waiting.until_asleep();
      signal_until_back(*job[0], 1, waiting);
    }));
  }
}

// Who polls may take the event that was to wake another thread.
TEST_CASE("waiting ends when something arrives, for all threads that wait, while another one polls" *
          doctest::test_suite("schedules")) {
  const auto turns = static_cast<std::uint64_t>(rounds(50));
  for (const Subject& subject : subjects()) {
    CAPTURE(subject.label());
    const Job job = make_job(subject, 2, 64);
    for (std::uint64_t round = 1; round <= turns; ++round) {
      Waiting waiting(3);
      REQUIRE_NOTHROW(parallel(5, [&](int i) {
        if (i < 3) return wait_for_signal(*job[1], round, waiting, static_cast<std::size_t>(i));
        if (i == 4) return signal_until_back(*job[0], round, waiting);
        for (const auto end = Clock::now() + 2 * kForEver; !waiting.all_are_back() && Clock::now() < end;)
          job[1]->progress();
      }));
    }
  }
}

// One thread watches for all, here for a moment only.
TEST_CASE("waiting ends when something arrives, though the thread that watched has gone" *
          doctest::test_suite("schedules")) {
  const auto turns = static_cast<std::uint64_t>(rounds(100));
  for (const Subject& subject : subjects()) {
    CAPTURE(subject.label());
    const Job job = make_job(subject, 2, 64);
    for (std::uint64_t round = 1; round <= turns; ++round) {
      Waiting waiting(1);
      std::atomic<bool> gone{false};
      REQUIRE_NOTHROW(parallel(3, [&](int i) {
        if (i == 0) return wait_for_signal(*job[1], round, waiting, 0);
        if (i == 1) {
          job[1]->progress();
          job[1]->transport->wait(1ms);
          gone = true;
        } else {
          while (!gone) std::this_thread::yield();
          signal_until_back(*job[0], round, waiting);
        }
      }));
    }
  }
}

TEST_CASE("waiting ends at the timeout when nothing comes") {
  for (const Subject& subject : subjects()) {
    if (subject.seed != 0) continue;
    CAPTURE(subject.label());
    const Job job = make_job(subject, 2, 64);
    // What is left of the start may end the first waits before their timeout.
    bool lasted = false;
    for (int turn = 0; turn < 20 && !lasted; ++turn) {
      job[0]->progress();
      const auto start = Clock::now();
      job[0]->transport->wait(50ms);
      lasted = Clock::now() - start > 40ms;
    }
    CHECK(lasted);
  }
}

TEST_CASE("one thread waits on two transports in turn" * doctest::test_suite("schedules")) {
  const Job shm = make_job({"shm", 0}, 2, 64);
  const Job tcp = make_job({"tcp", 0}, 2, 64);
  const auto turns = static_cast<std::uint64_t>(rounds(200));
  parallel(2, [&](int i) {
    const auto rank = static_cast<std::size_t>(i);
    for (std::uint64_t round = 1; round <= turns; ++round)
      for (const Job* job : {&shm, &tcp}) {
        (*job)[rank]->signal(0, 1 - i, 0, round);
        (*job)[rank]->transport->ring_doorbell(0);
        (*job)[rank]->until([&] { return (*job)[rank]->transport->signalled(1 - i, 0) >= round; });
      }
  });
}

}  // namespace
}  // namespace edgewire::transport
