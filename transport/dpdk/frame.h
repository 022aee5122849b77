// Frames of the dpdk backend: an envelope, a header of 32 bytes, the payload. There are two kinds of
// envelope:
// - Plain Ethernet with an ethertype for local experiments (IEEE 802, 0x88B5). Hosts exchange their hardware
//   addresses at the rendezvous, so they need neither IP addresses nor ARP. Each byte saved in the envelope
//   is one more for payload.
// - IPv4 (RFC 791) and UDP (RFC 768), as RoCE v2 does it, with one destination port and a source port for
// each
//   lane. Frames that must pass routers, or that a card shall spread over queues, need this one.
// Numbers in our own header are little-endian.
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
using IpAddress = std::array<std::uint8_t, 4>;

inline constexpr std::size_t kEthernetBytes = 14;
inline constexpr std::size_t kIpBytes = 20, kUdpBytes = 8;
inline constexpr std::uint16_t kEtherType = 0x88B5;
inline constexpr std::uint16_t kUdpPort = 0x88B5;  ///< port of destinations
/// Source port of lane 0; ports for private use (RFC 6335).
inline constexpr std::uint16_t kFirstUdpSource = 49152;

/// Returns the source port of a lane; they are few enough for any number of lanes to have flows of its own.
constexpr std::uint16_t udp_source(std::size_t lane) noexcept {
  return static_cast<std::uint16_t>(kFirstUdpSource + lane % 1024);
}

/// The bytes that come before our header in every frame of one direction.
struct Envelope {
  std::array<std::byte, kEthernetBytes + kIpBytes + kUdpBytes> bytes{};
  std::size_t size = kEthernetBytes;
};
/// Returns the number of bytes before our header.
constexpr std::size_t envelope_bytes(bool udp) noexcept {
  return kEthernetBytes + (udp ? kIpBytes + kUdpBytes : 0);
}
Envelope ethernet_envelope(const MacAddress& from, const MacAddress& to) noexcept;
Envelope udp_envelope(const MacAddress& from, const MacAddress& to, const IpAddress& from_ip,
                      const IpAddress& to_ip) noexcept;

/// The purpose of a frame. All but Ack have a sequence number and are acknowledged.
enum class FrameType : std::uint8_t {
  Data = 1,     ///< carries payload for byte `place` of the region
  Signal = 2,   ///< raises counter `kind` to `place`
  Ack = 3,      ///< carries a bit for each frame after `ack` that has arrived, or nothing
  Hello = 4,    ///< says that this end is up
  Goodbye = 5,  ///< says that the sender ends in good order
};

struct Header {
  std::uint32_t flow = 0;      ///< receiver's number for the sender
  std::uint32_t check = 0;     ///< checksum of all other bytes and the payload, with a key of the run
  std::uint32_t sequence = 0;  ///< number of the frame modulo 2^32
  std::uint32_t ack = 0;  ///< sequence number before which all frames of the other direction have arrived
  std::uint64_t place = 0;
  std::uint16_t bytes = 0;  ///< number of payload bytes; short frames are padded by the link
  std::uint16_t kind = 0;
  FrameType type = FrameType::Ack;
  /// Number of this sending among all sendings of its sender, modulo 2^24. In an Ack: that of the newest
  /// sending that has arrived. If a frame was sent twice, this tells which of the two has arrived.
  std::array<std::uint8_t, 3> order{};
};
static_assert(sizeof(Header) == 32 && std::has_unique_object_representations_v<Header>);

inline constexpr std::size_t kMostHeadBytes = envelope_bytes(true) + sizeof(Header);
/// Most frames in flight from one process to another; also the most bits of an acknowledgement.
inline constexpr std::uint32_t kWindow = 1024;
inline constexpr std::size_t kAckBytes = kWindow / 8;
/// The least MTU, in which an acknowledgement fits.
inline constexpr std::uint32_t kLeastMtu = kIpBytes + kUdpBytes + sizeof(Header) + kAckBytes;

/// A frame that has arrived; no data: no frame. Its bytes stay valid until it is released.
struct Incoming {
  const std::byte* data = nullptr;
  std::uint32_t bytes = 0;
  void* handle = nullptr;
  bool damaged = false;  ///< whether the port has found a wrong checksum
};

inline constexpr std::uint32_t kOrderMask = 0xFF'FFFF;
inline std::array<std::uint8_t, 3> pack_order(std::uint64_t order) noexcept {
  return {static_cast<std::uint8_t>(order), static_cast<std::uint8_t>(order >> 8),
          static_cast<std::uint8_t>(order >> 16)};
}
inline std::uint32_t unpack_order(const std::array<std::uint8_t, 3>& order) noexcept {
  return static_cast<std::uint32_t>(order[0] | order[1] << 8 | order[2] << 16);
}

struct Head {
  std::array<std::byte, kMostHeadBytes> bytes;
  std::size_t size = 0;
};

/// Writes envelope and header, with the check over `payload`, whose size becomes header.bytes. The checksum
/// of UDP stays 0 (RFC 768: none), that of IP is right.
void encode(Head& head, const Envelope& envelope, std::size_t lane, Header header,
            std::span<const std::byte> payload, std::uint64_t key) noexcept;

/// Returns whether these bytes can be one of our frames; everything else on the link is foreign.
bool is_ours(std::span<const std::byte> frame, bool udp) noexcept;

/// Returns the header of one of our frames; `body` is all behind the envelope, and no shorter than a header.
inline Header header_of(std::span<const std::byte> body) noexcept {
  Header header;
  std::memcpy(&header, body.data(), sizeof header);
  return header;
}

/// Returns false when the frame was cut short, changed, or is not of this run. Else `payload` is in it.
bool is_intact(std::span<const std::byte> body, const Header& header, std::uint64_t key,
               std::span<const std::byte>& payload) noexcept;

}  // namespace edgewire::transport::dpdk
