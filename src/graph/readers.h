// One function for each kind of file that is converted. Each reads the whole input and writes the graph. All
// throw Error with path and byte offset.
#pragma once

#include <string>

#include "base/parallel.h"
#include "graph/builder.h"
#include "graph/edge_sink.h"
#include "graph/input.h"
#include "graph/weight_text.h"

namespace edgewire::graph {

struct Conversion {
  Input& input;
  std::span<Input* const> inputs;  ///< of read_snap, read_gap_text and read_u32_pairs: all, `input` first
  Input* vertices;  ///< of read_snap: ids, one a line, of vertices that exist also without edges; or null
  EdgeSink& edges;
  OutputFile* output;    ///< of readers that keep all edges in memory (read_metis, labels); else may be null
  BuildOptions options;  ///< `weighted`: keep weights where the input has them
  const Progress& progress;
  const std::string&
      columns;              ///< of read_table: which hold source, target and weight; empty: its header says
  RoundedWeights& rounded;  ///< is told of weights that are
  bool labels = false;      ///< of read_table: ids are names, as for read_labelled
  OutputFile* table = nullptr;  ///< of read_labelled and read_table: see write_labelled()
};

/// SNAP and similar edge lists. A third field is the weight if the first edge has one; then every line must.
/// Ids, those of `vertices` among them (LDBC Graphalytics' .v files), are renumbered densely in ascending
/// order.
BuildSummary read_snap(Conversion conversion);
/// The same with names for ids. The vertices are the names in the order of their bytes; their table is
/// written beside the output. Memory: each worker keeps the names that it reads.
BuildSummary read_labelled(Conversion conversion);
/// Tables (CSV and the like): a header or none, fields separated by , ; tab | or blanks, quoted or not. Ids
/// are renumbered as by read_snap.
BuildSummary read_table(Conversion conversion);
/// GAP's edge lists, .el and (weighted) .wel: the vertices are 0 to the largest id.
BuildSummary read_gap_text(Conversion conversion, bool weighted);
/// GAP's serialized graphs, .sg and (weighted) .wsg: u8 directed, i64 edges, i64 vertices, i64
/// offsets[vertices + 1], i32 targets[edges] (.wsg: {i32 target, i32 weight}); if directed the same arrays
/// again for in-edges, which are skipped.
BuildSummary read_gap_binary(Conversion conversion, bool weighted);
/// Matrix Market coordinate files (Boisvert, Pozo, Remington: The Matrix Market Exchange Formats, 1996): an
/// entry (i, j) is an edge from i to j. Square; general, symmetric or skew-symmetric; complex and Hermitian
/// ones without weights.
BuildSummary read_matrix_market(Conversion conversion);
/// METIS graph files (METIS 5 manual, section 4.1.1), as KaHIP and others write them, too: each edge is in
/// the lines of both its ends. Vertex sizes and weights are skipped.
BuildSummary read_metis(Conversion conversion);
/// DIMACS shortest-path files (9th DIMACS Implementation Challenge, 2006): arcs with weights.
BuildSummary read_dimacs(Conversion conversion);
/// Pairs of little-endian u32: the vertices are 0 to the largest id.
BuildSummary read_u32_pairs(Conversion conversion);
/// WebGraph's BVGraph files (Boldi, Vigna: The WebGraph Framework I, WWW 2004) with the .properties file, and
/// perhaps the .offsets file, beside: the vertices are 0 to nodes - 1.
BuildSummary read_webgraph(Conversion conversion);

}  // namespace edgewire::graph
