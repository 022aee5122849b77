#include "base/output_file.h"

#include <fmt/core.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file_calls.h"

namespace edgewire {

namespace {

constexpr mode_t kPermissions = 0777;
constexpr std::size_t kCopyBytes = std::size_t{1} << 20;

/// Returns the folder, with a slash at its end.
std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? "./" : path.substr(0, slash + 1);
}

constexpr int kMostLinks = 40;  ///< number of links that the system follows

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(fmt::format("{}: cannot write: {}", path, why));
}

/// An empty name is the current folder.
const char* name_of(const std::string& folder) { return folder.empty() ? "." : folder.c_str(); }

/// Goes through the components of a path, one after the other.
class Walk {
 public:
  explicit Walk(const std::string& path) : path_(path) { push(path); }

  std::string target() {
    while (!rest_.empty()) {
      const std::string name = rest_.back();
      rest_.pop_back();
      std::string next = at_ + name;
      struct stat status {};
      if (lstat(next.c_str(), &status) != 0) {
        if (errno == ENOENT && through_name_)
          refuse(path_, fmt::format("it is a link to {}, which is missing", next));
        return with_rest(next);  // whoever opens it says why it cannot be
      }
      if (S_ISLNK(status.st_mode)) {
        struct statfs system {};
        if (rest_.empty() && statfs(name_of(at_), &system) == 0 && system.f_type == PROC_SUPER_MAGIC)
          return next;
        follow(next, status);
      } else if (rest_.empty()) {
        return path_.ends_with('/') ? next + "/" : next;
      } else {
        at_ = next + "/";
      }
    }
    return at_.empty() ? "." : at_;
  }

 private:
  /// Puts the components of `path` before those that are left.
  void push(std::string_view path) {
    if (path.starts_with('/')) at_ = "/";
    std::vector<std::string> names;
    for (std::size_t first = 0; first < path.size();) {
      const std::size_t end = std::min(path.find('/', first), path.size());
      if (const auto name = path.substr(first, end - first); !name.empty() && name != ".")
        names.emplace_back(name);
      first = end + 1;
    }
    rest_.insert(rest_.end(), names.rbegin(), names.rend());
  }

  void follow(const std::string& link, const struct stat& status) {
    const bool is_name = rest_.empty();
    struct stat folder {};
    const bool others_write = stat(name_of(at_), &folder) != 0 || (folder.st_mode & (S_IWGRP | S_IWOTH)) != 0;
    const bool is_mine = status.st_uid == geteuid() || (!is_name && status.st_uid == 0);
    if (others_write && !is_mine)
      refuse(path_, fmt::format("{} is a link of another user in a folder that others can write to; name the "
                                "file itself",
                                link));
    if (++links_ > kMostLinks) refuse(path_, reason(ELOOP));
    std::array<char, PATH_MAX> text{};
    const ssize_t bytes = readlink(link.c_str(), text.data(), text.size());
    if (bytes <= 0) refuse(path_, reason(errno));
    through_name_ = through_name_ || is_name;
    push({text.data(), static_cast<std::size_t>(bytes)});
  }

  std::string with_rest(std::string path) const {
    for (auto name = rest_.rbegin(); name != rest_.rend(); ++name) path += "/" + *name;
    return path_.ends_with('/') ? path + "/" : path;
  }

  const std::string& path_;
  std::string at_;  ///< the folder that was reached, with a slash at its end; "": the current one
  std::vector<std::string> rest_;  ///< components that are left, the next one at the end
  bool through_name_ = false;      ///< whether the last component of the path was a link
  int links_ = 0;
};

}  // namespace

void OutputFile::fail(int cause) const { refuse(path_, reason(cause)); }

OutputFile::OutputFile(std::string path, std::optional<std::uint32_t> mode)
    : path_(std::move(path)), target_(output_target(path_)) {
  struct stat status {};
  if (stat(target_.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode))
      refuse(path_, S_ISDIR(status.st_mode) ? "it is a directory" : "it is not a regular file");
    if (!mode) old_ = status;
  }
  open_file(mode.value_or(0666));
  // Others may not read meanwhile what they may not read afterwards. Other processes of this user may write.
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
  if (can_be_named)
    descriptor_ =
        uninterrupted([&] { return open(folder_of(target_).c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, mode); });
  if (!can_be_named || (descriptor_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)))
    open_aside(mode);
  if (descriptor_ < 0) fail(errno);
}

void OutputFile::open_aside(std::uint32_t mode) {
  aside_.emplace(name_aside(target_));
  descriptor_ = uninterrupted(
      [&] { return open(aside_->path().c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode); });
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void OutputFile::reserve(std::uint64_t bytes) {
  if (uninterrupted([&] { return fallocate(descriptor_, 0, 0, static_cast<off_t>(bytes)); }) == 0) return;
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

/// Makes the file where those without a name cannot get one: a sandbox refuses it, or the file system.
void OutputFile::copy_aside() {
  const OpenFile unnamed(std::exchange(descriptor_, -1));
  struct stat status {};
  if (fstat(unnamed.descriptor(), &status) != 0) fail(errno);
  open_aside(status.st_mode & kPermissions);
  if (descriptor_ < 0) fail(errno);
  std::vector<char> block(kCopyBytes);
  for (std::uint64_t at = 0;;) {
    const ssize_t bytes = uninterrupted(
        [&] { return pread(unnamed.descriptor(), block.data(), block.size(), static_cast<off_t>(at)); });
    if (bytes < 0) fail(errno);
    if (bytes == 0) break;
    write(block.data(), static_cast<std::uint64_t>(bytes), at);
    at += static_cast<std::uint64_t>(bytes);
  }
}

/// Gives the file, which has a name, the owner and permissions of the one that it replaces, and closes it.
void OutputFile::finish() {
  if (old_) {
    fchmod(descriptor_, old_->st_mode & kPermissions);
    int status = fchown(descriptor_, old_->st_uid, old_->st_gid);
    if (status != 0) status = fchown(descriptor_, static_cast<uid_t>(-1), old_->st_gid);
    static_cast<void>(status);  // the file is whole also as this user's
  }
  const int cause = close_written(std::exchange(descriptor_, -1));
  if (cause == 0) return;
  if (!aside_) unlink(target_.c_str());
  aside_.reset();
  fail(cause);
}

void OutputFile::prepare() {
  if (nameless_) return;
  if (!aside_) link_aside();
  finish();
}

void OutputFile::commit() {
  if (nameless_) return;
  if (descriptor_ >= 0) {
    if (!aside_ && !link_to(target_)) link_aside();
    finish();
  }
  if (!aside_) return;
  if (std::rename(aside_->path().c_str(), target_.c_str()) != 0) {
    const int cause = errno;
    aside_.reset();
    fail(cause);
  }
  aside_->forget();
}

void OutputFile::commit_all(std::span<const std::unique_ptr<OutputFile>> files) {
  for (const auto& file : files)
    if (file->old_) file->prepare();
  std::size_t named = 0;
  try {
    for (; named < files.size(); ++named) files[named]->commit();
  } catch (...) {
    for (const auto& file : files.first(named)) file->remove_named();
    throw;
  }
}

void OutputFile::remove_named() const noexcept { unlink(target_.c_str()); }

std::string name_aside(const std::string& path) {
  std::random_device random;
  return fmt::format("{}.edgewire.tmp.{:08x}{:08x}", folder_of(path), random(), random());
}

std::string output_target(const std::string& path) { return path.empty() ? path : Walk(path).target(); }

}  // namespace edgewire
