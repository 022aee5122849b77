// Damaged lists of hosts and secrets, and damaged bytes from the network: they are taken as what they say, or
// refused with one line.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "fuzz.h"
#include "launch/frames.h"
#include "launch/hosts.h"
#include "transport/handshake.h"

namespace edgewire::launch {

namespace {

/// A file that only this user can read; removed in the end.
class PrivateFile {
 public:
  PrivateFile() {
    const int file = mkstemp(path_.data());
    REQUIRE(file >= 0);
    close(file);
  }
  ~PrivateFile() { std::filesystem::remove(path_); }
  PrivateFile(const PrivateFile&) = delete;
  PrivateFile& operator=(const PrivateFile&) = delete;
  const std::string& with(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return path_;
  }

 private:
  std::string path_ = "/tmp/edgewire-fuzz-XXXXXX";
};

TEST_CASE("damaged host lists") {
  PrivateFile file;
  fuzz::feed(
      {"127.0.0.1:5000\n127.0.0.1\n# a comment\nnode2 # another\n", "[::1]:7000\nfe80::1\n[fe80::2]\n"},
      [&](const std::string& bytes) {
        for (const Host& host : read_hosts(file.with(bytes), 7000)) {
          CHECK(!host.address.empty());
          CHECK(host.port > 0);
        }
      });
}

TEST_CASE("damaged secret files") {
  PrivateFile file;
  fuzz::feed({"0123456789abcdef\n", std::string(100, 's')}, [&](const std::string& bytes) {
    const std::string secret = load_secret(file.with(bytes));
    CHECK(secret.size() == 32);
  });
}

TEST_CASE("damaged strings of the bootstrap") {
  fuzz::feed(
      {pack(std::vector<std::string>{"one", "", "three"}), pack(std::vector<std::string>{"", "2", ""})},
      [&](const std::string& bytes) {
        std::size_t all = 0;
        for (const std::string& item : unpack(bytes, 3)) all += item.size();
        CHECK(all + 24 <= bytes.size());
      });
}

struct Ends {
  transport::FileDescriptor here, there;
  /// `there` has received `bytes`, and no more will come.
  explicit Ends(const std::string& bytes) {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    here = transport::FileDescriptor(ends[0]);
    there = transport::FileDescriptor(ends[1]);
    REQUIRE(send(ends[0], bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()));
    shutdown(ends[0], SHUT_WR);
  }
};

/// What a stream of these bytes holds before it ends or is refused.
std::vector<std::string> payloads_of(const std::string& bytes) {
  const Ends ends(bytes);
  MessageReader reader;
  std::vector<std::string> payloads;
  while (reader.read(ends.there.get()) > 0) {
    Arrival arrival;
    while (reader.next(arrival) == MessageReader::Next::Whole) {
      CHECK(arrival.payload.size() == arrival.header.length);
      payloads.push_back(arrival.payload);
    }
  }
  return payloads;
}

/// Gives the first header the check that belongs to it, so that its length counts.
void seal_header(std::string& bytes) {
  FrameHeader header;
  if (bytes.size() < sizeof header || bytes.back() % 2 == 0) return;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.check = header.right_check();
  std::memcpy(bytes.data(), &header, sizeof header);
}

TEST_CASE("damaged messages of the bootstrap") {
  const std::vector<std::string> sent{"a payload", "", "12345678"};
  std::string stream;
  for (const std::string& payload : sent) stream += *frame(FrameKind::Data, 3, payload);
  CHECK(payloads_of(stream) == sent);
  fuzz::feed(
      {stream, *frame(FrameKind::Abort, 1, "no memory") + *frame(FrameKind::Finish, 0)},
      [&](const std::string& bytes) {
        std::size_t all = 0;
        for (const std::string& payload : payloads_of(bytes)) all += payload.size();
        CHECK(all <= bytes.size());
      },
      seal_header);
}

/// Whether a side that gets these bytes ends, without having believed them.
bool ends_refused(transport::Handshake& handshake) {
  for (int steps = 0; steps < 100; ++steps) {
    if (const auto state = handshake.step(); state != transport::Handshake::State::Going)
      return state == transport::Handshake::State::Refused && !handshake.reason().empty() &&
             handshake.reason().find('\n') == std::string::npos;
  }
  return false;
}

TEST_CASE("damaged handshakes") {
  using transport::Handshake;
  const std::string secret(32, 's');
  std::string hello = "EDGEWIR6";
  for (const std::int32_t number : {1, 1, 0, 0})  // to start a job, from, to, lane
    hello.append(reinterpret_cast<const char*>(&number), sizeof number);
  hello += std::string(32, 'c');
  const std::string proof(32, 'p');
  fuzz::feed({hello + proof, hello, proof + proof + "V", "N"}, [&](const std::string& bytes) {
    Ends to_accept(bytes), to_connect(bytes);
    auto accepts = Handshake::accept(std::move(to_accept.there), secret, transport::Purpose::Launch, 0);
    CHECK(ends_refused(accepts));
    auto connects =
        Handshake::connect(std::move(to_connect.there), secret, {transport::Purpose::Launch, 1, 0});
    CHECK(ends_refused(connects));
  });
}

}  // namespace

}  // namespace edgewire::launch
