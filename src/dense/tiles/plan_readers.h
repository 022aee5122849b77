// The edges of a process as the exchange plan leaves them.
#pragma once

#include <algorithm>

#include "dense/plan/block_plan.h"
#include "dense/plan/exchange_plan.h"
#include "dense/tiles/tile.h"
#include "partition/look_up.h"

namespace edgewire::tiles {

/// The edges that this process computes: of its own vertices (plan::ExchangeColumns), or of its vertices or a
/// peer's in the block that it holds (plan::BlockColumns::Rows).
template <class Columns>
class PlanReader final : public EdgeReader {
 public:
  explicit PlanReader(const Columns& columns) : columns_(columns) {}
  std::uint32_t sources() const override { return columns_.sources(); }
  std::uint64_t edges(std::uint32_t first, std::uint32_t last) const override {
    return columns_.edges(first, last);
  }
  std::size_t weight_bytes() const override { return columns_.weight_bytes(); }
  void read(int, std::uint32_t first, std::uint32_t last, plan::EdgeRows& rows) const override {
    columns_.read(first, last, rows);
  }

 private:
  const Columns& columns_;
};
static_assert(kRowBlock == plan::ExchangePlan::kRowBlock && kRowBlock == plan::BlockPlan::kRowBlock);

/// The edges that a peer moved here.
class MovedReader final : public EdgeReader {
 public:
  /// addresses: of the owned vertices, by local number.
  MovedReader(const plan::MovedRows& rows, std::span<const std::uint32_t> addresses)
      : rows_(rows), addresses_(addresses) {}
  std::uint32_t sources() const override { return rows_.sources(); }
  std::uint64_t edges(std::uint32_t first, std::uint32_t last) const override {
    return rows_.edges(first, last);
  }
  std::size_t weight_bytes() const override { return rows_.weight_bytes(); }
  void read(int, std::uint32_t first, std::uint32_t last, plan::EdgeRows& rows) const override {
    for (std::uint32_t i = last; i < std::min(last + kRowBlock, sources()); ++i)
      __builtin_prefetch(rows_.row(i).data());
    rows.destinations.clear();
    rows.ends.clear();
    rows.weights.clear();
    for (std::uint32_t i = first; i < last; ++i) {
      const auto row = rows_.row(i);
      rows.destinations.insert(rows.destinations.end(), row.begin(), row.end());
      rows.ends.push_back(static_cast<std::uint32_t>(rows.destinations.size()));
      if (weight_bytes() == 0) continue;
      for (std::size_t e = 0; e < row.size(); ++e) rows.weights.push_back(rows_.weight(i, e));
    }
    partition::look_up(addresses_, rows.destinations);
  }

 private:
  const plan::MovedRows& rows_;
  std::span<const std::uint32_t> addresses_;
};
static_assert(kRowBlock == plan::MovedRows::kBlock);

}  // namespace edgewire::tiles
