// Computes what crosses the wire: bytes of a value, headers of each link, seconds at a line rate. Both the
// exchange plan and the bound use it, so both count in the same way.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "edgewire/options.h"

namespace edgewire {

std::string_view to_name(Wire wire) noexcept;

}  // namespace edgewire

namespace edgewire::plan {

/// The strategies: the values that a process sends for the edges that leave it, fewest values last.
enum class Strategy { edge, worker, process, slots, cover };
inline constexpr std::array kStrategies{Strategy::edge, Strategy::worker, Strategy::process, Strategy::slots,
                                        Strategy::cover};

using Encoding = Wire;
inline constexpr std::array kEncodings{Encoding::f32, Encoding::f64,   Encoding::bf16, Encoding::f16,
                                       Encoding::u16, Encoding::raw16, Encoding::bit};

std::string_view to_name(Strategy strategy) noexcept;
using edgewire::to_name;
/// These functions throw UsageError that lists the known names.
Strategy strategy_from(std::string_view name);
Encoding encoding_from(std::string_view name);

constexpr std::uint64_t value_bits(Encoding encoding) noexcept {
  constexpr std::array<std::uint64_t, kEncodings.size()> kBits{32, 64, 16, 16, 16, 128, 1};
  return kBits[static_cast<std::size_t>(encoding)];
}
/// Returns whether values travel in 16 bits, rounded by exchange::Codec.
constexpr bool is_rounded(Encoding encoding) noexcept { return value_bits(encoding) == 16; }
/// Returns whether values travel without ids alone.
constexpr bool needs_slots(Encoding encoding) noexcept {
  return is_rounded(encoding) || encoding == Encoding::bit;
}
/// Returns the bytes of a message in memory.
constexpr std::uint64_t message_bytes(Encoding encoding) noexcept {
  return needs_slots(encoding) ? sizeof(float) : value_bits(encoding) / 8;
}
/// Returns the largest relative error of a value (of normal size) that is rounded to 16 bits.
constexpr double rounding(Encoding encoding) noexcept {
  return !is_rounded(encoding) ? 0 : encoding == Encoding::bf16 ? 1.0 / 256 : 1.0 / 2048;
}
/// Returns whether a 4-byte vertex id travels with each value. Slots need none: both sides know the order.
constexpr bool sends_ids(Strategy strategy) noexcept {
  return strategy == Strategy::edge || strategy == Strategy::worker || strategy == Strategy::process;
}
/// Returns whether a job can send values in this way: encodings that need slots do not go with ids.
constexpr bool go_together(Strategy strategy, Encoding encoding) noexcept {
  return !needs_slots(encoding) || !sends_ids(strategy);
}
/// The size of a value on the wire, without headers.
struct ValueSize {
  std::uint64_t bits;

