// Turns edges in any order, from several threads, into an .ew file.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/output_file.h"
#include "graph/parallel.h"

namespace edgewire::graph {

struct BuildOptions {
  bool weighted = false;
  bool simple = false;      ///< drop self loops, and of duplicate edges all but the one of least weight
  bool undirected = false;  ///< store each edge both ways (self loops once)
  int workers = 1;
  bool keep_ids = false;             ///< vertices are all ids up to the largest, also where few of them occur
  std::string must_hold_edges = {};  ///< the input that must, for messages; empty: it need not
  /// Told how big a file becomes that keeps sparse ids, before it is written. May be empty.
  std::function<void(const std::string&)> note = {};
};

/// Throws Error where the input must hold edges and none was read.
void require_edges(const BuildOptions& options, std::uint64_t edges_read);
/// Tells options.note how big the file becomes, where ids are kept though they are sparse.
void note_size(const BuildOptions& options, std::uint64_t vertices, std::uint64_t edges,
               std::uint64_t file_bytes);

/// What was written.
struct BuildSummary {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  std::uint64_t dropped = 0;  ///< edges that `simple` took away
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;    ///< see GraphFile
  bool third_is_weight = false;  ///< a third column was taken for weights without being called so
  bool compacted = false;        ///< ids were sparse, and only those that occur became vertices
};

/// Collects edges in buckets by the high bits of their source, sorts the buckets in parallel and writes the
/// file. The same edges give the same bytes, whatever the order and the number of workers. Memory: about 9
/// bytes for each stored edge (13 with weights) plus 8 for each vertex; the largest bucket, for each worker,
/// twice.
class Builder {
 public:
  /// `expected_edges` only guides the number of buckets. Throws Error when there are too many vertices.
  Builder(std::uint64_t vertices, std::uint64_t expected_edges, const BuildOptions& options);
  ~Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  /// Each worker calls this for itself. Source and target are less than vertices; the weight is finite.
  void add(int worker, std::uint32_t source, std::uint32_t target, float weight) {
    put(worker, source, target, weight);
    if (options_.undirected && source != target) put(worker, target, source, weight);
  }

  /// Writes and commits the file. `original_ids` is empty or holds one for each vertex. `flags` are added to
  /// those that follow from the options (Flag in format.h): what the caller knows of the graph. Called once.
  BuildSummary write(OutputFile& output, std::span<const std::uint64_t> original_ids, std::uint32_t flags,
                     const Progress& progress);

 private:
  static constexpr std::uint32_t kBlockEdges = 2048;
  struct Block {
    std::array<std::uint64_t, kBlockEdges> edges;  // source << 32 | target
  };
  struct WeightedBlock : Block {
    std::array<float, kBlockEdges> weights;
  };
  struct Stream {  // what one worker has put into one bucket
    std::uint64_t* edges = nullptr;
    float* weights = nullptr;
    std::uint32_t filled = kBlockEdges;
    std::vector<std::unique_ptr<Block>> blocks;
    std::vector<std::unique_ptr<WeightedBlock>> weighted_blocks;
  };
  struct Bucket {  // sorted
    std::vector<std::uint32_t> targets;
    std::vector<float> weights;
  };

  void put(int worker, std::uint32_t source, std::uint32_t target, float weight) {
    Stream& stream = streams_[static_cast<std::size_t>(worker)][source >> shift_];
    if (stream.filled == kBlockEdges) grow(stream);
    stream.edges[stream.filled] = std::uint64_t{source} << 32 | target;
    if (options_.weighted) stream.weights[stream.filled] = weight;
    ++stream.filled;
  }
  void grow(Stream& stream) const;
  template <class Visit>
  void each_edge(std::uint64_t bucket, const Visit& visit) const;
  void free_streams(std::uint64_t bucket);
  template <class Key>
  void sort_bucket(std::uint64_t bucket);
  template <class Key>
  void take_rows(std::uint64_t bucket, std::vector<Key>& keys);
  void copy_edges(std::uint32_t section, std::uint64_t first, std::uint64_t count, std::byte* to) const;

  std::uint64_t vertices_;
  BuildOptions options_;
  int shift_ = 0;
  std::vector<std::vector<Stream>> streams_;  // [worker][bucket]
  std::vector<Bucket> buckets_;
  std::vector<std::uint64_t> bucket_starts_;  // first edge of each bucket, and the end
  std::vector<std::uint64_t> offsets_;        // degrees (at vertex + 1) until all buckets are sorted
};

}  // namespace edgewire::graph
