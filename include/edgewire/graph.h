// Graphs in Edgewire's binary format, mapped from their files, and the out-edges of a vertex.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "edgewire/numbering.h"
#include "edgewire/progress.h"
#include "edgewire/weights.h"

#pragma GCC visibility push(default)

namespace edgewire {

/// Ids of vertices, as they lie in memory.
using Ids = std::variant<std::span<const std::uint32_t>, std::span<const std::uint64_t>,
                         std::span<const std::int32_t>, std::span<const std::int64_t>>;
/// How to make a graph of edges in memory.
struct EdgeOptions {
  std::optional<std::uint64_t> vertices{};  ///< not set: all ids up to the largest
  bool dense = false;  ///< the vertices are the ids that occur, up to 2^64 - 1, in ascending order; the graph
                       ///< has these ids; not with `vertices` or `names`
  std::vector<std::string> names{};  ///< [vertex]: go to a table beside the output; empty: none. Only
                                     ///< convert_arrays() has an output
  bool simple = false;               ///< drop self loops, and of duplicate edges all but the lightest
  bool undirected = false;           ///< store each edge both ways
  int workers = 0;
  Progress progress{};
};
}  // namespace edgewire

namespace edgewire::graph {

/// The way that edges are followed: from source to target, from target to source, or both ways.
enum class Direction { out, in, both };

/// The rows of the vertices [first, last).
struct RowRange {
  std::uint64_t first, last;
  bool operator==(const RowRange&) const = default;
};

}  // namespace edgewire::graph

namespace edgewire {

class Graph;
namespace graph {
Graph view(Graph graph, Direction direction, const std::string& folder, int workers,
           const Progress& progress);
}

/// A graph in Edgewire's binary format (.ew), memory-mapped and read only: for each vertex its out-edges,
/// ordered by target. Fewer than 2^32 - 1 vertices. Movable; all const members are thread safe.
/// It is a file, or a folder of parts, of which some may be on other hosts (see rows_here()). docs/formats.md
/// describes the layout.
class Graph {
 public:
  /// Maps the file, or the parts that are in the folder, and checks headers and section tables (not the
  /// contents: see verify_rows). Throws Error with path and byte offset. `name`: what messages and path()
  /// call it; empty: `path`, without slashes at the end of a folder.
  static Graph open(const std::string& path, const std::string& name = {});
  /// Makes a graph of edges in memory: edge e leads from sources[e] to targets[e]. Ids are from 0 on. It
  /// takes vectors or spans of 32-bit or 64-bit integers, and as many weights, or none. The graph lies in an
  /// unnamed file in the folder of temporary files (TMPDIR), which ends with it. Throws UsageError where the
  /// arrays are of unequal length, and Error with the first edge whose id is negative or whose weight is not
  /// finite.
  static Graph from_edges(const Ids& sources, const Ids& targets, graph::Weights weights = {},
                          const EdgeOptions& options = {});
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;
  ~Graph();

  const std::string& path() const;
  /// The bytes of the files that are here.
  std::uint64_t file_bytes() const;
  std::uint64_t vertices() const;
  std::uint64_t edges() const;
  /// The flags as the header has them; the functions below say what they mean.
  std::uint32_t flags() const;
  bool weighted() const;
  /// Returns whether a float holds each weight as well as a double does, whatever the type of weights.
  bool float_weights() const;
  /// Returns whether the weights are a third column that nobody called so, and may be times.
  bool weights_doubtful() const;
  bool simple() const;     ///< no duplicate edges and no self loops, by construction
  bool symmetric() const;  ///< every edge is stored both ways, by construction
  /// Returns the way that its rows follow the edges of the file that was opened: see view().
  graph::Direction direction() const;
  bool has_original_ids() const;
  bool labelled() const;  ///< a table beside the file names the vertices: see names_of()
  /// Returns where that table is, if not beside the file; else empty.
  const std::string& table() const;
  void set_table(const std::string& path);
  /// Returns the checksum of the whole file: it is equal for equal graphs. The checksum of a graph in parts
  /// is equal for the same graph in the same parts, and another one than that of a file. It is known from the
  /// header, and nothing is read.
  std::uint64_t checksum() const;

  /// vertices()+1 edge indices: out-edges of v are targets()[offsets()[v] .. offsets()[v+1]).
  std::span<const std::uint64_t> offsets() const noexcept { return offsets_; }
  std::span<const VertexId> targets() const noexcept { return targets_; }
  graph::Weights weights() const noexcept { return weights_; }  ///< empty when not weighted
  /// Returns the rows that can be read on this host, ascending and apart from each other: of a file all, of a
  /// folder those of the parts that are in it. Whoever touches others crashes; verify_rows() refuses them.
  std::vector<graph::RowRange> rows_here() const;
  /// Returns whether what is here lies in the page cache.
  bool is_cached() const;
  /// Refuses a graph with parts that are missing; a command that reads all rows calls it. Throws Error, with
  /// the part that is missing, unless all are here.
  void expect_all_rows() const;
  /// Returns the id that vertex v of the graph had in the file that was converted. Throws Error where ids are
  /// damaged, or in a part that is not here.
  std::uint64_t original_id(VertexId v) const;

