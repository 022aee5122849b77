// The CRC-32C that headers and payloads of TCP connections and of the control plane carry, by ISA-L. A
// receiver checks it, and all that precedes it on its connection, before it acts on a frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace edgewire::transport {

/// Returns CRC-32C (Castagnoli), as iSCSI uses it (RFC 3720, appendix B.4). `before` is the CRC of the bytes
/// that precede `bytes`; 0 when there are none.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0) noexcept;

/// The advice about bytes that were changed on their way, for messages.
inline constexpr const char* kChangedRemedy =
    "run again; if it comes back, test memory, cards and cables of both hosts";

}  // namespace edgewire::transport
