#include "transport/dpdk/frame.h"

#include <xxhash.h>

#include "base/vector_registers.h"

namespace edgewire::transport::dpdk {
namespace {

/// Returns XXH3 of the payload, started with the key and what the header says.
std::uint32_t check_of(Header header, std::span<const std::byte> payload, std::uint64_t key) noexcept {
  header.check = 0;
  return with_clean_registers([&] {
    const std::uint64_t start = XXH3_64bits_withSeed(&header, sizeof header, key);
    return static_cast<std::uint32_t>(payload.empty() ? start
                                                      : XXH3_64bits(payload.data(), payload.size()) ^ start);
  });
}

void put16(std::byte* at, std::size_t value) noexcept {  // network order
  at[0] = static_cast<std::byte>(value >> 8);
  at[1] = static_cast<std::byte>(value);
}

std::uint16_t get16(const std::byte* at) noexcept {
  return static_cast<std::uint16_t>(std::to_integer<unsigned>(at[0]) << 8 | std::to_integer<unsigned>(at[1]));
}

// Offsets in a frame with IP and UDP.
constexpr std::size_t kIp = kEthernetBytes, kUdp = kIp + kIpBytes;
constexpr std::size_t kIpLength = kIp + 2, kIpFragment = kIp + 6, kIpProtocol = kIp + 9,
                      kIpChecksum = kIp + 10;
constexpr std::uint16_t kIpv4 = 0x0800;
constexpr auto kUdpProtocol = std::byte{17}, kVersionAndLength = std::byte{0x45};

/// Writes what differs from frame to frame.
void finish_udp(std::byte* frame, std::size_t lane, std::size_t body_bytes) noexcept {
  put16(frame + kIpLength, kIpBytes + kUdpBytes + body_bytes);
  put16(frame + kUdp, udp_source(lane));
  put16(frame + kUdp + 4, kUdpBytes + body_bytes);
  std::uint32_t sum = 0;
  for (std::size_t at = kIp; at < kUdp; at += 2) sum += get16(frame + at);
  sum = (sum & 0xFFFF) + (sum >> 16);
  put16(frame + kIpChecksum, ~(sum + (sum >> 16)));
}

}  // namespace

Envelope ethernet_envelope(const MacAddress& from, const MacAddress& to) noexcept {
  Envelope made;
  std::memcpy(made.bytes.data(), to.data(), to.size());
  std::memcpy(made.bytes.data() + to.size(), from.data(), from.size());
  put16(made.bytes.data() + to.size() + from.size(), kEtherType);
  return made;
}

Envelope udp_envelope(const MacAddress& from, const MacAddress& to, const IpAddress& from_ip,
                      const IpAddress& to_ip) noexcept {
  constexpr std::size_t kDoNotFragment = 0x4000;
  Envelope made = ethernet_envelope(from, to);
  made.size = made.bytes.size();
  std::byte* const frame = made.bytes.data();
  put16(frame + kEthernetBytes - 2, kIpv4);
  frame[kIp] = kVersionAndLength;
  put16(frame + kIpFragment, kDoNotFragment);
  frame[kIp + 8] = std::byte{64};  // hops
  frame[kIpProtocol] = kUdpProtocol;
  std::memcpy(frame + kIp + 12, from_ip.data(), from_ip.size());
  std::memcpy(frame + kIp + 16, to_ip.data(), to_ip.size());
  put16(frame + kUdp + 2, kUdpPort);
  return made;
}

void encode(Head& head, const Envelope& envelope, std::size_t lane, Header header,
            std::span<const std::byte> payload, std::uint64_t key) noexcept {
  header.bytes = static_cast<std::uint16_t>(payload.size());
  header.check = check_of(header, payload, key);
  std::memcpy(head.bytes.data(), envelope.bytes.data(), envelope.bytes.size());
  if (envelope.size > kEthernetBytes) finish_udp(head.bytes.data(), lane, sizeof header + payload.size());
  std::memcpy(head.bytes.data() + envelope.size, &header, sizeof header);
  head.size = envelope.size + sizeof header;
}

bool is_ours(std::span<const std::byte> frame, bool udp) noexcept {
  if (frame.size() < envelope_bytes(udp)) return false;
  const std::uint16_t type = get16(frame.data() + kEthernetBytes - 2);
  if (!udp) return type == kEtherType;
  return type == kIpv4 && frame[kIp] == kVersionAndLength && frame[kIpProtocol] == kUdpProtocol &&
         (get16(frame.data() + kIpFragment) & 0x3FFF) == 0 && get16(frame.data() + kUdp + 2) == kUdpPort;
}

bool is_intact(std::span<const std::byte> body, const Header& header, std::uint64_t key,
               std::span<const std::byte>& payload) noexcept {
  if (body.size() < sizeof header || header.bytes > body.size() - sizeof header) return false;
  payload = body.subspan(sizeof header, header.bytes);
  return check_of(header, payload, key) == header.check;
}

}  // namespace edgewire::transport::dpdk
