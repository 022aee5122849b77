#include "dense/job/checkpoint_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/checksum.h"
#include "base/error.h"
#include "base/file_calls.h"
#include "base/mapped_file.h"

namespace edgewire::job {
namespace {

constexpr std::size_t kBlockBytes = 4096;  // block size of direct writes to devices and file systems

std::size_t file_bytes(std::uint64_t items) {
  const std::size_t bytes = sizeof(CheckpointHeader) + items * sizeof(std::uint32_t);
  return (bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
}

[[noreturn]] void fail(const std::string& path, int cause) {
  throw Error(fmt::format("{}: cannot write: {}", path, reason(cause)));
}

/// A file open for writing. It is removed unless it was written whole.
class Output {
 public:
  /// Opens the file. `again`: whether it is there, with a content that is not needed any more; else nothing
  /// may be there.
  Output(const std::string& path, bool again) : path_(path) {
    const int flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (again ? 0 : O_CREAT | O_EXCL);
    descriptor_ = uninterrupted([&] { return open(path.c_str(), flags, 0666); });
    if (descriptor_ < 0) fail(path, errno);
    fcntl(descriptor_, F_SETFL, O_DIRECT);  // where the file system supports it
  }
  ~Output() {
    if (descriptor_ < 0) return;
    close(descriptor_);
    unlink(path_.c_str());
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(const std::byte* data, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes;) {
      const ssize_t written = pwrite(descriptor_, data + at, bytes - at, static_cast<off_t>(at));
      if (written > 0) at += static_cast<std::size_t>(written);
      if (written < 0 && errno == EINTR) continue;
      const bool refused = (written < 0 && errno == EINVAL) || at % kBlockBytes != 0;
      if (refused && give_up_direct()) continue;
      if (written <= 0) fail(path_, written == 0 ? ENOSPC : errno);
    }
    struct stat status {};
    if (fstat(descriptor_, &status) != 0) fail(path_, errno);
    if (static_cast<std::size_t>(status.st_size) != bytes &&
        uninterrupted([&] { return ftruncate(descriptor_, static_cast<off_t>(bytes)); }) != 0)
      fail(path_, errno);
    const int cause = close_written(std::exchange(descriptor_, -1));
    if (cause == 0) return;
    unlink(path_.c_str());
    fail(path_, cause);
  }

 private:
  /// Returns false when writes went through the page cache already.
  bool give_up_direct() const {
    const int flags = fcntl(descriptor_, F_GETFL);
    return flags >= 0 && (flags & O_DIRECT) != 0 && fcntl(descriptor_, F_SETFL, flags & ~O_DIRECT) == 0;
  }

  const std::string& path_;
  int descriptor_ = -1;
};

}  // namespace

CheckpointFile::CheckpointFile(std::uint64_t items) : memory_(file_bytes(items), -1, "a checkpoint") {
  std::ranges::fill(memory_.as<std::byte>(), std::byte{0});
}

void CheckpointFile::fill(CheckpointHeader header, std::span<const std::byte> items) {
  header.count = items.size() / sizeof(std::uint32_t);
  header.checksum = 0;
  bytes_ = file_bytes(header.count);
  std::byte* const to = memory_.as<std::byte>().data();
  std::byte* const body = to + sizeof header;
  Checksum hash;
  hash.add(&header, sizeof header);
  constexpr std::size_t kPiece = 1 << 16;  // bytes that are hashed while they are in the cache
  for (std::size_t at = 0; at < items.size(); at += kPiece) {
    const std::size_t bytes = std::min(kPiece, items.size() - at);
    std::memcpy(body + at, items.data() + at, bytes);
    hash.add(body + at, bytes);
  }
  const std::size_t rest = bytes_ - sizeof header - items.size();
  std::memset(body + items.size(), 0, rest);
  hash.add(body + items.size(), rest);
  header.checksum = hash.value();
  std::memcpy(to, &header, sizeof header);
}

void CheckpointFile::write(const std::string& path, const std::string& old) const {
  const bool again = !old.empty() && std::rename(old.c_str(), path.c_str()) == 0;
  if (!again && !old.empty() && errno != ENOENT) fail(path, errno);
  if (!again) unlink(path.c_str());  // removes the file of a killed run; if this fails, the next call says so
  Output(path, again).write(memory_.as<std::byte>().data(), bytes_);
}

CheckpointPart read_checkpoint_file(const std::string& path, const Magic& magic, std::uint64_t most) {
  if (std::error_code none; !std::filesystem::exists(path, none) && !none)
    throw Error(fmt::format("{}: a part of the checkpoint is missing", path));
  const MappedFile file(path);
  std::uint64_t done = 0;
  CheckpointPart part;
  auto& header = part.header;
  const auto read = [&](void* data, std::uint64_t bytes) {
    if (file.bytes() - done < bytes) throw Error(fmt::format("{}: the file is cut short", path));
    if (bytes > 0) std::memcpy(data, file.data() + done, bytes);
    done += bytes;
  };
  read(&header, sizeof header);
  if (header.magic != magic || header.count > most)
    throw Error(fmt::format("{}: it is not a part of a checkpoint", path));
  // Includes the zeros.
  part.items.resize((file_bytes(header.count) - sizeof header) / sizeof(std::uint32_t));
  read(part.items.data(), part.items.size() * sizeof(std::uint32_t));
  const std::uint64_t checksum = std::exchange(header.checksum, 0);
  Checksum hash;
  hash.add(&header, sizeof header);
  hash.add(part.items.data(), part.items.size() * sizeof(std::uint32_t));
  if (checksum != hash.value() || done != file.bytes())
    throw Error(fmt::format("{}: the file has a wrong checksum", path));
  part.items.resize(header.count);
  return part;
}

}  // namespace edgewire::job
