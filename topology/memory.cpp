#include "topology/memory.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "error.h"
#include "topology/page_nodes.h"

namespace edgewire::topology {
namespace {

constexpr std::uintptr_t align_up(std::uintptr_t value, std::size_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// Maps `bytes` so that they start at a multiple of `alignment` (itself a multiple of the page). Null: no
/// memory.
void* map_aligned(std::size_t bytes, std::size_t alignment) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (bytes > SIZE_MAX / 2) return nullptr;
  const std::size_t length = align_up(bytes, page);
  const std::size_t reserved = length + (alignment > page ? alignment : 0);
  void* mapped = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(mapped);
  const std::size_t before =
      align_up(reinterpret_cast<std::uintptr_t>(begin), alignment) - reinterpret_cast<std::uintptr_t>(begin);
  if (before > 0) munmap(begin, before);
  if (reserved - before > length) munmap(begin + before + length, reserved - before - length);
  return begin + before;
}

}  // namespace

NodeMemory::NodeMemory(std::size_t bytes, int node, const char* what) {
  if (bytes == 0) return;
  data_ = map_pages(bytes, node);
  if (data_ == nullptr)
    throw Error(fmt::format("cannot get {} bytes of memory for {}{}", bytes, what, limit_to_raise(ENOMEM)));
  bytes_ = bytes;
}

NodeMemory::~NodeMemory() {
  if (data_ != nullptr) unmap_pages(data_, bytes_);
}

void* map_pages(std::size_t bytes, int node) noexcept {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const data = map_aligned(bytes, bytes >= kHugePageBytes ? kHugePageBytes : page);
  if (data != nullptr) prepare_pages(data, bytes, node);
  return data;
}

void unmap_pages(void* data, std::size_t bytes) noexcept { munmap(data, bytes); }

void prepare_pages(void* data, std::size_t bytes, int node) noexcept {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const std::size_t before = align_up(address, page) - address;
  if (before >= bytes) return;
  std::byte* const begin = static_cast<std::byte*>(data) + before;
  // All that is asked for here is a wish: a kernel or container without it still gives ordinary pages.
  if (bytes >= kHugePageBytes) madvise(begin, bytes - before, MADV_HUGEPAGE);
  if (node >= 0) place_pages({{begin, bytes - before}, {&node, 1}});
}

}  // namespace edgewire::topology
