// What is changed on its way between two processes ends the run; it never gives a wrong result.
#include <doctest/doctest.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <sstream>

#include "bit_flipper.h"
#include "launch/bootstrap.h"
#include "launch/frames.h"
#include "transport/crc32c.h"
#include "transport/sockets.h"
#include "transport_fixture.h"

namespace edgewire::transport {
namespace {

using Bytes = std::vector<std::byte>;

/// The definition, bit by bit.
std::uint32_t bitwise(std::span<const std::byte> bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const std::byte byte : bytes) {
    crc ^= static_cast<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc % 2 == 1 ? 0x82F63B78U : 0U);
  }
  return crc ^ 0xFFFFFFFF;
}

TEST_CASE("the CRC-32C is that of RFC 3720") {
  Bytes bytes(32);
  CHECK(crc32c(bytes) == 0x8a9136aa);
  std::ranges::fill(bytes, std::byte{0xff});
  CHECK(crc32c(bytes) == 0x62a8ab43);
  for (std::size_t i = 0; i < 32; ++i) bytes[i] = static_cast<std::byte>(i);
  CHECK(crc32c(bytes) == 0x46dd794e);
  std::ranges::reverse(bytes);
  CHECK(crc32c(bytes) == 0x113fdb5c);
  constexpr std::array<unsigned char, 48> kRead{0x01, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,    0, 0, 0, 0,
                                                0x14, 0,    0, 0, 0, 0, 4, 0, 0, 0, 0, 0x14, 0, 0, 0, 0x18,
                                                0x28, 0,    0, 0, 0, 0, 0, 0, 2, 0, 0, 0,    0, 0, 0, 0};
  CHECK(crc32c(std::as_bytes(std::span(kRead))) == 0xd9963a56);
  CHECK(crc32c({}) == 0);
}

TEST_CASE("the CRC-32C of all lengths and places is that of its definition, in one piece and in several") {
  Bytes bytes(70000);
  fill(bytes, 3);
  std::mt19937_64 random(1);
  for (std::size_t i = 0; i < 600; ++i) {
    const std::size_t begin = random() % 100;
    const std::size_t length = i < 300 ? i : random() % (i < 590 ? 3000 : bytes.size() - begin);
    CAPTURE(begin);
    CAPTURE(length);
    const std::span<const std::byte> some(bytes.data() + begin, length);
    const std::uint32_t right = bitwise(some);
    CHECK(crc32c(some) == right);
    const std::size_t cut = random() % (length + 1);
    CHECK(crc32c(some.subspan(cut), crc32c(some.first(cut))) == right);
  }
}

constexpr std::size_t kPartBytes = 40000;
/// Bytes that the side that calls and the other one send before the first frame: see transport/handshake.cpp.
constexpr std::array<std::size_t, 2> kHandshakeBytes{56 + 32, 64 + 1};

/// Rank 0 and rank 1, with a line between them.
struct Pair {
  std::unique_ptr<BitFlipper> line;  // ends after them, and so at once
  std::array<Endpoint, 2> ends;

  Pair(std::uint64_t seed, std::size_t stream_bytes, bool integrity) {
    std::vector<std::string> blobs;
    for (int rank = 0; rank < 2; ++rank) {
      Endpoint& end = ends[static_cast<std::size_t>(rank)];
      end.settings = {rank, 2, 1, 1, std::string(32, 's'), "", 100, &end.health, {}, {}, {}};
      end.settings.integrity = integrity;
      end.transport = create("tcp", end.settings);
      end.part_bytes = kPartBytes;
      const std::vector<Transport::Part> parts{{0, kPartBytes}, {kPartBytes, kPartBytes}};
      end.region = end.transport->expose(2 * kPartBytes, parts);
      blobs.push_back(end.transport->blob());
    }
    std::istringstream words(blobs[0]);
    std::string address;
    int port = 0;
    words >> address >> port;
    const FileDescriptor listener = listen_on(address, 0);
    parallel(3, [&](int i) {
      if (i == 0) ends[0].transport->connect(blobs);
      if (i == 1)
        ends[1].transport->connect(
            std::vector<std::string>{fmt::format("{} {}", address, port_of(listener)), blobs[1]});
      if (i != 2) return;
      pollfd event{listener.get(), POLLIN, 0};
      require(::poll(&event, 1, 30000) == 1, "rank 1 calls");
      std::string from;
      FileDescriptor caller = accept_from(listener, from);
      FileDescriptor callee = start_connecting(address, port).socket;
      event = {callee.get(), POLLOUT, 0};
      ::poll(&event, 1, 30000);
      const std::size_t begin = kHandshakeBytes[seed % 2];
      line = std::make_unique<BitFlipper>(std::move(caller), std::move(callee), seed, begin,
                                          begin + stream_bytes);
    });
  }
};

