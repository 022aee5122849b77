#include "graph/raw_bytes.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>

#include <unistd.h>

#include "base/error.h"

namespace edgewire::graph {

namespace {
constexpr std::size_t kBufferBytes = 64 << 10;
}

RawBytes::RawBytes(const std::string& path) : name_(path == "-" ? "stdin" : path) {
  if (path != "-") file_.emplace(path);
}

std::span<const std::uint8_t> RawBytes::mapped() const noexcept {
  return file_ ? std::span(file_->data(), file_->bytes()) : std::span<const std::uint8_t>();
}

std::span<const std::uint8_t> RawBytes::peek(std::size_t least) {
  if (file_) return mapped().subspan(used_);
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(used_ - buffer_offset_));
  buffer_offset_ = used_;
  least = std::min(least, kBufferBytes);
  while (buffer_.size() < least) {
    const std::size_t kept = buffer_.size();
    buffer_.resize(kBufferBytes);
    const ssize_t got = ::read(STDIN_FILENO, buffer_.data() + kept, kBufferBytes - kept);
    const int cause = errno;
    buffer_.resize(kept + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && cause == EINTR) continue;
    if (got < 0) {
      throw Error(fmt::format("{}: cannot read: {}", name_, reason(cause)));
    }
    if (got == 0) break;
  }
  return buffer_;
}

void RawBytes::fail(std::uint64_t offset, std::string_view what) const {
  refuse_changed_files();
  throw Error(fmt::format("{}: byte {}: {}", name_, offset, what));
}

}  // namespace edgewire::graph
