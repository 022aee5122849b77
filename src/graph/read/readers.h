// The graph/read folder reads the formats of others: lists of edges, tables and binary files, plain,
// compressed or in an archive. It finds out which format a file has (formats.h), hands out its bytes
// (input.h), and puts edges where the caller wants them (edge_sink.h). This file has one function for each
// kind of file. Each reads the whole input and writes the graph. All throw Error with path and place: line
// and column of text, else the byte.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/convert.h"
#include "graph/read/input.h"
#include "graph/read/weight_text.h"

namespace edgewire::graph {

struct FirstLines;
struct ListHead;
class HeadedSink;

struct Conversion {
  Input& input;
  /// inputs: of read_snap, read_gap_text and read_u32_pairs: all, `input` first.
  std::span<Input* const> inputs;
  Input* vertices;  ///< ids for read_snap, one a line, of vertices that exist also without edges; or null
  EdgeSink& edges;
  OutputFile* output;    ///< output of names, which are read in memory; else may be null
  BuildOptions options;  ///< options; `weighted`: keep weights where the input has them
  const Progress& progress;
  const ConvertOptions& wanted;
  RoundedWeights& rounded;  ///< receiver of rounded weights
  const ListHead& head;     ///< facts that edge lists and tables tell of their edges
  HeadedSink* headed;       ///< `edges`, where the head says more than that they are directed; else null
  const FirstLines& first;  ///< first lines, for read_labelled and read_table
};

/// Starts the sink with `shape`, which lacks options and name. sample(): see EdgeSink::start().
template <class Sample>
void start(Conversion& conversion, GraphShape shape, const Sample& sample) {
  shape.options = conversion.options;
  shape.name = conversion.input.path();
  EdgeSink& sink = conversion.edges;
  sink.start(shape, sink.wants_sample() ? sample() : std::vector<std::uint64_t>());
}

/// Calls work(input, worker, piece) for `first`, which was taken from the first input, and then for pieces of
/// lines, or records of `record_bytes` unless it is 0, in this reader's share (see Input::take_share()).
template <class Work>
void each_piece(const Conversion& conversion, std::span<Input* const> inputs, const Piece& first,
                std::uint64_t record_bytes, const Work& work) {
  const int rank = conversion.edges.rank(), size = conversion.edges.size();
  if (rank == 0 && !first.text.empty()) work(*inputs[0], 0, first);
  int owner = 0;  // reader of a stream
  for (Input* const input : inputs)
    input->take_share(rank, size, record_bytes, Input::kToEnd, owner++ % size);
  Input::each_piece(
      inputs, conversion.options.workers, conversion.progress,
      [record_bytes](Input& input, Piece& piece) {
        return record_bytes > 0 ? input.next_records(piece, record_bytes, Input::kToEnd)
                                : input.next_lines(piece);
      },
      work);
}

/// Reads SNAP and similar edge lists. All lines have a weight if the first edge has a third field. Ids, also
/// those of `vertices` (LDBC Graphalytics' .v files), are renumbered densely in ascending order.
BuildSummary read_snap(Conversion conversion);
/// Reads the same with names for ids. The vertices are the names in the order of their bytes; their table is
/// written beside the output. Memory: each worker keeps the names that it reads.
BuildSummary read_labelled(Conversion conversion);
/// Reads tables (CSV and the like): a header or none, fields separated by , ; tab | or blanks, quoted or not.
/// Ids are renumbered as by read_snap.
BuildSummary read_table(Conversion conversion);
/// Reads GAP's edge lists, .el and (weighted) .wel: the vertices are 0 to the largest id.
BuildSummary read_gap_text(Conversion conversion, bool weighted);
/// Reads GAP's serialized graphs, .sg and (weighted) .wsg: u8 directed, i64 edges, i64 vertices, i64
/// offsets[vertices + 1], i32 targets[edges] (.wsg: {i32 target, i32 weight}); if directed the same arrays
/// again for in-edges, which are skipped.
BuildSummary read_gap_binary(Conversion conversion, bool weighted);
/// Reads Matrix Market coordinate files (Boisvert, Pozo, Remington: The Matrix Market Exchange Formats,
/// 1996): an entry (i, j) is an edge from i to j. The matrix is square; general, symmetric or skew-symmetric;
/// complex and Hermitian ones are without weights.
BuildSummary read_matrix_market(Conversion conversion);
/// Reads METIS graph files (METIS 5 manual, section 4.1.1), as KaHIP and others write them, too: each edge is
/// in the lines of both its ends. Vertex sizes and weights are skipped.
BuildSummary read_metis(Conversion conversion);
/// Reads DIMACS shortest-path files (9th DIMACS Implementation Challenge, 2006): arcs with weights.
BuildSummary read_dimacs(Conversion conversion);
/// Reads pairs of little-endian u32: the vertices are 0 to the largest id.
BuildSummary read_u32_pairs(Conversion conversion);
/// Reads WebGraph's BVGraph files (Boldi, Vigna: The WebGraph Framework I, WWW 2004) with the .properties
/// file, and perhaps the .offsets file, beside: the vertices are 0 to nodes - 1.
BuildSummary read_webgraph(Conversion conversion);

/// Returns the words of a message that names do not tell the ends of edges.
std::string which_columns();
/// Returns the place of the column with this number, from 1 on, or with this name: in the same letters, else
/// in any case of letters. Throws Error for none or several.
std::size_t find_column(std::span<const std::string_view> names, std::string_view wanted);
/// Returns the place of Gephi's column Type, which says whether an edge is Directed or Undirected.
std::optional<std::size_t> type_column(std::span<const std::string_view> names);
/// Returns whether names of columns tell the ends of edges, see find_edge_columns(), and are no vertices.
bool names_edges(std::span<const std::string_view> names);
/// Returns the same for a line, which may be a header.
bool names_edges(std::string_view line);
/// Returns whether the name is one of the words, in any case of letters.
bool is_one_of(std::string_view name, std::span<const std::string_view> words);
/// Returns whether a column with this name holds sources or targets of edges.
bool is_end_name(std::string_view name);
/// Returns what comments such as `# source target time` call the third column; guessed if none names columns.
WeightColumn third_column(std::string_view comments);

/// The meaning that --columns gives to the third field of an edge list.
enum class ThirdField {
  unsaid,
  weight,
  other  ///< not read
};
/// Parses `columns`, which is 1,2 or 1,2,3, or empty.
ThirdField third_field(std::string_view columns);

/// The counts in the first line of a METIS graph.
struct MetisCounts {
  std::uint64_t vertices, edges;
};
/// Returns the counts of the METIS graph that comes next in the input, or, where that is not the `whole`
/// file, that begins there: the first line counts vertices and edges, a line for each vertex follows, and
/// each edge is in the lines of both its ends. It returns none for other text, also where a line is a comment
/// that METIS does not know (#, //). A list of edges looks like that by accident only.
std::optional<MetisCounts> metis_graph_in(Input& input, bool whole);

/// A set of different names with a number for each, in the order in which they came. Not thread safe.
class NameSet {
 public:
  std::uint32_t number(std::string_view name);
  const std::deque<std::string>& names() const noexcept { return names_; }

 private:
  std::deque<std::string> names_;  // names, which stay where they are
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

/// The most names that there may be, whatever the width of ids.
inline constexpr std::uint64_t kMaxNames = 0xFFFF'FFFE;

/// Edges between names of a set.
struct LabelledEdges {
  std::vector<std::uint32_t> ids;  ///< source and target of each edge
  WeightList weights;              ///< weights, one for each edge when weighted; else empty
};

/// The edges and names that one worker has read.
struct LabelledPart {
  NameSet names;
  std::vector<LabelledEdges> edges;
  std::vector<std::uint32_t> vertices;  ///< vertex of each name, after number_vertices()
};

/// Returns the different names of all parts, in the order of their bytes, and numbers those of each part.
std::vector<std::string_view> number_vertices(std::vector<LabelledPart>& parts);
/// Writes graph and names; frees the edges of the parts.
BuildSummary build_labelled(Conversion& conversion, std::vector<LabelledPart>& parts,
                            const std::vector<std::string_view>& names);

/// Returns whether a line of a file of names is a comment. Throws Error where that is unclear.
bool is_comment_beside_names(const Input& input, const Piece& piece, std::string_view line);

}  // namespace edgewire::graph
