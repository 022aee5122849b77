// The places where readers put the edges of a graph: memory, or a job that keeps them on disk.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/output_file.h"
#include "base/parallel.h"
#include "graph/file/builder.h"

namespace edgewire::graph {

/// The facts that a reader knows of a graph before its first edge.
struct GraphShape {
  enum class Numbering {
    given,   ///< makes the vertices 0 to the largest id; dense where ids are sparse
    dense,   ///< makes the vertices the ids that occur, in ascending order; given with options.keep_ids
    counted  ///< makes the vertices 0 to vertices - 1
  };
  Numbering numbering = Numbering::given;
  std::uint64_t vertices = 0;        ///< number of vertices (counted)
  std::uint64_t expected_edges = 0;  ///< approximate number of edges (counted)
  std::uint64_t first_id = 0;        ///< file's id (counted) of vertex 0; the others follow
  BuildOptions options = {};
  std::string name = {};  ///< name of the input, for messages
};

/// Takes edges and writes the graph. Calls come in this order, all but add() and add_vertices() from one
/// thread. Throws Error.
class EdgeSink {
 public:
  virtual ~EdgeSink() = default;
  /// Returns the rank of this reader among those of the same input: each reads its own share.
  virtual int rank() const noexcept { return 0; }
  virtual int size() const noexcept { return 1; }
  /// Returns whether start() needs a sample.
  virtual bool wants_sample() const noexcept { return false; }
  /// Starts the graph. `sources`: where edges of the whole input begin, as often as they do; may be empty.
  virtual void start(const GraphShape& shape, std::span<const std::uint64_t> sources) = 0;
  /// Adds edges; each worker calls it for itself. `ids` holds source and target of each edge; `weights` is
  /// empty or holds one for each.
  virtual void add(int worker, std::span<const std::uint64_t> ids, Weights weights) = 0;
  /// Does the same with ids of 32 bits. Where it is not overridden, they are handed to add().
  virtual void add_narrow(int worker, std::span<const std::uint32_t> ids, Weights weights);
  /// Adds, with Numbering::dense, vertices that exist whether they have edges or not, each twice.
  virtual void add_vertices(int worker, std::span<const std::uint64_t> ids) = 0;
  /// Returns the sum over all readers. All call it, after their last edge.
  virtual std::uint64_t sum(std::uint64_t mine) { return mine; }
  /// Returns the least over all readers. All call it, after write().
  virtual std::uint64_t least(std::uint64_t mine) { return mine; }
  /// Writes the file. The file of a single sink gets its name; that of a job gets it by LoadJob::commit().
  /// `flags`: those that Builder::write() takes.
  virtual BuildSummary write(std::uint32_t flags, const Progress& progress) = 0;
};

/// A sink that keeps all edges in memory: those between counted vertices in a Builder, others in chunks until
/// the last one has been read. A chunk takes 8 bytes an edge where its ids fit 32 bits, else 16; 4 more with
/// weights, 8 where it has some that need them. With `keep_ids` it takes all ids as they are.
class MemorySink : public EdgeSink {
 public:
  explicit MemorySink(OutputFile& output) : output_(output) {}
  void start(const GraphShape& shape, std::span<const std::uint64_t> sources) override;
  void add(int worker, std::span<const std::uint64_t> ids, Weights weights) override;
  void add_narrow(int worker, std::span<const std::uint32_t> ids, Weights weights) override;
  void add_vertices(int worker, std::span<const std::uint64_t> ids) override;
  BuildSummary write(std::uint32_t flags, const Progress& progress) override;

 private:
  struct Chunk {
    PooledNumbers<std::uint32_t> narrow;  // narrow or wide ids: one of the two is empty
    std::vector<std::uint64_t> wide;
    PackedWeights weights;
    std::uint64_t first_id = 0, max_id = 0;
    bool vertices = false;  ///< whether they are vertices, not edges; see add_vertices()
  };
  Chunk& add_chunk(int worker, std::uint64_t first_id, std::uint64_t max_id, Weights weights);
  std::vector<Chunk> take_chunks();
  BuildSummary write_chunks(const Progress& progress);

  OutputFile& output_;
  GraphShape shape_;
  std::optional<Builder> builder_;  ///< builder of counted vertices
  std::shared_ptr<BlockPool> pool_ = std::make_shared<BlockPool>();
  std::vector<std::vector<Chunk>> chunks_;  ///< chunks of other vertices by worker
};

}  // namespace edgewire::graph
