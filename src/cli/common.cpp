#include "cli/common.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <functional>
#include <optional>
#include <set>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file_calls.h"
#include "base/mapped_file.h"
#include "base/output_file.h"
#include "graph/file/format.h"
#include "graph/write/compress.h"
#include "topology/shell.h"

namespace edgewire::cli {

namespace {

[[noreturn]] void fail(const std::string& path, int cause) {
  throw Error(fmt::format("{}: cannot write: {}", path == "-" ? "stdout" : path, reason(cause)));
}

/// Returns whether `path` names a file, which must appear whole. Throws Error when it cannot be written.
bool is_file(const std::string& path) {
  if (path == "-") return false;
  const std::string target = output_target(path);
  struct stat status {};
  if (target.starts_with("/proc/")) return false;  // it is a descriptor
  if (stat(target.c_str(), &status) != 0) return true;
  if (S_ISDIR(status.st_mode)) fail(path, EISDIR);
  return S_ISREG(status.st_mode);
}

/// Does the work in all processes. Where it fails in some of them, all throw the cause of the first one: one
/// line is enough.
void together(launch::Bootstrap& bootstrap, const std::function<void()>& work) {
  std::string cause;
  try {
    work();
  } catch (const Error& error) {
    cause = error.what();
  }
  for (const std::string& one : bootstrap.allgather(cause))
    if (!one.empty()) throw Error(one);
}

}  // namespace

double with_unit(const std::string& text, Units units, const char* option, const char* example) {
  double number = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (bad == std::errc{} && std::isfinite(number) && number >= 0) {
    for (const auto& [unit, value] : units) {
      if (text.compare(static_cast<std::size_t>(end - text.data()), std::string::npos, unit) == 0)
        return number * value;
    }
  }
  throw UsageError(fmt::format("{}: cannot understand '{}'; give {}", option, text, example));
}

double above_zero(double number, const std::string& text, const char* option) {
  if (number > 0) return number;
  throw UsageError(fmt::format("{}: '{}' is not above 0", option, text));
}

double amount_from(const std::string& text, const char* option, const char* example) {
  const Units units = {{"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}};
  return text.empty() ? 0 : above_zero(with_unit(text, units, option, example), text, option);
}

std::uint64_t count_from(const std::string& text, std::uint64_t most, const char* option) {
  const double number = amount_from(text, option, "1000000 or 60G");
  if (number <= static_cast<double>(most)) return static_cast<std::uint64_t>(number);
  throw UsageError(fmt::format("{}: '{}' is more than the {} that are supported{}", option, text, most,
                               most == graph::kMaxVertices ? graph::kMoreVertices : ""));
}

std::string backslashed(std::string_view text, std::string_view characters) {
  std::string result;
  for (const char c : text) {
    if (characters.find(c) != characters.npos) result += '\\';
    result += c;
  }
  return result;
}

void write_whole(const std::string& path, const std::string& plain) {
  refuse_changed_files();
  const std::string text = path == "-" ? plain : graph::packed(path, plain);
  if (is_file(path)) {
    OutputFile file(path);
    file.write(text.data(), text.size(), 0);
    return file.commit();
  }
  if (path == "-") return topology::write_stdout(text);
  std::FILE* file = uninterrupted([&] { return std::fopen(output_target(path).c_str(), "we"); });
  if (file == nullptr) fail(path, errno);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int cause = errno;
  const bool closed = std::fclose(file) == 0;
  if (written && closed) return;
  fail(path, written ? errno : cause);
}

void show(const std::string& text) { write_whole("-", is_quiet() ? "" : text); }

void check_writable(const std::string& path) {
  if (path == "-" && (fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) == O_RDONLY) fail(path, EBADF);
  if (!path.empty() && is_file(path)) const OutputFile file(path);
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

std::string part_path(const std::string& path, int rank, int size) {
  return fmt::format("{}.{:04}-of-{:04}", path, rank, size);
}

void check_part_writable(launch::Bootstrap& bootstrap, const std::string& path) {
  together(bootstrap, [&] { check_writable(part_path(path, bootstrap.rank(), bootstrap.size())); });
}

void write_part(launch::Bootstrap& bootstrap, const std::string& path, const std::string& text) {
  const std::string part = part_path(path, bootstrap.rank(), bootstrap.size());
  std::optional<OutputFile> file;
  together(bootstrap, [&] {
    refuse_changed_files();
    file.emplace(part);
    const std::string content = graph::packed(path, text);
    file->write(content.data(), content.size(), 0);
    file->prepare();
  });
  // If a process is killed from here on, a part is missing; parts of two runs are never mixed.
  file->remove_named();
  bootstrap.allgather("");
  try {
    together(bootstrap, [&] { file->commit(); });
  } catch (...) {
    file->remove_named();
    throw;
  }
}

}  // namespace edgewire::cli