/// Both ranks send each other some writes, small and large ones, and a signal after each. Returns what was
/// said, by the one that noticed; empty when all came. A wrong byte behind a signal sets `wrong`.
std::string exchange(Pair& pair, std::uint64_t seed, bool& wrong) {
  constexpr std::array<std::size_t, 5> kSizes{1, 64, 700, 20000, 3000};
  std::atomic<bool> is_wrong{false};
  std::mutex mutex;
  std::string said;
  parallel(2, [&](int rank) {
    Endpoint& me = pair.ends[static_cast<std::size_t>(rank)];
    const int peer = 1 - rank;
    const auto source = me.transport->send_memory(kPartBytes);
    fill(source, seed + static_cast<std::uint64_t>(rank));
    Bytes right(kPartBytes);
    fill(right, seed + static_cast<std::uint64_t>(peer));
    try {
      std::size_t at = 0;
      for (std::size_t round = 0; round < kSizes.size(); at += kSizes[round++]) {
        const auto mine = static_cast<std::size_t>(rank) * kPartBytes;
        me.write(0, peer, mine + at, source.subspan(at, kSizes[round]));
        me.signal(0, peer, 0, round + 1);
        me.transport->ring_doorbell(0);
        me.until([&] { return me.transport->signalled(peer, 0) >= round + 1; });
        const auto arrived = me.part_of(peer).first(at + kSizes[round]);
        if (me.transport->signalled(peer, 0) > kSizes.size() ||
            !std::ranges::equal(arrived, std::span(right).first(arrived.size())))
          is_wrong = true;
      }
    } catch (const Error& error) {
      pair.ends[static_cast<std::size_t>(peer)].health.fail(rank, "the other one failed");
      const std::scoped_lock lock(mutex);
      if (said.empty() || said == "the other one failed") said = error.what();
    }
  });
  wrong = is_wrong;
  return said;
}

TEST_CASE("bits that are flipped between two tcp processes end the run and never give a wrong result") {
  int noticed = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    CAPTURE(seed);
    // In every second pair of runs among the first small frames and their signals, else anywhere.
    Pair pair(seed, seed / 2 % 2 == 0 ? 600 : 24000, true);
    bool wrong = false;
    const std::string said = exchange(pair, seed, wrong);
    CHECK_FALSE(wrong);
    if (said.empty()) continue;  // in bytes that mean nothing
    ++noticed;
    CHECK(pair.line->flipped());
    const int from = seed % 2 == 0 ? 1 : 0;  // the flipper's first end is the one that called, rank 1
    CHECK(said ==
          fmt::format("data from rank {} at 127.0.0.1 was changed on its way to 127.0.0.1 (TCP, lane 0, "
                      "wrong CRC-32C): run again; if it comes back, test memory, cards and cables of both "
                      "hosts",
                      from));
    CHECK(pair.ends[static_cast<std::size_t>(1 - from)].transport->counters().corrupt_frames == 1);
  }
  CHECK(noticed > 60);
}

TEST_CASE("without integrity the flipped bits arrive") {
  int wrongs = 0;
  for (std::uint64_t seed = 3; seed < 100 && wrongs == 0; seed += 4) {  // in payload, most of the time
    Pair pair(seed, 24000, false);
    bool wrong = false;
    exchange(pair, seed, wrong);
    wrongs += wrong ? 1 : 0;
  }
  CHECK(wrongs > 0);
}

