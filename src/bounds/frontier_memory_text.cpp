#include <fmt/core.h>

#include "base/units.h"
#include "bounds/dense_memory.h"
#include "bounds/frontier_memory.h"
#include "report/json_text.h"
#include "report/table.h"

namespace edgewire::bounds {

namespace {

/// Returns the memory of a process. A dense kernel sends with strategy slots, and `cover` needs no more
/// memory than that.
std::uint64_t memory_of(std::string_view kernel, const GraphShares& graph) {
  if (!kernels::descriptor_of(kernel).dense) return frontier_memory(kernel, graph);
  const ProcessShare& share = graph.processes.front();
  return dense_memory({.processes = static_cast<int>(graph.processes.size()),
                       .vertices = share.owned,
                       .edges = share.edges,
                       .values = share.boundary});
}

}  // namespace

std::string memory_text(std::string_view kernel, const std::vector<GraphShares>& estimates) {
  report::Table table{{"processes", "vertices each", "edges each", "boundary vertices", "memory"}, ""};
  for (const GraphShares& graph : estimates) {
    const ProcessShare& share = graph.processes.front();
    table.rows.push_back({std::to_string(graph.processes.size()), std::to_string(share.owned),
                          std::to_string(share.edges), std::to_string(share.boundary),
                          readable_bytes(memory_of(kernel, graph))});
  }
  return fmt::format(
             "{}{}, {} vertices, {} edges: memory of a process, estimated for processes with as many "
             "vertices and edges each, and edges that lead to any vertex equally often\n",
             kernel, kernels::descriptor_of(kernel).dense ? " with slots" : "", estimates.front().vertices,
             estimates.front().edges) +
         to_text(table);
}

std::string memory_json(std::string_view kernel, const std::vector<GraphShares>& estimates) {
  report::Json rows = report::Json::array();
  for (const GraphShares& graph : estimates) {
    const ProcessShare& share = graph.processes.front();
    rows.push_back({{"processes", graph.processes.size()},
                    {"vertices", graph.vertices},
                    {"edges", graph.edges},
                    {"vertices_each", share.owned},
                    {"edges_each", share.edges},
                    {"boundary_vertices", share.boundary},
                    {"memory_bytes", memory_of(kernel, graph)}});
  }
  const report::Json json{{"kernel", kernel}, {"version", EDGEWIRE_VERSION}, {"rows", rows}};
  return report::json_text(json, 1) + "\n";
}

}  // namespace edgewire::bounds
