// System calls on files. They go on after a signal, and an error names the file and the byte.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>

namespace edgewire {

/// Repeats a system call as long as signals interrupt it. Returns its result, which is below 0 with errno set
/// where it fails.
template <class Call>
auto uninterrupted(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// Closes a descriptor. Returns 0, or the system's error number where written bytes may be lost. A signal
/// that interrupts close(2) is no error: the descriptor is closed all the same.
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