/// What a reader makes of these bytes when they arrive in two pieces.
std::vector<std::string> messages_in(std::string_view bytes, std::size_t cut,
                                     launch::MessageReader::Next& last) {
  std::array<int, 2> ends;
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
  const FileDescriptor from{ends[0]}, to{ends[1]};
  launch::MessageReader reader;
  launch::Arrival arrival;
  std::vector<std::string> messages;
  for (const std::string_view piece : {bytes.substr(0, cut), bytes.substr(cut)}) {
    if (piece.empty()) continue;
    REQUIRE(send(from.get(), piece.data(), piece.size(), 0) == static_cast<ssize_t>(piece.size()));
    REQUIRE(reader.read(to.get()) == static_cast<ssize_t>(piece.size()));
    while ((last = reader.next(arrival)) == launch::MessageReader::Next::Whole)
      messages.push_back(std::move(arrival.payload));
    if (last != launch::MessageReader::Next::Partial) break;
  }
  if (last == launch::MessageReader::Next::Changed) {  // what follows is nothing, however right it is
    const launch::Message more = launch::frame(launch::FrameKind::Data, 3, "more");
    REQUIRE(send(from.get(), more->data(), more->size(), 0) == static_cast<ssize_t>(more->size()));
    CHECK(reader.read(to.get()) > 0);
    CHECK(reader.next(arrival) == launch::MessageReader::Next::Partial);
  }
  return messages;
}

TEST_CASE("a control message is given whole, or not at all when any bit of it was changed") {
  using Next = launch::MessageReader::Next;
  const std::vector<std::string> sent{"first", "", "the third one"};
  std::string bytes;
  for (const std::string& payload : sent) bytes += *launch::frame(launch::FrameKind::Data, 7, payload);
  Next last = Next::Changed;
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    CHECK(messages_in(bytes, cut, last) == sent);
    CHECK(last == Next::Partial);
  }
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    CAPTURE(bit);
    std::string changed = bytes;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
    const std::size_t whole = bit / 8 < 29 ? 0 : bit / 8 < 29 + 24 ? 1 : 2;  // headers have 24 bytes
    CHECK(messages_in(changed, bit * 7 % bytes.size(), last) ==
          std::vector<std::string>(sent.begin(), sent.begin() + static_cast<std::ptrdiff_t>(whole)));
    CHECK(last == Next::Changed);
  }
}

TEST_CASE("bits that are flipped between control planes end the run and never give a wrong result") {
  int noticed = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    std::array<std::array<int, 2>, 2> pairs;
    for (auto& pair : pairs) REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) == 0);
    BitFlipper line(FileDescriptor{pairs[1][1]}, FileDescriptor{pairs[0][1]}, seed, 0,
                    seed % 4 < 2 ? 60 : 5000);
    std::mutex mutex;
    std::vector<std::string> said;
    parallel(2, [&](int rank) {
      std::vector<FileDescriptor> streams;
      if (rank == 0) streams.emplace_back();
      streams.emplace_back(pairs[static_cast<std::size_t>(rank)][0]);
      launch::Member member;
      member.rank = rank;
      member.size = 2;
      member.peer_timeout_s = 100;
      member.secret = std::string(32, 's');
      const auto mine = launch::connect_bootstrap(std::move(member), std::move(streams));
      try {
        for (std::size_t bytes : {5U, 0U, 3000U, 100U}) {
          const std::string text(bytes, static_cast<char>('a' + rank));
          const auto all = mine->allgather(text);
          require(all[0] == std::string(bytes, 'a') && all[1] == std::string(bytes, 'b'), "wrong result");
        }
        mine->finish();
      } catch (const Error& error) {
        const std::scoped_lock lock(mutex);
        said.emplace_back(error.what());
      }
    });
    for (const std::string& one : said) CHECK(one.find("was changed on its way to rank") != one.npos);
    noticed += said.empty() ? 0 : 1;
  }
  CHECK(noticed > 40);
}

}  // namespace
}  // namespace edgewire::transport
