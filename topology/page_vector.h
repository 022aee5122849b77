// Large arrays that are read at random: in huge pages, so that a read does not also miss the TLB.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

#include "topology/memory.h"

namespace edgewire::topology {

template <class T>
struct PageAllocator {
  using value_type = T;
  static constexpr std::size_t kPageBytes = std::size_t{2} << 20;

  PageAllocator() = default;
  template <class U>
  PageAllocator(const PageAllocator<U>&) noexcept {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    const std::size_t alignment = bytes < kPageBytes ? 64 : kPageBytes;
    void* data = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (data == nullptr) throw std::bad_alloc();
    if (bytes >= kPageBytes) prepare_pages(data, bytes, -1);
    return static_cast<T*>(data);
  }
  void deallocate(T* data, std::size_t) noexcept { std::free(data); }
  bool operator==(const PageAllocator&) const noexcept { return true; }
};

template <class T>
using PageVector = std::vector<T, PageAllocator<T>>;

}  // namespace edgewire::topology
