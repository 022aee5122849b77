#include "dense/plan/moved_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace edgewire::plan {

MovedRows::MovedRows(MovedEdges edges, int peer, std::uint32_t mirrors, std::uint32_t destinations,
                     std::size_t weight_bytes)
    : edges_(std::move(edges)),
      weight_bytes_(weight_bytes),
      rows_(mirrors),
      before_(mirrors / kBlock + std::size_t{2}) {
  const std::size_t words_an_edge = 1 + weight_bytes / sizeof(std::uint32_t);
  for (auto rest = std::span<const std::uint32_t>(edges_); !rest.empty();) {
    if (rest.size() < 3 || rest[0] >= mirrors || !rows_[rest[0]].empty() || rest[1] == 0 ||
        rest[1] > (rest.size() - 2) / words_an_edge ||
        *std::ranges::max_element(rest.subspan(2, rest[1])) >= destinations)
      throw Error(fmt::format("rank {} sent a faulty exchange plan: edges of mirrors", peer));
    rows_[rest[0]] = rest.subspan(2, rest[1]);
    before_[rest[0] / kBlock + 1] += rest[1];
    rest = rest.subspan(2 + words_an_edge * rest[1]);
  }
  std::partial_sum(before_.begin(), before_.end(), before_.begin());
}

}  // namespace edgewire::plan
