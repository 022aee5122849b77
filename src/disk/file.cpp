#include "disk/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace edgewire::disk {

File unnamed_file(const std::string& folder) {
  File file(uninterrupted([&] { return open(folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600); }));
  if (file.descriptor() >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return file;
  std::string name = folder + "/.edgewire-XXXXXX";
  file = File(mkostemp(name.data(), O_CLOEXEC));
  if (file.descriptor() >= 0) unlink(name.c_str());
  return file;
}

bool bypass_page_cache(const File& file) noexcept {
  constexpr std::size_t kBlock = 4096;
  if (fcntl(file.descriptor(), F_SETFL, O_RDWR | O_DIRECT) != 0) return false;
  // An overlay takes the flag for the file system below, which may refuse later reads and writes.
  alignas(kBlock) char block[kBlock];
  if (uninterrupted([&] { return pread(file.descriptor(), block, kBlock, 0); }) >= 0 || errno != EINVAL)
    return true;
  fcntl(file.descriptor(), F_SETFL, O_RDWR);
  return false;
}

}  // namespace edgewire::disk
