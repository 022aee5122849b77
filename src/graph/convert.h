// From the formats of others to ours.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/output_file.h"
#include "base/parallel.h"
#include "graph/builder.h"
#include "graph/edge_sink.h"
#include "graph/formats.h"

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
      {};                 ///< tables: SOURCE,TARGET[,WEIGHT], each a name in the header or a number from 1 on
  bool keep_ids = false;  ///< see BuildOptions; not with labels
  std::vector<std::string> more = {};  ///< further files of the same edge list (snap, el, wel, u32pairs)
  bool allow_empty = false;            ///< an input without an edge is no error
  std::function<void(const std::string&)> note = {};  ///< see BuildOptions
  OutputFile* table = nullptr;  ///< where the names of a nameless output go, see write_labelled()
};

/// Reads `input` (see formats.h and readers.h), "-" for standard input, plain or compressed whatever its
/// name, and writes `output` in our format. Memory: 12 bytes for each stored edge (16 with weights, 20 where
/// these need 8 bytes; 8 more where an id needs more than 32 bits), 8 for each vertex, 16 where ids are
/// renumbered. Throws Error with path and byte offset (of the plain text).
BuildSummary convert(const std::string& input, const std::string& output, const ConvertOptions& options,
                     const Progress& progress = {});

/// The same for a file that was opened.
BuildSummary convert(const std::string& input, OutputFile& output, const ConvertOptions& options,
                     const Progress& progress = {});

/// Hands the edges of `input` to `edges`, which writes `output`. Memory: some MB for each worker, and what
/// `edges` keeps. Formats that are read in memory are refused.
BuildSummary convert_to(EdgeSink& edges, const std::string& input, const std::string& output,
                        const ConvertOptions& options, const Progress& progress = {});

}  // namespace edgewire::graph
