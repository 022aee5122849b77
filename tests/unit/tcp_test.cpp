// What only tcp has: connections that others may try to make, and frames that may be wrong.
#include <doctest/doctest.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "growing_timeout.h"
#include "transport/connector.h"
#include "transport/handshake.h"
#include "transport/sockets.h"
#include "transport/tcp.h"
#include "transport_fixture.h"

namespace edgewire::transport {
namespace {

using namespace std::chrono_literals;

const std::string kSecret(32, 's');

/// Rank 0 of two, waiting for rank 1, which the test plays.
struct Host {
  Endpoint endpoint;
  std::vector<std::string> blobs;
  int port = 0;

  explicit Host(double peer_timeout_s = 60) {
    endpoint.settings = {0, 2, 1, 1, kSecret, "", peer_timeout_s, &endpoint.health};
    endpoint.transport = create("tcp", endpoint.settings);
    const std::vector<Transport::Part> parts{{0, 100}, {100, 50}};
    endpoint.region = endpoint.transport->expose(200, parts);
    blobs = {endpoint.transport->blob(), "none"};
    std::istringstream words(blobs[0]);
    std::string address;
    words >> address >> port;
  }
  void connect() const { endpoint.transport->connect(blobs); }
  Counters counters() const { return endpoint.transport->counters(); }
};

FileDescriptor call(int port) {
  FileDescriptor socket = start_connecting("127.0.0.1", port).socket;
  pollfd event{socket.get(), POLLOUT, 0};
  poll(&event, 1, 60'000);
  return socket;
}

/// Calls as rank 1; the outcome of the handshake, and the connection when it is Done.
std::string call_with(int port, const std::string& secret, const Introduction& introduction,
                      FileDescriptor& socket) {
  Handshake handshake = Handshake::connect(call(port), secret, introduction);
  pollfd event{handshake.fd(), POLLOUT, 0};
  while (poll(&event, 1, 60'000) == 1) {
    const auto state = handshake.step();
    if (state == Handshake::State::Refused) return handshake.reason();
    if (state == Handshake::State::Done) {
      socket = handshake.take_socket();
      return "";
    }
    event.events = static_cast<short>(handshake.wants_to_read() ? POLLIN : POLLOUT);
  }
  return "no answer";
}

constexpr Introduction kRankOne{Purpose::Data, 1, 0, 0};

void send_bytes(const FileDescriptor& socket, const void* data, std::size_t bytes) {
  REQUIRE(::send(socket.get(), data, bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes));
}

/// Until the other end has all bytes that were sent.
void until_arrived(const FileDescriptor& socket) {
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  for (int left = 1; ioctl(socket.get(), SIOCOUTQ, &left) == 0 && left > 0;) {
    REQUIRE(std::chrono::steady_clock::now() < deadline);
    std::this_thread::yield();
  }
}

TEST_CASE("strangers are refused, counted, and do not keep the job from starting") {
  const Host host;
  FileDescriptor silent;
  FileDescriptor garbage;
  FileDescriptor friendly;
  parallel(2, [&](int i) {
    if (i == 0) {
      host.connect();
      return;
    }
    silent = call(host.port);
    garbage = call(host.port);
    const std::string http = "GET / HTTP/1.1\r\nHost: edgewire and some more text to fill a greeting\r\n\r\n";
    require(::send(garbage.get(), http.data(), http.size(), MSG_NOSIGNAL) > 0, "send");
    FileDescriptor none;
    require(call_with(host.port, std::string(32, 'x'), kRankOne, none).starts_with("wrong secret"),
            "a wrong secret is told");
    require(!call_with(host.port, kSecret, {Purpose::Launch, 1, 0, 0}, none).empty(), "another purpose");
    require(!call_with(host.port, kSecret, {Purpose::Data, 1, 5, 0}, none).empty(), "another receiver");
    require(call_with(host.port, kSecret, {Purpose::Data, 7, 0, 0}, none) == "refused by the other side",
            "no such rank");
    require(call_with(host.port, kSecret, {Purpose::Data, 1, 0, 3}, none) == "refused by the other side",
            "no such lane");
    require(call_with(host.port, kSecret, kRankOne, friendly).empty(), "the true peer");
  });
  CHECK(host.counters().refused_connections == 6);  // the silent one is still waited for when the job starts
  const FileDescriptor late = call(host.port);
  host.endpoint.until([&] { return host.counters().refused_connections == 7; });
  CHECK(host.counters().refused_frames == 0);
}

TEST_CASE("a peer with another secret is named by both sides") {
  std::string said, of_other, expected;
  std::uint64_t refused = 0;
  REQUIRE(with_growing_timeout(0.5, [&](double timeout_s) {
    const Host host(timeout_s);
    const auto message_of = [](Transport& transport, std::span<const std::string> blobs) {
      try {
        transport.connect(blobs);
      } catch (const Error& error) {
        return std::string(error.what());
      }
      return std::string("nothing");
    };
    parallel(2, [&](int i) {
      if (i == 0) {
        said = message_of(*host.endpoint.transport, host.blobs);
        return;
      }
      Endpoint other;
      other.settings = {1, 2, 1, 1, std::string(32, 'x'), "", timeout_s, &other.health};
      const auto transport = create("tcp", other.settings);
      transport->expose(100, {});
      of_other = message_of(*transport, std::vector<std::string>{host.blobs[0], transport->blob()});
    });
    CHECK(said == fmt::format("rank 1 cannot be connected over TCP within {} s", timeout_s));
    refused = host.counters().refused_connections;
    expected = fmt::format(
        "rank 0 at 127.0.0.1 port {}: wrong secret, or the handshake was changed on its way", host.port);
    return of_other.find(" cannot be connected ") == of_other.npos;  // it came before rank 0 gave up
  }));
  CHECK(of_other == expected);
  CHECK(refused == 1);
}

/// What rank 0 says after rank 1 has sent these frames and payload.
std::string after_frames(const std::vector<FrameHeader>& frames, const std::string& payload,
                         std::uint64_t& refused, bool is_refused = true) {
  const Host host;
  FileDescriptor socket;
  parallel(2, [&](int i) {
    if (i == 0) host.connect();
    if (i == 1) require(call_with(host.port, kSecret, kRankOne, socket).empty(), "handshake");
  });
  for (FrameHeader frame : frames) {
    frame.payload_check = crc32c(std::as_bytes(std::span(payload)));
    frame.check = frame.right_check();
    send_bytes(socket, &frame, sizeof frame);
  }
  if (!payload.empty()) send_bytes(socket, payload.data(), payload.size());
  if (!is_refused) {  // then what comes next is taken as well
    const std::string rest(frames.back().bytes() - sizeof(FrameHeader) - payload.size(), 'x');
    send_bytes(socket, rest.data(), rest.size());
    FrameHeader last{1, 0, 0, FrameType::Signal, 0};
    last.check = last.right_check();
    send_bytes(socket, &last, sizeof last);
  }
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  while (host.endpoint.transport->signalled(1, 0) == 0 && host.endpoint.transport->wait(20ms))
    REQUIRE(std::chrono::steady_clock::now() < deadline);
  refused = host.counters().refused_frames;
  for (std::size_t i = 0; i < 200; ++i)
    if (i < 100 || i >= 150) CHECK(host.endpoint.region[i] == std::byte{0});
  CHECK((host.endpoint.health.failed() ? 1 : -1) == host.endpoint.health.peer());
  return host.endpoint.health.message();
}

TEST_CASE("frames outside the sender's part of the region and malformed ones are refused and counted") {
  std::uint64_t refused = 0;
  CHECK(after_frames({{100, 50, 0, FrameType::Write, 0}}, std::string(50, 'p'), refused, false).empty());
  CHECK(refused == 0);
  CHECK(after_frames({{99, 2, 0, FrameType::Write, 0}}, "pp", refused) ==
        "rank 1 sent 2 bytes at offset 99, outside its part of the region");
  CHECK(refused == 1);
  CHECK(after_frames({{100, 51, 0, FrameType::Write, 0}}, std::string(51, 'p'), refused) ==
        "rank 1 sent 51 bytes at offset 100, outside its part of the region");
  CHECK(after_frames({{~std::uint64_t{0}, 2, 0, FrameType::Write, 0}}, "pp", refused) ==
        "rank 1 sent 2 bytes at offset 18446744073709551615, outside its part of the region");
  CHECK(after_frames({{100, 2, 0, FrameType::Write, 64}}, "pp", refused) ==
        "rank 1 sent 2 bytes at offset 100 behind a lead of 64");
  CHECK(refused == 1);
  CHECK(after_frames({{1, 0, 1, FrameType::Signal, 0}}, "", refused) == "rank 1 sent a signal of kind 1");
  CHECK(refused == 1);
  CHECK(after_frames({{1, 0, 0, static_cast<FrameType>(9), 0}}, "", refused) ==
        "rank 1 sent a frame of type 9");
  CHECK(refused == 1);
}

TEST_CASE("lead and tail of a frame go nowhere, wherever the bytes are cut") {
  FrameHeader write{101, 40, 0, FrameType::Write, 37}, signal{7, 0, 0, FrameType::Signal, 0};
  const std::string payload(40, 'p');
  write.payload_check = crc32c(std::as_bytes(std::span(payload)));
  write.check = write.right_check();
  signal.check = signal.right_check();
  CHECK(write.bytes() == 64 + 128);
  std::string bytes(write.bytes() + signal.bytes(), 'x');
  std::memcpy(bytes.data(), &write, sizeof write);
  std::fill_n(bytes.begin() + 64 + 37, 40, 'p');
  std::memcpy(bytes.data() + write.bytes(), &signal, sizeof signal);
  for (std::size_t cut = 0; cut <= bytes.size(); cut += 9) {
    CAPTURE(cut);
    const Host host;
    FileDescriptor socket;
    parallel(2, [&](int i) {
      if (i == 0) host.connect();
      if (i == 1) require(call_with(host.port, kSecret, kRankOne, socket).empty(), "handshake");
    });
    const auto& region = host.endpoint.region;
    auto& transport = *host.endpoint.transport;
    send_bytes(socket, bytes.data(), cut);
    until_arrived(socket);
    for (int polls = 0; polls < 3; ++polls) CHECK(transport.poll());
    send_bytes(socket, bytes.data() + cut, bytes.size() - cut);
    while (transport.signalled(1, 0) < 7) REQUIRE(transport.wait(10ms));
    for (std::size_t i = 0; i < 200; ++i)
      CHECK(region[i] == (i >= 101 && i < 141 ? std::byte{'p'} : std::byte{0}));
  }
}

TEST_CASE("a connection that ends without goodbye fails the job and names the peer") {
  for (const bool in_frame : {false, true}) {
    const Host host;
    parallel(2, [&](int i) {
      if (i == 0) host.connect();
      if (i != 1) return;
      FileDescriptor socket;
      require(call_with(host.port, kSecret, kRankOne, socket).empty(), "handshake");
      if (in_frame) send_bytes(socket, "abc", 3);
    });
    while (host.endpoint.transport->wait(10s)) continue;
    CHECK(host.endpoint.health.message() == "rank 1 was lost: connection closed");
    CHECK(host.endpoint.health.peer() == 1);
    CHECK_FALSE(host.endpoint.transport->poll());
  }
}

TEST_CASE("connecting gives up at the peer timeout and names who did not come") {
  const Host host(0.3);
  CHECK_THROWS_WITH_AS(host.connect(), "rank 1 cannot be connected over TCP within 0.3 s", Error);
}

TEST_CASE("who is there is called at once, without the pause between two calls") {
  const FileDescriptor listener = listen_on("127.0.0.1", 0), none;
  Connector caller(none, kSecret, Purpose::Data, 1);
  caller.call("127.0.0.1", port_of(listener), kRankOne);
  caller.step(0ms);  // who paused would call in a later step, and there is none
  pollfd event{listener.get(), POLLIN, 0};
  CHECK(poll(&event, 1, 60'000) == 1);
}

TEST_CASE("wire bytes are full segments and their headers") {
  const Host host;
  const auto wire = [&](std::uint64_t bytes) { return host.endpoint.transport->wire_bytes_of(bytes); };
  CHECK(wire(0) == 0);
  CHECK(wire(1) == 91);
  CHECK(wire(1448) == 1538);
  CHECK(wire(1449) == 1538 + 91);
  CHECK(wire(1'448'000) == 1'538'000);
}

TEST_CASE("an address that is not of this host is told") {
  Endpoint me;
  me.settings = {0, 2, 1, 1, kSecret, "192.0.2.1", 1, &me.health};
  CHECK_THROWS_WITH_AS(create("tcp", me.settings)->expose(100, {}),
                       "cannot listen on 192.0.2.1 port 0: Cannot assign requested address", Error);
}

TEST_CASE("large sends ask for zero-copy until the system says that it copies, and small ones do not") {
  const auto send = [](const Job& job, std::uint64_t count, std::size_t bytes) {
    const auto source = job[0]->transport->send_memory(bytes);
    std::fill(source.begin(), source.end(), static_cast<std::byte>(count));
    parallel(2, [&](int rank) {
      if (rank == 0) {
        for (int i = 0; i < 4; ++i) job[0]->write(0, 1, 0, source);
        job[0]->signal(0, 1, 0, count);
        job[0]->transport->ring_doorbell(0);
        job[0]->until([&] { return job[0]->transport->completed(0, 1) == 4 * count; });
      } else {
        job[1]->until([&] { return job[1]->transport->signalled(0, 0) == count; });
      }
    });
    const auto arrived = job[1]->part_of(0).first(bytes);
    CHECK(std::ranges::all_of(arrived, [&](std::byte b) { return b == static_cast<std::byte>(count); }));
    return job[0]->transport->counters();
  };
  constexpr std::size_t kLarge = 8 << 20;
  const Job job = make_job({"tcp"}, 2, kLarge);
  CHECK(send(job, 1, 1000).zero_copy_sends == 0);
  const Counters asked = send(job, 2, kLarge);
  CHECK(asked.zero_copy_sends > 0);
  CHECK(asked.copied_sends > 0);  // the loopback device always copies
  CHECK(asked.copied_sends <= asked.zero_copy_sends);
  for (std::uint64_t count = 3; count < 6; ++count)
    CHECK(send(job, count, kLarge).zero_copy_sends == asked.zero_copy_sends);
}

TEST_CASE("frames are reusable when all zero-copy calls before and with them are done, in whatever order") {
  ZeroCopyCalls calls;
  const auto reusable = [&](std::uint64_t now) {
    const auto position = calls.reusable({now, now / 10});
    CHECK(position.writes == position.frames / 10);
    return position.frames;
  };
  CHECK(reusable(5) == 5);
  for (const std::uint64_t before : {10, 20, 30, 40}) calls.add({before, before / 10});
  CHECK(reusable(50) == 10);
  calls.done(1, 2);
  CHECK(reusable(50) == 10);
  calls.done(0, 0);
  CHECK(reusable(50) == 40);
  calls.done(0, 2);  // told again
  CHECK(reusable(50) == 40);
  calls.done(3, 3);
  CHECK(reusable(50) == 50);

  std::uint64_t added = 4;
  for (; !calls.full(); ++added) calls.add({10 * added, added});
  CHECK(added == 4 + 64);
  CHECK(reusable(10 * added) == 40);
  calls.done(4, static_cast<std::uint32_t>(added - 2));
  CHECK(reusable(10 * added) == 10 * (added - 1));
  CHECK_FALSE(calls.full());
}

TEST_CASE("the numbers of zero-copy calls wrap around") {
  ZeroCopyCalls calls(~std::uint32_t{0} - 1);
  for (std::uint64_t before = 0; before < 4; ++before) calls.add({before, before});
  calls.done(0, 0);
  CHECK(calls.reusable({9, 9}).frames == 0);
  calls.done(~std::uint32_t{0} - 1, ~std::uint32_t{0});
  CHECK(calls.reusable({9, 9}).frames == 3);
  calls.done(~std::uint32_t{0} - 1, 1);
  CHECK(calls.reusable({9, 9}).frames == 9);
}

}  // namespace
}  // namespace edgewire::transport
