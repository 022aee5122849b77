// Processes of different versions refuse each other, with a line that says so. The test plays the others.
#include "transport/handshake.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sodium.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <utility>

#include "launch/rendezvous.h"
#include "transport/sockets.h"
#include "transport_fixture.h"

namespace edgewire::transport {
namespace {

const std::string kSecretOfJob(32, 's');
constexpr std::size_t kHelloBytes = 56;
const std::string kSameOnAll = "it is another version of Edgewire; install the same one on all hosts";

std::string receive_bytes(const FileDescriptor& socket, std::size_t bytes) {
  std::string received(bytes, '\0');
  pollfd event{socket.get(), POLLIN, 0};
  require(::poll(&event, 1, 30000) == 1, "the other side says something");
  const ssize_t got = recv(socket.get(), received.data(), bytes, MSG_WAITALL);
  received.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return received;
}

void send_bytes(const FileDescriptor& socket, std::string_view bytes) {
  require(
      ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()),
      "send");
}

void make_blocking(const FileDescriptor& socket) {
  fcntl(socket.get(), F_SETFL, fcntl(socket.get(), F_GETFL) & ~O_NONBLOCK);
}

/// HMAC-SHA256 with the secret of the job.
std::string proof_of(const std::string& text) {
  std::string mac(crypto_auth_hmacsha256_BYTES, '\0');
  crypto_auth_hmacsha256(reinterpret_cast<unsigned char*>(mac.data()),
                         reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                         reinterpret_cast<const unsigned char*>(kSecretOfJob.data()));
  return mac;
}

/// The hello of rank 1 of two, in version `version`.
std::string hello_of(char version) {
  std::string hello = std::string("EDGEWIR") + version;
  for (const std::int32_t number : {1, 1, 0, 2})  // to start a job, from, to, processes
    hello.append(reinterpret_cast<const char*>(&number), sizeof number);
  return hello + std::string(32, 'c');
}

FileDescriptor accept_one(const FileDescriptor& listener) {
  pollfd event{listener.get(), POLLIN, 0};
  require(::poll(&event, 1, 30000) == 1, "rank 1 calls");
  std::string from;
  FileDescriptor socket = accept_from(listener, from);
  make_blocking(socket);
  return socket;
}

/// What rank 0 says at the end, when `others` have called at its port.
template <typename Play>
std::string rank_0_says(Play others) {
  const FileDescriptor listener = listen_on("127.0.0.1", 0);
  std::string said;
  parallel(2, [&](int i) {
    if (i == 1) return others(port_of(listener));
    try {
      launch::receive_others({0, kSecretOfJob, 1e6, {"a", "b"}}, listener);
    } catch (const Error& error) {
      said = error.what();
    }
  });
  return said;
}

/// Calls as rank 1 of another version, with or without the secret. Returns what rank 0 answers at last.
char call_as(char version, bool knows_secret, int port) {
  const FileDescriptor socket = start_connecting("127.0.0.1", port).socket;
  make_blocking(socket);
  pollfd event{socket.get(), POLLOUT, 0};
  ::poll(&event, 1, 30000);
  const std::string hello = hello_of(version);
  send_bytes(socket, hello);
  const std::string answer = receive_bytes(socket, 64), challenge = answer.substr(0, 32);
  require(answer.substr(32) == proof_of("accepts" + hello + challenge), "rank 0 knows the secret");
  send_bytes(socket, knows_secret ? proof_of("connects" + hello + challenge) : std::string(32, 'x'));
  return receive_bytes(socket, 1)[0];
}

TEST_CASE("rank 0 ends with one line when a process of another version calls, and not when a stranger does") {
  for (const char version : {'1', '5', '7'}) {
    CAPTURE(version);
    char verdict = ' ', of_stranger = ' ';
    const std::string said = rank_0_says([&](int port) {
      of_stranger = call_as(version, false, port);
      verdict = call_as(version, true, port);
    });
    CAPTURE(said);
    CHECK(said.starts_with("rank 1 at 127.0.0.1 port "));
    CHECK(said.ends_with(": " + kSameOnAll));
    CHECK(verdict == 'V');  // version 1 takes all but W for "refused by the other side"
    CHECK(of_stranger != 'W');
  }
}

TEST_CASE("a process that calls another version ends at once, with one line") {
  const FileDescriptor listener = listen_on("127.0.0.1", 0);
  const int port = port_of(listener);
  parallel(2, [&](int rank) {
    if (rank == 1) {
      const std::string line = fmt::format("rank 0 at 127.0.0.1 port {}: {}", port, kSameOnAll);
      CHECK_THROWS_WITH_AS(launch::come_to_hub({1, kSecretOfJob, 1e6, {"a", "b"}}, {"127.0.0.1"}, port),
                           line.c_str(), Error);
      return;
    }
    const FileDescriptor socket = accept_one(listener);
    const std::string hello = receive_bytes(socket, kHelloBytes), challenge(32, 'd');
    require(hello.starts_with("EDGEWIR6"), "version 6");
    send_bytes(socket, challenge + proof_of("accepts" + hello + challenge));
    require(receive_bytes(socket, 32) == proof_of("connects" + hello + challenge), "rank 1 knows the secret");
    send_bytes(socket, "V");
  });
}

TEST_CASE("a process that calls version 1, which knows no other hello, ends at once, with one line") {
  const FileDescriptor listener = listen_on("127.0.0.1", 0);
  const int port = port_of(listener);
  parallel(2, [&](int rank) {
    if (rank == 1) {
      const std::string line = fmt::format(
          "rank 0 at 127.0.0.1 port {}: it is another version of Edgewire, or belongs to another run; "
          "install "
          "the same one on all hosts, or choose another port",
          port);
      CHECK_THROWS_WITH_AS(launch::come_to_hub({1, kSecretOfJob, 1e6, {"a", "b"}}, {"127.0.0.1"}, port),
                           line.c_str(), Error);
      return;
    }
    const FileDescriptor socket = accept_one(listener);
    receive_bytes(socket, kHelloBytes);
    send_bytes(socket, "N");
  });
}

/// Moves what has come to the other end; flips a bit of byte `at` of all that went this way.
void relay(const FileDescriptor& from, const FileDescriptor& to, std::size_t& moved, std::size_t at) {
  char bytes[256];
  const ssize_t got = recv(from.get(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (got <= 0) return;
  const auto count = static_cast<std::size_t>(got);
  if (at >= moved && at < moved + count) bytes[at - moved] ^= 4;
  moved += count;
  [[maybe_unused]] const ssize_t ignored = ::send(to.get(), bytes, count, MSG_NOSIGNAL);
}

/// Why each side of a handshake refuses the other, when one bit of one byte is flipped on the way.
std::array<std::string, 2> reasons_when_flipped(bool to_acceptor, std::size_t byte) {
  FileDescriptor ends[4];
  for (int pair = 0; pair < 2; ++pair) {
    int raw[2];
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, raw) == 0, "socketpair");
    ends[2 * pair] = FileDescriptor(raw[0]);
    ends[2 * pair + 1] = FileDescriptor(raw[1]);
  }
  Handshake connects = Handshake::connect(std::move(ends[0]), kSecretOfJob, {Purpose::Launch, 1, 0, 2});
  Handshake accepts = Handshake::accept(std::move(ends[3]), kSecretOfJob, Purpose::Launch, 0);
  constexpr std::size_t kNever = 1000;
  std::size_t forth = 0, back = 0;
  for (int round = 0; round < 10; ++round) {
    connects.step();
    relay(ends[1], ends[2], forth, to_acceptor ? byte : kNever);
    accepts.step();
    relay(ends[2], ends[1], back, to_acceptor ? kNever : byte);
  }
  return {connects.reason(), accepts.reason()};
}

TEST_CASE("a handshake that was changed on its way is not just called a wrong secret") {
  const std::string why = "wrong secret, or the handshake was changed on its way";
  CHECK(reasons_when_flipped(true, 1000) == std::array<std::string, 2>{});
  CHECK(reasons_when_flipped(true, 40) == std::array{why, why});   // the challenge of the side that connects
  CHECK(reasons_when_flipped(false, 10) == std::array{why, why});  // the challenge of the side that accepts
  CHECK(reasons_when_flipped(false, 40) == std::array{why, why});  // its proof
  CHECK(reasons_when_flipped(true, kHelloBytes + 5)[1] == why);    // the proof of the side that connects
}

}  // namespace
}  // namespace edgewire::transport
