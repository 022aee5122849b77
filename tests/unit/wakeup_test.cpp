// Threads that sleep until others have news, and take turns.
#include "transport/wakeup.h"

#include <doctest/doctest.h>
#include <poll.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "schedule.h"
#include "transport/health.h"
#include "transport_fixture.h"

namespace edgewire::transport {
namespace {

using namespace std::chrono_literals;

constexpr auto kLongWait = 60s;  ///< no event takes so long, however busy the machine is

/// Sleeps until `news` has reached `least`. Throws when a sleep ends by its time alone.
void await(Wakeup& wakeup, const std::atomic<std::uint64_t>& news, std::uint64_t least) {
  for (;;) {
    const std::uint32_t seen = wakeup.generation();
    if (news.load(std::memory_order_acquire) >= least) return;
    const auto start = std::chrono::steady_clock::now();
    wakeup.sleep(seen, kLongWait);
    require(std::chrono::steady_clock::now() - start < kLongWait / 2, "a thread that sleeps was not woken");
  }
}

TEST_CASE("who looks for news and then sleeps misses none, and sees what was written before it" *
          doctest::test_suite("schedules")) {
  constexpr std::uint64_t kListeners = 2;
  const auto turns = static_cast<std::uint64_t>(rounds(2000));
  Wakeup there, back;
  std::atomic<std::uint64_t> told{0}, heard{0};
  std::uint64_t written = 0;
  CHECK_NOTHROW(parallel(1 + kListeners, [&](int thread) {
    for (std::uint64_t turn = 1; turn <= turns; ++turn) {
      if (thread == 0) {
        written = turn * 7;
        raise(told, turn);
        there.announce();
        await(back, heard, kListeners * turn);
      } else {
        await(there, told, turn);
        require(written == turn * 7, "what was written before the news is not there");
        heard.fetch_add(1, std::memory_order_acq_rel);
        back.announce();
      }
    }
  }));
  CHECK(told == turns);
}

TEST_CASE("a count that several threads raise ends at the highest" * doctest::test_suite("schedules")) {
  const auto turns = static_cast<std::uint64_t>(rounds(500));
  std::atomic<std::uint64_t> count{0};
  for (std::uint64_t turn = 1; turn <= turns; ++turn) {
    parallel(3,
             [&](int thread) { raise(count, 10 * turn + (turn + static_cast<std::uint64_t>(thread)) % 3); });
    REQUIRE(count == 10 * turn + 2);
  }
}

TEST_CASE("one thread at a time holds a lock that spins" * doctest::test_suite("schedules")) {
  constexpr int kThreads = 3;
  const int turns = rounds(3000);
  SpinLock lock;
  int held = 0, tried = 0;
  parallel(kThreads, [&](int thread) {
    for (int turn = 0; turn < turns; ++turn) {
      if (thread == 0 && turn % 2 == 0) {
        while (!lock.try_lock()) std::this_thread::yield();
        ++tried;
      } else {
        lock.lock();
      }
      ++held;
      lock.unlock();
    }
  });
  CHECK(held == kThreads * turns);
  CHECK(tried == (turns + 1) / 2);
}

TEST_CASE("one thread at a time watches, and a ring wakes it" * doctest::test_suite("schedules")) {
  const auto turns = static_cast<std::uint64_t>(rounds(1000));
  Wakeup wakeup, back;
  Alarm alarm;
  REQUIRE(alarm);
  std::atomic<std::uint64_t> told{0}, heard{0};
  int watching = 0;  // only who watches touches it
  const auto wait_for = [&](std::uint64_t turn) {
    for (;;) {
      const std::uint32_t seen = wakeup.generation();
      if (told.load(std::memory_order_acquire) >= turn) return;
      const auto start = std::chrono::steady_clock::now();
      if (alarm.begin()) {
        require(++watching == 1, "two threads watch at a time");
        pollfd event{alarm.fd(), POLLIN, 0};
        if (wakeup.generation() == seen && poll(&event, 1, 60'000) > 0) alarm.silence();
        --watching;
        alarm.end();
        wakeup.wake_sleepers();  // one of them may watch now
      } else {
        wakeup.sleep_if(seen, kLongWait, [&] { return alarm.is_watched(); });
      }
      require(std::chrono::steady_clock::now() - start < kLongWait / 2, "a thread that waits was not woken");
    }
  };
  CHECK_NOTHROW(parallel(4, [&](int thread) {
    for (std::uint64_t turn = 1; turn <= turns; ++turn) {
      if (thread == 0) {
        raise(told, turn);
        wakeup.announce();
        alarm.ring();
        await(back, heard, 3 * turn);
      } else {
        wait_for(turn);
        heard.fetch_add(1, std::memory_order_acq_rel);
        back.announce();
      }
    }
  }));
}

TEST_CASE("of several threads that say why a job failed the first one is heard, whole" *
          doctest::test_suite("schedules")) {
  for (int turn = rounds(200); turn > 0; --turn) {
    Health health;
    health.tolerate_losses(4);
    std::array<std::string, 2> seen;
    std::atomic<int> ready{0};
    parallel(5, [&](int thread) {
      if (thread < 2) {
        health.lose(3, "it was lost " + std::to_string(thread));
        health.fail(thread, std::string(40, static_cast<char>('a' + thread)));
        ++ready;
      } else if (thread < 4) {
        while (!health.failed()) std::this_thread::yield();
        seen[static_cast<std::size_t>(thread) - 2] = health.message();
      } else {
        while (ready < 2) std::this_thread::yield();
        require(health.losses() == 1 && health.lost(3) && !health.lost(2), "one peer was lost, once");
      }
    });
    REQUIRE((health.peer() == 0 || health.peer() == 1));
    for (const auto& message : seen)
      REQUIRE(message == std::string(40, static_cast<char>('a' + health.peer())));
  }
}

}  // namespace
}  // namespace edgewire::transport
