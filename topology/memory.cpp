#include "edgewire/detail/memory.h"
#include "base/rooms.h"

#include <fmt/core.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "base/error.h"
#include "topology/page_nodes.h"

namespace edgewire::detail {

using topology::kHugePageBytes;
using topology::page_bytes;
using topology::place_pages;
namespace {

constexpr std::uintptr_t align_up(std::uintptr_t value, std::size_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// Maps `bytes`, of a file unless `fd` is -1, so that they start at a multiple of a huge page if they fill
/// one. If the result is null, errno says why.
void* map_aligned(std::size_t bytes, int fd) {
  const std::size_t length = whole_pages(bytes);
  const std::size_t alignment = bytes >= kHugePageBytes ? kHugePageBytes : page_bytes();
  const std::size_t reserved = length + (bytes >= kHugePageBytes ? alignment : 0);
  constexpr int kAccess = PROT_READ | PROT_WRITE;
  void* mapped = fd < 0
                     ? mmap(nullptr, reserved, kAccess, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                     : mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(mapped);
  const std::size_t before =
      align_up(reinterpret_cast<std::uintptr_t>(begin), alignment) - reinterpret_cast<std::uintptr_t>(begin);
  if (before > 0) munmap(begin, before);
  if (reserved - before > length) munmap(begin + before + length, reserved - before - length);
  if (fd < 0 || mmap(begin + before, length, kAccess, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED)
    return begin + before;
  const int cause = errno;
  munmap(begin + before, length);
  errno = cause;
  return nullptr;
}

/// Returns where the next staggered array starts in its page. Three arrays in a row lie a third of 4 KiB
/// apart, and all 64 cache lines of 4 KiB get their turn.
std::size_t next_start() noexcept {
  constexpr std::size_t kLine = 64, kLines = 64, kStep = 21;
  static std::atomic<std::size_t> arrays{0};
  return arrays.fetch_add(1, std::memory_order_relaxed) * kStep % kLines * kLine;
}

}  // namespace

NodeMemory::NodeMemory(std::size_t bytes, int node, const char* what, Begin begin) {
  if (bytes == 0) return;
  data_ = map_pages(bytes, node, begin);
  if (data_ == nullptr)
    throw Error(fmt::format("cannot get {} bytes of memory for {}{}", bytes, what, limit_to_raise(ENOMEM)));
  bytes_ = bytes;
}

NodeMemory::~NodeMemory() {
  if (data_ != nullptr) unmap_pages(data_, bytes_);
}

NodeMemory NodeMemory::of_file(std::size_t bytes, int fd, const char* what) {
  NodeMemory memory;
  memory.data_ = map_aligned(bytes, fd);
  if (memory.data_ == nullptr)
    throw Error(fmt::format("cannot get {} bytes of memory for {}: {}", bytes, what, reason(errno)));
  memory.bytes_ = bytes;
  prepare_pages(memory.data_, bytes, -1);
  return memory;
}

void NodeMemory::shrink(std::size_t bytes) noexcept {
  const std::size_t page = page_bytes();
  const auto begin = reinterpret_cast<std::uintptr_t>(data_);
  const std::uintptr_t end = align_up(begin + bytes, page), old_end = align_up(begin + bytes_, page);
  if (data_ == nullptr || bytes >= bytes_) return;
  if (bytes == 0) {
    *this = NodeMemory();
    return;
  }
  if (end < old_end) munmap(static_cast<std::byte*>(data_) + (end - begin), old_end - end);
  bytes_ = bytes;
}

void* map_pages(std::size_t bytes, int node, Begin begin) noexcept {
  if (bytes > SIZE_MAX / 2) return nullptr;
  const std::size_t before = begin == Begin::staggered ? next_start() : 0;
  const std::size_t mapped = before + bytes;
  void* const pages = map_aligned(mapped, -1);
  if (pages == nullptr) return nullptr;
  prepare_pages(pages, mapped, node);
  return static_cast<std::byte*>(pages) + before;
}

void unmap_pages(void* data, std::size_t bytes) noexcept {
  const std::size_t before = reinterpret_cast<std::uintptr_t>(data) % page_bytes();
  munmap(static_cast<std::byte*>(data) - before, before + bytes);
}

std::size_t whole_pages(std::size_t bytes) noexcept { return align_up(bytes, page_bytes()); }

void prepare_pages(void* data, std::size_t bytes, int node) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const std::size_t before = align_up(address, page_bytes()) - address;
  if (before >= bytes) return;
  std::byte* const begin = static_cast<std::byte*>(data) + before;
  // All that is asked for here is a wish: a kernel or container without it still gives ordinary pages.
  if (bytes >= kHugePageBytes) madvise(begin, bytes - before, MADV_HUGEPAGE);
  if (node >= 0) place_pages({{begin, bytes - before}, {&node, 1}});
}

}  // namespace edgewire::detail
