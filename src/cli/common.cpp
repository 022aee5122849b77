#include "cli/common.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <unistd.h>

#include "error.h"

namespace edgewire::cli {

void write_whole(const std::string& path, const std::string& text) {
  const bool to_stdout = path == "-";
  const std::string aside = fmt::format("{}.tmp.{}", path, getpid());
  std::FILE* file = to_stdout ? stdout : std::fopen(aside.c_str(), "we");
  if (file == nullptr) throw Error(fmt::format("{}: cannot write: {}", path, std::strerror(errno)));
  bool ok = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  ok = (to_stdout ? std::fflush(file) : std::fclose(file)) == 0 && ok;
  if (ok && (to_stdout || std::rename(aside.c_str(), path.c_str()) == 0)) return;
  const int cause = errno;
  if (!to_stdout) std::remove(aside.c_str());
  throw Error(fmt::format("{}: cannot write: {}", path, std::strerror(cause)));
}

}  // namespace edgewire::cli
