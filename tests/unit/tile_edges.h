// Edges for the tests of tiles, and the reference of sweeps over their tiles.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "base/rooms.h"
#include "dense/tiles/build_tiles.h"
#include "edgewire/detail/sweep.h"
#include "partition/column_addresses.h"
#include "topology/worker_pool.h"

namespace edgewire::tiles {

/// Edges in memory: for each source its destinations.
class Edges {
 public:
  explicit Edges(std::uint32_t sources) : rows_(sources) {}
  void add(std::uint32_t source, std::uint32_t destination) {
    rows_[source].push_back(destination), ++edges_;
  }
  const std::vector<std::uint32_t>& row(std::uint32_t source) const { return rows_[source]; }

  std::uint32_t sources() const { return static_cast<std::uint32_t>(rows_.size()); }
  std::uint64_t edges() const { return edges_; }

 private:
  std::vector<std::vector<std::uint32_t>> rows_;
  std::uint64_t edges_ = 0;
};

/// Returns a weight of the edge, a different one for duplicates in a row: no float where it may have 8 bytes.
inline double weight_of(std::uint32_t source, std::uint32_t destination, std::size_t place,
                        std::size_t weight_bytes) {
  const auto quarters = static_cast<double>((source * 31 + destination * 7 + place) % 17);
  return weight_bytes == sizeof(double) ? quarters / 4 + 0x1p-40 : quarters / 4;
}

/// A reader of the edges for the tile builder.
class Reader final : public plan::EdgeReader {
 public:
  Reader(const Edges& graph, std::span<const std::uint32_t> bounds, std::size_t weight_bytes = 0)
      : graph_(graph), address_(bounds), weight_bytes_(weight_bytes) {}
  std::size_t weight_bytes() const override { return weight_bytes_; }
  std::uint32_t sources() const override { return graph_.sources(); }
  std::uint64_t edges(std::uint32_t first, std::uint32_t last) const override {
    std::uint64_t sum = 0;
    for (std::uint32_t s = first; s < last; ++s) sum += graph_.row(s).size();
    return sum;
  }
  void read(std::uint32_t first, std::uint32_t last, plan::EdgeRows& rows) const override {
    REQUIRE(first % plan::kRowBlock == 0);
    REQUIRE(last - first <= plan::kRowBlock);
    auto &destinations = rows.destinations, &ends = rows.ends;
    auto& weights = rows.weights;
    destinations.clear();
    ends.clear();
    weights.clear();
    for (std::uint32_t s = first; s < last; ++s) {
      for (const auto destination : graph_.row(s)) destinations.push_back(address_(destination));
      if (weight_bytes_ != 0) {
        for (std::size_t i = 0; i < graph_.row(s).size(); ++i)
          weights.push_back(weight_of(s, graph_.row(s)[i], i, weight_bytes_));
      }
      ends.push_back(static_cast<std::uint32_t>(destinations.size()));
    }
  }

 private:
  const Edges& graph_;
  partition::ColumnAddresses address_;
  std::size_t weight_bytes_;
};

inline Tiles build(topology::WorkerPool& pool, const Edges& graph, const std::vector<std::uint32_t>& bounds,
                   std::size_t weight_bytes = 0) {
  return build_tiles(pool, Reader(graph, bounds, weight_bytes), bounds);
}

inline topology::WorkerPool make_pool(int workers) {
  topology::Placement placement;
  placement.workers.resize(static_cast<std::size_t>(workers));
  placement.oversubscribed = true;
  return topology::WorkerPool(placement);
}

inline std::vector<std::uint32_t> equal_columns(std::uint32_t destinations, std::uint32_t width) {
  std::vector<std::uint32_t> bounds{0};
  while (bounds.back() < destinations) bounds.push_back(std::min(bounds.back() + width, destinations));
  return bounds;
}

inline std::vector<float> some_values(std::uint32_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> value(0.5F, 2.0F);
  std::vector<float> x(count);
  for (float& v : x) v = value(random) / static_cast<float>(1U << random() % 20);
  return x;
}

/// Returns the sums of the destinations by a sweep of one column after the other.
template <class Message>
std::vector<double> sums_of(const Tiles& tiles, const std::vector<Message>& x) {
  std::vector<double> all;
  std::vector<double> sums(kColumnWidth);
  for (std::size_t c = 0; c < tiles.columns(); ++c) {
    std::fill(sums.begin(), sums.end(), -1.0);
    sweep_column<WeightedSum<Message>>(tiles, c, x.data(), sums.data());
    all.insert(all.end(), sums.begin(), sums.begin() + tiles.column_width(c));
  }
  return all;
}

inline constexpr double kTolerance = 1e-12;  // all sums are in double

}  // namespace edgewire::tiles
