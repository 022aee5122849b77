#pragma once

#include <linux/futex.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>

#include "transport/file_descriptor.h"

namespace edgewire::transport {

/// Raises `counter` to `count`; never lowers it. Sequentially consistent: a thread that then reads
/// `Wakeup::waiters` cannot miss a waiter that has read the old count.
inline void raise(std::atomic<std::uint64_t>& counter, std::uint64_t count) noexcept {
  std::uint64_t old = counter.load(std::memory_order_relaxed);
  while (old < count && !counter.compare_exchange_weak(old, count))
    continue;  // pairs with acquire in signalled()
}

/// Lets threads sleep until another one announces news, in memory that processes may share. `generation`
/// counts the announcements. A thread reads it, looks for news, and then sleeps only if it is still the same.
class Wakeup {
 public:
  std::uint32_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }

  void announce() noexcept {
    generation_.fetch_add(1);  // pairs with the futex's own look at the word
    if (waiters_.load() > 0) futex(FUTEX_WAKE, INT_MAX, nullptr);  // pairs with fetch_add in sleep()
  }

  /// Does the same as announce(), when there is no news but somebody sleeps.
  void wake_sleepers() noexcept {
    if (waiters_.load() > 0) announce();
  }

  void sleep(std::uint32_t seen, std::chrono::nanoseconds timeout) noexcept {
    sleep_if(seen, timeout, [] { return true; });
  }

  /// Does the same if holds() says so when this thread already counts as a sleeper. A thread that ends what
  /// holds() asks for, and then calls wake_sleepers(), wakes this thread or keeps it from sleeping.
  template <class Holds>
  void sleep_if(std::uint32_t seen, std::chrono::nanoseconds timeout, const Holds& holds) noexcept {
    const timespec limit{timeout.count() / 1'000'000'000, timeout.count() % 1'000'000'000};
    waiters_.fetch_add(1);  // pairs with load in announce() and wake_sleepers()
    if (holds()) futex(FUTEX_WAIT, seen, &limit);
    waiters_.fetch_sub(1, std::memory_order_relaxed);
  }

 private:
  void futex(int operation, std::uint32_t value, const timespec* timeout) noexcept {
    syscall(SYS_futex, &generation_, operation, value, timeout, nullptr, 0);
  }

  std::atomic<std::uint32_t> generation_{0};
  std::atomic<std::uint32_t> waiters_{0};
};
static_assert(sizeof(Wakeup) == 8 && std::atomic<std::uint32_t>::is_always_lock_free);

/// Makes threads take turns for short times. It never sleeps, and lets other threads run meanwhile.
class SpinLock {
 public:
  bool try_lock() noexcept { return !held_.test_and_set(std::memory_order_acquire); }
  void lock() noexcept {
    while (!try_lock()) sched_yield();
  }
  void unlock() noexcept { held_.clear(std::memory_order_release); }

 private:
  std::atomic_flag held_;  ///< acquire and release pair with each other
};

/// Ends the sleep of the one thread that watches file descriptors, fd() among them, while the others sleep on
/// a Wakeup. Only that thread may silence the alarm: any other would take the news away from a watcher that
/// was woken but has not run yet.
class Alarm {
 public:
  explicit operator bool() const noexcept { return static_cast<bool>(event_); }
  int fd() const noexcept { return event_.get(); }

  /// Begins to watch. Returns false if another thread watches.
  bool begin() noexcept { return !watching_.test_and_set(); }
  /// Wakeup::wake_sleepers() follows: one of those that sleep while another thread watches may watch now.
  void end() noexcept { watching_.clear(); }
  /// Returns whether a thread watches. Sequentially consistent, for Wakeup::sleep_if().
  bool is_watched() const noexcept { return watching_.test(); }

  /// Wakes the thread that watches. Call it after Wakeup::announce(), whose generation a new watcher sees.
  void ring() noexcept {
    if (!is_watched()) return;  // pairs with test_and_set in begin()
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t ignored = ::write(event_.get(), &one, sizeof one);
  }

  /// Resets fd(). The watching thread calls it when fd() is readable.
  void silence() noexcept {
    std::uint64_t rings = 0;
    [[maybe_unused]] const ssize_t ignored = ::read(event_.get(), &rings, sizeof rings);
  }

 private:
  FileDescriptor event_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::atomic_flag watching_{};
};

/// The generation that a thread saw when it last polled, for a few transports: set by poll(), used by wait().
class LastLook {
  struct Look {
    std::uint64_t owner;
    std::uint32_t generation;
  };

 public:
  LastLook() : owner_(next_owner.fetch_add(1, std::memory_order_relaxed)) {}
  void remember(std::uint32_t generation) const noexcept {
    last_[owner_ % kTransports] = {owner_, generation};
  }
  /// Returns false when this thread has not looked, or has looked at another transport since.
  bool recall(std::uint32_t& generation) const noexcept {
    const Look& last = last_[owner_ % kTransports];
    generation = last.generation;
    return last.owner == owner_;
  }

 private:
  inline static std::atomic<std::uint64_t> next_owner{1};  // unique numbers only; pairs with nothing
  static constexpr std::size_t kTransports = 4;
  inline static thread_local std::array<Look, kTransports> last_{};
  std::uint64_t owner_;
};

}  // namespace edgewire::transport