  /// Checks everything needed to use rows [first, last): checksums of the blocks that hold them, offsets in
  /// order, targets in range, weights finite. Throws Error with path and byte offset, or with the part that
  /// is not here. Blocks already checked are skipped.
  void verify_rows(std::uint64_t first, std::uint64_t last) const;
  /// Makes the part of that check which reads offsets only, for rows whose targets are not read.
  void verify_offsets(std::uint64_t first, std::uint64_t last) const;
  /// Lets the kernel drop the pages that hold rows [first, last) from this process.
  void release_rows(std::uint64_t first, std::uint64_t last) const noexcept;

 private:
  friend Graph graph::view(Graph, graph::Direction, const std::string&, int, const Progress&);
  struct Mapping;
  explicit Graph(std::unique_ptr<Mapping> mapping);
  void set_direction(graph::Direction direction);
  void check_range(std::uint64_t first, std::uint64_t last) const;
  std::unique_ptr<Mapping> mapping_;
  // These lie in the mapping.
  std::span<const std::uint64_t> offsets_;
  std::span<const VertexId> targets_;
  graph::Weights weights_;
};

}  // namespace edgewire

namespace edgewire::graph {

/// Returns the graph whose out-edges are the edges of `graph` in this direction, with their weights. Vertices
/// and original ids are the same. Where the file stores every edge both ways (Graph::symmetric()), and
/// for `out`, this is `graph` itself. Else it is written to an unnamed file in `folder` (empty: that of
/// temporary files), by as many workers (0: one a core), in about 12 bytes of memory for each of its edges,
/// 16 to 20 with weights. Processes that start later inherit it. Throws Error, also for a graph whose names
/// stand in a table: the table belongs to its file.
Graph view(Graph graph, Direction direction, const std::string& folder = {}, int workers = 0,
           const Progress& progress = {});

/// Refuses weights that cannot be used; it is called before weights are used. Throws Error, with what to do,
/// where the graph has none or they may be times, see weights_doubtful(). `otherwise`: what else helps where
/// there are none, such as "leave out --weighted".
void expect_weights(const Graph& graph, std::string_view otherwise = {});

/// Returns how many bits a vertex id has in this file, or in the first part of this folder: 32 or 64. It
/// returns nothing where it is no graph file of ours, or its header is damaged. Throws Error where it
/// cannot be read.
std::optional<int> id_bits_of(const std::string& path);

/// Returns whether the path is that of a folder, which a graph in parts is.
bool is_folder(const std::string& path);

/// Returns whether open() is what reads this file: its name ends in .ew, or it begins as such files do, or it
/// is no regular file. Others may have another format.
bool is_ours(const std::string& path);

/// The out-edges of a vertex: straight from the mapped file, or from where a process keeps them.
class Row {
 public:
  const Graph& graph;
  VertexId vertex;

  Row(const Graph& file, VertexId v) noexcept
      : Row(file, v, file.offsets()[v], file.offsets()[v + std::size_t{1}], file.targets().data(),
            file.weights()) {}
  /// Takes edges [begin, end) of all those that lie at `targets`, with `weights`, which are empty where the
  /// graph has none.
  Row(const Graph& file, VertexId v, std::uint64_t begin, std::uint64_t end, const VertexId* targets,
      const Weights& weights) noexcept
      : graph(file), vertex(v), begin_(begin), end_(end), targets_(targets), weights_(weights) {}

  std::uint64_t degree() const noexcept { return end_ - begin_; }
  std::span<const VertexId> targets() const noexcept { return {targets_ + begin_, degree()}; }
  /// Returns the weights, which are empty when the graph has none.
  Weights weights() const noexcept {
    return weights_.empty() ? Weights() : weights_.subspan(begin_, degree());
  }
  /// Fetches the place where the targets begin into the cache. The processor itself fetches on from there.
  void fetch() const noexcept { __builtin_prefetch(targets_ + begin_, 0, 2); }
  /// Returns the sum of the weights, by which a vertex divides its value to share it. `floats`: the shares
  /// are floats. Throws Error when a weight is negative, or when a share might not fit a float or double.
  double weight_sum(bool floats) const;

 private:
  std::uint64_t begin_, end_;
  const VertexId* targets_;
  Weights weights_;
};

}  // namespace edgewire::graph

#pragma GCC visibility pop
