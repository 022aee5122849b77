#include "dense/plan/balance.h"

#include <algorithm>
#include <numeric>

namespace edgewire::plan {

namespace {
constexpr std::uint64_t kTolerated = 100;  // up to 1 % above the mean is fine
}

std::vector<std::uint64_t> computed_edges(const Traffic& edges, const Traffic* moved) {
  std::vector<std::uint64_t> computed = edges.sent(true);
  if (moved == nullptr) return computed;
  for (std::size_t from = 0; from < computed.size(); ++from) {
    for (std::size_t to = 0; to < computed.size(); ++to) {
      computed[from] -= moved->at(from, to);
      computed[to] += moved->at(from, to);
    }
  }
  return computed;
}

Traffic balance(const Traffic& edges, Traffic moved, const Traffic& free) {
  auto computed = computed_edges(edges, &moved);
  if (computed.empty()) return moved;
  const std::uint64_t mean =
      std::accumulate(computed.begin(), computed.end(), std::uint64_t{0}) / computed.size();
  std::vector<std::size_t> order(computed.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t p, std::size_t q) { return computed[p] < computed[q]; });
  for (auto from = order.rbegin(); from != order.rend(); ++from) {
    if (computed[*from] <= mean + mean / kTolerated) break;
    for (const std::size_t to : order) {
      if (computed[*from] <= mean || computed[to] >= mean) continue;
      const std::uint64_t more = std::min({free.at(*from, to), computed[*from] - mean, mean - computed[to]});
      moved.at(*from, to) += more;
      computed[*from] -= more;
      computed[to] += more;
    }
  }
  return moved;
}

}  // namespace edgewire::plan
