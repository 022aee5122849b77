#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace edgewire::launch {

enum class Kind : std::uint32_t { Heartbeat = 1, Data, Abort, Finish };

/// The header of every message on a stream. All hosts are little endian.
struct FrameHeader {
  std::uint64_t length = 0;  ///< bytes that follow
  Kind kind = Kind::Heartbeat;
  std::uint32_t tag =
      0;  ///< Data: number of the collective step; Abort: rank at fault, and << 16 who noticed
};
static_assert(sizeof(FrameHeader) == 16);

/// Much more than any message of a job has. A larger length means that the stream is damaged.
constexpr std::uint64_t kMaxMessageBytes = std::uint64_t{1} << 38;

using Message =
    std::shared_ptr<const std::string>;  ///< header and payload; shared by all receivers of the message

Message frame(Kind kind, std::uint32_t tag, std::string_view payload = {});

/// Several strings in one, and back. unpack throws Error when `bytes` does not hold `count` of them.
std::string pack(std::span<const std::string> items);
std::vector<std::string> unpack(std::string_view bytes, int count);

}  // namespace edgewire::launch
