#include "graph/read/edge_sink.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <mutex>
#include <numeric>
#include <utility>

#include "base/bits.h"
#include "base/control_group.h"
#include "base/error.h"
#include "graph/file/format.h"
#include "options/files.h"

namespace edgewire::graph {

namespace {

// Groups of chunks for each worker, so that workers end at about the same time.
constexpr std::size_t kGroups = 16;

constexpr std::size_t kAhead = 512;  // ids that are prefetched before they are needed

template <class Chunk, class Visit>
void each_id(const Chunk& chunk, const Visit& visit) {
  for (std::size_t at = 0; at < chunk.narrow.size();) {
    const auto ids = chunk.narrow.from(at);
    std::uint64_t last = ~std::uint64_t{0};
    for (std::size_t i = 0; i < ids.size(); i += 2) {
      __builtin_prefetch(ids.data() + i + kAhead);
      if (ids[i] != last) visit(last = ids[i]);  // many edges in a row often have the same source
      visit(std::uint64_t{ids[i + 1]});
    }
    at += ids.size();
  }
  for (const std::uint64_t id : chunk.wide) visit(id);
}

/// The ids that occur, and the rank of each: a bitmap where that is not larger than the edges, else sorted.
template <class Chunk>
class IdSet {
 public:
  IdSet(std::vector<Chunk>& chunks, std::uint64_t max_id, std::uint64_t edges, int workers) {
    max_id / 32 <= edges ? mark(chunks, max_id, edges, workers) : collect(chunks, workers);
  }

  std::uint64_t size() const { return bitmap_ ? bitmap_->count() : sorted_.size(); }

  /// Returns the rank of `id`, which must be in the set.
  std::uint64_t rank(std::uint64_t id) const {
    if (bitmap_) return bitmap_->below(id);
    return static_cast<std::uint64_t>(std::ranges::lower_bound(sorted_, id) - sorted_.begin());
  }

  std::vector<std::uint64_t> sorted() const { return bitmap_ ? bitmap_->members() : sorted_; }

 private:
  void mark(const std::vector<Chunk>& chunks, std::uint64_t max_id, std::uint64_t edges, int workers) {
    // Each worker has a bitmap of its own, where all together take at most a byte for each edge: cores that
    // write the same cache lines in turns wait for each other.
    const std::uint64_t all_bytes = max_id / 8 * static_cast<std::uint64_t>(workers);
    const bool shared = workers > 1 && all_bytes > edges;
    std::vector<SharedBits> maps(shared ? 1 : static_cast<std::size_t>(workers),
                                 SharedBits(max_id + 1, shared));
    parallel_for(workers, chunks.size(), [&](int worker, std::uint64_t index) {
      SharedBits& bits = maps[shared ? 0 : static_cast<std::size_t>(worker)];
      each_id(chunks[index], [&](std::uint64_t id) { bits.add(id); });
    });
    bitmap_.emplace(maps[0].words(), [&](std::size_t w) {
      Bits::Word word = 0;
      for (const SharedBits& bits : maps) word |= bits.word(w);
      return word;
    });
  }

  void collect(const std::vector<Chunk>& chunks, int workers) {
    std::mutex mutex;
    std::vector<std::vector<std::uint64_t>> runs;  // sorted runs; two of about the same length are merged
    const auto merge_in = [&](std::vector<std::uint64_t> run) {
      for (;;) {
        std::vector<std::uint64_t> other;
        {
          const std::lock_guard lock(mutex);
          const auto near = std::find_if(runs.begin(), runs.end(), [&](const auto& candidate) {
            return candidate.size() <= 2 * run.size() && run.size() <= 2 * candidate.size();
          });
          if (near == runs.end()) {
            runs.push_back(std::move(run));
            return;
          }
          other = std::move(*near);
          runs.erase(near);
        }
        run = united(run, other);
      }
    };
    parallel_for(workers, chunks.size(), [&](int, std::uint64_t index) {
      std::vector<std::uint64_t> run;
      each_id(chunks[index], [&](std::uint64_t id) { run.push_back(id); });
      std::sort(run.begin(), run.end());
      run.erase(std::unique(run.begin(), run.end()), run.end());
      merge_in(std::move(run));
    });
    std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
    for (const auto& run : runs) sorted_ = united(sorted_, run);
  }

  static std::vector<std::uint64_t> united(const std::vector<std::uint64_t>& a,
                                           const std::vector<std::uint64_t>& b) {
    std::vector<std::uint64_t> both;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    return both;
  }

