#include "cli/sources.h"

#include <fmt/core.h>

#include "cli/named_vertices.h"
#include "error.h"
#include "graph/vertex_names.h"

namespace edgewire::cli {

void Sources::add_to(CLI::App& command) {
  auto* single = command.add_option("--source", one, "the vertex where all paths start, by its id or label");
  command
      .add_option("--sources", list,
                  "run from each of these vertices, one after the other: ID,ID,... or @FILE with one on each "
                  "line; the graph is loaded once")
      ->type_name("ID[,ID...]|@FILE")
      ->excludes(single);
}

void Sources::find(const graph::GraphFile& graph) {
  if (one.empty() && list.empty()) throw UsageError("--source is required, or --sources for several runs");
  const graph::VertexNames vertex_names(graph);
  if (!list.empty()) {
    vertices = named_vertices(graph, list, "--sources");
    names.clear();
    for (const std::uint32_t vertex : vertices) names.emplace_back(vertex_names(vertex));
    return;
  }
  const auto vertex = vertex_names.find(one);
  if (!vertex) throw Error(fmt::format("--source {}: {} has no such vertex", one, graph.path()));
  vertices = {*vertex};
}

std::pair<std::string, report::RunReport::Option> Sources::option() const {
  return list.empty() ? std::pair("source", one) : std::pair("sources", list);
}

}  // namespace edgewire::cli
