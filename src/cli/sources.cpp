#include "cli/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <random>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "cli/common.h"
#include "cli/files.h"
#include "cli/job_options.h"
#include "cli/option.h"
#include "graph/file/vertex_names.h"
#include "graph/read/formats.h"
#include "graph/read/input.h"
#include "graph/read/text_lines.h"
#include "options/kernels.h"

namespace edgewire::cli {

namespace {

/// A text that names a vertex.
struct Named {
  std::string text;
  std::string where;  ///< place: option, or file and line
  graph::Comment comment = graph::Comment::none;
  std::optional<double> value{};
};

/// Throws Error where the first line of a list is that of a result in CSV or JSON, and not a vertex's name.
void refuse_other_forms(const Graph& graph, const std::string& path, std::string_view line) {
  const bool is_table = line.starts_with("vertex,") && line.find_first_of(" \t") == line.npos;
  if ((!is_table && line != "[") || graph::VertexNames(graph).find(line)) return;
  throw Error(fmt::format(
      "{}: line 1: this is {}, but lists of vertices and values are lines without a header, as -o "
      "writes them to FILE.tsv",
      path, is_table ? "a table (CSV)" : "JSON"));
}

/// Calls take(text, where, comment) for all lines but blank ones, and comments that can be no names.
template <class Take>
void each_line(const Graph& graph, const std::string& path, const Take& take) {
  graph::Input input(path);
  graph::skip_byte_order_mark(input);
  std::uint64_t number = 0;
  for (graph::Piece piece; input.next_lines(piece);) {
    for (std::string_view rest = piece.text; !rest.empty();) {
      std::string_view line = graph::cut_line(rest);
      ++number;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (number == 1) refuse_other_forms(graph, path, line);
      const std::string_view text = graph::trimmed(line);
      const graph::Comment comment = graph::comment_of(text);
      if (text.empty() || (comment != graph::Comment::none && !graph.labelled())) continue;
      take(line, fmt::format("{}: line {}", path, number), comment);
    }
  }
}

/// Returns the number in the text; nothing where it may be a comment. Throws Error where it is not finite.
std::optional<double> finite_number(std::string_view text, const std::string& where, graph::Comment comment) {
  double value = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (bad == std::errc() && end == text.data() + text.size() && std::isfinite(value)) return value;
  if (comment == graph::Comment::clear) return {};
  throw Error(fmt::format("{}: {} is no finite number", where, text));
}

/// Takes the share behind a vertex off the line. Only a tab precedes it where names may have blanks.
std::optional<double> take_share(std::string_view& line, bool labelled, const std::string& where,
                                 graph::Comment comment) {
  const std::string_view whole = line.substr(0, line.find_last_not_of(graph::kBlanks) + 1);
  const std::size_t gap = labelled ? whole.rfind('\t') : whole.find_last_of(" \t");
  if (gap == whole.npos) return {};
  const std::string_view text = graph::trimmed(whole.substr(gap + 1));
  const auto share = finite_number(text, where, comment);
  if (!share || (*share < 0 && comment == graph::Comment::clear)) return {};
  if (*share < 0) throw Error(fmt::format("{}: {} is no share: shares are numbers from 0 on", where, text));
  line = whole.substr(0, gap);
  return share;
}

/// Calls take(order, name) for the names that a text may stand for, the likeliest first: the text itself, as
/// results have names; the same without blanks around it; and without the double quotes around that.
/// `memory`: for names that are not part of the text.
template <class Take>
void each_meaning(std::string_view text, std::deque<std::string>& memory, const Take& take) {
  take(0, text);
  const std::string_view name = graph::trimmed(text);
  if (name.size() < text.size()) take(1, name);
  if (name.size() < 3 || name[0] != '"' || graph::closing_quote(name) != name.size() - 1) return;
  const std::string_view quoted = name.substr(1, name.size() - 2);
  const std::string_view undoubled = graph::undoubled(quoted, memory.emplace_back());
  take(2, undoubled);
}

/// Returns the vertex of each text that names one, in one pass over names that are no numbers from 0 on.
std::vector<std::optional<VertexId>> look_up(const Graph& graph, const std::vector<Named>& all) {
  const graph::VertexNames names(graph);
  std::vector<std::optional<VertexId>> found(all.size());
  std::deque<std::string> memory;
  if (all.size() <= 8 || (!names.labelled() && !graph.has_original_ids())) {
    for (std::size_t i = 0; i < all.size(); ++i)
      each_meaning(all[i].text, memory, [&](int, std::string_view name) {
        if (!found[i]) found[i] = names.find(name);
      });
    return found;
  }
  struct Wanted {
    std::size_t index;
    int order;
  };
  std::unordered_multimap<std::string_view, Wanted> wanted;
  for (std::size_t i = 0; i < all.size(); ++i)
    each_meaning(all[i].text, memory, [&](int order, std::string_view name) {
      if (!names.labelled()) name.remove_prefix(std::min(name.find_first_not_of('0'), name.size() - 1));
      wanted.emplace(name, Wanted{i, order});
    });
  // Order of the meaning that was found.
  std::vector<int> orders(all.size(), std::numeric_limits<int>::max());
  fmt::memory_buffer name;
  for (VertexId v{}; v < graph.vertices(); ++v) {
    name.clear();
    names.append(name, v);
    const auto [first, last] = wanted.equal_range(std::string_view(name.data(), name.size()));
    for (auto one = first; one != last; ++one) {
      const auto [index, order] = one->second;
      if (order >= orders[index]) continue;
      orders[index] = order;
      found[index] = v;
    }
  }
  return found;
}

/// Finds the vertex of each text, and takes comments away from `all`. A line that looks like a comment and is
/// the name of a vertex, as results write it, is no comment. Throws Error for other texts that name no
/// vertex, or one a second time.
std::vector<VertexId> find_all(const Graph& graph, std::vector<Named>& all) {
  const auto found = look_up(graph, all);
  std::vector<VertexId> vertices;
  std::unordered_set<PlainId> seen;
  bool told = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Named& one = all[i];
    const std::string_view name = graph::trimmed(one.text);
    if (!found[i] && one.comment == graph::Comment::clear) continue;
    if (!found[i])
      throw Error(
          fmt::format("{}: {} has no vertex {}{}", one.where, graph.path(), name,
                      one.comment == graph::Comment::none ? "" : " (a comment has a blank after its mark)"));
    if (!seen.insert(*found[i]).second)
      throw Error(fmt::format("{}: vertex {} is given twice", one.where, name));
    if (one.comment == graph::Comment::clear && !std::exchange(told, true))
      note(fmt::format("{}: {} is the name of a vertex, so it is no comment", one.where, name));
    if (i > vertices.size()) all[vertices.size()] = std::move(all[i]);
    vertices.push_back(*found[i]);
  }
  all.resize(vertices.size());
  return vertices;
}

/// Puts vertices with shares in ascending order, without those whose share is 0. `all` has the places that
/// they come from. Throws Error unless all have shares of which none is too small a part of the largest one.
std::vector<double> sort_by_vertex(std::vector<VertexId>& vertices, std::span<const Named> all,
                                   const std::string& path) {
  double largest = 0;
  for (const Named& one : all) {
    if (one.value.has_value() != all[0].value.has_value())
      throw Error(fmt::format("{}: vertex {} has {} share, unlike those before it: give all one, or none",
                              one.where, graph::trimmed(one.text), one.value ? "a" : "no"));
    largest = std::max(largest, one.value.value_or(0));
  }
  if (!all[0].value) {
    std::sort(vertices.begin(), vertices.end());
    return {};
  }
  if (largest == 0) throw Error(fmt::format("{}: all shares are 0: at least one must be greater", path));
  std::map<PlainId, double> shares;
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const double share = *all[i].value;
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

std::string fault_of_name(const std::string& name) {
  return name.empty() ? "it is empty: name a vertex" : "";
}

}  // namespace

std::vector<VertexId> named_vertices(const Graph& graph, const std::string& list, const char* option,
                                     std::vector<double>* shares) {
  std::vector<Named> all;
  if (list.starts_with('@')) {
    const std::string path = list.substr(1);
    if (path.empty()) throw UsageError(fmt::format("{}: the name of a file is missing behind @", option));
    each_line(graph, path, [&](std::string_view line, std::string where, graph::Comment comment) {
      const auto share =
          shares != nullptr ? take_share(line, graph.labelled(), where, comment) : std::nullopt;
      all.push_back({std::string(line), std::move(where), comment, share});
    });
  } else {
    for (std::string& name : split(list, option)) all.push_back({std::move(name), option});
  }
  auto vertices = find_all(graph, all);
  if (vertices.empty())
    throw Error(fmt::format("{}: no vertex is named: {} needs one", list.substr(1), option));
  auto sorted = sort_by_vertex(vertices, all, list.substr(1));
  if (shares != nullptr) *shares = std::move(sorted);
  return vertices;
}

std::vector<double> named_values(const Graph& graph, const std::string& path, double most,
                                 const char* remedy) {
  std::vector<Named> all;
  each_line(graph, path, [&](std::string_view line, std::string where, graph::Comment comment) {
    const bool may_be_none = comment == graph::Comment::clear;
    line = line.substr(0, line.find_last_not_of(graph::kBlanks) + 1);
    const std::size_t gap = line.find_last_of(" \t");
    if (gap == line.npos && may_be_none) return;
    if (gap == line.npos) throw Error(fmt::format("{}: {} is no vertex and value", where, line));
    const std::string_view text = line.substr(gap + 1);
    const auto value = finite_number(text, where, comment);
    if (!value || (may_be_none && std::fabs(*value) > most)) return;
    if (std::fabs(*value) > most) throw Error(fmt::format("{}: {} is too large: {}", where, text, remedy));
    all.push_back({std::string(line.substr(0, gap)), std::move(where), comment, value});
  });
  const auto vertices = find_all(graph, all);
  std::vector<double> values(graph.vertices(), 0);
  for (std::size_t i = 0; i < vertices.size(); ++i) values[vertices[i]] = *all[i].value;
  return values;
}

/// Samples by algorithm S of Knuth, TAOCP volume 2, 3.4.2.
runs::Sources sample(std::uint64_t vertices, std::uint64_t count, std::uint64_t seed,
                     const std::function<bool(VertexId)>& may) {
  std::uint64_t left = 0;
  for (VertexId v{}; v < vertices; ++v) left += may(v) ? 1 : 0;
  runs::Sources sources;
  auto& chosen = sources.vertices;
  std::mt19937_64 random(seed);
  for (VertexId v{}; v < vertices && chosen.size() < count; ++v)
    if (may(v) && left > 0 && random() % left-- < count - chosen.size()) chosen.push_back(v);
  sources.asked = {{"samples", static_cast<std::int64_t>(count)}, {"seed", static_cast<std::int64_t>(seed)}};
  return sources;
}

NamedSources::Options NamedSources::add_to(CLI::App& command, const std::string& several) {
  CLI::Option* const source = add(command, opt::source, one)->check(fault_of_name);
  CLI::Option* const sources =
      add(command, opt::sources, list,
          fmt::format("start at these vertices: ID,ID,... or @FILE with one on each line; {}", several))
          ->check(fault_of_name)
          ->excludes(source);
  reads(sources, listed_in);
  return {source, sources};
}

runs::Sources NamedSources::find(const Graph& graph) const {
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
  CLI::Option* const drawn =
      add(command, opt::samples, samples,
          "start at this many vertices that have edges, drawn by --seed; a run from each")
          ->excludes(single)
          ->excludes(several);
  add(command, opt::sample_seed, seed)->needs(drawn);
}

runs::Sources SourceOptions::find(const Graph& graph) const {
  if (!given() && samples == 0)
    throw UsageError("--source is required, or --sources or --samples for several runs");
  runs::Sources sources;
  if (given()) {
    sources = NamedSources::find(graph);
  } else {
    sources = sample(graph.vertices(), samples, seed, [&](VertexId v) {
      return graph::Row{graph, v}.degree() > 0;
    });
    if (sources.vertices.size() < samples)
      throw Error(fmt::format("--samples {}: {} has {} vertices with edges", samples, graph.path(),
                              sources.vertices.size()));
  }
  if (!one.empty()) return sources;
  const graph::VertexNames names(graph);
  for (const VertexId vertex : sources.vertices) sources.names.emplace_back(names(vertex));
  return sources;
}

void TargetOption::add_to(CLI::App& command) { add(command, opt::target, name)->check(fault_of_name); }

runs::Target TargetOption::find(const Graph& graph) const {
  if (name.empty()) return {};
  const auto vertex = graph::VertexNames(graph).find(name);
  if (!vertex) throw Error(fmt::format("--target {}: {} has no such vertex", name, graph.path()));
  return {vertex, name};
}

}  // namespace edgewire::cli