  std::optional<RankedBits> bitmap_;
  std::vector<std::uint64_t> sorted_;
};

}  // namespace

void EdgeSink::add_narrow(int worker, std::span<const std::uint32_t> ids, Weights weights) {
  static thread_local std::vector<std::uint64_t> wide;  // memory that is kept for the next call
  wide.assign(ids.begin(), ids.end());
  add(worker, wide, weights);
}

void MemorySink::start(const GraphShape& shape, std::span<const std::uint64_t> /*sources*/) {
  shape_ = shape;
  chunks_.resize(static_cast<std::size_t>(shape.options.workers));
  if (shape.numbering != GraphShape::Numbering::counted) return;
  require_memory(shape.name, shape.vertices * 16);
  builder_.emplace(shape.vertices, shape.expected_edges, shape.options);
}

MemorySink::Chunk& MemorySink::add_chunk(int worker, std::uint64_t first_id, std::uint64_t max_id,
                                         Weights weights) {
  WeightFacts facts;
  facts.add(weights);
  Chunk& chunk = chunks_[static_cast<std::size_t>(worker)].emplace_back();
  chunk.weights = PackedWeights(weights, facts.type());
  chunk.first_id = first_id;
  chunk.max_id = max_id;
  return chunk;
}

void MemorySink::add(int worker, std::span<const std::uint64_t> ids, Weights weights) {
  if (builder_)
    return builder_->add(worker, ids, weights, [](std::uint64_t id) { return static_cast<PlainId>(id); });
  if (ids.empty()) return;
  const std::uint64_t max_id = *std::max_element(ids.begin(), ids.end());
  Chunk& chunk = add_chunk(worker, ids.front(), max_id, weights);
  if (max_id > std::numeric_limits<std::uint32_t>::max()) return chunk.wide.assign(ids.begin(), ids.end());
  chunk.narrow = PooledNumbers<std::uint32_t>(*pool_, std::vector<std::uint32_t>(ids.begin(), ids.end()));
}

void MemorySink::add_narrow(int worker, std::span<const std::uint32_t> ids, Weights weights) {
  if (builder_) return builder_->add(worker, ids, weights, [](std::uint32_t id) { return PlainId{id}; });
  if (ids.empty()) return;
  add_chunk(worker, ids.front(), *std::max_element(ids.begin(), ids.end()), weights).narrow =
      PooledNumbers(*pool_, ids);
}

void MemorySink::add_vertices(int worker, std::span<const std::uint64_t> ids) {
  if (ids.empty()) return;
  add(worker, ids, Weights());
  chunks_[static_cast<std::size_t>(worker)].back().vertices = true;
}

/// Returns all chunks, in the order of their first ids: then edges are sorted where the input is sorted.
std::vector<MemorySink::Chunk> MemorySink::take_chunks() {
  std::vector<Chunk> chunks;
  for (auto& of_worker : chunks_) std::move(of_worker.begin(), of_worker.end(), std::back_inserter(chunks));
  chunks_.clear();
  std::ranges::sort(chunks, {}, &Chunk::first_id);
  return chunks;
}

BuildSummary MemorySink::write_chunks(const Progress& progress) {
  using Numbering = GraphShape::Numbering;
  const BuildOptions& options = shape_.options;
  Numbering numbering = shape_.numbering;
  std::vector<Chunk> chunks = take_chunks();
  std::uint64_t max_id = 0, edges = 0;
  for (const Chunk& chunk : chunks) {
    max_id = std::max(max_id, chunk.max_id);
    edges += chunk.vertices ? 0 : (chunk.narrow.size() + chunk.wide.size()) / 2;
  }
  const bool compacted = numbering == Numbering::given && !options.keep_ids && are_sparse(max_id, edges);
  if (options.keep_ids) numbering = Numbering::given;
  if (compacted) numbering = Numbering::dense;
  if (numbering == Numbering::given && max_id >= kMaxVertices)
    throw Error(fmt::format("{}: vertex id {} is larger than the {} that is supported with {}{}", shape_.name,
                            max_id, kMaxVertices - 1, opt::keep_ids, kMoreVertices));
  // 0 when max_id is 2^64 - 1; used for Numbering::given alone.
  std::uint64_t vertices = chunks.empty() ? 0 : max_id + 1;
  std::vector<std::uint64_t> original_ids;
  const auto build_with = [&](const auto& vertex_of) {
    require_memory(shape_.name, vertices * 8);
    Builder builder(vertices, edges, options, pool_);
    const auto take = [&](int worker, const Chunk& chunk) {
      if (chunk.vertices) return;
      const Weights weights = options.weighted ? chunk.weights.view() : Weights();
      for (std::size_t at = 0; at < chunk.narrow.size();) {
        const auto ids = chunk.narrow.from(at);
        builder.add(worker, ids, weights.empty() ? weights : weights.subspan(at / 2, ids.size() / 2),
                    vertex_of);
        at += ids.size();
      }
      if (!chunk.wide.empty()) builder.add(worker, std::span(chunk.wide), weights, vertex_of);
    };
    // A worker takes many chunks in a row, so that hardly any bucket gets edges of two workers in turns.
    const std::uint64_t groups = std::min(chunks.size(), kGroups * static_cast<std::size_t>(options.workers));
    parallel_for(options.workers, groups, "numbering vertices", progress,
                 [&](int worker, std::uint64_t group) {
                   const std::uint64_t end = chunks.size() * (group + 1) / groups;
                   // Each chunk is freed when its edges have been copied.
                   for (std::uint64_t i = chunks.size() * group / groups; i < end; ++i)
                     take(worker, std::exchange(chunks[i], {}));
                 });
    BuildSummary summary = builder.write(output_, original_ids, 0, progress);
    summary.compacted = compacted;
    return summary;
  };
  const auto given = [](std::uint64_t id) { return static_cast<PlainId>(id); };
  if (numbering == Numbering::given || chunks.empty()) return build_with(given);
  IdSet<Chunk> ids(chunks, max_id, edges, options.workers);
  if (ids.size() == vertices) return build_with(given);
  vertices = ids.size();
  if (vertices > kMaxVertices)
    throw Error(fmt::format("{}: {} vertices are more than the {} that are supported{}", shape_.name,
                            vertices, kMaxVertices, kMoreVertices));
  original_ids = ids.sorted();
  return build_with([&](std::uint64_t id) { return static_cast<PlainId>(ids.rank(id)); });
}

BuildSummary MemorySink::write(std::uint32_t flags, const Progress& progress) {
  if (!builder_) return write_chunks(progress);
  std::vector<std::uint64_t> original_ids;
  if (shape_.first_id > 0) {
    original_ids.resize(shape_.vertices);
    std::iota(original_ids.begin(), original_ids.end(), shape_.first_id);
  }
  return builder_->write(output_, original_ids, flags, progress);
}

}  // namespace edgewire::graph