  /// Returns the number of whole bytes that `values` take.
  constexpr std::uint64_t bytes(std::uint64_t values) const noexcept { return (values * bits + 7) / 8; }
};
constexpr ValueSize value_size(Strategy strategy, Encoding encoding) noexcept {
  return {value_bits(encoding) + (sends_ids(strategy) ? 32 : 0)};
}

/// The way in which a link cuts payload into frames. All counts are bytes.
struct Framing {
  std::string_view name;
  std::uint32_t payload;    ///< most payload that a frame carries
  std::uint32_t overhead;   ///< bytes that every frame adds: preamble, headers, checksums, gap
  std::uint32_t first;      ///< bytes added to the first frame of a message
  std::uint32_t last;       ///< bytes added to the last frame of a message
  std::uint32_t alignment;  ///< multiple to which a message's last frame is padded
  bool stream;              ///< whether messages share frames, as in TCP: an empty one then takes none
};

/// The bytes that Ethernet adds to a frame (IEEE 802.3): preamble and delimiter 8, header 14, frame check 4,
/// gap 12; a frame with preamble and gap is never shorter than 84.
inline constexpr std::uint32_t kEthernetBytes = 8 + 14 + 4 + 12;
inline constexpr std::uint32_t kSmallestFrameBytes = 84;
/// The bytes of headers of TCP: IPv4 (RFC 791) 20 and TCP with the timestamps option (RFC 9293, RFC 7323) 32.
inline constexpr std::uint32_t kTcpBytes = 20 + 32;
/// The bytes of headers of RoCE v2 (InfiniBand Architecture Specification 1.4, annex A17; chapter 9): IPv4
/// 20, UDP 8, base transport header 12, invariant CRC 4; the first packet of an RDMA write has an extended
/// header of 16, the last one of a write with immediate 4 more. Payload is padded to 4.
inline constexpr std::uint32_t kRoceBytes = 20 + 8 + 12 + 4;
/// The bytes of our own header behind Ethernet's in the dpdk backend: region, offset, length, sequence,
/// acknowledgement, immediate. It has no IP, or, with --dpdk-udp, IPv4 20 and UDP 8 ahead of it.
inline constexpr std::uint32_t kDpdkHeaderBytes = 32;
inline constexpr std::uint32_t kDpdkUdpBytes = 20 + 8 + kDpdkHeaderBytes;

/// The framings. RoCE's packets carry the largest power of two that fits the Ethernet MTU: 1024 of 1500, 4096
/// of 9000.
inline constexpr std::array kFramings{
    Framing{"tcp1500", 1500 - kTcpBytes, kEthernetBytes + kTcpBytes, 0, 0, 1, true},
    Framing{"tcp9000", 9000 - kTcpBytes, kEthernetBytes + kTcpBytes, 0, 0, 1, true},
    Framing{"roce1500", 1024, kEthernetBytes + kRoceBytes, 16, 4, 4, false},
    Framing{"roce9000", 4096, kEthernetBytes + kRoceBytes, 16, 4, 4, false},
    Framing{"dpdk1500", 1500 - kDpdkHeaderBytes, kEthernetBytes + kDpdkHeaderBytes, 0, 0, 1, false},
    Framing{"dpdkudp1500", 1500 - kDpdkUdpBytes, kEthernetBytes + kDpdkUdpBytes, 0, 0, 1, false},
};
static_assert(kFramings[0].payload == 1448 && kFramings[0].payload + kFramings[0].overhead == 1538);

/// Returns the fewest bytes on the link, in one direction, for a message. It does not count acknowledgements:
/// they travel with other data if there is traffic in both directions, and else use the other direction.
std::uint64_t wire_bytes(const Framing& framing, std::uint64_t payload_bytes) noexcept;

/// Converts "1G", "2.5G", "100M" (powers of ten, G, M, K or T) to bits per second. Throws UsageError.
std::uint64_t line_rate_bits(std::string_view text);

constexpr double seconds_at(std::uint64_t wire_bytes, std::uint64_t bits_per_s) noexcept {
  return static_cast<double>(wire_bytes) * 8 / static_cast<double>(bits_per_s);
}

/// The numbers of values from every process (row) to every process (column); those of the diagonal stay in
/// the process.
class Traffic {
 public:
  explicit Traffic(int processes = 0)
      : processes_(static_cast<std::size_t>(processes)), values_(processes_ * processes_) {}
  int processes() const noexcept { return static_cast<int>(processes_); }
  std::uint64_t& at(std::size_t from, std::size_t to) noexcept { return values_[from * processes_ + to]; }
  std::uint64_t at(std::size_t from, std::size_t to) const noexcept {
    return values_[from * processes_ + to];
  }
  /// Returns the number of values that each process sends to others, with `with_self` also to itself.
  std::vector<std::uint64_t> sent(bool with_self) const;

 private:
  std::size_t processes_;
  std::vector<std::uint64_t> values_;
};

/// The traffic of one iteration in figures. `_max` of values and payload: those of the process that sends
/// most. Each process sends one message to each peer, which is the smallest number.
struct Volume {
  std::uint64_t values_sent_total = 0;
  std::uint64_t values_sent_max = 0;
  double values_sent_mean = 0;
  std::uint64_t payload_bytes_total = 0;
  std::uint64_t payload_bytes_max = 0;
  /// Wire bytes of the process and direction (sending or receiving) with the most bytes. Links carry both
  /// directions at the same time.
  std::array<std::uint64_t, kFramings.size()> wire_bytes_max{};
  std::array<std::uint64_t, kFramings.size()> wire_bytes_total{};
};

/// Computes the volume. `with_self` also counts the values that processes send to themselves, as the tables
/// of 2015 did.
Volume volume(const Traffic& traffic, ValueSize value, bool with_self = false);

}  // namespace edgewire::plan
