#include "tasks/future.h"

#include "base/error.h"

namespace edgewire::tasks {

bool Future::add(Waiter& waiter) noexcept {
  Waiter* first = waiters.load(std::memory_order_acquire);
  do {
    if (first == done()) return false;
    waiter.next = first;
  } while (!waiters.compare_exchange_weak(first, &waiter, std::memory_order_release,
                                          std::memory_order_acquire));  // pairs with exchange in fulfil()
  return true;
}

FutureTable::~FutureTable() {
  for (std::uint32_t chunk = 0; chunk < kChunks; ++chunk) delete[] chunks_[chunk].load();
}

Future* FutureTable::at(std::uint32_t index) const noexcept {
  Future* const chunk = chunks_[index / kChunk].load(std::memory_order_acquire);  // pairs with grow()
  return chunk == nullptr ? nullptr : &chunk[index % kChunk];
}

Future* FutureTable::find(const Ref& ref) const noexcept {
  Future* const future = at(ref.index());
  const bool same =  // pairs with release()
      future != nullptr && future->generation.load(std::memory_order_acquire) == ref.generation();
  return same ? future : nullptr;
}

Future& FutureTable::allocate(Free& free) {
  if (free.empty()) grow(free);
  Future& future = *at(free.back());
  free.pop_back();
  return future;
}

void FutureTable::grow(Free& free) {
  const std::uint32_t first = next_.fetch_add(kBatch);
  if (first > kChunks * kChunk - kBatch * 1024)  // the indexes of all workers
    throw Error("more than 268 million results wait to be taken");
  auto& chunk = chunks_[first / kChunk];
  const std::scoped_lock lock(mutex_);
  if (chunk.load(std::memory_order_relaxed) == nullptr) {
    auto made = std::make_unique<Future[]>(kChunk);
    for (std::uint32_t i = 0; i < kChunk; ++i) made[i].index = first / kChunk * kChunk + i;
    chunk.store(made.release(), std::memory_order_release);  // pairs with at()
  }
  for (std::uint32_t i = kBatch; i-- > 0;) free.push_back(first + i);
}

void FutureTable::release(Future& future, Free& free) {
  constexpr std::uint32_t kLast = (1U << Ref::kGenerationBits) - 1;
  future.value = {};
  future.name = {};
  future.waiters.store(nullptr, std::memory_order_relaxed);
  future.generation.store(future.generation.load(std::memory_order_relaxed) % kLast + 1,
                          std::memory_order_release);  // pairs with find()
  free.push_back(future.index);
}

void FutureTable::reset() {
  Free free;
  for_each([&](Future& future) { release(future, free); });
  next_ = 0;
}

}  // namespace edgewire::tasks
