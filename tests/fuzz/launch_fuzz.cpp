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
  fuzz::feed({.name = "hosts", .read = [&](const fuzz::Input& input) {
                std::string hosts;
                for (const Host& host : read_hosts(file.with(input.bytes), 7000)) {
                  CHECK(!host.address.empty());
                  CHECK(host.port > 0);
                  hosts += host.address + " " + std::to_string(host.port) + "\n";
                }
                return hosts;
              }});
}

TEST_CASE("damaged secret files") {
  PrivateFile file;
  fuzz::feed({.name = "secret", .read = [&](const fuzz::Input& input) {
                std::string secret = load_secret(file.with(input.bytes));
                CHECK(secret.size() == 32);
                return secret;
              }});
}

TEST_CASE("damaged strings of the bootstrap") {
  fuzz::feed({.name = "strings",
              .read =
                  [](const fuzz::Input& input) {
                    std::string all;
                    for (const std::string& item : unpack(input.bytes, 3)) all += item;
                    CHECK(all.size() + 24 <= input.bytes.size());
                    return all;
                  },
              .seeds = {pack(std::vector<std::string>{"one", "", "three"}),
                        pack(std::vector<std::string>{"", "2", ""})}});
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
  fuzz::feed({.name = "messages",
              .read =
                  [](const fuzz::Input& input) {
                    std::string all;
                    for (const std::string& payload : payloads_of(input.bytes)) all += payload;
                    CHECK(all.size() <= input.bytes.size());
                    return all;
                  },
              .seeds = {stream, *frame(FrameKind::Abort, 1, "no memory") + *frame(FrameKind::Finish, 0)},
              .adapt = seal_header});
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
  fuzz::feed({.name = "handshake",
              .read =
                  [&](const fuzz::Input& input) {
                    Ends to_accept(input.bytes), to_connect(input.bytes);
                    auto accepts =
                        Handshake::accept(std::move(to_accept.there), secret, transport::Purpose::Launch, 0);
                    CHECK(ends_refused(accepts));
                    auto connects = Handshake::connect(std::move(to_connect.there), secret,
                                                       {transport::Purpose::Launch, 1, 0});
                    CHECK(ends_refused(connects));
                    return std::string();
                  },
              .seeds = {hello + proof, hello, proof + proof + "V", "N"}});
}

}  // namespace

}  // namespace edgewire::launch
