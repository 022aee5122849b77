// Folders for output, names that are there only for a while, and where files go that nobody has named.
#pragma once

#include <array>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

namespace edgewire {

/// The name of a file, or of a folder that is empty in the end. It goes when this goes, or when SIGINT,
/// SIGTERM, SIGHUP, SIGQUIT or quick_exit ends the process, where no handler of somebody else hides the
/// signal. A process that was forked meanwhile leaves that to its parent. Where there are more than 64 names
/// at a time, signals leave the rest.
class TemporaryName {
 public:
  /// Makes nothing.
  explicit TemporaryName(std::string path);
  ~TemporaryName();
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;

  const std::string& path() const noexcept { return path_; }
  /// Forgets the name: what has it stays, or has another name now.
  void forget() noexcept;

  /// The signals that remove them.
  static constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  /// Removes all that this process has such names for. It is safe in a signal handler.
  static void remove_all() noexcept;

 private:
  std::string path_;
  pid_t maker_;
  int place_ = -1;  ///< number of the place among the names that signals remove
  bool forgotten_ = false;
};

/// A folder for output. One that this makes goes again, if it is empty, unless keep() was called (see
/// TemporaryName). A job makes its folder by process::make_folder().
class OutputFolder {
 public:
  enum class Parents { must_exist, are_made };
  /// Makes nothing: it looks whether the folder is there.
  explicit OutputFolder(std::string path, Parents parents = Parents::must_exist);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  /// Makes the folder where it is not there. Returns whether this process has made it. Throws Error when it
  /// cannot be made, and when it is something else.
  bool make();
  /// Adopts a folder that was not there when this looked: from here on it is as if this had made it.
  void adopt();
  void keep() noexcept;

 private:
  void watch(const std::string& made);
  std::string path_;
  std::vector<std::string> missing_;                  ///< folders that make() makes, the outermost first
  std::vector<std::unique_ptr<TemporaryName>> made_;  ///< folders that this has made, the outermost first
};

/// Returns the folder that TMPDIR names; /tmp where it is not set, or empty. Throws Error, which names TMPDIR
/// and the folder, where no file can be made in it.
std::string temporary_folder();

}  // namespace edgewire
