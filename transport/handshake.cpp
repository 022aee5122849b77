#include "transport/handshake.h"

#include <fmt/core.h>
#include <sodium.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/vector_registers.h"
#include "transport/sealed.h"

namespace edgewire::transport {
namespace {

constexpr std::size_t kChallengeBytes = 32;
constexpr std::size_t kProofBytes = crypto_auth_hmacsha256_BYTES;
/// The magic letters and the version of what travels on a connection. All versions have this handshake.
constexpr char kMagic[9] = "EDGEWIR6";
constexpr std::size_t kVersionAt = 7;
constexpr const char* kOtherVersion = "it is another version of Edgewire; install the same one on all hosts";
constexpr const char* kHelloRefused =
    "it is another version of Edgewire, or belongs to another run; install the same one on all hosts, or "
    "choose another port";
/// The reason of a wrong proof, which covers all bytes before it: one of them may have been changed.
constexpr const char* kWrongProof = "wrong secret, or the handshake was changed on its way";
constexpr char kWelcome = 'W', kUnwelcome = 'N', kWrongVersion = 'V';

/// The first message of the side that connects.
struct Hello {
  char magic[8] = {};
  Introduction introduction;
  unsigned char challenge[kChallengeBytes] = {};
};
static_assert(sizeof(Hello) == 8 + 16 + kChallengeBytes);

const unsigned char* raw(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

Handshake::Handshake(FileDescriptor socket, const std::string& secret, const Introduction& introduction)
    : socket_(std::move(socket)), secret_(secret), introduction_(introduction) {
  if (secret_.size() != crypto_auth_hmacsha256_KEYBYTES)
    throw Error("the secret of a run must have 32 bytes");
}

Handshake Handshake::connect(FileDescriptor socket, const std::string& secret,
                             const Introduction& introduction) {
  Handshake made(std::move(socket), secret, introduction);
  Hello hello;
  std::memcpy(hello.magic, kMagic, sizeof hello.magic);
  hello.introduction = introduction;
  std::memcpy(hello.challenge, random_bytes(kChallengeBytes).data(), kChallengeBytes);
  made.hello_.assign(reinterpret_cast<const char*>(&hello), sizeof hello);
  made.send(made.hello_);
  made.expect(Step::Challenge, kChallengeBytes + kProofBytes);
  return made;
}

Handshake Handshake::accept(FileDescriptor socket, const std::string& secret, Purpose purpose,
                            std::int32_t to) {
  Handshake made(std::move(socket), secret, {purpose, -1, to, 0});
  made.other_challenge_ = random_bytes(kChallengeBytes);
  made.expect(Step::Hello, sizeof(Hello));
  return made;
}

void Handshake::expect(Step step, std::size_t bytes) {
  step_ = step;
  expected_ = bytes;
  received_.clear();
}

Handshake::State Handshake::refused(std::string reason) {
  reason_ = std::move(reason);
  return State::Refused;
}

/// Computes a proof for a role. The role keeps a proof from being sent back as one's own.
std::string Handshake::proof(std::string_view role) const {
  const std::string text = fmt::format("{}{}{}", role, hello_, other_challenge_);
  std::string mac(kProofBytes, '\0');
  with_clean_registers([&] {
    return crypto_auth_hmacsha256(reinterpret_cast<unsigned char*>(mac.data()), raw(text), text.size(),
                                  raw(secret_));
  });
  return mac;
}

Handshake::State Handshake::step() {
  while (true) {
    while (!to_send_.empty()) {
      const ssize_t sent = ::send(fd(), to_send_.data(), to_send_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && (errno == EAGAIN || errno == EINTR || errno == EINPROGRESS)) return State::Going;
      if (sent < 0) return refused(edgewire::reason(errno));
      to_send_.erase(0, sent);
    }
    if (received_.size() < expected_) {
      char bytes[128];
      const ssize_t got =
          recv(fd(), bytes, std::min(sizeof bytes, expected_ - received_.size()), MSG_DONTWAIT);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) return State::Going;
      if (got < 0) return refused(edgewire::reason(errno));
      if (got == 0) {
        // Version 1, and a process that is called for another purpose, refuse the hello with one byte.
        final_ = step_ == Step::Challenge && received_.size() == 1;
        return refused(final_ ? kHelloRefused : "connection closed");
      }
      received_.append(bytes, got);
      continue;
    }
    if (const State state = take(); state != State::Going) return state;
  }
}

/// Takes the message that has arrived whole.
Handshake::State Handshake::take() {
  switch (step_) {
    case Step::Hello: {
      Hello hello;
      std::memcpy(&hello, received_.data(), sizeof hello);
      if (std::memcmp(hello.magic, kMagic, kVersionAt) != 0) return refused("not an Edgewire process");
      other_version_ = hello.magic[kVersionAt] != kMagic[kVersionAt];
      if (hello.introduction.purpose != introduction_.purpose || hello.introduction.to != introduction_.to)
        return refused("meant for another process");
      introduction_ = hello.introduction;
      hello_ = received_;
      send(other_challenge_);
      send(proof("accepts"));
      expect(Step::Response, kProofBytes);
      return State::Going;
    }
    case Step::Challenge: {
      other_challenge_ = received_.substr(0, kChallengeBytes);
      const bool same =
          sodium_memcmp(proof("accepts").data(), received_.data() + kChallengeBytes, kProofBytes) == 0;
      // The other side learns why it ends; a true proof is for those who know the secret.
      send(same ? proof("connects") : std::string(kProofBytes, '\0'));
      expect(Step::Verdict, 1);
      if (same) return State::Going;
      [[maybe_unused]] const ssize_t ignored =
          ::send(fd(), to_send_.data(), to_send_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      final_ = true;
      return refused(kWrongProof);
    }
    case Step::Response:
      if (sodium_memcmp(proof("connects").data(), received_.data(), kProofBytes) != 0)
        return refused(kWrongProof);
      final_ = other_version_;
      return other_version_ ? refused(kOtherVersion) : State::Done;
    case Step::Verdict:
      if (received_[0] == kWelcome) return State::Done;
      final_ = true;
      return refused(received_[0] == kWrongVersion ? kOtherVersion : "refused by the other side");
  }
  return State::Refused;
}

bool Handshake::welcome() noexcept { return ::send(fd(), &kWelcome, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1; }

void Handshake::refuse() noexcept {
  const char no = other_version_ ? kWrongVersion : kUnwelcome;
  [[maybe_unused]] const ssize_t ignored = ::send(fd(), &no, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  socket_.close();
}

}  // namespace edgewire::transport
