#include "transport/mapping.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "base/error.h"

namespace edgewire::transport {
namespace {
constexpr std::size_t kHugePageBytes = std::size_t{1} << 21;
}

std::size_t whole_pages(std::size_t bytes) noexcept {
  const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

Mapping::Mapping(std::size_t bytes, int fd, const std::string& what) : bytes_(whole_pages(bytes)) {
  // Huge pages need an address that is a multiple of theirs: take more than enough room, then cut it.
  const std::size_t spare = bytes_ >= kHugePageBytes ? kHugePageBytes : 0;
  void* room = mmap(nullptr, bytes_ + spare, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED)
    throw Error(fmt::format("cannot get {} bytes of memory for {}: {}", bytes, what, reason(errno)));
  auto* start = static_cast<std::byte*>(room);
  const std::size_t skipped =
      spare == 0 ? 0 : (spare - reinterpret_cast<std::uintptr_t>(room) % spare) % spare;
  if (skipped > 0) munmap(start, skipped);
  if (spare > skipped) munmap(start + skipped + bytes_, spare - skipped);
  const int kind = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* mapped = mmap(start + skipped, bytes_, PROT_READ | PROT_WRITE, kind | MAP_FIXED, fd, 0);
  if (mapped == MAP_FAILED) {
    const int cause = errno;
    munmap(start + skipped, bytes_);
    throw Error(fmt::format("cannot get {} bytes of memory for {}: {}", bytes, what, reason(cause)));
  }
  data_ = static_cast<std::byte*>(mapped);
  madvise(data_, bytes_, MADV_HUGEPAGE);
}

Mapping::~Mapping() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

}  // namespace edgewire::transport
