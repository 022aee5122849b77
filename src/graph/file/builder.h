// Turns edges in any order, from several threads, into an .ew file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/output_file.h"
#include "base/parallel.h"
#include "edgewire/numbering.h"
#include "graph/file/format.h"
#include "graph/file/weights.h"

namespace edgewire::graph {

/// The reason why a column is taken for weights. Where inputs differ, the larger one counts.
enum class WeightColumn {
  guessed,  ///< the column is the third one
  named,    ///< the user or the file calls it so
  time      ///< the column is the third one, and the file calls it a time
};

struct BuildOptions {
  bool weighted = false;
  /// Whether to drop self loops, and of duplicate edges all but the one of least weight.
  bool simple = false;
  bool undirected = false;  ///< whether to store each edge both ways (self loops once)
  int workers = 1;
  bool keep_ids = false;  ///< whether vertices are all ids up to the largest, also where few of them occur
  /// Name of the input that must hold edges, for messages; empty: it need not.
  std::string must_hold_edges = {};
  /// Called, if it is not empty, to say how big a file with sparse ids becomes, and which weight was rounded.
  std::function<void(const std::string&)> note = {};
  WeightColumn column = WeightColumn::named;
};

/// Returns whether so few of `ids` ids can have edges that vertices for all of them would mostly be a waste
/// of memory. Small graphs are never sparse.
constexpr bool are_sparse(std::uint64_t ids, std::uint64_t edges) {
  return ids > (1U << 20) && ids / 16 > edges;
}

/// Throws Error where the input must hold edges and none was read.
void require_edges(const BuildOptions& options, std::uint64_t edges_read);
/// Tells options.note how big the file becomes, where ids are kept though they are sparse.
void note_size(const BuildOptions& options, std::uint64_t vertices, std::uint64_t edges,
               std::uint64_t file_bytes);
/// Returns the flags (Flag in format.h) of a graph that is built with these options from such weights.
std::uint32_t flags_of(const BuildOptions& options, const WeightFacts& weights);

/// The figures of the written file.
struct BuildSummary {
  std::uint64_t vertices = 0, edges = 0;
  std::uint64_t dropped = 0;  ///< number of edges that `simple` took away
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;    ///< checksum, see Graph
  bool third_is_weight = false;  ///< whether a third column was taken for weights without being called so
  bool compacted = false;        ///< whether ids were sparse, and only those that occur became vertices
  WeightType weights = {};       ///< type of the weights, where the graph has some
  bool doubtful = false;         ///< whether the weights may be times, see Graph::weights_doubtful()
  bool named = false;            ///< whether ids of the input are names
};

/// Hands out memory in blocks of one size: what one step of a build frees, the next one takes. Nothing goes
/// back to the system before the pool goes. Thread safe. It does not ask for large pages: on a busy machine
/// they took the system longer than small ones (measured on Zen 4).
class BlockPool {
 public:
  static constexpr std::size_t kBytes = 16 << 10;

  BlockPool() = default;
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  /// Returns a block whose content is undefined. Throws std::bad_alloc.
  void* take();
  void give_back(void* block) noexcept;

 private:
  struct Free {
    Free* next;
  };
  void add_batch(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  Free* free_ = nullptr;
  std::vector<std::pair<void*, std::size_t>> regions_;  // regions as they were mapped
  std::byte* next_ = nullptr;                           // start of the rest of the last region
  std::byte* end_ = nullptr;
};

/// Numbers one behind the other in blocks of a pool, which must outlive them.
template <class Number>
class PooledNumbers {
 public:
  static constexpr std::size_t kInBlock = BlockPool::kBytes / sizeof(Number);

