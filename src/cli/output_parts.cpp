#include "cli/output_parts.h"

#include <fmt/core.h>
#include <unistd.h>

#include "graph/output_file.h"

namespace edgewire::cli {

std::string part_path(const std::string& path, int rank, int size) {
  return fmt::format("{}.{:04}-of-{:04}", path, rank, size);
}

void write_part(launch::Bootstrap& bootstrap, const std::string& path, const std::string& text) {
  const std::string part = part_path(path, bootstrap.rank(), bootstrap.size());
  graph::OutputFile file(part);
  file.write(text.data(), text.size(), 0);
  bootstrap.allgather("");  // all are written
  // Should a process be killed from here on, a part is missing; never are parts of two runs mixed.
  unlink(part.c_str());
  bootstrap.allgather("");
  try {
    file.commit();
    bootstrap.allgather("");
  } catch (...) {
    unlink(part.c_str());
    throw;
  }
}

}  // namespace edgewire::cli
