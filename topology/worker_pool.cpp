#include "topology/worker_pool.h"

#include <fmt/core.h>
#include <sched.h>

#include <chrono>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/rooms.h"
#include "edgewire/detail/cpu_level.h"

namespace edgewire::topology {
namespace {

constexpr std::size_t kCacheLineBytes = 64;
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

struct WorkerPool::State {
  /// A word of its own cache line that threads wait on.
  struct alignas(kCacheLineBytes) Word {
    std::atomic<std::uint32_t> value{0};

    /// Returns a value other than `old`, once there is one. Acquire.
    std::uint32_t wait_while(std::uint32_t old, bool spin) const noexcept {
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
  };

  State(topology::Placement given, CoreClaim claimed)
      : claim(std::move(claimed)), placement(std::move(given)), thrown(placement.workers.size()) {}

  const CoreClaim claim;
  const topology::Placement placement;
  std::vector<std::exception_ptr> thrown;  ///< exceptions by worker; read when all have returned
  std::vector<std::thread> threads;        ///< threads of the workers 1, 2...
  cpu_set_t callers_cpus{};                ///< cores of the making thread before it was pinned
  std::thread::id caller{};                ///< id of the making thread, when it was pinned
  const std::function<void(int)>* work = nullptr;
  Observer* observer = nullptr;
  int process = 0;  ///< rank of this process for the observer
  bool stopping = false;

  Word round;  ///< number of runs; its release of `work` and `stopping` pairs with serve()'s wait
  /// Number of workers that are through with this run, each a release that pairs with run()'s wait.
  Word returned;
  Word arrived;  ///< number of workers in the barrier; acquire and release among all of them
  Word passed;   ///< number of completed barriers (the sense); its release pairs with barrier()'s wait
  alignas(kCacheLineBytes) std::atomic<std::uint64_t> next{0};  ///< next index of for_each; guards nothing
  /// A worker threw in this run. Stored before the release of `passed`, so that woken barriers see it.
  alignas(kCacheLineBytes) std::atomic<bool> abandoned{false};

  bool spin() const noexcept { return !placement.oversubscribed; }
  std::uint32_t others() const noexcept { return static_cast<std::uint32_t>(threads.size()); }

  void tell(int worker, Phase phase) const noexcept {
    if (observer != nullptr) observer->enter(worker, phase, 0, phase == Phase::wait ? process : -1);
  }

  void guarded(int worker) noexcept {
    if (observer != nullptr) this_worker = worker;
    tell(worker, Phase::compute);
    try {
      (*work)(worker);
    } catch (...) {
      thrown[worker] = std::current_exception();
      abandoned.store(true, std::memory_order_relaxed);
      passed.value.fetch_add(1, std::memory_order_release);
      passed.value.notify_all();
    }
    tell(worker, Phase::wait);
  }

  void serve(int worker) noexcept {
    // A worker that may not be pinned still works.
    topology::pin_this_thread(placement.workers[worker]);
    for (std::uint32_t seen = 0;;) {
      seen = round.wait_while(seen, spin());
      if (stopping) return;
      guarded(worker);
      if (returned.value.fetch_add(1, std::memory_order_acq_rel) + 1 == others()) returned.value.notify_one();
    }
  }

  void start_round() noexcept {
    round.value.fetch_add(1, std::memory_order_release);
    round.value.notify_all();
  }

  void stop() noexcept {
    stopping = true;
    start_round();
    for (auto& thread : threads) thread.join();
  }
};

WorkerPool::WorkerPool(topology::Placement placement, CoreClaim claim)
    : state_(std::make_unique<State>(std::move(placement), std::move(claim))) {
  cpu_level();  // its failure is told here, not in a loop
  const auto& places = state_->placement.workers;
  if (places.empty()) throw Error("a worker pool needs at least one worker");
  try {
    for (std::size_t w = 1; w < places.size(); ++w)
      state_->threads.emplace_back([state = state_.get(), w] { state->serve(static_cast<int>(w)); });
  } catch (const std::system_error& error) {
    state_->stop();
    throw Error(fmt::format("cannot start {} workers: {}", places.size(), reason(error.code().value())));
  }
  // Last, since threads inherit where they may run.
  if (places[0].cpu >= 0 && sched_getaffinity(0, sizeof(cpu_set_t), &state_->callers_cpus) == 0 &&
      topology::pin_this_thread(places[0]))
    state_->caller = std::this_thread::get_id();
}

WorkerPool::~WorkerPool() {
  state_->stop();
  if (state_->caller == std::this_thread::get_id())
    sched_setaffinity(0, sizeof(cpu_set_t), &state_->callers_cpus);
}

int WorkerPool::workers() const noexcept { return static_cast<int>(state_->placement.workers.size()); }

Part WorkerPool::part(int worker, std::uint64_t items) const noexcept {
  const auto all = static_cast<std::uint64_t>(workers()), w = static_cast<std::uint64_t>(worker);
  return {items * w / all, items * (w + 1) / all};
}

const topology::Placement& WorkerPool::placement() const noexcept { return state_->placement; }

void WorkerPool::run(const std::function<void(int)>& work) {
  State& state = *state_;
  state.work = &work;
  state.returned.value.store(0, std::memory_order_relaxed);
  if (state.others() > 0) state.start_round();
  state.guarded(0);
  for (std::uint32_t back = state.returned.value.load(std::memory_order_acquire); back != state.others();)
    back = state.returned.wait_while(back, state.spin());
  state.tell(0, Phase::compute);
  if (!state.abandoned.load(std::memory_order_relaxed)) return;

  state.abandoned.store(false, std::memory_order_relaxed);
  state.arrived.value.store(0, std::memory_order_relaxed);
  std::exception_ptr first;
  for (auto& exception : state.thrown) {
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
  State& state = *state_;
  state.next.store(0, std::memory_order_relaxed);
  run([&](int worker) {
    while (!state.abandoned.load(std::memory_order_relaxed)) {
      const std::uint64_t index = state.next.fetch_add(1, std::memory_order_relaxed);
      if (index >= count) return;
      work(worker, index);
    }
  });
}

void WorkerPool::barrier(const std::function<void()>& last) {
  State& state = *state_;
  const std::uint32_t before = state.passed.value.load(std::memory_order_acquire);
  if (state.abandoned.load(std::memory_order_relaxed)) throw Abandoned{};
  if (state.arrived.value.fetch_add(1, std::memory_order_acq_rel) == state.others()) {
    if (last) last();
    state.arrived.value.store(0, std::memory_order_relaxed);
    state.passed.value.fetch_add(1, std::memory_order_release);
    state.passed.value.notify_all();
    return;
  }
  state.tell(this_worker, Phase::wait);
  state.passed.wait_while(before, state.spin());
  state.tell(this_worker, Phase::compute);
  if (state.abandoned.load(std::memory_order_relaxed)) throw Abandoned{};
}

void WorkerPool::observe(Observer* observer, int process) noexcept {
  state_->observer = observer;
  state_->process = process;
}

Observer* WorkerPool::observer() const noexcept { return state_->observer; }

void WorkerPool::unpin_this_thread() const noexcept {
  if (state_->caller != std::thread::id{}) sched_setaffinity(0, sizeof(cpu_set_t), &state_->callers_cpus);
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
