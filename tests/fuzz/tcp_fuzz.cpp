// Damaged frames of a peer that knows the secret: each takes effect as it is or ends the job with one line,
// and none writes outside the part of the region that belongs to its sender.
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <random>
#include <sstream>
#include <string_view>
#include <thread>

#include "fuzz.h"
#include "transport/handshake.h"
#include "transport/sockets.h"
#include "transport/tcp.h"

namespace edgewire::transport {
namespace {

constexpr std::size_t kBefore = 100, kPart = 50'000, kRegionBytes = kBefore + kPart + 100;
constexpr std::uint16_t kKinds = 3;
const std::string kSecret(32, 's');

/// Rank 0 of two, connected to rank 1, which the test plays.
class Receiver {
 public:
  explicit Receiver(bool integrity) : region_(std::make_unique<std::byte[]>(kRegionBytes)) {
    Settings settings{0, 2, 1, kKinds, kSecret, "", 60, &health_};
    settings.region = {region_.get(), kRegionBytes};
    settings.integrity = integrity;
    tcp_ = std::make_unique<Tcp>(settings);
    tcp_->expose(kRegionBytes, std::vector<Transport::Part>{{0, kBefore}, {kBefore, kPart}});
    std::string address;
    int port = 0;
    std::istringstream(tcp_->blob()) >> address >> port;
    std::thread other([&] { call(address, port); });
    tcp_->connect(std::vector<std::string>{tcp_->blob(), "none"});
    other.join();
  }

  void take(const std::string& bytes) {
    REQUIRE(::send(peer_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(bytes.size()));
    shutdown(peer_.get(), SHUT_WR);
  }
  /// Waits until the transport fails or `done`.
  template <typename Done>
  void until(Done done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!done() && tcp_->wait(std::chrono::milliseconds(10)))
      REQUIRE(std::chrono::steady_clock::now() < deadline);
  }

  const Health& health() const { return health_; }
  const Tcp& tcp() const { return *tcp_; }
  std::span<const std::byte> region() const { return {region_.get(), kRegionBytes}; }

 private:
  void call(const std::string& address, int port) {
    FileDescriptor socket = start_connecting(address, port).socket;
    pollfd event{socket.get(), POLLOUT, 0};
    poll(&event, 1, 30'000);
    Handshake handshake = Handshake::connect(std::move(socket), kSecret, {Purpose::Data, 1, 0, 0});
    auto state = Handshake::State::Going;
    while (state == Handshake::State::Going) {
      event = {handshake.fd(), static_cast<short>(handshake.wants_to_read() ? POLLIN : POLLOUT), 0};
      poll(&event, 1, 100);
      state = handshake.step();
    }
    peer_ = handshake.take_socket();
  }

  Health health_;
  std::unique_ptr<std::byte[]> region_;  ///< on the heap, so that a sanitizer sees who writes behind it
  std::unique_ptr<Tcp> tcp_;
  FileDescriptor peer_;
};

/// Calls `change` for each header, as far as the lengths lead from one to the next, and gives it and its
/// payload the checks that belong to them.
void seal(
    std::string& bytes, const std::function<void(FrameHeader&)>& change = [](FrameHeader&) {}) {
  for (std::size_t at = 0; at + sizeof(FrameHeader) <= bytes.size();) {
    FrameHeader header;
    std::memcpy(&header, bytes.data() + at, sizeof header);
    change(header);
    const std::size_t payload = at + sizeof header + header.lead;
    if (header.type == FrameType::Write && payload < bytes.size())
      header.payload_check = crc32c(std::as_bytes(
          std::span(bytes).subspan(payload, std::min<std::size_t>(header.length, bytes.size() - payload))));
    header.check = header.right_check();
    std::memcpy(bytes.data() + at, &header, sizeof header);
    at += header.type == FrameType::Write ? header.bytes() : sizeof header;
  }
}

/// Gives a member a value that is at an end of what is right, or far from it.
void damage(FrameHeader& header, std::mt19937& random) {
  constexpr std::array<std::uint64_t, 14> kOdd{
      0,     1,         3,         63,    64,           255,         kBefore,
      kPart, kPart + 1, 2 * kPart, 65536, kRegionBytes, 0xFFFF'FFFF, ~std::uint64_t{0}};
  const std::uint64_t value = kOdd[random() % kOdd.size()] + (random() % 2) * kBefore;
  switch (random() % 6) {
    case 0:
      header.offset = value;
      break;
    case 1:
    case 2:
      header.length = static_cast<std::uint32_t>(value);
      break;
    case 3:
      header.kind = static_cast<std::uint16_t>(value);
      break;
    case 4:
      header.type = static_cast<FrameType>(value);
      break;
    default:
      header.lead = static_cast<std::uint8_t>(value);
  }
}

std::string frame_of(FrameHeader header, char fill = 'p') {
  std::string bytes(header.bytes(), '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  std::fill_n(bytes.begin() + sizeof header + header.lead, header.length, fill);
  seal(bytes);
  return bytes;
}

std::string join(std::initializer_list<std::string_view> frames) {
  std::string bytes;
  for (const std::string_view frame : frames) bytes += frame;
  return bytes;
}

const std::string kSmall = frame_of({kBefore + 1, 40, 0, FrameType::Write, 37});
const std::string kLarge = frame_of({kBefore, kPart, 0, FrameType::Write, 5}, 'q');
const std::string kSignal = frame_of({7, 0, 2, FrameType::Signal});
const std::string kGoodbye = frame_of({0, 0, 0, FrameType::Goodbye});

TEST_CASE("frames that are not damaged arrive") {
  for (const bool integrity : {true, false}) {
    Receiver receiver(integrity);
    receiver.take(join({kLarge, kSmall, kSignal}));
    receiver.until([&] { return receiver.tcp().signalled(1, 2) == 7; });
    REQUIRE(receiver.tcp().signalled(1, 2) == 7);
    const auto part = receiver.region().subspan(kBefore, kPart);
    CHECK(std::count(part.begin(), part.end(), std::byte{'p'}) == 40);
    CHECK(std::count(part.begin(), part.end(), std::byte{'q'}) == kPart - 40);
  }
}

TEST_CASE("damaged frames") {
  // Whatever is left of a payload takes these; then they are no header.
  const std::string end(kPart + 4096, 'e');
  fuzz::feed({.name = "frames",
              .read = [&](const fuzz::Input& input) -> std::string {
                Receiver receiver(input.turn % 2 == 0);
                receiver.take(input.bytes + end);
                receiver.until([] { return false; });
                CHECK(receiver.health().peer() == 1);
                const auto region = receiver.region();
                const auto outside = [](std::byte byte) { return byte != std::byte{0}; };
                CHECK(std::none_of(region.begin(), region.begin() + kBefore, outside));
                CHECK(std::none_of(region.begin() + kBefore + kPart, region.end(), outside));
                throw Error(receiver.health().message());
              },
              .seeds = {join({kSmall, kSignal}), join({kSignal, kLarge, kSmall}),
                        join({kSmall, kSmall, kGoodbye}), kSignal},
              .adapt =
                  [](std::string& bytes) {
                    std::mt19937 random(crc32c(std::as_bytes(std::span(bytes))));
                    if (random() % 8 == 0) return;
                    seal(bytes, [&](FrameHeader& header) {
                      if (random() % 2 == 0) damage(header, random);
                    });
                  },
              .twice = false});
}

}  // namespace
}  // namespace edgewire::transport
