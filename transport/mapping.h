#pragma once

#include <cstddef>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace edgewire::transport {

/// Zeroed memory in whole pages, in huge pages if the system provides them. Private, or shared through a
/// file.
class Mapping {
 public:
  Mapping() = default;
  /// `fd` is a file of at least `bytes` bytes that is mapped shared; -1: private memory. `what` is for the
  /// message. Throws Error when there is not enough memory.
  Mapping(std::size_t bytes, int fd, const std::string& what);
  Mapping(Mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping();

  std::byte* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;  ///< rounded up to pages
};

/// The memory that a transport has handed out as the source of writes. Any thread may use it.
class SendMemory {
 public:
  std::span<std::byte> add(std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    pieces_.emplace_back(bytes, -1, "sending");
    return {pieces_.back().data(), bytes};
  }

 private:
  std::mutex mutex_;
  std::vector<Mapping> pieces_;
};

/// `bytes` rounded up to whole pages.
std::size_t whole_pages(std::size_t bytes) noexcept;

}  // namespace edgewire::transport
