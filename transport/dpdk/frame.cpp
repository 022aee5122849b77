#include "transport/dpdk/frame.h"

#include <xxhash.h>

namespace edgewire::transport::dpdk {
namespace {

/// XXH3 of the payload, started with the key and what the header says.
std::uint32_t check_of(Header header, std::span<const std::byte> payload, std::uint64_t key) noexcept {
  header.check = 0;
  const std::uint64_t start = XXH3_64bits_withSeed(&header, sizeof header, key);
  return static_cast<std::uint32_t>(payload.empty() ? start
                                                    : XXH3_64bits(payload.data(), payload.size()) ^ start);
}

}  // namespace

void encode(Head& head, const MacAddress& from, const MacAddress& to, Header header,
            std::span<const std::byte> payload, std::uint64_t key) noexcept {
  header.bytes = static_cast<std::uint16_t>(payload.size());
  header.check = check_of(header, payload, key);
  std::memcpy(head.data(), to.data(), to.size());
  std::memcpy(head.data() + to.size(), from.data(), from.size());
  std::memcpy(head.data() + to.size() + from.size(), kEtherType.data(), kEtherType.size());
  std::memcpy(head.data() + kEthernetHeaderBytes, &header, sizeof header);
}

bool is_ours(std::span<const std::byte> frame) noexcept {
  return frame.size() >= kEthernetHeaderBytes &&
         std::memcmp(frame.data() + kEthernetHeaderBytes - kEtherType.size(), kEtherType.data(),
                     kEtherType.size()) == 0;
}

bool is_intact(std::span<const std::byte> frame, const Header& header, std::uint64_t key,
               std::span<const std::byte>& payload) noexcept {
  if (frame.size() < kHeadBytes || header.bytes > frame.size() - kHeadBytes) return false;
  payload = frame.subspan(kHeadBytes, header.bytes);
  return check_of(header, payload, key) == header.check;
}

}  // namespace edgewire::transport::dpdk
