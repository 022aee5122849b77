// Counts of wcc.
#include <algorithm>

#include "frontier/components.h"
#include "graph/row.h"
#include "perf/frontier_count.h"

namespace edgewire::perf {

namespace {

/// A process tells the owner of each vertex of another process to which it has linked an edge that the vertex
/// hangs below another one, or it asks the owner below which one it hangs. In graphs that store every edge
/// both ways, only the first edges of a vertex are sure to be linked.
class ComponentsCount : public FrontierCount {
 public:
  explicit ComponentsCount(const graph::GraphFile& graph) : graph_(graph) {}
  Exactness exactness(int) const override { return Exactness::at_least; }
  std::uint64_t record_bytes() const override { return sizeof(frontier::Record); }

  std::vector<CountedStep> count(const plan::Ownership& ownership) const override {
    const auto processes = static_cast<std::uint32_t>(ownership.processes());
    CountedStep whole{"all labels", graph_.vertices(), RecordLoad(processes)};
    Names names(graph_, ownership);
    for (std::uint32_t p = 0; p < processes; ++p) {
      for (LocalNumber local{}; local < ownership.count(p); ++local) {
        const auto targets = graph::Row{graph_, ownership.vertex(p, local)}.targets();
        for (const VertexId v : targets.first(std::min(targets.size(), edges_of_vertex())))
          if (names.add(p, v)) whole.load.add(p, names.owner(v));
      }
    }
    return {whole};
  }

 private:
  std::size_t edges_of_vertex() const noexcept {
    return graph_.symmetric() ? 2 : SIZE_MAX;
  }

  const graph::GraphFile& graph_;
};

}  // namespace

std::unique_ptr<FrontierCount> count_components(const graph::GraphFile& graph) {
  return std::make_unique<ComponentsCount>(graph);
}

}  // namespace edgewire::perf
