#include "cli/output_parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/output_file.h"
#include "cli/common.h"
#include "graph/compress.h"

namespace edgewire::cli {

std::string part_path(const std::string& path, int rank, int size) {
  return fmt::format("{}.{:04}-of-{:04}", path, rank, size);
}

namespace {

/// Where the work fails in any process, all throw the cause of the first one: one line is enough.
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

void adopt_folder(launch::Bootstrap& bootstrap, OutputFolder& folder) {
  const std::string number = std::to_string(folder.number());
  const auto made = bootstrap.allgather(folder.made() ? number : "");
  if (std::ranges::find(made, number) != made.end()) folder.adopt();
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
  });
  // Should a process be killed from here on, a part is missing; never are parts of two runs mixed.
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
