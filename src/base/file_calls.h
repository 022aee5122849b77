// System calls on files. They go on after a signal, and an error names the file and the byte.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace edgewire {

/// An owned descriptor.
class OpenFile {
 public:
  explicit OpenFile(int descriptor = -1) noexcept : descriptor_(descriptor) {}
  OpenFile(OpenFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  OpenFile& operator=(OpenFile&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~OpenFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

/// Repeats a system call as long as signals interrupt it. Returns its result: below 0, or a null pointer,
/// with errno set where it fails.
template <class Call>
auto uninterrupted(const Call& call) {
  const auto failed = [](auto result) {
    if constexpr (std::is_pointer_v<decltype(result)>)
      return result == nullptr;
    else
      return result < 0;
  };
  auto result = call();
  while (failed(result) && errno == EINTR) result = call();
  return result;
}

/// Opens a file without a name, for reading and writing. It goes with the descriptor. Where the file system
/// knows no such files, it has a name for a moment. Where there is none, errno says why.
OpenFile unnamed_file(const std::string& folder);

/// Makes transfers bypass the page cache from now on. Returns false where the file system cannot do that.
bool bypass_page_cache(const OpenFile& file) noexcept;

/// Closes a descriptor. Returns 0, or the system's error number where written bytes may be lost. A signal
/// that interrupts close(2) is no error: the descriptor is closed all the same.
int close_written(int descriptor) noexcept;

/// Writes to a descriptor; thread safe. Throws Error with the path, the byte and the system's reason.
void write_at(int descriptor, const std::string& path, const void* data, std::uint64_t bytes,
              std::uint64_t offset);

/// Reads from a descriptor; thread safe. Throws Error with the path, the byte and the system's reason, or
/// that the file has become shorter.
void read_at(int descriptor, const std::string& path, void* to, std::uint64_t bytes, std::uint64_t offset);

/// Does the same up to the end of the file at the most, and returns how many bytes it has read.
std::uint64_t read_up_to(int descriptor, const std::string& path, void* to, std::uint64_t bytes,
                         std::uint64_t offset);

/// Reads the first bytes of a regular file, and returns their number. Throws Error with path and reason.
std::uint64_t read_start(const std::string& path, void* to, std::uint64_t bytes);

/// Returns what is in a folder, in no order. Entries are missing where `error` is set.
std::vector<std::filesystem::directory_entry> entries_of(const std::filesystem::path& folder,
                                                         std::error_code& error);

}  // namespace edgewire
