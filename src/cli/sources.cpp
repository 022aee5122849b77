#include "cli/sources.h"

#include <fmt/core.h>

#include <random>

#include "base/error.h"
#include "cli/files.h"
#include "cli/named_vertices.h"
#include "graph/row.h"
#include "graph/vertex_names.h"

namespace edgewire::cli {

/// Knuth, TAOCP volume 2, 3.4.2, algorithm S.
std::vector<VertexId> sample(std::uint64_t vertices, std::uint64_t count, std::uint64_t seed,
                             const std::function<bool(VertexId)>& may) {
  std::uint64_t left = 0;
  for (VertexId v{}; v < vertices; ++v) left += may(v) ? 1 : 0;
  std::vector<VertexId> chosen;
  std::mt19937_64 random(seed);
  for (VertexId v{}; v < vertices && chosen.size() < count; ++v)
    if (may(v) && left > 0 && random() % left-- < count - chosen.size()) chosen.push_back(v);
  return chosen;
}

namespace {

std::string fault_of_name(const std::string& name) {
  return name.empty() ? "it is empty: name a vertex" : "";
}

}  // namespace

NamedSources::Options NamedSources::add_to(CLI::App& command, const std::string& several) {
  auto* source = command.add_option("--source", one, "start at this vertex, by its id or label")
                     ->type_name("ID")
                     ->check(fault_of_name);
  auto* sources =
      command
          .add_option(
              "--sources", list,
              fmt::format("start at these vertices: ID,ID,... or @FILE with one on each line; {}", several))
          ->type_name("ID[,ID...]|@FILE")
          ->check(fault_of_name)
          ->excludes(source);
  reads(sources, listed_in);
  return {source, sources};
}

runs::Sources NamedSources::find(const graph::GraphFile& graph) const {
  if (!list.empty()) return {named_vertices(graph, list, "--sources"), {}, {{"sources", list}}};
  const auto vertex = graph::VertexNames(graph).find(one);
  if (!vertex) throw Error(fmt::format("--source {}: {} has no such vertex", one, graph.path()));
  return {{*vertex}, {}, {{"source", one}}};
}

void SourceOptions::add_to(CLI::App& command) {
  const auto [single, several] =
      NamedSources::add_to(command, "a run from each, for which the graph is loaded once");
  auto* drawn = command
                    .add_option("--samples", samples,
                                "start at so many vertices that have edges, drawn by --seed; a run from each")
                    ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << (kIds64 ? 48 : 32)))
                    ->excludes(single)
                    ->excludes(several);
  command.add_option("--seed", seed, "the same seed draws the same samples")
      ->capture_default_str()
      ->needs(drawn);
}

runs::Sources SourceOptions::find(const graph::GraphFile& graph) const {
  if (!given() && samples == 0)
    throw UsageError("--source is required, or --sources or --samples for several runs");
  runs::Sources sources;
  if (given()) {
    sources = NamedSources::find(graph);
  } else {
    sources.vertices = sample(graph.vertices(), samples, seed, [&](VertexId v) {
      return graph::Row{graph, v}.degree() > 0;
    });
    sources.asked = {{"samples", static_cast<std::int64_t>(samples)},
                     {"seed", static_cast<std::int64_t>(seed)}};
    if (sources.vertices.size() < samples)
      throw Error(fmt::format("--samples {}: {} has {} vertices with edges", samples, graph.path(),
                              sources.vertices.size()));
  }
  if (!one.empty()) return sources;
  const graph::VertexNames names(graph);
  for (const VertexId vertex : sources.vertices) sources.names.emplace_back(names(vertex));
  return sources;
}

std::optional<bool> apart_asked(const std::string& parallel) {
  return parallel == "auto" ? std::optional<bool>() : parallel == "sources";
}

void TargetOption::add_to(CLI::App& command) {
  command
      .add_option("--target", name,
                  "print a shortest path to this vertex, by its id or label: for each source one")
      ->type_name("ID")
      ->check(fault_of_name);
}

runs::Target TargetOption::find(const graph::GraphFile& graph) const {
  if (name.empty()) return {};
  const auto vertex = graph::VertexNames(graph).find(name);
  if (!vertex) throw Error(fmt::format("--target {}: {} has no such vertex", name, graph.path()));
  return {vertex, name};
}

}  // namespace edgewire::cli
