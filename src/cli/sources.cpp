#include "cli/sources.h"

#include <fmt/core.h>

#include <random>

#include "cli/answers.h"
#include "cli/files.h"
#include "cli/named_vertices.h"
#include "error.h"
#include "graph/row.h"
#include "graph/vertex_names.h"

namespace edgewire::cli {

/// Knuth, TAOCP volume 2, 3.4.2, algorithm S.
std::vector<std::uint32_t> sample(std::uint64_t vertices, std::uint64_t count, std::uint64_t seed,
                                  const std::function<bool(std::uint32_t)>& may) {
  std::uint64_t left = 0;
  for (std::uint32_t v = 0; v < vertices; ++v) left += may(v) ? 1 : 0;
  std::vector<std::uint32_t> chosen;
  std::mt19937_64 random(seed);
  for (std::uint32_t v = 0; v < vertices && chosen.size() < count; ++v)
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

std::vector<std::uint32_t> NamedSources::find(const graph::GraphFile& graph) const {
  if (!list.empty()) return named_vertices(graph, list, "--sources");
  const auto vertex = graph::VertexNames(graph).find(one);
  if (!vertex) throw Error(fmt::format("--source {}: {} has no such vertex", one, graph.path()));
  return {*vertex};
}

std::vector<std::pair<std::string, report::RunReport::Option>> NamedSources::options() const {
  if (!one.empty()) return {{"source", one}};
  if (!list.empty()) return {{"sources", list}};
  return {};
}

void Sources::add_to(CLI::App& command) {
  const auto [single, several] =
      NamedSources::add_to(command, "a run from each, for which the graph is loaded once");
  auto* drawn = command
                    .add_option("--samples", samples,
                                "start at so many vertices that have edges, drawn by --seed; a run from each")
                    ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32))
                    ->excludes(single)
                    ->excludes(several);
  command.add_option("--seed", seed, "the same seed draws the same samples")
      ->capture_default_str()
      ->needs(drawn);
}

void Sources::find(const graph::GraphFile& graph) {
  if (!given() && samples == 0)
    throw UsageError("--source is required, or --sources or --samples for several runs");
  vertices =
      given() ? NamedSources::find(graph) : sample(graph.vertices(), samples, seed, [&](std::uint32_t v) {
        return graph::Row{graph, v}.degree() > 0;
      });
  if (vertices.size() < samples)
    throw Error(
        fmt::format("--samples {}: {} has {} vertices with edges", samples, graph.path(), vertices.size()));
  names.clear();
  if (!one.empty()) return;
  const graph::VertexNames vertex_names(graph);
  for (const std::uint32_t vertex : vertices) names.emplace_back(vertex_names(vertex));
}

void Target::add_to(CLI::App& command) {
  command
      .add_option("--target", name,
                  "print a shortest path to this vertex, by its id or label: for each source one")
      ->type_name("ID")
      ->check(fault_of_name);
}

void Target::find(const graph::GraphFile& graph) {
  if (name.empty()) return;
  vertex = graph::VertexNames(graph).find(name);
  if (!vertex) throw Error(fmt::format("--target {}: {} has no such vertex", name, graph.path()));
}

report::Path named_path(const graph::VertexNames& names, const std::vector<std::uint32_t>& vertices,
                        std::uint32_t source, std::uint32_t target, report::Number length) {
  report::Path path{{}, name_of(names, source), name_of(names, target), length};
  for (const std::uint32_t vertex : vertices) path.vertices.push_back(name_of(names, vertex));
  return path;
}

std::vector<std::pair<std::string, report::RunReport::Option>> Sources::options() const {
  if (samples > 0)
    return {{"samples", static_cast<std::int64_t>(samples)}, {"seed", static_cast<std::int64_t>(seed)}};
  return NamedSources::options();
}

}  // namespace edgewire::cli
