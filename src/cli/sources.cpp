#include "cli/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "cli/common.h"
#include "cli/files.h"
#include "cli/job_options.h"
#include "graph/input.h"
#include "graph/vertex_names.h"

namespace edgewire::cli {

namespace {

struct Named {
  std::string name;
  std::string where;  ///< option, or file and line
  std::optional<double> share{};
};

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  return first == text.npos ? "" : text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// Calls take(line, where) for all lines of the file but blank ones and comments.
template <class Take>
void each_line(const std::string& path, const Take& take) {
  graph::Input input(path);
  std::uint64_t number = 0;
  for (graph::Piece piece; input.next_lines(piece);) {
    for (std::size_t at = 0; at < piece.text.size();) {
      const std::size_t end = std::min(piece.text.find('\n', at), piece.text.size());
      const std::string_view line = trim(piece.text.substr(at, end - at));
      at = end + 1;
      ++number;
      if (!line.empty() && line[0] != '#') take(line, fmt::format("{}: line {}", path, number));
    }
  }
}

/// Throws Error that names the place where the text is no finite number.
double finite_number(std::string_view text, const std::string& where) {
  double value = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (bad != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    throw Error(fmt::format("{}: {} is no finite number", where, text));
  return value;
}

/// Takes the share behind a vertex off the line, if it has one. Names may have blanks in them, so there only
/// a tab precedes a share.
std::optional<double> take_share(std::string_view& line, bool labelled, const std::string& where) {
  const std::size_t gap = labelled ? line.rfind('\t') : line.find_last_of(" \t");
  if (gap == line.npos) return {};
  const std::string_view text = line.substr(gap + 1);
  const double share = finite_number(text, where);
  if (share < 0) throw Error(fmt::format("{}: {} is no share: shares are numbers from 0 on", where, text));
  line = trim(line.substr(0, gap));
  return share;
}

/// Finds the vertex of each. It takes one pass over the names of the graph, where they are no numbers from 0
/// on.
std::vector<VertexId> find_all(const graph::GraphFile& graph, const std::vector<Named>& all) {
  const graph::VertexNames names(graph);
  std::vector<std::optional<VertexId>> found(all.size());
  if (all.size() <= 8 || (!names.labelled() && !graph.has_original_ids())) {
    for (std::size_t i = 0; i < all.size(); ++i) found[i] = names.find(all[i].name);
  } else {
    std::unordered_multimap<std::string_view, std::size_t> wanted;
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::string_view name = all[i].name;
      if (!names.labelled()) name.remove_prefix(std::min(name.find_first_not_of('0'), name.size() - 1));
      wanted.emplace(name, i);
    }
    fmt::memory_buffer name;
    for (VertexId v{}; v < graph.vertices(); ++v) {
      name.clear();
      names.append(name, v);
      const auto [first, last] = wanted.equal_range(std::string_view(name.data(), name.size()));
      for (auto one = first; one != last; ++one)
        if (!found[one->second]) found[one->second] = v;
    }
  }
  std::vector<VertexId> vertices;
  std::unordered_map<PlainId, std::size_t> seen;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!found[i])
      throw Error(fmt::format("{}: {} has no vertex {}", all[i].where, graph.path(), all[i].name));
    if (!seen.emplace(*found[i], i).second)
      throw Error(fmt::format("{}: vertex {} is given twice", all[i].where, all[i].name));
    vertices.push_back(*found[i]);
  }
  return vertices;
}