  PooledNumbers() = default;
  PooledNumbers(BlockPool& pool, std::span<const Number> numbers) : pool_(&pool) {
    blocks_.reserve((numbers.size() + kInBlock - 1) / kInBlock);
    for (; size_ < numbers.size(); size_ += std::min(kInBlock, numbers.size() - size_)) {
      blocks_.push_back(static_cast<Number*>(pool.take()));
      const auto some = numbers.subspan(size_, std::min(kInBlock, numbers.size() - size_));
      std::copy(some.begin(), some.end(), blocks_.back());
    }
  }
  PooledNumbers(PooledNumbers&& other) noexcept { swap(other); }
  PooledNumbers& operator=(PooledNumbers&& other) noexcept {
    PooledNumbers(std::move(other)).swap(*this);
    return *this;
  }
  ~PooledNumbers() {
    // The last block comes first, so that the next taker gets them in the order of their addresses.
    for (; !blocks_.empty(); blocks_.pop_back()) pool_->give_back(blocks_.back());
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  /// Returns the numbers of one block, from number `first` on; none behind the last one.
  std::span<const Number> from(std::size_t first) const noexcept {
    if (first >= size_) return {};
    const std::size_t in_block = first % kInBlock;
    return {blocks_[first / kInBlock] + in_block, std::min(kInBlock - in_block, size_ - first)};
  }

 private:
  void swap(PooledNumbers& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(size_, other.size_);
    blocks_.swap(other.blocks_);
  }

  BlockPool* pool_ = nullptr;
  std::size_t size_ = 0;
  std::vector<Number*> blocks_;
};

/// Collects edges in buckets by the high bits of their source, sorts the buckets in parallel and writes the
/// file. The same edges give the same bytes, whatever the order and the number of workers. Memory: about 9
/// bytes for each stored edge (13 with weights, 17 where these have 8 bytes; 8 more where ids have 64 bits)
/// plus 8 for each vertex; for each worker the largest bucket once, and at most 32 MB (64 where ids have 64
/// bits) to sort buckets.
class Builder {
 public:
  /// Makes a builder. `expected_edges` only guides the number of buckets. `pool`: where memory for edges is
  /// taken from, if others take some from there, too. Throws Error when there are too many vertices.
  Builder(std::uint64_t vertices, std::uint64_t expected_edges, const BuildOptions& options,
          std::shared_ptr<BlockPool> pool = std::make_shared<BlockPool>());
  ~Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  const BuildOptions& options() const noexcept { return options_; }

  /// Adds an edge. Each worker calls this for itself. Source and target are less than vertices.
  void add(int worker, PlainId source, PlainId target, Weight weight) {
    put(worker, source, target, weight);
    if (options_.undirected && source != target) put(worker, target, source, weight);
  }
  /// Does the same for edges from vertex_of(ids[2i]) to vertex_of(ids[2i + 1]). `weights`: one each, or none.
  template <class Id, class VertexOf>
  void add(int worker, std::span<const Id> ids, Weights weights, const VertexOf& vertex_of) {
    if (!options_.weighted && !options_.undirected) return add_directed(worker, ids, vertex_of);
    const auto add_all = [&](const auto& weight_of) {
      for (std::size_t i = 0; i < ids.size() / 2; ++i)
        add(worker, vertex_of(ids[2 * i]), vertex_of(ids[2 * i + 1]), weight_of(i));
    };
    if (weights.empty()) return add_all([](std::size_t) { return Weight(); });
    weights.visit([&](const auto all) { add_all([all](std::size_t i) { return Weight(all[i]); }); });
  }

  /// Writes and commits the file, once. `original_ids` is empty or holds one for each vertex. `flags`: facts
  /// of the graph that the options do not tell (Flag in format.h). `before_naming` is called with the
  /// checksum of the graph when only the name is left to be given.
  BuildSummary write(OutputFile& output, std::span<const std::uint64_t> original_ids, std::uint32_t flags,
                     const Progress& progress, const std::function<void(std::uint64_t)>& before_naming = {});

