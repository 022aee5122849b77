#include "topology/worker_pool.h"

#include <fmt/core.h>

#include <chrono>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/rooms.h"
#include "edgewire/detail/cpu_level.h"

namespace edgewire::topology {
namespace {

constexpr auto kSpinTime = std::chrono::microseconds(50);
constexpr int kPausesPerClockRead = 32;

/// The number of the thread's worker, inside run() of a pool with an observer.
thread_local int this_worker = 0;

/// Thrown out of barriers that can no longer be completed, since another worker threw; run() swallows it.
struct Abandoned {};

void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

/// Returns a value other than `old`, once there is one. Acquire.
std::uint32_t WorkerPool::Word::wait_while(std::uint32_t old, bool spin) const noexcept {
  std::uint32_t now = value.load(std::memory_order_acquire);
  if (spin && now == old) {
    const auto end = std::chrono::steady_clock::now() + kSpinTime;
    while (now == old && std::chrono::steady_clock::now() < end)
      for (int i = 0; i < kPausesPerClockRead && now == old; ++i) {
        pause();
        now = value.load(std::memory_order_acquire);
      }
  }
  while (now == old) {
    value.wait(old, std::memory_order_acquire);
    now = value.load(std::memory_order_acquire);
  }
  return now;
}

void WorkerPool::tell(int worker, Phase phase) const noexcept {
  if (observer_ != nullptr) observer_->enter(worker, phase, 0, phase == Phase::wait ? process_ : -1);
}

void WorkerPool::guarded(int worker) noexcept {
  if (observer_ != nullptr) this_worker = worker;
  tell(worker, Phase::compute);
  try {
    (*work_)(worker);
  } catch (...) {
    thrown_[worker] = std::current_exception();
    abandoned_.store(true, std::memory_order_relaxed);
    passed_.value.fetch_add(1, std::memory_order_release);
    passed_.value.notify_all();
  }
  tell(worker, Phase::wait);
}

void WorkerPool::serve(int worker) noexcept {
  // A worker that may not be pinned still works.
  topology::pin_this_thread(placement_.workers[worker]);
  for (std::uint32_t seen = 0;;) {
    seen = round_.wait_while(seen, spin());
    if (stopping_) return;
    guarded(worker);
    if (returned_.value.fetch_add(1, std::memory_order_acq_rel) + 1 == others()) returned_.value.notify_one();
  }
}

void WorkerPool::start_round() noexcept {
  round_.value.fetch_add(1, std::memory_order_release);
  round_.value.notify_all();
}

void WorkerPool::stop() noexcept {
  stopping_ = true;
  start_round();
  for (auto& thread : threads_) thread.join();
}

WorkerPool::WorkerPool(topology::Placement placement, CoreClaim claim)
    : claim_(std::move(claim)), placement_(std::move(placement)), thrown_(placement_.workers.size()) {
  cpu_level();  // its failure is told here, not in a loop
  const auto& places = placement_.workers;
  if (places.empty()) throw Error("a worker pool needs at least one worker");
  try {
    for (std::size_t w = 1; w < places.size(); ++w)
      threads_.emplace_back([this, w] { serve(static_cast<int>(w)); });
  } catch (const std::system_error& error) {
    stop();
    throw Error(fmt::format("cannot start {} workers: {}", places.size(), reason(error.code().value())));
  }
  // Last, since threads inherit where they may run.
  if (places[0].cpu >= 0 && sched_getaffinity(0, sizeof(cpu_set_t), &callers_cpus_) == 0 &&
      topology::pin_this_thread(places[0]))
    caller_ = std::this_thread::get_id();
}

WorkerPool::~WorkerPool() {
  stop();
  if (caller_ == std::this_thread::get_id()) sched_setaffinity(0, sizeof(cpu_set_t), &callers_cpus_);
}

Part WorkerPool::part(int worker, std::uint64_t items) const noexcept {
  const auto all = static_cast<std::uint64_t>(workers()), w = static_cast<std::uint64_t>(worker);
  return {items * w / all, items * (w + 1) / all};
}

void WorkerPool::run(const std::function<void(int)>& work) {
  work_ = &work;
  returned_.value.store(0, std::memory_order_relaxed);
  if (others() > 0) start_round();
  guarded(0);
  for (std::uint32_t back = returned_.value.load(std::memory_order_acquire); back != others();)
    back = returned_.wait_while(back, spin());
  tell(0, Phase::compute);
  if (!abandoned_.load(std::memory_order_relaxed)) return;

  abandoned_.store(false, std::memory_order_relaxed);
  arrived_.value.store(0, std::memory_order_relaxed);
  std::exception_ptr first;
  for (auto& exception : thrown_) {
    if (!exception) continue;
    try {
      std::rethrow_exception(std::exchange(exception, nullptr));
    } catch (const Abandoned&) {
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  std::rethrow_exception(first);
}

void WorkerPool::for_each(std::uint64_t count,
                          const std::function<void(int worker, std::uint64_t index)>& work) {
  next_.store(0, std::memory_order_relaxed);
  run([&](int worker) {
    while (!abandoned_.load(std::memory_order_relaxed)) {
      const std::uint64_t index = next_.fetch_add(1, std::memory_order_relaxed);
      if (index >= count) return;
      work(worker, index);
    }
  });
}

void WorkerPool::barrier(const std::function<void()>& last) {
  const std::uint32_t before = passed_.value.load(std::memory_order_acquire);
  if (abandoned_.load(std::memory_order_relaxed)) throw Abandoned{};
  if (arrived_.value.fetch_add(1, std::memory_order_acq_rel) == others()) {
    if (last) last();
    arrived_.value.store(0, std::memory_order_relaxed);
    passed_.value.fetch_add(1, std::memory_order_release);
    passed_.value.notify_all();
    return;
  }
  tell(this_worker, Phase::wait);
  passed_.wait_while(before, spin());
  tell(this_worker, Phase::compute);
  if (abandoned_.load(std::memory_order_relaxed)) throw Abandoned{};
}

void WorkerPool::unpin_this_thread() const noexcept {
  if (caller_ != std::thread::id{}) sched_setaffinity(0, sizeof(cpu_set_t), &callers_cpus_);
}

void WorkerPool::run_unpinned(const std::function<void()>& work) const {
  std::exception_ptr thrown;
  std::thread([&]() noexcept {
    unpin_this_thread();
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
  }).join();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace edgewire::topology
