#include "base/temporary_folder.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdlib>

#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace edgewire {

std::string temporary_folder() {
  const char* const named = std::getenv("TMPDIR");
  const bool is_named = named != nullptr && *named != '\0';
  const std::string folder = is_named ? named : "/tmp";
  struct stat status {};
  int cause = stat(folder.c_str(), &status) == 0 ? 0 : errno;
  if (cause == 0 && !S_ISDIR(status.st_mode)) cause = ENOTDIR;
  if (cause == 0 && access(folder.c_str(), W_OK | X_OK) != 0) cause = errno;
  if (cause == 0) return folder;
  throw Error(is_named ? fmt::format("TMPDIR={}: cannot make files there: {}; name another folder, or none",
                                     folder, reason(cause))
                       : fmt::format("{}: cannot make files there: {}; TMPDIR names another folder", folder,
                                     reason(cause)));
}

}  // namespace edgewire
