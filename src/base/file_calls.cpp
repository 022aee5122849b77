#include "base/file_calls.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <cstdlib>

#include "base/error.h"

namespace edgewire {

OpenFile unnamed_file(const std::string& folder) {
  OpenFile file(uninterrupted([&] { return open(folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600); }));
  if (file.descriptor() >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return file;
  std::string name = folder + "/.edgewire-XXXXXX";
  file = OpenFile(mkostemp(name.data(), O_CLOEXEC));
  if (file.descriptor() >= 0) unlink(name.c_str());
  return file;
}

bool bypass_page_cache(const OpenFile& file) noexcept {
  constexpr std::size_t kBlock = 4096;
  if (fcntl(file.descriptor(), F_SETFL, O_RDWR | O_DIRECT) != 0) return false;
  // An overlay takes the flag for the file system below, which may refuse later reads and writes.
  alignas(kBlock) char block[kBlock];
  if (uninterrupted([&] { return pread(file.descriptor(), block, kBlock, 0); }) >= 0 || errno != EINVAL)
    return true;
  fcntl(file.descriptor(), F_SETFL, O_RDWR);
  return false;
}

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
  const OpenFile file(uninterrupted([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
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
