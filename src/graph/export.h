// From our format to those of others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/parallel.h"
#include "graph/convert.h"
#include "graph/graph_file.h"

namespace edgewire::graph {

struct ExportOptions {
  Format format;        ///< one that is written: el, wel, csv, tsv, matrix_market, sg, wsg or metis
  bool weights = true;  ///< write them where graph and format have them
  int workers = 0;      ///< 0: one a core
  bool names = false;   ///< of el and wel: vertices have names, not numbers
};

/// What was written.
struct WriteSummary {
  std::uint64_t edges = 0;  ///< of the graph; METIS counts each pair of them once
  std::uint64_t bytes = 0;
  /// What the file calls the graph's first vertex; the others follow. None: it calls them as results do.
  std::optional<std::uint64_t> first_id{};
  /// Without edges, of a file of numbers at the end: edge lists and tables cannot hold them.
  std::uint64_t lost_vertices = 0;
};

/// Writes `graph` as `output`; "-" is stdout, for text formats. Vertices are numbered in the order of the
/// graph, whatever ids or names they had before; tables, and edge lists with `names`, call them as results
/// do. Text is compressed where the name of the output says so. Memory: a block of text for each worker, and
/// a bit for each vertex where names are written; see write_gap_binary for .sg. Throws Error with the path
/// when the format cannot hold the graph.
WriteSummary export_graph(const GraphFile& graph, const std::string& output, const ExportOptions& options,
                          const Progress& progress = {});

/// The format that the name of an output tells, before .gz or .zst: .el, .wel, .csv, .tsv, .mtx, .sg, .wsg,
/// .graph or .metis, and our own for .ew and names without ending. Throws UsageError for others.
Format format_of_output(const std::string& path);
/// Throws UsageError when the name of an output promises a compression that its format is not written with.
void check_packing(const std::string& path, Format format);

/// Whether a format is text, and so can go to stdout.
bool is_text(Format format);
bool has_weights(Format format);
/// Whether a format can hold the names of vertices.
bool has_names(Format format);

}  // namespace edgewire::graph
