// Large arrays that are read in random order. They are in huge pages, so that reads rarely miss the TLB, and
// staggered (memory.h).
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

#include "edgewire/detail/memory.h"

#pragma GCC visibility push(default)

namespace edgewire::detail {

template <class T>
struct PageAllocator {
  using value_type = T;
  static constexpr std::size_t kPageBytes = std::size_t{2} << 20;

  PageAllocator() = default;
  template <class U>
  PageAllocator(const PageAllocator<U>&) noexcept {}

  /// Maps large arrays: memory that was freed before would come in small pages.
  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    void* data = bytes < kPageBytes ? std::aligned_alloc(64, (bytes + 63) / 64 * 64)
                                    : map_pages(bytes, -1, Begin::staggered);
    if (data == nullptr) throw std::bad_alloc();
    return static_cast<T*>(data);
  }
  void deallocate(T* data, std::size_t count) noexcept {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < kPageBytes)
      std::free(data);
    else
      unmap_pages(data, bytes);
  }
  /// Elements without a value stay uninitialized, since arrays may be made larger than what is written.
  template <class U>
  void construct(U* element) noexcept {
    ::new (static_cast<void*>(element)) U;
  }
  template <class U, class... Values>
  void construct(U* element, Values&&... values) {
    ::new (static_cast<void*>(element)) U(std::forward<Values>(values)...);
  }
  bool operator==(const PageAllocator&) const noexcept { return true; }
};

template <class T>
using PageVector = std::vector<T, PageAllocator<T>>;

}  // namespace edgewire::detail

#pragma GCC visibility pop
