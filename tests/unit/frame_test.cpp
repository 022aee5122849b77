// Frames of the dpdk backend, byte by byte, in both envelopes, and where its addresses come from.
#include "transport/dpdk/frame.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>

#include <cerrno>
#include <vector>

#include "base/error.h"
#include "transport/dpdk/ip_choice.h"

namespace edgewire::transport::dpdk {
namespace {

constexpr MacAddress kHere{2, 0, 0, 0, 0, 1}, kThere{2, 0, 0, 0, 0, 2};
constexpr IpAddress kHereIp{10, 1, 2, 3}, kThereIp{10, 1, 2, 250};
constexpr std::uint64_t kKey = 77;
const std::vector<std::byte> kPayload(101, std::byte{42});

std::vector<std::byte> make(bool udp, std::size_t lane = 0) {
  Head head;
  encode(head, udp ? udp_envelope(kHere, kThere, kHereIp, kThereIp) : ethernet_envelope(kHere, kThere), lane,
         {1, 0, 2, 3, 4, 0, 5, FrameType::Data, {}}, kPayload, kKey);
  std::vector<std::byte> frame(head.bytes.begin(),
                               head.bytes.begin() + static_cast<std::ptrdiff_t>(head.size));
  frame.insert(frame.end(), kPayload.begin(), kPayload.end());
  return frame;
}

std::span<const std::byte> body_of(const std::vector<std::byte>& frame, bool udp) {
  return std::span(frame).subspan(envelope_bytes(udp));
}

unsigned at16(const std::vector<std::byte>& frame, std::size_t at) {
  return std::to_integer<unsigned>(frame[at]) << 8 | std::to_integer<unsigned>(frame[at + 1]);
}

TEST_CASE("a frame tells when a bit of it was changed, or it was cut, or has another key") {
  for (const bool udp : {false, true}) {
    const auto frame = make(udp);
    std::span<const std::byte> found;
    REQUIRE(is_ours(frame, udp));
    CHECK_FALSE(is_ours(frame, !udp));
    const auto body = body_of(frame, udp);
    REQUIRE(is_intact(body, header_of(body), kKey, found));
    CHECK(found.size() == kPayload.size());
    CHECK(header_of(body).place == 4);
    CHECK_FALSE(is_intact(body, header_of(body), kKey + 1, found));
    for (std::size_t bit = 0; bit < 8 * body.size(); ++bit) {
      std::vector<std::byte> changed(body.begin(), body.end());
      changed[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
      CHECK_FALSE(is_intact(changed, header_of(changed), kKey, found));
    }
    for (std::size_t bytes = sizeof(Header); bytes < body.size(); ++bytes)
      CHECK_FALSE(is_intact(body.first(bytes), header_of(body), kKey, found));
    auto padded = frame;
    padded.resize(frame.size() + 18);  // as links do with short frames
    CHECK(is_intact(body_of(padded, udp), header_of(body), kKey, found));
    CHECK(found.size() == kPayload.size());
    for (std::size_t bytes = 0; bytes < envelope_bytes(udp); ++bytes)
      CHECK_FALSE(is_ours(std::span(frame).first(bytes), udp));
  }
}

TEST_CASE("a UDP frame is what routers and cards expect: lengths, ports, the checksum of IP") {
  const auto frame = make(true, 3);
  CHECK(at16(frame, 12) == 0x0800);
  CHECK(at16(frame, 16) == frame.size() - kEthernetBytes);
  CHECK(at16(frame, 34) == 49155);  // of lane 3
  CHECK(at16(frame, 36) == 34997);
  CHECK(at16(frame, 38) == frame.size() - kEthernetBytes - 20);
  CHECK(at16(frame, 40) == 0);  // no checksum, RFC 768
  unsigned sum = 0;             // RFC 1071: that of an intact header is all ones
  for (std::size_t at = 14; at < 34; at += 2) sum += at16(frame, at);
  CHECK(((sum & 0xFFFF) + (sum >> 16)) == 0xFFFF);
  CHECK(std::equal(kThereIp.begin(), kThereIp.end(), reinterpret_cast<const std::uint8_t*>(&frame[30])));
}

TEST_CASE("other UDP, fragments, and IP with options are not ours") {
  const auto frame = make(true);
  const auto changed = [&](std::size_t at, unsigned value) {
    auto other = frame;
    other[at] = static_cast<std::byte>(value);
    return other;
  };
  CHECK(is_ours(frame, true));
  CHECK_FALSE(is_ours(changed(14, 0x46), true));  // options
  CHECK_FALSE(is_ours(changed(20, 0x20), true));  // more fragments
  CHECK_FALSE(is_ours(changed(21, 0x01), true));  // not the first one
  CHECK_FALSE(is_ours(changed(23, 6), true));     // TCP
  CHECK_FALSE(is_ours(changed(37, 0), true));     // port
}

TEST_CASE("addresses are read whole or refused") {
  CHECK_FALSE(ip_choice("", "net_x0").used);
  const IpChoice choice = ip_choice("10.1.2.3/24@52:54:00:12:34:56", "net_x0");
  CHECK((choice.used && choice.address == kHereIp && choice.prefix == 24));
  CHECK((choice.has_gateway && choice.gateway == MacAddress{0x52, 0x54, 0, 0x12, 0x34, 0x56}));
  CHECK_FALSE(choice.is_beyond(kThereIp));
  CHECK(choice.is_beyond({10, 1, 3, 3}));
  CHECK(ip_choice("10.1.2.3@52:54:00:12:34:56", "").is_beyond(kThereIp));  // all go through the gateway
  CHECK_FALSE(ip_choice("10.1.2.3/24", "").is_beyond({192, 168, 0, 1}));   // there is none
  CHECK_FALSE(ip_choice("10.1.2.3/0@52:54:00:12:34:56", "").is_beyond({9, 9, 9, 9}));
  for (const char* text : {"10.1.2", "10.1.2.3/", "10.1.2.3/33", "10.1.2.3/24x", "10.1.2.3@",
                           "10.1.2.3@52:54", "10.1.2.3@52:54:00:12:34:56:78", "host", "@52:54:00:12:34:56"})
    CHECK_THROWS_AS(ip_choice(text, "net_x0"), UsageError);
  CHECK_THROWS_WITH_AS(ip_choice("auto", "0000:01:00.0"), "--dpdk-udp auto: 0000:01:00.0 has no IPv4 address",
                       Error);
}

TEST_CASE("a kernel that is kept quiet drops our frames without an answer") {
  const auto answers = [] {
    const FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(kUdpPort);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
    CHECK(send(socket.get(), "x", 1, 0) == 1);
    return send(socket.get(), "x", 1, 0) < 0 && errno == ECONNREFUSED;  // port unreachable
  };
  CHECK(answers());
  {
    const FileDescriptor quiet = quiet_kernel({127, 0, 0, 1});
    CHECK(quiet);
    CHECK(quiet_kernel({127, 0, 0, 1}));  // of another transport
    CHECK_FALSE(answers());
  }
  CHECK(answers());
  CHECK_FALSE(quiet_kernel({203, 0, 113, 1}));  // not an address of this machine
}

}  // namespace
}  // namespace edgewire::transport::dpdk
