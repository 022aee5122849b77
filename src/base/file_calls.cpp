#include "base/file_calls.h"

#include <fcntl.h>
#include <fmt/core.h>

#include "base/error.h"

namespace edgewire {

int close_written(int descriptor) noexcept { return close(descriptor) == 0 || errno == EINTR ? 0 : errno; }

void write_at(int descriptor, const std::string& path, const void* data, std::uint64_t bytes,
              std::uint64_t offset) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written =
        uninterrupted([&] { return pwrite(descriptor, from, bytes, static_cast<off_t>(offset)); });
    if (written <= 0)
      throw Error(
          fmt::format("{}: byte {}: cannot write: {}", path, offset, reason(written == 0 ? ENOSPC : errno)));
    from += written;
    offset += static_cast<std::uint64_t>(written);
    bytes -= static_cast<std::uint64_t>(written);
  }
}

std::uint64_t read_up_to(int descriptor, const std::string& path, void* to, std::uint64_t bytes,
                         std::uint64_t offset) {
  std::uint64_t done = 0;
  while (done < bytes) {
    const ssize_t count = uninterrupted([&] {
      return pread(descriptor, static_cast<char*>(to) + done, bytes - done,
                   static_cast<off_t>(offset + done));
    });
    if (count < 0)
      throw Error(fmt::format("{}: byte {}: cannot read: {}", path, offset + done, reason(errno)));
    if (count == 0) break;
    done += static_cast<std::uint64_t>(count);
  }
  return done;
}

void read_at(int descriptor, const std::string& path, void* to, std::uint64_t bytes, std::uint64_t offset) {
  const std::uint64_t done = read_up_to(descriptor, path, to, bytes, offset);
  if (done < bytes) throw Error(fmt::format("{}: byte {}: the file has become shorter", path, offset + done));
}

std::uint64_t read_start(const std::string& path, void* to, std::uint64_t bytes) {
  const File file(uninterrupted([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
  if (file.descriptor() < 0) throw Error(fmt::format("{}: cannot read: {}", path, reason(errno)));
  return read_up_to(file.descriptor(), path, to, bytes, 0);
}

std::vector<std::filesystem::directory_entry> entries_of(const std::filesystem::path& folder,
                                                         std::error_code& error) {
  std::vector<std::filesystem::directory_entry> entries;
  do {
    entries.clear();
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error))
      entries.push_back(*entry);
  } while (error == std::errc::interrupted);
  return entries;
}

}  // namespace edgewire
