// A name that a file has only while it is written.
#pragma once

#include <string>

namespace edgewire::graph {

/// The name of a file that goes when this goes, or when a signal (SIGINT, SIGTERM, SIGHUP) ends the process,
/// where no handler of somebody else hides the signal. Of more than 64 names at a time, signals leave the
/// rest.
class TemporaryName {
 public:
  /// Makes no file.
  explicit TemporaryName(std::string path);
  ~TemporaryName();
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;

  const std::string& path() const noexcept { return path_; }
  /// The file has another name now: this one is forgotten.
  void forget() noexcept;

  /// Removes all such files of this process. Safe in a signal handler.
  static void remove_all() noexcept;
  /// Whether a signal has this handler, which removes all such files and ends the process.
  static bool is_handler(void (*handler)(int)) noexcept;

 private:
  std::string path_;
  int place_ = -1;  ///< among the names that signals remove
  bool forgotten_ = false;
};

}  // namespace edgewire::graph
