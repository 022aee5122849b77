#include "base/output_target.h"

#include <fmt/core.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <vector>

#include <limits.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/error.h"

namespace edgewire {

namespace {

constexpr int kMostLinks = 40;  ///< as the system allows

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(fmt::format("{}: cannot write: {}", path, why));
}

/// "" is the current folder.
const char* name_of(const std::string& folder) { return folder.empty() ? "." : folder.c_str(); }

bool is_in_proc(const std::string& folder) {
  struct statfs system {};
  return statfs(name_of(folder), &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

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
        if (rest_.empty() && is_in_proc(at_)) return next;
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
  std::vector<std::string> rest_;  ///< the next one is last
  bool through_name_ = false;      ///< the last component of the path was a link
  int links_ = 0;
};

}  // namespace

std::string output_target(const std::string& path) { return path.empty() ? path : Walk(path).target(); }

}  // namespace edgewire
