#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "edgewire/graph.h"
#include "graph/file/vertex_names.h"
#include "kernels/check/check.h"

namespace edgewire::kernels {

namespace {

/// The path-based search of Gabow ("Path-based depth-first search for strong and biconnected components",
/// 2000), without recursion.
class PathSearch {
 public:
  explicit PathSearch(const Graph& graph)
      : graph_(graph), number_(graph.vertices()), first_(graph.vertices()) {}

  /// Returns, by vertex, the smallest vertex of its component.
  std::vector<VertexId> run() {
    for (VertexId v{}; v < number_.size(); ++v)
      if (number_[v] == 0) search(v);
    return std::move(first_);
  }

 private:
  struct Visit {
    VertexId vertex;
    std::uint64_t next;  ///< index of the edge in its row that is followed next
  };

  void enter(VertexId v) {
    number_[v] = ++count_;
    path_.push_back({v, 0});
    open_.push_back(v);
    borders_.push_back(v);
  }
  void search(VertexId root) {
    enter(root);
    while (!path_.empty()) {
      Visit& visit = path_.back();
      const auto row = graph::Row{graph_, visit.vertex}.targets();
      if (visit.next == row.size()) {
        leave(visit.vertex);
        continue;
      }
      const VertexId target = row[visit.next++];
      if (number_[target] == 0)
        enter(target);
      else if (number_[target] != kDone)  // a cycle: the vertices found since then are one component
        while (number_[borders_.back()] > number_[target]) borders_.pop_back();
    }
  }
  void leave(VertexId v) {
    path_.pop_back();
    if (borders_.back() != v) return;
    borders_.pop_back();
    const auto begin = std::find(open_.rbegin(), open_.rend(), v).base() - 1;
    const VertexId smallest = *std::min_element(begin, open_.end());
    for (auto one = begin; one != open_.end(); ++one) {
      first_[*one] = smallest;
      number_[*one] = kDone;
    }
    open_.erase(begin, open_.end());
  }

  static constexpr std::uint64_t kDone = ~std::uint64_t{0};
  const Graph& graph_;
  std::uint64_t count_ = 0;
  std::vector<std::uint64_t> number_;  ///< numbers in the order of discovery, [vertex]; 0: not yet found
  std::vector<VertexId> first_;
  std::vector<Visit> path_;        ///< path from the root to the vertex whose edges are followed
  std::vector<VertexId> open_;     ///< vertices whose component is not known, as they were found
  std::vector<VertexId> borders_;  ///< vertices of these where components begin, as far as is known
};

}  // namespace

std::string check_scc(const Graph& graph, std::span<const PlainId> labels) {
  graph.verify_rows(0, graph.vertices());
  const auto right = PathSearch(graph).run();
  for (VertexId v{}; v < right.size(); ++v) {
    if (labels[v] == right[v]) continue;
    const graph::VertexNames names(graph);
    return fmt::format("vertex {} has the label {}, but the first vertex of its component is vertex {}",
                       names(v), labels[v] < right.size() ? names(VertexId(labels[v])) : "of no vertex",
                       names(right[v]));
  }
  return {};
}

}  // namespace edgewire::kernels
