#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace edgewire::tasks {

class Context;
struct Future;

/// Names the result of a task, in all processes. The process that spawned the task owns it.
struct Ref {
  static constexpr int kIndexBits = 28, kGenerationBits = 24;

  std::uint64_t bits = 0;

  static Ref of(int process, std::uint32_t generation, std::uint32_t index) noexcept {
    return {(static_cast<std::uint64_t>(process) << (kIndexBits + kGenerationBits)) |
            (std::uint64_t{generation} << kIndexBits) | index};
  }
  static Ref of(int process, const Future& future) noexcept;
  int process() const noexcept { return static_cast<int>(bits >> (kIndexBits + kGenerationBits)); }
  std::uint32_t generation() const noexcept {
    return static_cast<std::uint32_t>(bits >> kIndexBits) & ((1U << kGenerationBits) - 1);
  }
  std::uint32_t index() const noexcept { return static_cast<std::uint32_t>(bits) & ((1U << kIndexBits) - 1); }
  friend bool operator==(Ref, Ref) = default;
};

/// Who waits for a result: a task here, a process that has asked for it, or the caller of TaskJob::run().
struct Waiter {
  Waiter* next = nullptr;
  Context* task = nullptr;  ///< null: another process, or the caller
  Ref reply{};              ///< the place for the answer at that process
  bool last = false;        ///< the result is freed with this answer
  bool is_caller = false;
};

/// A result that is there or will be, in the process that owns it.
struct Future {
  /// Those who wait, the latest first; done() when the value is there. Release with the value, acquire by who
  /// reads it.
  std::atomic<Waiter*> waiters{nullptr};
  /// Of its references, from 1; another one when it is used again. Release when the place is free, acquire by
  /// who finds it: the reference may have come back through another process.
  std::atomic<std::uint32_t> generation{1};
  std::uint32_t index = 0;
  std::string value{};

  static Waiter* done() noexcept {
    static Waiter mark;
    return &mark;
  }
  bool is_done() const noexcept { return waiters.load(std::memory_order_acquire) == done(); }
  /// False: it is done. True: `waiter` will be served, and may have been already.
  bool add(Waiter& waiter) noexcept;
};

inline Ref Ref::of(int process, const Future& future) noexcept {
  return of(process, future.generation.load(std::memory_order_relaxed), future.index);
}

/// The futures of a process. Each worker has its own list of free ones.
class FutureTable {
 public:
  using Free = std::vector<std::uint32_t>;

  FutureTable();
  ~FutureTable();
  FutureTable(const FutureTable&) = delete;
  FutureTable& operator=(const FutureTable&) = delete;

  /// Throws Error when there are too many.
  Future& allocate(Free& free);
  /// Its references end.
  void release(Future& future, Free& free);
  /// Null: it was released, or there never was one. `ref` is of this process.
  Future* find(Ref ref) const noexcept;
  /// All references end, and all lists of free ones. Not while workers run.
  void reset();
  /// Calls visit(future) for all. Not while workers run.
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

  std::atomic<std::uint32_t> next_{0};  ///< the first index that no worker has got
  std::mutex mutex_{};                  ///< of making chunks
  /// Release when one is made, acquire in at().
  std::unique_ptr<std::atomic<Future*>[]> chunks_;
};

}  // namespace edgewire::tasks
