// Strategy `edge` of the exchange plan: every edge that leaves the process has a slot.
#include <fmt/core.h>

#include <limits>

#include "base/error.h"
#include "dense/plan/exchange_plan.h"

namespace edgewire::plan {

void ExchangePlan::count_slots() {
  std::vector<std::uint64_t> slots(streams_.size());
  for (const auto& entries : entries_) slots_of_.emplace_back(entries.size());
  ownership_.visit([&](const auto& scheme) {
    for (LocalNumber local{}; local < owned_.count(); ++local) {  // so that rows are read from front to back
      for (const VertexId target : rows_.row(scheme.vertex(rank_, local))) {
        const std::uint32_t owner = scheme.home(target).owner;
        if (owner == rank_) continue;
        ++slots_of_[owner][destination_of_[0][target]];
        ++slots[owner];
      }
    }
  });
  for (std::size_t s = 0; s < streams_.size(); ++s) {
    if (slots[s] > std::numeric_limits<std::uint32_t>::max())
      throw Error(fmt::format("strategy edge: {} values for rank {} are more than 2^32; use more processes",
                              slots[s], streams_[s].peer));
    streams_[s].slots = static_cast<std::uint32_t>(slots[s]);
  }
}

/// Lets the edges of a destination take its slots one after the other, in row order. One thread does this, so
/// that the numbering is the same in every run.
void ExchangePlan::find_slot_sources() {
  if (destination_of_.empty()) return;
  slot_sources_.resize(destinations_ - owned_.count());
  if (weighted_) slot_weights_.resize(slot_sources_.size());
  auto next = destination_of_[0];
  const auto targets = rows_.targets();
  const graph::Weights weights = rows_.weights();
  for (OwnedIndex i{}; i < owned_.count(); ++i) {
    const VertexId v = owned_.ids()[i];
    const partition::EdgeRange range = rows_.range(v);
    for (std::uint64_t e = range.begin; e < range.end; ++e) {
      std::uint32_t& number = next[targets[e]];
      if (number < owned_.count()) continue;
      const std::uint32_t slot = number++ - owned_.count();
      slot_sources_[slot] = i;
      if (weighted_) slot_weights_[slot] = weights[e];
    }
  }
}

}  // namespace edgewire::plan
