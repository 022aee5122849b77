#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "edgewire/tasks.h"

namespace edgewire::tasks {

/// A result that is there or will be, in the process that owns it.
struct Future {
  /// The list of the waiters, the latest first; done() when the value is there. It is stored with release
  /// with the value, and loaded with acquire by its readers.
  std::atomic<Waiter*> waiters{nullptr};
  /// The generation of its references, from 1: it changes when the place is used again. It is stored with
  /// release then, and loaded with acquire by finders, whose reference may have come through another process.
  std::atomic<std::uint32_t> generation{1};
  std::uint32_t index = 0;
  /// Tasks of the process that sets the value; they go on when other processes have it.
  Waiter* here = nullptr;
  Name name{};  ///< name of its task, where lost processes are tolerated
  Result value{};

  static Waiter* done() noexcept {
    static Waiter mark;
    return &mark;
  }
  bool is_done() const noexcept { return waiters.load(std::memory_order_acquire) == done(); }
  /// Adds a waiter. Returns false where the value is there; else `waiter` is served, perhaps already.
  bool add(Waiter& waiter) noexcept;
};

inline Ref Ref::of(int process, const Future& future) noexcept {
  return of(process, future.generation.load(std::memory_order_relaxed), future.index);
}

/// The futures of a process. Each worker has its own list of free ones.
class FutureTable {
 public:
  using Free = std::vector<std::uint32_t>;

  ~FutureTable();

  /// Returns a free future. Throws Error when there are too many.
  Future& allocate(Free& free);
  /// Ends all references to the future.
  void release(Future& future, Free& free);
  /// Returns the future of this process that `ref` names; null where it was released, or there never was one.
  Future* find(const Ref& ref) const noexcept;
  /// Ends all references, and all lists of free ones. Workers must not run meanwhile.
  void reset();
  /// Calls visit(future) for all futures. Workers must not run meanwhile.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (std::uint32_t index = 0; index < next_.load(); ++index)
      if (Future* const future = at(index)) visit(*future);
  }

 private:
  static constexpr std::uint32_t kChunk = 4096, kBatch = 64;
  static constexpr std::uint32_t kChunks = (1U << Ref::kIndexBits) / kChunk;
  static_assert(kChunk % kBatch == 0);

  Future* at(std::uint32_t index) const noexcept;
  void grow(Free& free);

  std::atomic<std::uint32_t> next_{0};  ///< first index that no worker has got
  std::mutex mutex_{};                  ///< guards the making of chunks
  /// The pointers are stored with release when a chunk is made, and loaded with acquire in at().
  std::unique_ptr<std::atomic<Future*>[]> chunks_ = std::make_unique<std::atomic<Future*>[]>(kChunks);
};

/// Tasks of other processes that are to run here: who waits here need not ask the owner. Thread safe.
class Guests {
 public:
  void add(const Ref& result) {
    const std::scoped_lock lock(mutex_);
    waiting_.try_emplace(result);
  }
  /// Returns whether the task is here; then `answer` will be served when it ends.
  bool wait(const Ref& result, Future& answer) {
    const std::scoped_lock lock(mutex_);
    const auto found = waiting_.find(result);
    if (found != waiting_.end()) found->second.push_back(&answer);
    return found != waiting_.end();
  }
  /// Notes that the task has ended, or left. Returns the waiters here.
  std::vector<Future*> end(const Ref& result) {
    const std::scoped_lock lock(mutex_);
    auto node = waiting_.extract(result);
    return node ? std::move(node.mapped()) : std::vector<Future*>();
  }
  void clear() {
    const std::scoped_lock lock(mutex_);
    waiting_.clear();
  }

 private:
  struct Hash {
    std::size_t operator()(const Ref& ref) const noexcept {
      return std::size_t{ref.index()} * 64 + static_cast<std::size_t>(ref.process());
    }
  };
  std::mutex mutex_;
  std::unordered_map<Ref, std::vector<Future*>, Hash> waiting_;
};

}  // namespace edgewire::tasks
