#include "transport/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

#include "base/vector_registers.h"

namespace edgewire::transport {

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) noexcept {
  constexpr std::size_t kCallBytes = std::size_t{1} << 30;  // the library counts bytes in an int
  std::uint32_t crc = ~before;                              // it inverts neither at the start nor at the end
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(bytes.size(), kCallBytes));
    // The library does not change what it reads.
    auto* data = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(part.data()));
    crc = with_clean_registers([&] { return crc32_iscsi(data, static_cast<int>(part.size()), crc); });
    bytes = bytes.subspan(part.size());
  }
  return ~crc;
}

}  // namespace edgewire::transport
