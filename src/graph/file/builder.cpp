#include "graph/file/builder.h"

#include <fmt/core.h>

#include <bit>
#include <cstring>
#include <numeric>

#include "base/digit_sort.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "base/units.h"
#include "graph/file/sections.h"
#include "options/files.h"

namespace edgewire::graph {

namespace {

constexpr std::uint64_t kBucketEdges = std::uint64_t{1} << 18;  // a bucket's targets fit the L2 cache
constexpr std::uint64_t kBucketRows = std::uint64_t{1} << 22;   // bounds what a worker keeps for each row
// A bucket is dealt by target where rows are hardly ever sorted as they come: where more than one in so many
// edges is less than the one before. It must not be much larger than usual, for it takes memory twice.
constexpr std::uint64_t kFewFalls = 8;
constexpr std::uint64_t kDealtEdges = 8 * kBucketEdges;
constexpr std::uint64_t kMaxBuckets = 1024;  // more write streams than this overwhelm the TLB

__extension__ using Wide = unsigned __int128;

/// Keys that sort the edges of a row by target.
struct TargetKeys {
  using Key = PlainId;
  static Key key(PlainId target) { return target; }
  static PlainId target(Key key) { return key; }
};

/// Keys that sort the edges of a row by target, and edges to the same one by weight.
template <class Number>
struct WeightedKeys {
  using Weight = Number;
  using Key = std::conditional_t<sizeof(PlainId) + sizeof(Number) == 8, std::uint64_t, Wide>;
  static constexpr int kBits = 8 * sizeof(Number);
  template <class Stored>
  static Key key(PlainId target, Stored weight) {
    return Key{target} << kBits | weight_key(static_cast<Number>(weight));
  }
  static PlainId target(Key key) { return static_cast<PlainId>(key >> kBits); }
  static Number weight(Key key) { return weight_of<Number>(static_cast<WeightKey<Number>>(key)); }
};

}  // namespace

void require_edges(const BuildOptions& options, std::uint64_t edges_read) {
  if (edges_read == 0 && !options.must_hold_edges.empty())
    throw Error(fmt::format("{}: it holds no edge{}", options.must_hold_edges,
                            opt::allow_empty.hint("; {} makes a graph of it all the same")));
}

void note_size(const BuildOptions& options, std::uint64_t vertices, std::uint64_t edges,
               std::uint64_t file_bytes) {
  if (!options.keep_ids || !options.note || !are_sparse(vertices, edges)) return;
  options.note(fmt::format("{}: {} vertices for {} edges take {}", opt::keep_ids, vertices, edges,
                           readable_bytes(file_bytes)));
}

std::uint32_t flags_of(const BuildOptions& options, const WeightFacts& weights) {
  std::uint32_t flags =
      (options.simple ? std::uint32_t{kSimple} : 0U) | (options.undirected ? std::uint32_t{kSymmetric} : 0U);
  if (!options.weighted) return flags;
  flags |= weight_flags(weights.type());
  if (weights.floats && weights.type() != WeightType::f32) flags |= kFloatWeights;
  const bool times = options.column == WeightColumn::time ||
                     (options.column == WeightColumn::guessed && weights.like_times());
  return times ? flags | kDoubtfulWeights : flags;
}

Builder::Builder(std::uint64_t vertices, std::uint64_t expected_edges, const BuildOptions& options,
                 std::shared_ptr<BlockPool> pool)
    : vertices_(vertices), options_(options), pool_(std::move(pool)) {
  if (vertices > kMaxVertices)
    throw Error(fmt::format("{} vertices are more than the {} that are supported{}", vertices, kMaxVertices,
                            kMoreVertices));
  const std::uint64_t wanted = std::clamp<std::uint64_t>(
      std::max(expected_edges / kBucketEdges, vertices / kBucketRows), 1, kMaxBuckets);
  const int vertex_bits = vertices > 1 ? static_cast<int>(std::bit_width(vertices - 1)) : 0;
  shift_ = std::max(0, vertex_bits - static_cast<int>(std::bit_width(wanted - 1)));
  const std::uint64_t buckets = vertices == 0 ? 0 : ((vertices - 1) >> shift_) + 1;
  workers_.resize(static_cast<std::size_t>(options.workers));
  for (Worker& worker : workers_) worker.streams.resize(buckets);
  buckets_.resize(buckets);
}

Builder::~Builder() {
  for (std::uint64_t bucket = 0; bucket < buckets_.size(); ++bucket) free_streams(bucket);
}

/// Packs the weights of the last block.
void Builder::close(Worker& worker, Stream& stream) const {
  if (stream.blocks.empty() || !options_.weighted) return;
  const Weights weights = stream.weights.view();
  WeightFacts facts;
  facts.add(weights);
  stream.blocks.back().weights = PackedWeights(weights, facts.type());
  worker.weights.add(facts);
  stream.weights.clear();
}

void Builder::grow(Worker& worker, Stream& stream) const {
  close(worker, stream);
  stream.blocks.reserve(stream.blocks.size() + 1);  // so that no block is lost
  stream.edges = static_cast<Edge*>(pool_->take());
  stream.blocks.push_back({stream.edges, {}});
  stream.filled = 0;
}

/// Closes all blocks, and returns the facts of all weights.
WeightFacts Builder::close_all() {
  WeightFacts all;
  parallel_for(options_.workers, workers_.size(), [&](int, std::uint64_t index) {
    for (Stream& stream : workers_[index].streams) {
      close(workers_[index], stream);
      stream.weights = WeightList();
    }
  });
  for (const Worker& worker : workers_) all.add(worker.weights);
  return all;
}

/// Returns the streams of a bucket, sorted by their first edges. All edges of the bucket are in order if each
/// worker has added its edges in order and the ranges of the workers do not overlap.
std::vector<const Builder::Stream*> Builder::streams_of(std::uint64_t bucket) const {
  std::vector<const Stream*> streams;
  for (const Worker& worker : workers_)
    if (!worker.streams[bucket].blocks.empty()) streams.push_back(&worker.streams[bucket]);
  std::ranges::sort(streams, {}, [](const Stream* stream) { return *stream->blocks.front().edges; });
  return streams;
}

/// Calls visit(edges, weights) for the closed blocks of a bucket.
template <class Visit>
void Builder::each_block(std::uint64_t bucket, const Visit& visit) const {
  for (const Stream* const stream : streams_of(bucket)) {
    for (const Block& block : stream->blocks) {
      const bool last = block.edges == stream->edges;
      visit(std::span<const Edge>(block.edges, last ? stream->filled : kBlockEdges), block.weights.view());
    }
  }
}

void Builder::free_streams(std::uint64_t bucket) {
  for (Worker& worker : workers_) {
    Stream& stream = worker.streams[bucket];
    for (; !stream.blocks.empty(); stream.blocks.pop_back()) pool_->give_back(stream.blocks.back().edges);
    stream = Stream{};
  }
}

/// The memory of a worker, kept from bucket to bucket.
struct Builder::Scratch {
  std::vector<std::uint64_t> ends;
  std::vector<std::byte> keys;
  std::vector<Edge> edges;

