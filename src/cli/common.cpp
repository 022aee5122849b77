#include "cli/common.h"

#include <fmt/core.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <set>

#include <sys/stat.h>
#include <unistd.h>

#include "error.h"

namespace edgewire::cli {

namespace {

[[noreturn]] void fail(const std::string& path, int cause) {
  throw Error(fmt::format("{}: cannot write: {}", path == "-" ? "stdout" : path, std::strerror(cause)));
}

/// The file to write and rename, links followed; none when `path` is something else than a file.
std::optional<std::string> target_of(const std::string& path) {
  struct stat status {};
  if (path == "-") return std::nullopt;
  if (stat(path.c_str(), &status) != 0) return path;
  if (S_ISDIR(status.st_mode)) fail(path, EISDIR);
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr), &std::free);
  return real ? real.get() : path;
}

std::string beside(const std::string& target) { return fmt::format("{}.tmp.{}", target, getpid()); }

}  // namespace

void write_whole(const std::string& path, const std::string& text) {
  const auto target = target_of(path);
  const std::string written = target ? beside(*target) : path;
  if (path == "-") std::signal(SIGPIPE, SIG_IGN);  // the other processes of a job must be told first
  std::FILE* file = path == "-" ? stdout : std::fopen(written.c_str(), "we");
  if (file == nullptr) fail(path, errno);
  bool ok = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  int cause = errno;
  if ((path == "-" ? std::fflush(file) : std::fclose(file)) != 0 && ok) {
    ok = false;
    cause = errno;
  }
  if (ok && target && std::rename(written.c_str(), target->c_str()) != 0) {
    ok = false;
    cause = errno;
  }
  if (ok) return;
  if (path == "-" && cause == EPIPE) throw OutputClosed();
  if (target) std::remove(written.c_str());
  fail(path, cause);
}

void check_writable(const std::string& path) {
  if (path.empty()) return;
  const auto target = target_of(path);
  if (!target) return;
  const std::string written = beside(*target);
  std::FILE* file = std::fopen(written.c_str(), "we");
  if (file == nullptr) fail(path, errno);
  std::fclose(file);
  std::remove(written.c_str());
}

std::vector<std::string> split(const std::string& list, const char* option) {
  std::vector<std::string> items;
  std::set<std::string> seen;
  for (std::size_t first = 0; first <= list.size();) {
    const std::size_t end = std::min(list.find(',', first), list.size());
    items.push_back(list.substr(first, end - first));
    if (items.back().empty()) throw UsageError(fmt::format("{}: '{}' has an empty item", option, list));
    if (!seen.insert(items.back()).second)
      throw UsageError(fmt::format("{}: {} is given twice", option, items.back()));
    first = end + 1;
  }
  return items;
}

int whole_number(const std::string& text, int least, int most, const char* option) {
  int number = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (bad != std::errc{} || end != text.data() + text.size() || number < least || number > most) {
    throw UsageError(fmt::format("{}: '{}' is not a whole number from {} to {}", option, text, least, most));
  }
  return number;
}

}  // namespace edgewire::cli
