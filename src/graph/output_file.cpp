#include "graph/output_file.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"

namespace edgewire::graph {

namespace {

/// With a slash at its end.
std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? "./" : path.substr(0, slash + 1);
}

[[noreturn]] void fail_write(const std::string& path, int cause) {
  throw Error(fmt::format("{}: cannot write: {}", path, reason(cause)));
}

}  // namespace

void write_at(int descriptor, const std::string& path, const void* data, std::uint64_t bytes,
              std::uint64_t offset) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = pwrite(descriptor, from, bytes, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail_write(path, written == 0 ? ENOSPC : errno);
    from += written;
    offset += static_cast<std::uint64_t>(written);
    bytes -= static_cast<std::uint64_t>(written);
  }
}

void OutputFile::fail(int cause) const { fail_write(path_, cause); }

OutputFile::OutputFile(std::string path, std::uint32_t mode) : path_(std::move(path)) {
  struct stat status {};
  if (stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    throw Error(fmt::format("{}: cannot write: {}", path_,
                            S_ISDIR(status.st_mode) ? "it is a directory" : "it is not a regular file"));
  }
  open_file(mode);
}

OutputFile::OutputFile(Nameless, const std::string& folder)
    : path_(name_aside(folder + "/edgewire")), nameless_(true) {
  open_file(0600);
}

std::unique_ptr<OutputFile> OutputFile::nameless(const std::string& folder) {
  return std::unique_ptr<OutputFile>(new OutputFile(Nameless{}, folder));
}

void OutputFile::open_file(std::uint32_t mode) {
  // It will get its name through /proc.
  const bool can_be_named = access("/proc/self/fd", X_OK) == 0;
  if (can_be_named) descriptor_ = open(folder_of(path_).c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, mode);
  if (!can_be_named || (descriptor_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))) {
    aside_ = name_aside(path_);
    descriptor_ = open(aside_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  }
  if (descriptor_ < 0) fail(errno);
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  if (!aside_.empty()) unlink(aside_.c_str());
}

void OutputFile::reserve(std::uint64_t bytes) {
  if (fallocate(descriptor_, 0, 0, static_cast<off_t>(bytes)) == 0) return;
  if (errno == ENOSPC || errno == EFBIG || errno == EDQUOT) fail(errno);
}

void OutputFile::write(const void* data, std::uint64_t bytes, std::uint64_t offset) {
  write_at(descriptor_, path_, data, bytes, offset);
}

std::string OutputFile::path_for_others() const {
  return aside_.empty() ? fmt::format("/proc/{}/fd/{}", getpid(), descriptor_) : aside_;
}

void OutputFile::commit() {
  if (nameless_) return;
  if (aside_.empty()) {
    const std::string self = fmt::format("/proc/self/fd/{}", descriptor_);
    const auto link_to = [&](const std::string& name) {
      return linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
    };
    if (!link_to(path_)) {
      if (errno != EEXIST) fail(errno);
      const std::string aside = name_aside(path_);  // a link cannot replace a file; a rename can
      if (!link_to(aside)) fail(errno);
      aside_ = aside;
    }
  }
  const int closed = close(std::exchange(descriptor_, -1));
  if (closed == 0 && (aside_.empty() || std::rename(aside_.c_str(), path_.c_str()) == 0)) return;
  const int cause = errno;
  unlink((aside_.empty() ? path_ : aside_).c_str());
  fail(cause);
}

std::string name_aside(const std::string& path) {
  std::random_device random;
  return fmt::format("{}.edgewire.tmp.{:08x}{:08x}", folder_of(path), random(), random());
}

OutputFolder::OutputFolder(std::string path) : path_(std::move(path)) {
  made_ = mkdir(path_.c_str(), 0777) == 0;
  if (!made_ && errno != EEXIST)
    throw Error(fmt::format("{}: cannot make the folder: {}", path_, reason(errno)));
  struct stat status {};
  if (stat(path_.c_str(), &status) == 0 && !S_ISDIR(status.st_mode))
    throw Error(fmt::format("{}: it is not a folder", path_));
}

OutputFolder::~OutputFolder() {
  if (made_) rmdir(path_.c_str());
}

}  // namespace edgewire::graph
