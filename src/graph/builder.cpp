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

std::uint32_t target_of(std::uint32_t key) { return key; }
std::uint32_t target_of(std::uint64_t key) { return static_cast<std::uint32_t>(key >> 32); }

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

Builder::Builder(std::uint64_t vertices, std::uint64_t expected_edges, const BuildOptions& options)
    : vertices_(vertices), options_(options) {
  if (vertices > kMaxVertices) {
    throw Error(fmt::format("{} vertices are more than the {} that are supported", vertices, kMaxVertices));
  }
  const std::uint64_t wanted = std::clamp<std::uint64_t>(
      std::max(expected_edges / kBucketEdges, vertices / kBucketRows), 1, kMaxBuckets);
  const int vertex_bits = vertices > 1 ? static_cast<int>(std::bit_width(vertices - 1)) : 0;
  shift_ = std::max(0, vertex_bits - static_cast<int>(std::bit_width(wanted - 1)));
  const std::uint64_t buckets = vertices == 0 ? 0 : ((vertices - 1) >> shift_) + 1;
  streams_.resize(static_cast<std::size_t>(options.workers));
  for (auto& streams : streams_) streams.resize(buckets);
  buckets_.resize(buckets);
}

Builder::~Builder() = default;

void Builder::grow(Stream& stream) const {
  if (options_.weighted) {
    // Not make_unique: the arrays need no zeros.
    WeightedBlock& block = *stream.weighted_blocks.emplace_back(new WeightedBlock);
    stream.edges = block.edges.data();
    stream.weights = block.weights.data();
  } else {
    stream.edges = stream.blocks.emplace_back(new Block)->edges.data();
  }
  stream.filled = 0;
}

template <class Visit>
void Builder::each_edge(std::uint64_t bucket, const Visit& visit) const {
  for (const auto& streams : streams_) {
    const Stream& stream = streams[bucket];
    const auto visit_block = [&](const Block& block, const float* weights) {
      const std::uint32_t count = block.edges.data() == stream.edges ? stream.filled : kBlockEdges;
      for (std::uint32_t i = 0; i < count; ++i) {
        visit(static_cast<std::uint32_t>(block.edges[i] >> 32), static_cast<std::uint32_t>(block.edges[i]),
              weights == nullptr ? 0.0F : weights[i]);
      }
    };
    for (const auto& block : stream.blocks) visit_block(*block, nullptr);
    for (const auto& block : stream.weighted_blocks) visit_block(*block, block->weights.data());
  }
}

void Builder::free_streams(std::uint64_t bucket) {
  for (auto& streams : streams_) streams[bucket] = Stream{};
}

template <class Key>
void Builder::sort_bucket(std::uint64_t bucket) {
  const std::uint64_t first = bucket << shift_;
  const std::uint64_t rows = std::min(vertices_ - first, std::uint64_t{1} << shift_);
  std::vector<std::uint64_t> ends(rows + 1);
  each_edge(bucket, [&](std::uint32_t source, std::uint32_t, float) { ++ends[source - first + 1]; });
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<Key> keys(ends[rows]);
  // Filling moves each row's start to its end.
  each_edge(bucket, [&](std::uint32_t source, std::uint32_t target, float weight) {
    if constexpr (std::is_same_v<Key, std::uint64_t>) {
      keys[ends[source - first]++] = std::uint64_t{target} << 32 | weight_key(weight);
    } else {
      keys[ends[source - first]++] = target;
    }
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
      const std::uint32_t target = target_of(keys[i]);
      const bool drop = options_.simple &&
                        (target == first + row || (kept > row_start && target == target_of(keys[kept - 1])));
      if (!drop) keys[kept++] = keys[i];
    }
    offsets_[first + row + 1] = kept - row_start;
    begin = end;
  }
  keys.resize(kept);
  take_rows(bucket, keys);
}

template <class Key>
void Builder::take_rows(std::uint64_t bucket, std::vector<Key>& keys) {
  Bucket& sorted = buckets_[bucket];
  if constexpr (std::is_same_v<Key, std::uint64_t>) {
    sorted.targets.reserve(keys.size());
    sorted.weights.reserve(keys.size());
    for (const Key key : keys) {
      sorted.targets.push_back(target_of(key));
      sorted.weights.push_back(weight_of(static_cast<std::uint32_t>(key)));
    }
  } else {
    if (options_.simple) keys.shrink_to_fit();
    sorted.targets = std::move(keys);
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
    const void* from = section == kTargets ? static_cast<const void*>(buckets_[bucket].targets.data() + skip)
                                           : static_cast<const void*>(buckets_[bucket].weights.data() + skip);
    std::memcpy(to, from, taken * 4);
    to += taken * 4;
    first += taken;
    count -= taken;
  }
}

BuildSummary Builder::write(OutputFile& output, std::span<const std::uint64_t> original_ids,
                            std::uint32_t flags, const Progress& progress) {
  std::uint64_t added = 0;
  for (const auto& streams : streams_) {
    for (const Stream& stream : streams) {
      const std::uint64_t blocks = stream.blocks.size() + stream.weighted_blocks.size();
      if (blocks > 0) added += (blocks - 1) * kBlockEdges + stream.filled;
    }
  }
  require_edges(options_, added);
  if (added > kMaxEdges)
    throw Error(fmt::format("{} edges are more than the {} that are supported", added, kMaxEdges));
  offsets_.resize(vertices_ + 1);
  parallel_for(
      options_.workers, buckets_.size(),
      [&](int, std::uint64_t bucket) {
        options_.weighted ? sort_bucket<std::uint64_t>(bucket) : sort_bucket<std::uint32_t>(bucket);
      },
      "sorting edges", progress);
  bucket_starts_.assign(1, 0);
  for (const Bucket& bucket : buckets_)
    bucket_starts_.push_back(bucket_starts_.back() + bucket.targets.size());
  std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());

  flags |= (options_.weighted ? kWeighted : 0U) | (options_.simple ? kSimple : 0U) |
           (options_.undirected ? kSymmetric : 0U) | (original_ids.empty() ? 0U : kOriginalIds);
  Header header = lay_out(vertices_, offsets_.back(), flags);
  note_size(options_, vertices_, header.edges, file_bytes(header));
  output.reserve(file_bytes(header));
  std::vector<std::uint64_t> checksums(header.checksums.bytes / 8);
  std::vector<std::vector<std::byte>> buffers(streams_.size());
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
        if (section == kTargets || section == kWeights)
          copy_edges(section, start / 4, bytes / 4, buffer.data());
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
  return {vertices_, header.edges, added - header.edges, file_bytes(header), header.checksum};
}

}  // namespace edgewire::graph
