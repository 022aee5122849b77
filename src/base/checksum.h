// The checksum of all files of ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

struct XXH3_state_s;

namespace edgewire {

/// Returns XXH3-64 (https://xxhash.com, seed 0). It leaves clean vector registers.
std::uint64_t checksum(const void* data, std::size_t bytes) noexcept;
template <class T>
std::uint64_t checksum(std::span<const T> items) noexcept {
  return checksum(items.data(), items.size_bytes());
}

/// Computes the same checksum of bytes that come in pieces.
class Checksum {
 public:
  /// Throws std::bad_alloc.
  Checksum();
  void add(const void* data, std::size_t bytes) noexcept;
  /// Returns the checksum of all that was added so far.
  std::uint64_t value() const noexcept;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const noexcept;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

}  // namespace edgewire
