#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "frontier/records.h"

namespace edgewire::kernels {

/// The strongly connected components of the graph of these edges, each from record.vertex to record.value, by
/// one thread (Tarjan: "Depth-first search and linear graph algorithms", 1972), without recursion. Memory: at
/// most 60 bytes for each edge, 92 where ids have 64 bits.
class CollectedComponents {
 public:
  explicit CollectedComponents(std::vector<frontier::Record> edges) {
    for (const frontier::Record edge : edges) {
      vertices_.push_back(edge.vertex);
      vertices_.push_back(edge.value);
    }
    std::ranges::sort(vertices_);
    vertices_.erase(std::unique(vertices_.begin(), vertices_.end()), vertices_.end());
    const auto index = [this](PlainId v) {
      return static_cast<std::uint32_t>(std::ranges::lower_bound(vertices_, v) - vertices_.begin());
    };
    std::ranges::sort(edges, {}, &frontier::Record::vertex);
    begins_.resize(vertices_.size() + 1);
    for (const frontier::Record edge : edges) {
      targets_.push_back(index(edge.value));
      ++begins_[index(edge.vertex) + std::size_t{1}];
    }
    for (std::size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
    next_ = begins_;
    low_.resize(vertices_.size());
    labels_.resize(vertices_.size());
    for (std::uint32_t i = 0; i < vertices_.size(); ++i)
      if (low_[i] == 0) visit(i);
  }

  /// Returns the vertices, ascending.
  const std::vector<PlainId>& vertices() const noexcept { return vertices_; }
  /// Returns the smallest vertex of each one's component, by index in vertices().
  const std::vector<PlainId>& labels() const noexcept { return labels_; }

 private:
  static constexpr std::uint32_t kClosed = 0xffffffff;  ///< number of a vertex whose component is known
  /// Visits all vertices that can be reached and were not seen. Numbers count from 1, as vertices are found.
  void visit(std::uint32_t root) {
    struct Step {
      std::uint32_t vertex, number;
    };
    std::vector<Step> path;
    const auto enter = [&](std::uint32_t v) {
      low_[v] = ++seen_;
      path.push_back({v, seen_});
      open_.push_back(v);
    };
    enter(root);
    while (!path.empty()) {
      const auto [v, number] = path.back();
      if (next_[v] < begins_[v + std::size_t{1}]) {
        const std::uint32_t w = targets_[next_[v]++];
        if (low_[w] == 0)
          enter(w);
        else if (low_[w] != kClosed)
          low_[v] = std::min(low_[v], low_[w]);
        continue;
      }
      path.pop_back();
      if (!path.empty()) low_[path.back().vertex] = std::min(low_[path.back().vertex], low_[v]);
      if (low_[v] == number) close(v);
    }
  }
  /// Closes a component: the open vertices that were discovered from `root` on.
  void close(std::uint32_t root) {
    const auto first = std::find(open_.rbegin(), open_.rend(), root).base() - 1;
    const std::uint32_t smallest = *std::min_element(first, open_.end());
    for (auto v = first; v != open_.end(); ++v) {
      labels_[*v] = vertices_[smallest];
      low_[*v] = kClosed;
    }
    open_.erase(first, open_.end());
  }

  std::vector<PlainId> vertices_, labels_;
  std::vector<std::uint32_t> begins_, targets_;  ///< rows by index in vertices_
  std::vector<std::uint32_t> next_;              ///< next entry of a row to follow, [index]
  /// Earliest open vertex that a vertex is known to reach, [index]; 0: not seen.
  std::vector<std::uint32_t> low_;
  std::vector<std::uint32_t> open_;  ///< vertices whose component is not known, in the order of discovery
  std::uint32_t seen_ = 0;
};

}  // namespace edgewire::kernels
