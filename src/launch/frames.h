#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace edgewire::launch {

/// The kinds of messages. Go says that all processes have connected and the job begins.
enum class FrameKind : std::uint32_t { Heartbeat = 1, Data, Abort, Finish, Lost, Go };

/// The header of every message on a stream. All hosts are little endian.
struct FrameHeader {
  std::uint64_t length = 0;  ///< bytes that follow
  FrameKind kind = FrameKind::Heartbeat;
  /// Number of the step (Data); rank at fault, and << 16 the one that noticed (Abort); rank (Lost).
  std::uint32_t tag = 0;
  std::uint32_t payload_check = 0;  ///< CRC-32C of the bytes that follow
  std::uint32_t check = 0;          ///< CRC-32C of all members before it

  /// Returns what `check` must be.
  std::uint32_t right_check() const noexcept;
};
static_assert(sizeof(FrameHeader) == 24);

/// Throws Error where a system call is refused without which no message comes or goes.
void require_message_calls();

/// The longest message, much more than a job needs. A larger length means that the stream is damaged.
constexpr std::uint64_t kMaxMessageBytes = std::uint64_t{1} << 38;

using Message =
    std::shared_ptr<const std::string>;  ///< header and payload; shared by all receivers of the message

Message frame(FrameKind kind, std::uint32_t tag, std::string_view payload = {});

struct Arrival {
  FrameHeader header;
  std::string payload;
};

/// Puts the pieces that arrive on a stream together to messages.
class MessageReader {
 public:
  enum class Next { Partial, Whole, Changed, TooLong };

  /// Reads once, up to 64 KiB. Returns what recv returns.
  ssize_t read(int stream);
  /// Returns what has arrived. Whole: `arrival` is the next message, and its bytes are those that were sent.
  /// Changed: they were changed on their way. TooLong: its header says more than kMaxMessageBytes. After
  /// these two, nothing that arrives means anything; it is dropped, and the answer is Partial.
  Next next(Arrival& arrival);

 private:
  Next refused(Next why);

  std::string bytes_;
  std::size_t taken_ = 0;  ///< number of bytes_ that were taken
  bool useless_ = false;   ///< whether nothing that arrives means anything any more
};

/// Packs several strings into one, and unpacks them. Throws Error when `bytes` does not hold `count` of them.
std::string pack(std::span<const std::string> items);
std::vector<std::string> unpack(std::string_view bytes, int count);

}  // namespace edgewire::launch
