// From the formats of others to ours.
#pragma once

#include <string>

#include "graph/builder.h"
#include "graph/formats.h"
#include "graph/parallel.h"

namespace edgewire::graph {

struct ConvertOptions {
  Format format = Format::automatic;
  bool weights = true;  ///< keep weights where the format has them
  bool simple = false;
  bool undirected = false;
  int workers = 0;  ///< 0: one a core
  std::string vertices =
      {};  ///< format snap: path of a file of ids, one a line; they are vertices even without edges
  bool labels =
      false;  ///< formats snap and csv: ids are names; the table is written, too (see vertex_names.h)
  std::string columns =
      {};  ///< tables: SOURCE,TARGET[,WEIGHT], each a name in the header or a number from 1 on
};

/// Reads `input` (see formats.h and readers.h), "-" for standard input, plain or compressed whatever its
/// name, and writes `output` in our format. Memory: 12 bytes for each stored edge (16 with weights, 8 more
/// where an id needs more than 32 bits), 8 for each vertex, 16 where ids are renumbered. Throws Error with
/// path and byte offset (of the plain text).
BuildSummary convert(const std::string& input, const std::string& output, const ConvertOptions& options,
                     const Progress& progress = {});

}  // namespace edgewire::graph
