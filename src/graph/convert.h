// The graph folder turns files into graphs and graphs into files. It has our binary format (graph/file),
// readers and writers of the formats of others (graph/read, graph/write), and generators. Graphs that are
// read are in edgewire/graph.h. This file converts graphs from the formats of others to ours, and back.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "edgewire/graph.h"
#include "graph/file/builder.h"
#include "graph/read/edge_sink.h"
#include "graph/read/formats.h"

namespace edgewire::graph {

struct ConvertOptions {
  Format format = Format::automatic;
  bool weights = true;  ///< whether to keep weights where the format has them
  bool simple = false, undirected = false;
  int workers = 0;            ///< number of workers; 0: one a core
  std::string vertices = {};  ///< file (format snap) of ids, one a line, that are vertices even without edges
  bool labels = false;        ///< whether ids are names (formats snap and csv), whose table is written
                              ///< (vertex_names.h); else they are where no id is a number (first_lines.h)
  std::string columns = {};  ///< columns of tables: SOURCE,TARGET[,WEIGHT], each a name or a number from 1 on
  bool keep_ids = false;     ///< whether to keep ids, see BuildOptions; not with labels
  std::vector<std::string> more = {};  ///< further files of the same edge list (snap, el, wel, u32pairs)
  bool allow_empty = false;            ///< whether an input without an edge is no error
  std::function<void(const std::string&)> note = {};  ///< receiver of notes, see BuildOptions
  OutputFile* table = nullptr;  ///< table for the names of a nameless output, see write_labelled()
};

/// Reads `input` (see formats.h and readers.h), "-" for standard input, plain or compressed whatever its
/// name, and writes `output` in our format. Memory: 12 bytes for each stored edge (16 with weights, 20 where
/// these need 8 bytes; 8 more where an id needs more than 32 bits), 8 for each vertex, 16 where ids are
/// renumbered. Throws Error with path and place: line and column of text, else the byte.
BuildSummary convert(const std::string& input, const std::string& output, const ConvertOptions& options,
                     const Progress& progress = {});

/// Does the same for a file that was opened.
BuildSummary convert(const std::string& input, OutputFile& output, const ConvertOptions& options,
                     const Progress& progress = {});

/// Hands the edges of `input` to `edges`, which writes `output`. Memory: some MB for each worker, and what
/// `edges` keeps. Formats that are read in memory are refused.
BuildSummary convert_to(EdgeSink& edges, const std::string& input, const std::string& output,
                        const ConvertOptions& options, const Progress& progress = {});

/// Returns whether convert_to() refuses a file, which is read in memory. Throws the errors of its start.
bool reads_in_memory(const std::string& input, const ConvertOptions& options);

/// Adds all edges of a graph to `builder`, and releases their pages; where `turned`, each the other way.
void add_rows(const Graph& graph, Builder& builder, bool turned, const char* step, const Progress& progress);

/// Returns the ids that vertices had in the file that was converted; empty where these are their numbers.
std::vector<std::uint64_t> original_ids(const Graph& graph);

struct ExportOptions {
  Format format;        ///< format that can be written: el, wel, csv, tsv, matrix_market, sg, wsg or metis
  bool weights = true;  ///< whether to write them where graph and format have them
  int workers = 0;      ///< number of workers; 0: one a core
  bool names = false;   ///< whether vertices of el and wel have names, not numbers
};

/// The figures of the written file.
struct WriteSummary {
  std::uint64_t edges = 0;  ///< number of the graph's edges; METIS counts each pair of them once
  std::uint64_t bytes = 0;
  /// The file's id of the graph's first vertex; the others follow. Nothing: it calls vertices as results do.
  std::optional<std::uint64_t> first_id{};
  /// The number of vertices without edges at the end of a file of numbers: edge lists and tables cannot hold
  /// them.
  std::uint64_t lost_vertices = 0;
};

/// Writes `graph` as `output`; "-" is stdout, for text formats. Vertices are numbered in the order of the
/// graph, whatever ids or names they had before; tables, and edge lists with `names`, call them as results
/// do. Text is compressed where the name of the output says so. Memory: a block of text for each worker, and
/// a bit for each vertex where names are written; see write_gap_binary for .sg. Throws Error with the path
/// when the format cannot hold the graph.
WriteSummary export_graph(const Graph& graph, const std::string& output, const ExportOptions& options,
                          const Progress& progress = {});

/// Returns the format that the name of an output tells, before .gz or .zst: .el, .wel, .csv, .tsv, .mtx, .sg,
/// .wsg, .graph or .metis, and our own for .ew and names without ending. Throws UsageError for others.
Format format_of_output(const std::string& path);
/// Throws UsageError when the name of an output promises a compression that its format is not written with.
void check_packing(const std::string& path, Format format);

/// Returns whether a format is text, and so can go to stdout.
bool is_text(Format format);
bool has_weights(Format format);
/// Returns whether a format can hold the names of vertices.
bool has_names(Format format);

}  // namespace edgewire::graph
