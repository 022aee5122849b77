// System calls about files, with what a caller of them must not forget.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>

namespace edgewire {

/// Makes a system call, again as long as a signal interrupts it, and returns its result: below 0 with errno.
template <class Call>
auto uninterrupted(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// Closes a descriptor. Returns 0, or the system's error number where what was written may be lost. One whose
/// close a signal interrupts is closed all the same (close(2)).
int close_written(int descriptor) noexcept;

/// Writes to a descriptor; thread safe. Throws Error with the path, the byte and the system's reason.
void write_at(int descriptor, const std::string& path, const void* data, std::uint64_t bytes,
              std::uint64_t offset);

/// Reads from a descriptor; thread safe. Throws Error with the path, the byte and the system's reason, or
/// that the file has become shorter.
void read_at(int descriptor, const std::string& path, void* to, std::uint64_t bytes, std::uint64_t offset);

/// Reads the first bytes of a regular file, and returns how many there are. Throws Error with the path and
/// the system's reason.
std::uint64_t read_start(const std::string& path, void* to, std::uint64_t bytes);

}  // namespace edgewire
