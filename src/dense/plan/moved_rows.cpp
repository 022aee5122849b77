#include "dense/plan/moved_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "partition/vertex_set.h"

namespace edgewire::plan {

MovedRows::MovedRows(MovedEdges edges, int peer, std::uint32_t mirrors, std::uint32_t destinations,
                     std::size_t weight_bytes, std::span<const std::uint32_t> addresses)
    : edges_(std::move(edges)),
      weight_bytes_(weight_bytes),
      addresses_(addresses),
      rows_(mirrors),
      before_(mirrors / kRowBlock + std::size_t{2}) {
  const std::size_t words_an_edge = 1 + weight_bytes / sizeof(std::uint32_t);
  for (auto rest = std::span<const std::uint32_t>(edges_); !rest.empty();) {
    if (rest.size() < 3 || rest[0] >= mirrors || !rows_[rest[0]].empty() || rest[1] == 0 ||
        rest[1] > (rest.size() - 2) / words_an_edge ||
        *std::ranges::max_element(rest.subspan(2, rest[1])) >= destinations)
      throw Error(fmt::format("rank {} sent a faulty exchange plan: edges of mirrors", peer));
    rows_[rest[0]] = rest.subspan(2, rest[1]);
    before_[rest[0] / kRowBlock + 1] += rest[1];
    rest = rest.subspan(2 + words_an_edge * rest[1]);
  }
  std::partial_sum(before_.begin(), before_.end(), before_.begin());
}

void MovedRows::read(std::uint32_t first, std::uint32_t last, EdgeRows& rows) const {
  for (std::uint32_t i = last; i < std::min(last + kRowBlock, sources()); ++i)
    __builtin_prefetch(rows_[i].data());
  rows.destinations.clear();
  rows.ends.clear();
  rows.weights.clear();
  for (std::uint32_t i = first; i < last; ++i) {
    rows.destinations.insert(rows.destinations.end(), rows_[i].begin(), rows_[i].end());
    rows.ends.push_back(static_cast<std::uint32_t>(rows.destinations.size()));
    if (weight_bytes_ == 0) continue;
    for (std::size_t e = 0; e < rows_[i].size(); ++e) rows.weights.push_back(weight(i, e));
  }
  partition::look_up(addresses_, rows.destinations);
}

}  // namespace edgewire::plan
