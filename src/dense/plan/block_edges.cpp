#include "dense/plan/block_edges.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace edgewire::plan {

namespace {

/// The edges of one row, which come in any order, behind those that are there.
class Row {
 public:
  explicit Row(bool weighted) : weighted_(weighted) {}
  void take(VertexId target, double weight) {
    targets_.push_back(target);
    if (weighted_) weights_.push_back(weight);
  }
  std::size_t size() const noexcept { return targets_.size(); }
  void move_to(BlockEdges& edges, VertexId source) {
    if (!weighted_) {
      if (!std::ranges::is_sorted(targets_)) std::ranges::sort(targets_);
      for (const VertexId target : targets_) edges.add(source, target);
    } else {
      order_.resize(targets_.size());
      std::iota(order_.begin(), order_.end(), std::uint32_t{0});
      std::ranges::stable_sort(order_, {}, [&](std::uint32_t e) { return PlainId{targets_[e]}; });
      for (const std::uint32_t e : order_) edges.add(source, targets_[e], weights_[e]);
    }
    targets_.clear();
    weights_.clear();
  }

 private:
  bool weighted_;
  std::vector<VertexId> targets_;
  std::vector<double> weights_;
  std::vector<std::uint32_t> order_;
};

}  // namespace

std::vector<BlockEdges> read_blocks(const Rows& rows, graph::Weights weights, const EdgePartition& partition,
                                    std::uint32_t first, std::uint32_t last, std::uint64_t pieces,
                                    const ForEach& for_each) {
  const std::uint64_t most = rows.vertices() / pieces + 1;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (auto [begin, end] : partition.sources_of(first, last))
    for (; begin < end; begin += most) ranges.emplace_back(begin, std::min(end, begin + most));
  std::vector<std::vector<BlockEdges>> read(ranges.size());  // edges, [piece][block]
  for_each(ranges.size(), [&](int, std::uint64_t piece) {
    auto& edges = read[piece];
    edges.resize(last - first);
    std::vector<Row> row(edges.size(), Row(!weights.empty()));
    std::vector<std::uint32_t> begun;  // numbers of the rows of this source
    for (std::uint64_t v = ranges[piece].first; v < ranges[piece].second; ++v) {
      const VertexId source(static_cast<PlainId>(v));
      const std::uint16_t* const holders = partition.row(source);
      for (std::uint64_t e = rows.offsets[v]; e < rows.offsets[v + 1]; ++e) {
        const VertexId target = rows.targets[e];
        const std::uint32_t at = holders[partition.strip(target)] - first;
        if (at >= row.size()) continue;
        if (row[at].size() == 0) begun.push_back(at);
        row[at].take(target, weights.empty() ? 0 : weights[e]);
      }
      for (const std::uint32_t at : begun) row[at].move_to(edges[at], source);
      begun.clear();
    }
  });
  std::vector<BlockEdges> blocks(last - first);
  for_each(blocks.size(), [&](int, std::uint64_t block) {
    std::uint64_t edges = 0;
    for (const auto& piece : read) edges += piece[block].edges();
    BlockEdges& all = blocks[block];
    all.targets.reserve(edges);
    if (!weights.empty()) all.weights.reserve(edges);
    for (auto& piece : read) {  // pieces have whole rows, ascending
      for (std::size_t i = 0; i < piece[block].sources.size(); ++i) all.add_row(piece[block], i);
      piece[block] = {};
    }
  });
  return blocks;
}

BlockEdges unite(std::span<const BlockEdges> parts) {
  // Rows as (source, part, number there).
  std::vector<std::tuple<VertexId, std::uint32_t, std::uint32_t>> rows;
  std::uint64_t edges = 0;
  for (std::uint32_t part = 0; part < parts.size(); ++part) {
    for (std::uint32_t i = 0; i < parts[part].sources.size(); ++i)
      rows.emplace_back(parts[part].sources[i], part, i);
    edges += parts[part].edges();
  }
  if (!std::ranges::is_sorted(rows)) std::ranges::sort(rows);
  BlockEdges all;
  all.targets.reserve(edges);
  const bool weighted = std::ranges::any_of(parts, [](const auto& part) { return !part.weights.empty(); });
  if (weighted) all.weights.reserve(edges);
  Row row(weighted);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto [source, from, i] = rows[r];
    const BlockEdges& part = parts[from];
    const bool last = r + 1 == rows.size() || std::get<0>(rows[r + 1]) != source;
    if (last && row.size() == 0) {
      all.add_row(part, i);
      continue;
    }
    for (std::uint64_t e = part.ends[i]; e < part.ends[i + 1]; ++e)
      row.take(part.targets[e], weighted ? part.weights[e] : 0);
    if (last) row.move_to(all, source);
  }
  return all;
}

}  // namespace edgewire::plan
