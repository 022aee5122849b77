#pragma once

#include <string>

namespace edgewire::disk {

/// Owns a descriptor.
class File {
 public:
  explicit File(int descriptor = -1) noexcept : descriptor_(descriptor) {}
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();
  int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

/// A file without a name, for reading and writing. It goes with the descriptor, whatever ends the process.
/// Where the file system knows no such files, it has a name for a moment. A negative descriptor: errno says
/// why there is none.
File unnamed_file(const std::string& folder);

/// From now on transfers pass by the page cache. False where the file system cannot.
bool bypass_page_cache(const File& file) noexcept;

}  // namespace edgewire::disk
