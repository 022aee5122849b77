#include "graph/builder.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "error.h"
#include "graph/checksum.h"
#include "graph/edge_list.h"
#include "graph/format.h"
#include "graph/mapped_file.h"
#include "graph/weight_key.h"

namespace edgewire::graph {

namespace {

constexpr std::uint64_t kBucketEdges = std::uint64_t{1} << 18;  // a bucket's targets fit the L2 cache
constexpr std::uint64_t kBucketRows = std::uint64_t{1} << 22;   // bounds what a worker keeps for each row
constexpr std::uint64_t kMaxBuckets = 1024;  // more write streams than this overwhelm the TLB

__extension__ using Wide = unsigned __int128;

/// Keys that sort the edges of a row by target.
struct TargetKeys {
  using Key = PlainId;
  static Key key(PlainId target) { return target; }
  static PlainId target(Key key) { return key; }
};

/// By target, and edges to the same one by weight.
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
    throw Error(fmt::format("{}: it holds no edge; --allow-empty makes a graph of it all the same",
                            options.must_hold_edges));
}

void note_size(const BuildOptions& options, std::uint64_t vertices, std::uint64_t edges,
               std::uint64_t file_bytes) {
  if (!options.keep_ids || !options.note || !are_sparse(vertices, edges)) return;
  options.note(fmt::format("--keep-ids: {} vertices for {} edges take {:.1f} MB", vertices, edges,
                           static_cast<double>(file_bytes) / 1e6));
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

Builder::Builder(std::uint64_t vertices, std::uint64_t expected_edges, const BuildOptions& options)
    : vertices_(vertices), options_(options) {
  if (vertices > kMaxVertices) {
    throw Error(fmt::format("{} vertices are more than the {} that are supported{}", vertices, kMaxVertices,
                            kMoreVertices));
  }
  const std::uint64_t wanted = std::clamp<std::uint64_t>(
      std::max(expected_edges / kBucketEdges, vertices / kBucketRows), 1, kMaxBuckets);
  const int vertex_bits = vertices > 1 ? static_cast<int>(std::bit_width(vertices - 1)) : 0;
  shift_ = std::max(0, vertex_bits - static_cast<int>(std::bit_width(wanted - 1)));
  const std::uint64_t buckets = vertices == 0 ? 0 : ((vertices - 1) >> shift_) + 1;
  workers_.resize(static_cast<std::size_t>(options.workers));
  for (Worker& worker : workers_) worker.streams.resize(buckets);
  buckets_.resize(buckets);
}

Builder::~Builder() = default;

/// Packs the weights of the last block.
void Builder::close(Worker& worker, Stream& stream) const {
  if (stream.blocks.empty() || !options_.weighted) return;
  const Weights weights = stream.weights.view();
  WeightFacts facts;
  facts.add(weights);
  stream.blocks.back()->weights = PackedWeights(weights, facts.type());
  worker.weights.add(facts);
  stream.weights.clear();
}

void Builder::grow(Worker& worker, Stream& stream) const {
  close(worker, stream);
  stream.edges = stream.blocks.emplace_back(new Block)->edges.data();  // not make_unique: it needs no zeros
  stream.filled = 0;
}

/// Closes all blocks; returns what is known of all weights.
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

/// Calls visit(edges, weights) for the closed blocks of a bucket.
template <class Visit>
void Builder::each_block(std::uint64_t bucket, const Visit& visit) const {
  for (const Worker& worker : workers_) {
    const Stream& stream = worker.streams[bucket];
    for (const auto& block : stream.blocks) {
      const bool last = block->edges.data() == stream.edges;
      visit(std::span(block->edges).first(last ? stream.filled : kBlockEdges), block->weights.view());
    }
  }
}

void Builder::free_streams(std::uint64_t bucket) {
  for (Worker& worker : workers_) worker.streams[bucket] = Stream{};
}

void Builder::sort_bucket(std::uint64_t bucket, WeightType type) {
  if (!options_.weighted) return sort_keys<TargetKeys>(bucket);
  Weights(type, nullptr, 0).visit([&]<class Number>(std::span<const Number>) {
    sort_keys<WeightedKeys<Number>>(bucket);
  });
}

template <class Keys>
void Builder::sort_keys(std::uint64_t bucket) {
  const std::uint64_t first = bucket << shift_;
  const std::uint64_t rows = std::min(vertices_ - first, std::uint64_t{1} << shift_);
  std::vector<std::uint64_t> ends(rows + 1);
  each_block(bucket, [&](std::span<const Edge> edges, Weights) {
    for (const Edge edge : edges) ++ends[static_cast<std::uint64_t>(edge >> kIdBits) - first + 1];
  });
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<typename Keys::Key> keys(ends[rows]);
  // Filling moves each row's start to its end.
  each_block(bucket, [&](std::span<const Edge> edges, Weights weights) {
    const auto fill = [&](const auto&... weight) {
      for (std::size_t i = 0; i < edges.size(); ++i)
        keys[ends[static_cast<std::uint64_t>(edges[i] >> kIdBits) - first]++] =
            Keys::key(static_cast<PlainId>(edges[i]), weight[i]...);
    };
    if constexpr (std::is_same_v<Keys, TargetKeys>)
      fill();
    else
      weights.visit(fill);
  });
  free_streams(bucket);
  std::uint64_t kept = 0;
  std::uint64_t begin = 0;
  for (std::uint64_t row = 0; row < rows; ++row) {
    const std::uint64_t end = ends[row];
    std::sort(keys.begin() + static_cast<std::ptrdiff_t>(begin),
              keys.begin() + static_cast<std::ptrdiff_t>(end));
    const std::uint64_t row_start = kept;
    for (std::uint64_t i = begin; i < end; ++i) {
      const PlainId target = Keys::target(keys[i]);
      const bool drop = options_.simple && (target == first + row ||
                                            (kept > row_start && target == Keys::target(keys[kept - 1])));
      if (!drop) keys[kept++] = keys[i];
    }
    offsets_[first + row + 1] = kept - row_start;
    begin = end;
  }
  keys.resize(kept);
  take_rows<Keys>(bucket, keys);
}

template <class Keys>
void Builder::take_rows(std::uint64_t bucket, std::vector<typename Keys::Key>& keys) {
  Bucket& sorted = buckets_[bucket];
  if constexpr (std::is_same_v<Keys, TargetKeys>) {
    if (options_.simple) keys.shrink_to_fit();
    sorted.targets = std::move(keys);
  } else {
    using Number = typename Keys::Weight;
    sorted.targets.reserve(keys.size());
    sorted.weights = PackedWeights(weight_type_of<Number>(), keys.size());
    Number* weight = sorted.weights.template data<Number>();
    for (const auto key : keys) {
      sorted.targets.push_back(Keys::target(key));
      *weight++ = Keys::weight(key);
    }
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
    const auto from = section == kTargets
                          ? std::as_bytes(std::span(buckets_[bucket].targets).subspan(skip, taken))
                          : buckets_[bucket].weights.view().subspan(skip, taken).bytes();
    to = std::copy(from.begin(), from.end(), to);
    first += taken;
    count -= taken;
  }
}

BuildSummary Builder::write(OutputFile& output, std::span<const std::uint64_t> original_ids,
                            std::uint32_t flags, const Progress& progress) {
  std::uint64_t added = 0;
  for (const Worker& worker : workers_)
    for (const Stream& stream : worker.streams)
      if (!stream.blocks.empty()) added += (stream.blocks.size() - 1) * kBlockEdges + stream.filled;
  require_edges(options_, added);
  if (added > kMaxEdges)
    throw Error(fmt::format("{} edges are more than the {} that are supported", added, kMaxEdges));
  offsets_.resize(vertices_ + 1);
  const WeightFacts weights = close_all();
  parallel_for(
      options_.workers, buckets_.size(),
      [&](int, std::uint64_t bucket) { sort_bucket(bucket, weights.type()); }, "sorting edges", progress);
  bucket_starts_.assign(1, 0);
  for (const Bucket& bucket : buckets_)
    bucket_starts_.push_back(bucket_starts_.back() + bucket.targets.size());
  std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());

  flags |= flags_of(options_, weights) | (original_ids.empty() ? 0U : std::uint32_t{kOriginalIds});
  Header header = lay_out(vertices_, offsets_.back(), flags);
  note_size(options_, vertices_, header.edges, file_bytes(header));
  output.reserve(file_bytes(header));
  std::vector<std::uint64_t> checksums(header.checksums.bytes / 8);
  std::vector<std::vector<std::byte>> buffers(workers_.size());
  parallel_for(
      options_.workers, checksums.size(),
      [&](int worker, std::uint64_t number) {
        std::uint32_t section = 0;
        while (number >= first_block(header, section + 1)) ++section;
        const SectionEntry& entry = header.sections[section];
        const std::uint64_t start = (number - first_block(header, section)) * kBlockBytes;
        const std::uint64_t bytes = std::min(kBlockBytes, entry.bytes - start);
        std::vector<std::byte>& buffer = buffers[static_cast<std::size_t>(worker)];
        buffer.assign(padded(bytes), std::byte{0});
        if (section == kOffsets) std::memcpy(buffer.data(), offsets_.data() + start / 8, bytes);
        if (section == kIds) std::memcpy(buffer.data(), original_ids.data() + start / 8, bytes);
        if (section == kTargets || section == kWeights) {
          const std::uint64_t size = section == kTargets ? sizeof(PlainId) : bytes_of(weights.type());
          copy_edges(section, start / size, bytes / size, buffer.data());
        }
        checksums[number] = graph::checksum(buffer.data(), buffer.size());
        output.write(buffer.data(), buffer.size(), entry.offset + start);
      },
      "writing", progress);
  output.write(checksums.data(), header.checksums.bytes, header.checksums.offset);
  header.checksums_checksum = graph::checksum(checksums.data(), header.checksums.bytes);
  header.checksum = header_checksum(header);
  output.write(&header, sizeof header, 0);
  refuse_changed_files();  // that edges were read from
  output.commit();
  return {
      vertices_, header.edges,   added - header.edges,           file_bytes(header), header.checksum, false,
      false,     weights.type(), (flags & kDoubtfulWeights) != 0};
}

}  // namespace edgewire::graph