/// Puts vertices with shares in ascending order, without those whose share is 0. `all` says where they come
/// from. Throws Error unless all have shares of which none is too small a part of the largest one.
std::vector<double> sort_by_vertex(std::vector<VertexId>& vertices, std::span<const Named> all,
                                   const std::string& path) {
  double largest = 0;
  for (const Named& one : all) {
    if (one.share.has_value() != all[0].share.has_value())
      throw Error(fmt::format("{}: vertex {} has {} share, unlike those before it: give all one, or none",
                              one.where, one.name, one.share ? "a" : "no"));
    largest = std::max(largest, one.share.value_or(0));
  }
  if (!all[0].share) {
    std::sort(vertices.begin(), vertices.end());
    return {};
  }
  if (largest == 0) throw Error(fmt::format("{}: all shares are 0: one at least must be greater", path));
  std::map<PlainId, double> shares;
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const double share = *all[i].share;
    if (share == 0) continue;
    if (share / largest < double{std::numeric_limits<float>::min()})
      throw Error(fmt::format("{}: share {} is too small a part of {}, the largest one", all[i].where, share,
                              largest));
    shares[vertices[i]] = share;
  }
  vertices.clear();
  std::vector<double> sorted;
  for (const auto& [vertex, share] : shares) {
    vertices.emplace_back(vertex);
    sorted.push_back(share);
  }
  return sorted;
}

}  // namespace

std::vector<VertexId> named_vertices(const graph::GraphFile& graph, const std::string& list,
                                     const char* option, std::vector<double>* shares) {
  std::vector<Named> all;
  if (list.starts_with('@')) {
    const std::string path = list.substr(1);
    if (path.empty()) throw UsageError(fmt::format("{}: the name of a file is missing behind @", option));
    each_line(path, [&](std::string_view line, std::string where) {
      const auto share = shares != nullptr ? take_share(line, graph.labelled(), where) : std::nullopt;
      all.push_back({std::string(line), std::move(where), share});
    });
    if (all.empty()) throw Error(fmt::format("{}: no vertex is named: {} needs one", path, option));
  } else {
    for (std::string& name : split(list, option)) all.push_back({std::move(name), option});
  }
  auto vertices = find_all(graph, all);
  auto sorted = sort_by_vertex(vertices, all, list.substr(1));
  if (shares != nullptr) *shares = std::move(sorted);
  return vertices;
}

std::vector<double> named_values(const graph::GraphFile& graph, const std::string& path, double most,
                                 const char* remedy) {
  std::vector<Named> all;
  std::vector<double> given;
  each_line(path, [&](std::string_view line, std::string where) {
    const std::size_t gap = line.find_last_of(" \t");
    if (gap == line.npos) throw Error(fmt::format("{}: {} is no vertex and value", where, line));
    const std::string_view text = line.substr(gap + 1);
    const double value = finite_number(text, where);
    if (std::fabs(value) > most) throw Error(fmt::format("{}: {} is too large: {}", where, text, remedy));
    given.push_back(value);
    all.push_back({std::string(trim(line.substr(0, gap))), std::move(where)});
  });
  const auto vertices = find_all(graph, all);
  std::vector<double> values(graph.vertices(), 0);
  for (std::size_t i = 0; i < vertices.size(); ++i) values[vertices[i]] = given[i];
  return values;
}

/// This is algorithm S of Knuth, TAOCP volume 2, 3.4.2.
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
  if (!list.empty()) {
    runs::Sources sources;
    sources.vertices = named_vertices(graph, list, "--sources", with_shares ? &sources.shares : nullptr);
    sources.asked = {{"sources", list}};
    return sources;
  }
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
    sources.asked = samples_asked(samples, seed);
    if (sources.vertices.size() < samples)
      throw Error(fmt::format("--samples {}: {} has {} vertices with edges", samples, graph.path(),
                              sources.vertices.size()));
  }
  if (!one.empty()) return sources;
  const graph::VertexNames names(graph);
  for (const VertexId vertex : sources.vertices) sources.names.emplace_back(names(vertex));
  return sources;
}

std::vector<std::pair<std::string, report::RunReport::Option>> samples_asked(std::uint64_t samples,
                                                                             std::uint64_t seed) {
  return {{"samples", static_cast<std::int64_t>(samples)}, {"seed", static_cast<std::int64_t>(seed)}};
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
