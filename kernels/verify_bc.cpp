#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "graph/row.h"
#include "graph/vertex_names.h"
#include "kernels/verify.h"

namespace edgewire::kernels {

namespace {

/// The search as Brandes wrote it down: a queue, lists of predecessors, and the queue backward.
class PlainBrandes {
 public:
  explicit PlainBrandes(const graph::GraphFile& graph)
      : graph_(graph),
        scores_(graph.vertices()),
        distance_(graph.vertices()),
        paths_(graph.vertices()),
        dependency_(graph.vertices()),
        predecessors_(graph.vertices()) {}

  void add(std::uint32_t source) {
    search(source);
    for (auto w = queue_.rbegin(); w != queue_.rend(); ++w) {
      for (const std::uint32_t v : predecessors_[*w])
        dependency_[v] += paths_[v] / paths_[*w] * (1 + dependency_[*w]);
      if (*w != source) scores_[*w] += dependency_[*w];
    }
  }
  const std::vector<double>& scores() const { return scores_; }

 private:
  void search(std::uint32_t source) {
    for (std::uint32_t v = 0; v < graph_.vertices(); ++v) {
      distance_[v] = -1;
      paths_[v] = dependency_[v] = 0;
      predecessors_[v].clear();
    }
    queue_ = {source};
    distance_[source] = 0;
    paths_[source] = 1;
    for (std::size_t at = 0; at < queue_.size(); ++at) {
      const std::uint32_t v = queue_[at];
      for (const std::uint32_t w : graph::Row{graph_, v}.targets()) {
        if (distance_[w] < 0) {
          distance_[w] = distance_[v] + 1;
          queue_.push_back(w);
        }
        if (distance_[w] != distance_[v] + 1) continue;
        paths_[w] += paths_[v];
        predecessors_[w].push_back(v);
      }
    }
  }

  const graph::GraphFile& graph_;
  std::vector<double> scores_;
  std::vector<std::int64_t> distance_;
  std::vector<double> paths_, dependency_;
  std::vector<std::vector<std::uint32_t>> predecessors_;
  std::vector<std::uint32_t> queue_;
};

}  // namespace

std::string check_bc(const graph::GraphFile& graph, std::span<const std::uint32_t> sources,
                     std::span<const double> scores) {
  graph.verify_rows(0, graph.vertices());
  PlainBrandes plain(graph);
  for (const std::uint32_t source : sources) plain.add(source);
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
    const double right = plain.scores()[v];
    if (std::fabs(scores[v] - right) <= kScoreTolerance * right) continue;
    return fmt::format("vertex {} has the score {:.15g}, but a sequential search gives {:.15g}",
                       graph::VertexNames(graph)(v), scores[v], right);
  }
  return {};
}

}  // namespace edgewire::kernels
