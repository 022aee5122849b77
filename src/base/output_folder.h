// A folder that is there as long as it is needed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/temporary_name.h"

namespace edgewire {

/// A folder for output. One that this makes goes again, if it is empty, unless keep() was called (see
/// TemporaryName).
class OutputFolder {
 public:
  enum class Parents { must_exist, are_made };
  /// Throws Error when the folder is not there and cannot be made, and when it is something else.
  explicit OutputFolder(std::string path, Parents parents = Parents::must_exist);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  bool made() const noexcept { return !made_.empty(); }
  /// Which folder it is, among those that a file system holds.
  ino_t number() const;
  /// A process that is lost may have made it: from here on it is as if this had.
  void adopt();
  void keep() noexcept;

 private:
  void watch(const std::string& made);
  std::string path_;
  std::vector<std::unique_ptr<TemporaryName>> made_;  ///< the outermost first
};

}  // namespace edgewire
