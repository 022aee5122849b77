#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/control_group.h"

namespace edgewire {

namespace {

thread_local const ReadyWorkers* ready_workers = nullptr;

}  // namespace

ReadyWorkers::ReadyWorkers(Run run) : run_(std::move(run)), before_(std::exchange(ready_workers, this)) {}

ReadyWorkers::~ReadyWorkers() { ready_workers = before_; }

int workers_or_default(int requested) { return requested > 0 ? requested : usable_threads(); }

void run_workers(int workers, const std::function<void(int)>& work) {
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(workers));
  const auto guarded = [&](int worker) noexcept {
    try {
      work(worker);
    } catch (...) {
      failures[static_cast<std::size_t>(worker)] = std::current_exception();
    }
  };
  if (const ReadyWorkers* const ready = std::exchange(ready_workers, nullptr)) {
    // This does not happen inside the work: these workers are busy then.
    ready->run_([&](int worker) {
      if (worker < workers) guarded(worker);
    });
    ready_workers = ready;
  } else {
    std::vector<std::jthread> threads;
    try {
      threads.reserve(failures.size());
      for (int worker = 1; worker < workers; ++worker) threads.emplace_back(guarded, worker);
    } catch (const std::system_error&) {
      // Fewer threads than asked for: work is handed out, never divided, so those that run do it all.
    }
    guarded(0);
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

void parallel_for(int workers, std::uint64_t count, const char* step, const Progress& progress,
                  const std::function<void(int worker, std::uint64_t index)>& work) {
  std::atomic<std::uint64_t> next{0};  // a ticket: orders nothing else
  std::mutex mutex;
  std::exception_ptr failure;
  std::uint64_t failed_index = count;
  const std::uint64_t most = std::min(static_cast<std::uint64_t>(workers), std::max<std::uint64_t>(count, 1));
  run_workers(static_cast<int>(most), [&](int worker) {
    for (;;) {
      const std::uint64_t index = next.fetch_add(1, std::memory_order_relaxed);
      if (index >= count) return;
      try {
        work(worker, index);
      } catch (...) {
        next.store(count, std::memory_order_relaxed);
        const std::lock_guard lock(mutex);
        if (index < failed_index) {
          failed_index = index;
          failure = std::current_exception();
        }
      }
      if (worker == 0 && progress)
        progress({step, std::min(next.load(std::memory_order_relaxed), count), count, "parts"});
    }
  });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace edgewire
