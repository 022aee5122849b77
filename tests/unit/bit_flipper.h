// A line between two ends of a stream that changes bits on the way.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <thread>
#include <utility>

#include "transport/file_descriptor.h"

namespace edgewire::transport {

/// Carries bytes between `first` and `second` in a thread of its own, and flips 1 to 3 bits of the bytes that
/// one of them sends, at places that follow from the seed: from byte `begin` of its stream up to byte `end`.
class BitFlipper {
 public:
  BitFlipper(FileDescriptor first, FileDescriptor second, std::uint64_t seed, std::size_t begin,
             std::size_t end)
      : ends_{std::move(first), std::move(second)}, from_(seed % 2) {
    std::mt19937_64 random(seed);
    for (std::uint64_t flips = 1 + random() % 3; flips > 0; --flips)
      flips_[begin + random() % (end - begin)] ^= static_cast<char>(1U << random() % 8);
    thread_ = std::thread([this] { carry(); });
  }
  ~BitFlipper() {
    stop_ = true;
    thread_.join();
  }
  BitFlipper(const BitFlipper&) = delete;
  BitFlipper& operator=(const BitFlipper&) = delete;

  /// Returns whether flipped bits have gone on.
  bool flipped() const { return flipped_; }

 private:
  void carry() {
    std::array<bool, 2> open{true, true};
    while (!stop_ && (open[0] || open[1])) {
      std::array<pollfd, 2> events;
      for (std::size_t i = 0; i < 2; ++i) events[i] = {open[i] ? ends_[i].get() : -1, POLLIN, 0};
      ::poll(events.data(), events.size(), 20);
      for (std::size_t i = 0; i < 2; ++i)
        if (events[i].revents != 0) open[i] = pass(i);
    }
  }
  bool pass(std::size_t i) {
    std::array<char, 16384> bytes;
    const ssize_t got = recv(ends_[i].get(), bytes.data(), bytes.size(), 0);
    const int other = ends_[1 - i].get();
    if (got <= 0) {
      shutdown(other, SHUT_WR);
      return false;
    }
    const auto count = static_cast<std::size_t>(got);
    if (i == from_)
      for (auto at = flips_.lower_bound(carried_); at != flips_.end() && at->first < carried_ + count; ++at) {
        bytes[at->first - carried_] = static_cast<char>(bytes[at->first - carried_] ^ at->second);
        flipped_ = flipped_ || at->second != 0;
      }
    if (i == from_) carried_ += count;
    for (std::size_t sent = 0; sent < count && !stop_;) {
      const ssize_t now = send(other, bytes.data() + sent, count - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (now > 0) sent += static_cast<std::size_t>(now);
      pollfd room{other, POLLOUT, 0};
      if (now <= 0 && errno != EAGAIN) return false;
      if (now <= 0) ::poll(&room, 1, 20);
    }
    return true;
  }

  std::array<FileDescriptor, 2> ends_;
  std::size_t from_;
  std::map<std::size_t, char> flips_;
  std::size_t carried_ = 0;
  std::atomic<bool> flipped_{false}, stop_{false};  // flags that guard nothing
  std::thread thread_;
};

}  // namespace edgewire::transport
