// A name that a file or a folder has only for a while.
#pragma once

#include <array>
#include <csignal>
#include <string>

#include <sys/types.h>

namespace edgewire {

/// The name of a file, or of a folder that is empty in the end. It goes when this goes, or when SIGINT,
/// SIGTERM, SIGHUP, SIGQUIT or quick_exit ends the process, where no handler of somebody else hides the
/// signal. A process that was forked meanwhile leaves that to its parent. Of more than 64 names at a time,
/// signals leave the rest.
class TemporaryName {
 public:
  /// Makes nothing.
  explicit TemporaryName(std::string path);
  ~TemporaryName();
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;

  const std::string& path() const noexcept { return path_; }
  /// It stays, or has another name now.
  void forget() noexcept;

  /// The signals that remove them.
  static constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  /// Removes all that this process has such names for. Safe in a signal handler.
  static void remove_all() noexcept;

 private:
  std::string path_;
  pid_t maker_;
  int place_ = -1;  ///< among the names that signals remove
  bool forgotten_ = false;
};

}  // namespace edgewire
