// Makes graphs in Edgewire's format from files of other formats, and by generators; and writes other formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "edgewire/graph.h"
#include "edgewire/progress.h"

#pragma GCC visibility push(default)

namespace edgewire {

// All functions throw UsageError when an option makes no sense, and Error with path and place (line and
// column of text, else the byte) when a file does. An output is whole or not there. `workers`: threads; 0:
// one for each core.

/// How to read an input.
struct ConvertOptions {
  /// auto, by name and content; or snap, csv, mtx, metis, dimacs, el, wel, sg, wsg, u32pairs, webgraph or ew.
  std::string format = "auto";
  bool weights = true;              ///< keep weights where the format has them
  bool simple = false;              ///< drop self loops, and of duplicate edges all but the lightest
  bool undirected = false;          ///< store each edge both ways
  bool keep_ids = false;            ///< vertices are all ids up to the largest, also where few of them occur
  bool labels = false;              ///< ids are names, which go to a table beside the output. Without it they
                                    ///< are names where no id is a number, and `note` gets a line
  bool allow_empty = false;         ///< an input without an edge is no error
  std::string columns{};            ///< tables: SOURCE,TARGET[,WEIGHT], each a name or a number from 1 on
  std::string vertices{};           ///< edge lists: a file of ids, one a line, that are vertices in any case
  std::vector<std::string> more{};  ///< further files of the same edge list
  int workers = 0;
  Progress progress{};
  /// `note` gets one line for each thing that the user should know of the input: which columns of a table
  /// were taken by their places or are ignored, which weight was rounded. It may be empty.
  std::function<void(const std::string& line)> note{};
};
/// What became of an input.
struct GraphSummary {
  std::uint64_t vertices = 0, edges = 0;
  std::uint64_t dropped_edges = 0;  ///< edges that `simple` took away
  std::uint64_t bytes = 0;          ///< of the file
};
/// Reads `input`, plain or compressed, "-" for standard input, and writes `output` in our format.
GraphSummary convert(const std::string& input, const std::string& output, const ConvertOptions& options = {});

/// The columns of a table that hold its edges, by place from 0 on.
struct EdgeColumns {
  std::size_t source = 0, target = 0;
  std::optional<std::size_t> weight{};
  bool by_place = false;  ///< no name tells source and target
  std::string note{};  ///< one line on what was taken by its place and what is ignored; empty: names tell all
};
/// Chooses columns by their names, whatever letters are capitals: those of source and target that
/// docs/formats.md lists, and weight. Where no name is among them, the edges go from the first column
/// to the second one, not counting the weight. `weights`: weights are wanted; `weight`: of this column.
/// Throws Error where only one end has a name, or two columns have a name of the same kind.
EdgeColumns find_edge_columns(std::span<const std::string_view> names, bool weights = true,
                              std::optional<std::size_t> weight = {});
/// Returns the line for a table of so many rows, of which some are Undirected by their column Type, that is
/// read with each edge one way; empty where none is.
std::string note_of_types(std::uint64_t undirected, std::uint64_t rows);

/// Edges in memory: [edge] of each array. `weights` has one for each edge, or none.
struct EdgeArrays {
  Ids sources, targets;
  graph::Weights weights{};
};
/// Writes the graph of these edges. Ids are from 0 on. Throws Error with the first edge whose id is none or
/// whose weight is not finite, and with both figures where the vertices need more memory than is free.
GraphSummary convert_arrays(const EdgeArrays& edges, const std::string& output,
                            const EdgeOptions& options = {});

/// Writes a graph as `output`; "-" is stdout. `format`: as the name of the output tells (auto), or el, wel,
/// csv, tsv, mtx, sg, wsg or metis. `weights`: write them where graph and format have them.
void export_graph(const Graph& graph, const std::string& output, const std::string& format = "auto",
                  bool weights = true, int workers = 0);

/// How to make a graph.
struct GenerateOptions {
  std::uint64_t seed = 1;
  bool weighted = false;  ///< uniform in (0, 1]; both directions of an edge have the same
  bool simple = false, undirected = false;
  int workers = 0;
  Progress progress{};
};
/// Makes a Kronecker graph as Graph500 does (Chakrabarti, Zhan, Faloutsos: R-MAT, 2004): 2^scale vertices,
/// and edge_factor edges for each. scale <= 31.
GraphSummary generate_kronecker(const std::string& output, int scale, std::uint64_t edge_factor = 16,
                                const GenerateOptions& options = {});
/// Makes a graph whose sources and targets are drawn uniformly, with edge_factor edges for each vertex.
GraphSummary generate_uniform(const std::string& output, std::uint64_t vertices,
                              std::uint64_t edge_factor = 16, const GenerateOptions& options = {});

/// Returns the names of vertices: those of the table beside the graph, or their ids in the input. Throws
/// UsageError where one of them is no vertex of the graph.
std::vector<std::string> names_of(const Graph& graph, std::span<const VertexId> vertices);

}  // namespace edgewire

#pragma GCC visibility pop
