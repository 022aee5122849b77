#include "base/output_file.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/output_target.h"

namespace edgewire {

namespace {

constexpr mode_t kPermissions = 0777;
constexpr std::size_t kCopyBytes = std::size_t{1} << 20;

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
    if (written <= 0)
      throw Error(
          fmt::format("{}: byte {}: cannot write: {}", path, offset, reason(written == 0 ? ENOSPC : errno)));
    from += written;
    offset += static_cast<std::uint64_t>(written);
    bytes -= static_cast<std::uint64_t>(written);
  }
}

void OutputFile::fail(int cause) const { fail_write(path_, cause); }

OutputFile::OutputFile(std::string path, std::optional<std::uint32_t> mode)
    : path_(std::move(path)), target_(output_target(path_)) {
  struct stat status {};
  if (stat(target_.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode))
      throw Error(fmt::format("{}: cannot write: {}", path_,
                              S_ISDIR(status.st_mode) ? "it is a directory" : "it is not a regular file"));
    if (!mode) old_ = status;
  }
  open_file(mode.value_or(0666));
  // What others may not read, they may not read meanwhile. Other processes of this user may write.
  if (old_) fchmod(descriptor_, (old_->st_mode & kPermissions) | S_IRUSR | S_IWUSR);
}

OutputFile::OutputFile(Nameless, const std::string& folder)
    : path_(name_aside(folder + "/edgewire")), target_(path_), nameless_(true) {
  open_file(0600);
}

std::unique_ptr<OutputFile> OutputFile::nameless(const std::string& folder) {
  return std::unique_ptr<OutputFile>(new OutputFile(Nameless{}, folder));
}

void OutputFile::open_file(std::uint32_t mode) {
  // It will get its name through /proc.
  const bool can_be_named = access("/proc/self/fd", X_OK) == 0;
  if (can_be_named) descriptor_ = open(folder_of(target_).c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, mode);
  if (!can_be_named || (descriptor_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)))
    open_aside(mode);
  if (descriptor_ < 0) fail(errno);
}

/// Opens a file that has a name.
void OutputFile::open_aside(std::uint32_t mode) {
  aside_.emplace(name_aside(target_));
  descriptor_ = open(aside_->path().c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void OutputFile::reserve(std::uint64_t bytes) {
  if (fallocate(descriptor_, 0, 0, static_cast<off_t>(bytes)) == 0) return;
  if (errno == ENOSPC || errno == EFBIG || errno == EDQUOT) fail(errno);
}

void OutputFile::write(const void* data, std::uint64_t bytes, std::uint64_t offset) {
  write_at(descriptor_, path_, data, bytes, offset);
}

std::string OutputFile::path_for_others() const {
  return aside_ ? aside_->path() : fmt::format("/proc/{}/fd/{}", getpid(), descriptor_);
}

bool OutputFile::link_to(const std::string& name) const {
  const std::string self = fmt::format("/proc/self/fd/{}", descriptor_);
  return linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

/// Gives the file a name aside: a link cannot replace a file, but a rename can.
void OutputFile::link_aside() {
  aside_.emplace(name_aside(target_));
  if (link_to(aside_->path())) return;
  const int cause = errno;
  if (cause != EPERM && cause != EACCES && cause != ENOSYS && cause != EOPNOTSUPP && cause != EMLINK)
    fail(cause);
  copy_aside();
}

/// Where files without a name cannot get one: a sandbox refuses it, or the file system.
void OutputFile::copy_aside() {
  const int unnamed = descriptor_;
  struct stat status {};
  std::vector<char> block(kCopyBytes);
  try {
    if (fstat(unnamed, &status) != 0) fail(errno);
    open_aside(status.st_mode & kPermissions);
    if (descriptor_ < 0) fail(errno);
    for (std::uint64_t at = 0;;) {
      const ssize_t bytes = pread(unnamed, block.data(), block.size(), static_cast<off_t>(at));
      if (bytes < 0) fail(errno);
      if (bytes == 0) break;
      write(block.data(), static_cast<std::uint64_t>(bytes), at);
      at += static_cast<std::uint64_t>(bytes);
    }
  } catch (...) {
    close(unnamed);
    if (descriptor_ == unnamed) descriptor_ = -1;
    throw;
  }
  close(unnamed);
}

/// Gets permissions and owner of the file that it replaces, as far as the system lets it.
void OutputFile::take_over() const noexcept {
  if (!old_) return;
  fchmod(descriptor_, old_->st_mode & kPermissions);
  int status = fchown(descriptor_, old_->st_uid, old_->st_gid);
  if (status != 0) status = fchown(descriptor_, static_cast<uid_t>(-1), old_->st_gid);
  static_cast<void>(status);  // the file is whole also as this user's
}

void OutputFile::commit() {
  if (nameless_) return;
  if (!aside_ && !link_to(target_)) link_aside();
  take_over();
  const int closed = close(std::exchange(descriptor_, -1));
  if (closed == 0 && (!aside_ || std::rename(aside_->path().c_str(), target_.c_str()) == 0)) {
    if (aside_) aside_->forget();
    return;
  }
  const int cause = errno;
  if (!aside_) unlink(target_.c_str());
  aside_.reset();
  fail(cause);
}

void OutputFile::remove_named() const noexcept { unlink(target_.c_str()); }

std::string name_aside(const std::string& path) {
  std::random_device random;
  return fmt::format("{}.edgewire.tmp.{:08x}{:08x}", folder_of(path), random(), random());
}

}  // namespace edgewire
