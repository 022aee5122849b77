#pragma once

#include <unistd.h>

#include <string>
#include <utility>

namespace edgewire::disk {

/// An owned descriptor.
class File {
 public:
  explicit File(int descriptor = -1) noexcept : descriptor_(descriptor) {}
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

/// Opens a file without a name, for reading and writing. It goes with the descriptor, whatever ends the
/// process. Where the file system knows no such files, it has a name for a moment. With a negative descriptor
/// errno says why there is none.
File unnamed_file(const std::string& folder);

/// Makes transfers bypass the page cache from now on. Returns false where the file system cannot do that.
bool bypass_page_cache(const File& file) noexcept;

}  // namespace edgewire::disk
