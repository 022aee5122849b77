// From our format to those of others.
#pragma once

#include <cstdint>
#include <string>

#include "graph/convert.h"
#include "graph/graph_file.h"
#include "graph/parallel.h"

namespace edgewire::graph {

struct ExportOptions {
  Format format;        ///< one that is written: el, wel, matrix_market, sg, wsg or metis
  bool weights = true;  ///< write them where graph and format have them
  int workers = 0;      ///< 0: one a core
};

/// What was written.
struct WriteSummary {
  std::uint64_t edges = 0;  ///< of the graph; METIS counts each pair of them once
  std::uint64_t bytes = 0;
  std::uint64_t first_id = 0;       ///< what the file calls the graph's first vertex; the others follow
  std::uint64_t lost_vertices = 0;  ///< at the end, without edges: edge lists cannot hold them
};

/// Writes `graph` as `output`; "-" is stdout, for text formats. Vertices are numbered in the order of the
/// graph, whatever ids or names they had before. Memory: a block of text for each worker; see
/// write_gap_binary for .sg. Throws Error with the path when the format cannot hold the graph.
WriteSummary export_graph(const GraphFile& graph, const std::string& output, const ExportOptions& options,
                          const Progress& progress = {});

/// The format that the name of an output tells: .el, .wel, .mtx, .sg, .wsg, .graph or .metis, and our own for
/// .ew and names without ending. Throws UsageError for others.
Format format_of_output(const std::string& path);

/// Whether a format is text, and so can go to stdout.
bool is_text(Format format);
bool has_weights(Format format);

}  // namespace edgewire::graph
