#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/seconds.h"
#include "transport/file_descriptor.h"

namespace edgewire::launch {

/// Finds out what becomes of the bytes that a process sends on a stream. The system of the other host
/// acknowledges them, also while the process there is stopped. Inside a host all arrives.
class Delivery {
 public:
  Delivery() = default;
  Delivery(const transport::FileDescriptor& stream, Clock::time_point now);
  /// Notes that the stream has taken this many bytes.
  void add(std::size_t bytes) { written_ += bytes; }
  /// Begins anew after this process did not run for a while.
  void begin_anew(Clock::time_point now) { arrived_at_ = now; }
  /// Returns for how long nothing has arrived, although bytes are under way to another host. Call it often.
  std::chrono::duration<double> stuck(const transport::FileDescriptor& stream, Clock::time_point now);
  /// Returns what is to be said of a peer whose messages come, while bytes to it are stuck.
  std::string why_stuck(const transport::FileDescriptor& stream) const;
  /// Returns what is to be said of a peer that has been silent for `silence`.
  std::string why_silent(const transport::FileDescriptor& stream,
                         std::chrono::duration<double> silence) const;

 private:
  std::string address_;        ///< address of the other end
  std::uint64_t written_ = 0;  ///< bytes written to the stream
  std::uint64_t arrived_ = 0;  ///< bytes of these that have arrived
  Clock::time_point arrived_at_{};
};

}  // namespace edgewire::launch
