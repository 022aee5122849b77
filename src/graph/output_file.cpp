#include "graph/output_file.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"

namespace edgewire::graph {

void OutputFile::fail(int cause) const {
  throw Error(fmt::format("{}: cannot write: {}", path_, std::generic_category().message(cause)));
}

OutputFile::OutputFile(std::string path)
    : path_(std::move(path)), aside_(fmt::format("{}.tmp.{}", path_, getpid())) {
  struct stat status {};
  if (stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    throw Error(fmt::format("{}: cannot write: {}", path_,
                            S_ISDIR(status.st_mode) ? "it is a directory" : "it is not a regular file"));
  }
  const std::size_t slash = path_.rfind('/');
  const std::string folder = slash == path_.npos ? "." : path_.substr(0, slash + 1);
  descriptor_ = open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  if (descriptor_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
    descriptor_ = open(aside_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    named_ = descriptor_ >= 0;
  }
  if (descriptor_ < 0) fail(errno);
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  if (named_) unlink(aside_.c_str());
}

void OutputFile::reserve(std::uint64_t bytes) {
  if (fallocate(descriptor_, 0, 0, static_cast<off_t>(bytes)) == 0) return;
  if (errno == ENOSPC || errno == EFBIG || errno == EDQUOT) fail(errno);
}

void OutputFile::write(const void* data, std::uint64_t bytes, std::uint64_t offset) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = pwrite(descriptor_, from, bytes, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(written == 0 ? ENOSPC : errno);
    from += written;
    offset += static_cast<std::uint64_t>(written);
    bytes -= static_cast<std::uint64_t>(written);
  }
}

void OutputFile::commit() {
  if (!named_) {
    // A link cannot replace a file; a rename can.
    const std::string self = fmt::format("/proc/self/fd/{}", descriptor_);
    unlink(aside_.c_str());
    if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, aside_.c_str(), AT_SYMLINK_FOLLOW) != 0) fail(errno);
    named_ = true;
  }
  const int closed = close(std::exchange(descriptor_, -1));
  if (closed == 0 && std::rename(aside_.c_str(), path_.c_str()) == 0) return;
  const int cause = errno;
  unlink(aside_.c_str());
  fail(cause);
}

}  // namespace edgewire::graph