 private:
  static constexpr int kIdBits = 8 * sizeof(PlainId);
  __extension__ using Edge = std::conditional_t<kIds64, unsigned __int128, std::uint64_t>;  // source, target
  static constexpr std::uint32_t kBlockEdges = BlockPool::kBytes / sizeof(Edge);
  struct Block {
    Edge* edges;
    PackedWeights weights;  // weights of a closed block
  };
  struct Stream {  // the edges that one worker has put into one bucket
    Edge* edges = nullptr;
    std::uint32_t filled = kBlockEdges;
    WeightList weights;  // weights of the last block, until it is closed
    std::vector<Block> blocks;
  };
  struct alignas(128) Worker {
    std::vector<Stream> streams;  // streams by bucket
    WeightFacts weights;          // facts of closed blocks
  };
  struct Bucket {  // a bucket that was sorted
    PooledNumbers<PlainId> targets;
    PackedWeights weights;
  };
  struct Scratch;  // the memory that a worker needs to sort buckets

  void put(int worker, PlainId source, PlainId target, Weight weight) {
    Worker& mine = workers_[static_cast<std::size_t>(worker)];
    Stream& stream = mine.streams[source >> shift_];
    if (stream.filled == kBlockEdges) grow(mine, stream);
    stream.edges[stream.filled++] = Edge{source} << kIdBits | target;
    if (options_.weighted) stream.weights.add(weight);
  }
  template <class Id, class VertexOf>
  void add_directed(int worker, std::span<const Id> ids, const VertexOf& vertex_of) {
    Worker& mine = workers_[static_cast<std::size_t>(worker)];
    // Many edges in a row often have the same source.
    for (std::size_t i = 0; i < ids.size();) {
      const Id source_id = ids[i];
      const PlainId source = vertex_of(source_id);
      Stream& stream = mine.streams[source >> shift_];
      do {
        if (stream.filled == kBlockEdges) grow(mine, stream);
        const std::size_t end = std::min(ids.size(), i + 2 * std::size_t{kBlockEdges - stream.filled});
        Edge* to = stream.edges + stream.filled;
        do {
          *to++ = Edge{source} << kIdBits | PlainId{vertex_of(ids[i + 1])};
          i += 2;
        } while (i < end && ids[i] == source_id);
        stream.filled = static_cast<std::uint32_t>(to - stream.edges);
      } while (i < ids.size() && ids[i] == source_id);
    }
  }
  void close(Worker& worker, Stream& stream) const;
  void grow(Worker& worker, Stream& stream) const;
  WeightFacts close_all();
  std::vector<const Stream*> streams_of(std::uint64_t bucket) const;
  template <class Visit>
  void each_block(std::uint64_t bucket, const Visit& visit) const;
  void free_streams(std::uint64_t bucket);
  template <class Keys>
  void sort_keys(std::uint64_t bucket, Scratch& scratch);
  std::uint64_t count_rows(std::uint64_t bucket, std::span<std::uint64_t> counts, PlainId* targets) const;
  template <class Keys>
  void place_keys(std::uint64_t bucket, std::span<std::uint64_t> starts, std::span<const Edge> edges,
                  Weights weights, typename Keys::Key* keys) const;
  std::span<const Edge> edges_by_target(std::uint64_t bucket, std::uint64_t count, Scratch& scratch) const;
  template <class Keys>
  void take_rows(std::uint64_t bucket, std::span<const typename Keys::Key> keys);
  void copy_edges(std::uint32_t section, std::uint64_t first, std::uint64_t count, std::byte* to) const;

  std::uint64_t vertices_;
  BuildOptions options_;
  std::shared_ptr<BlockPool> pool_;
  int shift_ = 0;
  std::vector<Worker> workers_;
  std::vector<Bucket> buckets_;
  std::vector<std::uint64_t> bucket_starts_;  // first edge of each bucket, and the end
  std::vector<std::uint64_t> offsets_;        // degrees (at vertex + 1) until all buckets are sorted
};

}  // namespace edgewire::graph