  /// Returns memory for keys, which is not filled with anything.
  template <class Key>
  Key* keys_of(std::uint64_t count) {
    // The alignment of operator new is enough for all kinds of keys.
    if (keys.size() < count * sizeof(Key)) {
      keys = {};
      keys.resize(count * sizeof(Key) * 9 / 8);
    }
    return reinterpret_cast<Key*>(keys.data());
  }
};

/// Adds the number of edges of each row to the counts of the rows behind it, and writes the targets as they
/// come. Returns how many edges are less than the one before: with none, the targets are in order, too.
std::uint64_t Builder::count_rows(std::uint64_t bucket, std::span<std::uint64_t> counts,
                                  PlainId* targets) const {
  const std::uint64_t first = bucket << shift_;
  std::uint64_t all_falls = 0;
  Edge last = 0;
  each_block(bucket, [&](std::span<const Edge> edges, Weights) {
    const std::size_t size = edges.size();
    std::uint64_t falls = last > edges[0] ? 1 : 0;
    for (std::size_t i = 1; i < size; ++i) falls += edges[i - 1] > edges[i] ? 1 : 0;
    all_falls += falls;
    last = edges[size - 1];
    for (std::size_t i = 0; i < size; ++i) targets[i] = static_cast<PlainId>(edges[i]);
    targets += size;
    for (std::size_t i = 0; i < size;) {
      // In sorted edges, all edges between two of one source have this source.
      constexpr std::size_t kStride = 16;
      const auto source = static_cast<PlainId>(edges[i] >> kIdBits);
      const auto has_source = [&](std::size_t at) {
        return at < size && static_cast<PlainId>(edges[at] >> kIdBits) == source;
      };
      const std::size_t start = i;
      while (falls == 0 && has_source(i + kStride)) i += kStride;
      while (has_source(++i)) {
      }
      counts[source - first + 1] += i - start;
    }
  });
  return all_falls;
}

/// Puts the key of each edge into its row. Moves the start of each row to its end.
template <class Keys>
void Builder::place_keys(std::uint64_t bucket, std::span<std::uint64_t> starts, std::span<const Edge> edges,
                         Weights weights, typename Keys::Key* keys) const {
  const std::uint64_t first = bucket << shift_;
  const auto place = [&](const auto&... weight) {
    for (std::size_t i = 0; i < edges.size();) {
      const auto source = static_cast<PlainId>(edges[i] >> kIdBits);
      std::uint64_t& start = starts[source - first];
      auto* to = keys + start;
      do {
        *to++ = Keys::key(static_cast<PlainId>(edges[i]), weight[i]...);
      } while (++i < edges.size() && static_cast<PlainId>(edges[i] >> kIdBits) == source);
      start = static_cast<std::uint64_t>(to - keys);
    }
  };
  if constexpr (std::is_same_v<Keys, TargetKeys>)
    place();
  else
    weights.visit(place);
}

std::span<const Builder::Edge> Builder::edges_by_target(std::uint64_t bucket, std::uint64_t count,
                                                        Scratch& scratch) const {
  if (scratch.edges.size() < 2 * count) scratch.edges.resize(2 * count);
  const std::span<Edge> edges = std::span(scratch.edges).first(count);
  auto to = edges.begin();
  each_block(bucket, [&](std::span<const Edge> some, Weights) { to = std::ranges::copy(some, to).out; });
  return digit_sort(edges, std::span(scratch.edges).subspan(count, count),
                    static_cast<int>(std::bit_width(vertices_)));
}

template <class Keys>
void Builder::sort_keys(std::uint64_t bucket, Scratch& scratch) {
  const std::uint64_t first = bucket << shift_;
  const std::uint64_t rows = std::min(vertices_ - first, std::uint64_t{1} << shift_);
  std::vector<std::uint64_t>& ends = scratch.ends;
  ends.assign(rows + 1, 0);
  std::uint64_t edges = 0;
  each_block(bucket, [&](std::span<const Edge> some, Weights) { edges += some.size(); });
  auto* const keys = scratch.template keys_of<typename Keys::Key>(edges);
  const std::uint64_t falls = count_rows(bucket, ends, reinterpret_cast<PlainId*>(keys));
  const bool sorted = falls == 0 && !options_.weighted;
  const bool by_target = falls > edges / kFewFalls && edges <= kDealtEdges && !options_.weighted;
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  const auto place = [&](std::span<const Edge> some, Weights weights) {
    place_keys<Keys>(bucket, std::span(ends).first(rows), some, weights, keys);
  };
  if (by_target)
    place(edges_by_target(bucket, edges, scratch), Weights());
  else if (!sorted)
    each_block(bucket, place);
  free_streams(bucket);
  std::uint64_t kept = 0, begin = 0;
  for (std::uint64_t row = 0; row < rows; ++row) {
    const std::uint64_t end = ends[sorted ? row + 1 : row];
    if (!sorted && !by_target && !std::is_sorted(keys + begin, keys + end))
      std::sort(keys + begin, keys + end);
    const std::uint64_t row_start = kept;
    if (!options_.simple) kept = end;
    for (std::uint64_t i = begin; options_.simple && i < end; ++i) {
      const PlainId target = Keys::target(keys[i]);
      const bool drop = target == first + row || (kept > row_start && target == Keys::target(keys[kept - 1]));
      if (!drop) keys[kept++] = keys[i];
    }
    offsets_[first + row + 1] = kept - row_start;
    begin = end;
  }
  take_rows<Keys>(bucket, {keys, kept});
}

template <class Keys>
void Builder::take_rows(std::uint64_t bucket, std::span<const typename Keys::Key> keys) {
  Bucket& sorted = buckets_[bucket];
  if constexpr (std::is_same_v<Keys, TargetKeys>) {
    sorted.targets = PooledNumbers<PlainId>(*pool_, keys);
  } else {
    using Number = typename Keys::Weight;
    std::vector<PlainId> targets;
    targets.reserve(keys.size());
    sorted.weights = PackedWeights(weight_type_of<Number>(), keys.size());
    Number* weight = sorted.weights.template data<Number>();
    for (const auto key : keys) {
      targets.push_back(Keys::target(key));
      *weight++ = Keys::weight(key);
    }
    sorted.targets = PooledNumbers<PlainId>(*pool_, targets);
  }
}

void Builder::copy_edges(std::uint32_t section, std::uint64_t first, std::uint64_t count,
                         std::byte* to) const {
  const auto after = std::upper_bound(bucket_starts_.begin(), bucket_starts_.end(), first);
  auto bucket = static_cast<std::size_t>(after - bucket_starts_.begin()) - 1;
  for (; count > 0; ++bucket) {
    const std::uint64_t skip = first - bucket_starts_[bucket];
    const std::uint64_t taken = std::min(count, bucket_starts_[bucket + 1] - first);
    if (taken == 0) continue;
    if (section == kWeights) {
      const auto from = buckets_[bucket].weights.view().subspan(skip, taken).bytes();
      to = std::copy(from.begin(), from.end(), to);
    }
    for (std::uint64_t done = 0; section == kTargets && done < taken;) {
      const auto some = buckets_[bucket].targets.from(skip + done);
      const auto from = std::as_bytes(some.first(std::min<std::uint64_t>(some.size(), taken - done)));
      to = std::copy(from.begin(), from.end(), to);
      done += from.size() / sizeof(PlainId);
    }
    first += taken;
    count -= taken;
  }
}

BuildSummary Builder::write(OutputFile& output, std::span<const std::uint64_t> original_ids,
                            std::uint32_t flags, const Progress& progress,
                            const std::function<void(std::uint64_t)>& before_naming) {
  std::uint64_t added = 0;
  for (const Worker& worker : workers_)
    for (const Stream& stream : worker.streams)
      if (!stream.blocks.empty()) added += (stream.blocks.size() - 1) * kBlockEdges + stream.filled;
  require_edges(options_, added);
  if (added > kMaxEdges)
    throw Error(fmt::format("{} edges are more than the {} that are supported", added, kMaxEdges));
  offsets_.resize(vertices_ + 1);
  const WeightFacts weights = close_all();
  {
    std::vector<Scratch> scratch(workers_.size());
    parallel_for(options_.workers, buckets_.size(), "sorting edges", progress,
                 [&](int worker, std::uint64_t bucket) {
                   Scratch& mine = scratch[static_cast<std::size_t>(worker)];
                   if (!options_.weighted) return sort_keys<TargetKeys>(bucket, mine);
                   Weights(weights.type(), nullptr, 0).visit([&]<class Number>(std::span<const Number>) {
                     sort_keys<WeightedKeys<Number>>(bucket, mine);
                   });
                 });
  }
  bucket_starts_.assign(1, 0);
  for (const Bucket& bucket : buckets_)
    bucket_starts_.push_back(bucket_starts_.back() + bucket.targets.size());
  std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());

  flags |= flags_of(options_, weights) | (original_ids.empty() ? 0U : std::uint32_t{kOriginalIds});
  Header header = lay_out(vertices_, offsets_.back(), flags);
  note_size(options_, vertices_, header.edges, file_bytes(header));
  const auto fill = [&](std::uint32_t section, std::uint64_t at, std::uint64_t count, std::byte* to) {
    if (section == kOffsets) std::memcpy(to, offsets_.data() + at, count * 8);
    if (section == kIds) std::memcpy(to, original_ids.data() + at, count * 8);
    if (section == kTargets || section == kWeights) copy_edges(section, at, count, to);
  };
  write_sections(output, header, options_.workers, fill, "writing", progress);
  refuse_changed_files();  // edges were read from these files
  if (before_naming) {
    output.prepare();
    before_naming(header.checksum);
  }
  output.commit();
  return {
      vertices_, header.edges,   added - header.edges,           file_bytes(header), header.checksum, false,
      false,     weights.type(), (flags & kDoubtfulWeights) != 0};
}

}  // namespace edgewire::graph
