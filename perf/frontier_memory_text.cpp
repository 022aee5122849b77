#include <fmt/core.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "perf/dense_memory.h"
#include "perf/frontier_count.h"
#include "perf/frontier_memory.h"
#include "report/json_text.h"

namespace edgewire::perf {

namespace {

/// A dense kernel sends with strategy slots, which `cover` needs no more than.
std::uint64_t memory_of(std::string_view kernel, const GraphShares& graph) {
  if (!is_dense(kernel)) return frontier_memory(kernel, graph);
  const ProcessShare& share = graph.processes.front();
  return dense_memory({.processes = static_cast<int>(graph.processes.size()),
                       .vertices = share.owned,
                       .edges = share.edges,
                       .values = share.boundary});
}

}  // namespace

std::string memory_text(std::string_view kernel, const std::vector<GraphShares>& estimates) {
  std::string text;
  const auto out = std::back_inserter(text);
  for (const GraphShares& graph : estimates) {
    if (text.empty())
      fmt::format_to(out,
                     "{}{}, {} vertices, {} edges: memory of a process, estimated for processes with as many "
                     "vertices and edges each, and edges that lead to any vertex equally often\n"
                     "{:>9}{:>16}{:>16}{:>20}{:>14}\n",
                     kernel, is_dense(kernel) ? " with slots" : "", graph.vertices, graph.edges, "processes",
                     "vertices each", "edges each", "boundary vertices", "memory MB");
    const ProcessShare& share = graph.processes.front();
    fmt::format_to(out, "{:>9}{:>16}{:>16}{:>20}{:>14.1f}\n", graph.processes.size(), share.owned,
                   share.edges, share.boundary, static_cast<double>(memory_of(kernel, graph)) * 1e-6);
  }
  return text;
}

std::string memory_json(std::string_view kernel, const std::vector<GraphShares>& estimates) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
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
  const nlohmann::ordered_json json{{"kernel", kernel}, {"version", EDGEWIRE_VERSION}, {"rows", rows}};
  return report::json_text(json, 1) + "\n";
}

}  // namespace edgewire::perf
