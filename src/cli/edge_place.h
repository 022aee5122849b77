// Where the edges of a kernel are: in memory or on disks.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "dense/job/dense_job.h"
#include "frontier/row_pages.h"
#include "graph/graph_file.h"
#include "launch/launch.h"

namespace edgewire::cli {

struct EdgePlace {
  std::string edges = "memory";  ///< or disk, or auto
  std::vector<std::string> devices{};
  std::uint64_t memory_bytes = 0;  ///< 0: not given

  /// The options, and in `launch` that they are what needs less memory.
  void add_to(CLI::App& command, launch::LaunchOptions& launch);
  /// Throws UsageError when options do not go together.
  void check() const;
  /// Sets where tiles are. Rank 0 says on stderr what auto takes, where memory does not suffice. Collective.
  void apply_to_tiles(job::DenseOptions& options, launch::Bootstrap& bootstrap,
                      const graph::GraphFile& graph) const;
  /// The same for rows, which have their weights if `weighted`.
  frontier::RowDisks rows(bool weighted, launch::Bootstrap& bootstrap, const graph::GraphFile& graph) const;

 private:
  bool on_disks(double bytes_in_memory, launch::Bootstrap& bootstrap, const std::string& option = {}) const;
};

}  // namespace edgewire::cli
