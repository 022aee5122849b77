// From the formats of others to ours.
#pragma once

#include <string>

#include "graph/builder.h"
#include "graph/parallel.h"

namespace edgewire::graph {

enum class Format { automatic, snap, matrix_market, el, wel, sg, wsg, u32_pairs, ew, metis };

struct ConvertOptions {
  Format format = Format::automatic;
  bool weights = true;  ///< keep weights where the format has them
  bool simple = false;
  bool undirected = false;
  int workers = 0;  ///< 0: one a core
  std::string vertices =
      {};  ///< format snap: path of a file of ids, one a line; they are vertices even without edges
};

/// The format that a name tells, after .gz or .zst has been taken off: .mtx, .el, .wel, .sg, .wsg, .ew, .u32,
/// .bin, .u32pairs, and snap for .txt, .tsv, .csv, .e and .edges. Throws UsageError for others.
Format format_of_name(const std::string& path);

/// Reads `input` (see readers.h for the formats), plain or compressed whatever its name, and writes `output`
/// in our format. Memory: 12 bytes for each stored edge (16 with weights, 8 more where an id needs more than
/// 32 bits), 8 for each vertex, 16 where ids are renumbered. Throws Error with path and byte offset (of the
/// plain text).
BuildSummary convert(const std::string& input, const std::string& output, const ConvertOptions& options,
                     const Progress& progress = {});

}  // namespace edgewire::graph
