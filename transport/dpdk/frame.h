// Frames of the dpdk backend: plain Ethernet with an ethertype for local experiments (IEEE 802, 0x88B5),
// since hosts that exchange their hardware addresses when they meet need neither IP addresses nor ARP, and
// every byte of a header less is one of payload more. Then comes a header of 32 bytes, then the payload.
// Numbers are little-endian.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace edgewire::transport::dpdk {

static_assert(std::endian::native == std::endian::little, "headers are copied as they lie in memory");

using MacAddress = std::array<std::uint8_t, 6>;

inline constexpr std::size_t kEthernetHeaderBytes = 14;
inline constexpr std::array<std::uint8_t, 2> kEtherType{0x88, 0xB5};

/// What a frame is for. All but Ack have a sequence number and are acknowledged.
enum class FrameType : std::uint8_t {
  Data = 1,     ///< payload for byte `place` of the region
  Signal = 2,   ///< counter `kind` rises to `place`
  Ack = 3,      ///< payload: a bit for each frame after `ack` that has arrived, or nothing
  Hello = 4,    ///< both ends are up
  Goodbye = 5,  ///< the sender ends in good order
};

struct Header {
  std::uint32_t flow = 0;      ///< the receiver's number for the sender
  std::uint32_t check = 0;     ///< of all other bytes and the payload, with a key of the run
  std::uint32_t sequence = 0;  ///< modulo 2^32
  std::uint32_t ack = 0;       ///< all frames of the other direction before this one have arrived
  std::uint64_t place = 0;
  std::uint16_t bytes = 0;  ///< of payload; short frames are padded by the link
  std::uint16_t kind = 0;
  FrameType type = FrameType::Ack;
  /// Modulo 2^24, of this sending among all sendings of its sender, or, of an Ack, of the newest one that has
  /// arrived: so that a frame that was sent twice tells which time it arrived.
  std::array<std::uint8_t, 3> order{};
};
static_assert(sizeof(Header) == 32 && std::has_unique_object_representations_v<Header>);

inline constexpr std::size_t kHeadBytes = kEthernetHeaderBytes + sizeof(Header);
/// Frames that may be under way from one process to another; also the most bits of an acknowledgement.
inline constexpr std::uint32_t kWindow = 1024;
inline constexpr std::size_t kAckBytes = kWindow / 8;
/// An acknowledgement fits any frame.
inline constexpr std::uint32_t kLeastMtu = sizeof(Header) + kAckBytes;

/// A frame that has come in; without data, none. Its bytes stay until it is released.
struct Incoming {
  const std::byte* data = nullptr;
  std::uint32_t bytes = 0;
  void* handle = nullptr;
};

inline constexpr std::uint32_t kOrderMask = 0xFF'FFFF;
inline std::array<std::uint8_t, 3> pack_order(std::uint64_t order) noexcept {
  return {static_cast<std::uint8_t>(order), static_cast<std::uint8_t>(order >> 8),
          static_cast<std::uint8_t>(order >> 16)};
}
inline std::uint32_t unpack_order(const std::array<std::uint8_t, 3>& order) noexcept {
  return static_cast<std::uint32_t>(order[0] | order[1] << 8 | order[2] << 16);
}

using Head = std::array<std::byte, kHeadBytes>;

/// Writes both headers, with the check over `payload`, whose size becomes header.bytes.
void encode(Head& head, const MacAddress& from, const MacAddress& to, Header header,
            std::span<const std::byte> payload, std::uint64_t key) noexcept;

/// Whether these bytes can be one of our frames; everything else on the link is foreign.
bool is_ours(std::span<const std::byte> frame) noexcept;

/// The header of one of our frames.
inline Header header_of(std::span<const std::byte> frame) noexcept {
  Header header;
  std::memcpy(&header, frame.data() + kEthernetHeaderBytes, sizeof header);
  return header;
}

/// False when the frame was cut short or changed on its way, or does not come from this run. Else `payload`
/// is in it.
bool is_intact(std::span<const std::byte> frame, const Header& header, std::uint64_t key,
               std::span<const std::byte>& payload) noexcept;

}  // namespace edgewire::transport::dpdk
