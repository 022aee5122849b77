#include "cli/named_vertices.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "cli/common.h"
#include "graph/input.h"
#include "graph/vertex_names.h"

namespace edgewire::cli {

namespace {

struct Named {
  std::string name;
  std::string where;  ///< option, or file and line
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

/// The vertex of each. One pass over the names of the graph, where they are no numbers from 0 on.
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

}  // namespace

std::vector<VertexId> named_vertices(const graph::GraphFile& graph, const std::string& list,
                                     const char* option) {
  std::vector<Named> all;
  if (list.starts_with('@')) {
    const std::string path = list.substr(1);
    if (path.empty()) throw UsageError(fmt::format("{}: the name of a file is missing behind @", option));
    each_line(path, [&](std::string_view line, std::string where) {
      all.push_back({std::string(line), std::move(where)});
    });
    if (all.empty()) throw Error(fmt::format("{}: no vertex is named: {} needs one", path, option));
  } else {
    for (std::string& name : split(list, option)) all.push_back({std::move(name), option});
  }
  auto vertices = find_all(graph, all);
  std::sort(vertices.begin(), vertices.end());
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
    double value = 0;
    const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (bad != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
      throw Error(fmt::format("{}: {} is no finite number", where, text));
    if (std::fabs(value) > most) throw Error(fmt::format("{}: {} is too large: {}", where, text, remedy));
    given.push_back(value);
    all.push_back({std::string(trim(line.substr(0, gap))), std::move(where)});
  });
  const auto vertices = find_all(graph, all);
  std::vector<double> values(graph.vertices(), 0);
  for (std::size_t i = 0; i < vertices.size(); ++i) values[vertices[i]] = given[i];
  return values;
}

}  // namespace edgewire::cli
