#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "transport/file_descriptor.h"

namespace edgewire::transport {

/// The purpose of a connection; both ends must agree.
enum class Purpose : std::uint32_t { Launch = 1, Data = 2 };

/// The two ends of a connection. It is part of what both sides prove.
struct Introduction {
  Purpose purpose = Purpose::Launch;
  std::int32_t from = -1;  ///< rank that connects
  std::int32_t to = -1;    ///< rank that accepts
  std::int32_t lane = 0;
};

/// Both ends of a new connection prove that they know the secret of the run. Each sends a random challenge;
/// the response is HMAC-SHA256 (RFC 2104) over both challenges and the introduction. It never blocks: call
/// `step` whenever the socket may be ready. It reads no byte beyond the handshake.
class Handshake {
 public:
  enum class State { Going, Done, Refused };

  static constexpr std::uint64_t kMessages = 2;  ///< messages that each side sends

  /// Makes the side that connected.
  static Handshake connect(FileDescriptor socket, const std::string& secret,
                           const Introduction& introduction);
  /// Makes the side that accepted, as rank `to`. It learns which rank has called. When `step` returns Done,
  /// the caller decides, and calls `welcome` or `refuse`.
  static Handshake accept(FileDescriptor socket, const std::string& secret, Purpose purpose, std::int32_t to);

  State step();
  /// Ends an accepting handshake that is Done. Returns false when the connection is lost.
  bool welcome() noexcept;
  void refuse() noexcept;

  int fd() const noexcept { return socket_.get(); }
  bool wants_to_read() const noexcept { return to_send_.empty(); }
  const Introduction& introduction() const noexcept { return introduction_; }
  /// Returns whether a refusal is for a reason that another try cannot change. At the end that accepts, this
  /// means that the other side knows the secret, but is of another version.
  bool is_final() const noexcept { return final_; }
  /// Returns why it was refused.
  const std::string& reason() const noexcept { return reason_; }
  FileDescriptor take_socket() noexcept { return std::move(socket_); }

 private:
  enum class Step { Hello, Challenge, Response, Verdict };

  Handshake(FileDescriptor socket, const std::string& secret, const Introduction& introduction);
  void send(std::string_view bytes) { to_send_ += bytes; }
  void expect(Step step, std::size_t bytes);
  State take();
  State refused(std::string reason);
  std::string proof(std::string_view role) const;

  FileDescriptor socket_;
  std::string secret_;
  Introduction introduction_;
  Step step_ = Step::Hello;
  std::size_t expected_ = 0;  ///< number of bytes of the message to come
  std::string received_;
  std::string to_send_;
  std::string hello_;            ///< hello that was sent by the side that connected, with its challenge
  std::string other_challenge_;  ///< challenge of the side that accepted
  std::string reason_;
  bool final_ = false;
  bool other_version_ = false;  ///< whether the side that connected is of another version
};

}  // namespace edgewire::transport
