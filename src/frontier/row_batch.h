#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "edgewire/frontier.h"

namespace edgewire::detail {

/// A batch of rows to visit together: a call for each row would take as long as the work on a short one.
class FrontierState::RowBatch {
 public:
  /// Makes an empty batch. `calls` outlives it. `keeps`: whether rows stay in memory.
  RowBatch(int worker, const Calls& calls, bool keeps)
      : worker_(worker), calls_(calls), most_(keeps ? rows_.size() : 1) {}

  void add(const FrontierRow& row) {
    rows_[count_++] = row;
    if (count_ == most_) visit();
  }
  /// Visits the rest, and returns the counts of all rows.
  Totals finish() {
    visit();
    return visited_;
  }

 private:
  void visit() {
    const Totals some = calls_.visit(worker_, std::span(rows_).first(count_));
    visited_.vertices += some.vertices;
    visited_.edges += some.edges;
    count_ = 0;
  }

  int worker_;
  const Calls& calls_;
  std::array<FrontierRow, 16> rows_;
  std::size_t most_, count_ = 0;
  Totals visited_;
};

}  // namespace edgewire::detail
