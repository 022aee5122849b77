#include "graph/list_head.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "base/bits.h"
#include "base/error.h"
#include "base/mixing.h"
#include "graph/text_lines.h"

namespace edgewire::graph {

namespace {

using Edges = ListHead::Edges;

/// Returns what KONECT's first line says; nothing for other lines.
std::optional<ListHead> konect_head(std::string_view line) {
  constexpr std::array<std::string_view, 9> kWeights = {"unweighted",    "positive",         "posweighted",
                                                        "signed",        "multisigned",      "weighted",
                                                        "multiweighted", "multiposweighted", "dynamic"};
  if (!line.starts_with('%')) return std::nullopt;
  const std::string_view words = trimmed(line.substr(1));
  const std::size_t gap = words.find_first_of(kBlanks);
  if (gap == words.npos) return std::nullopt;
  const std::string_view edges = words.substr(0, gap), weights = trimmed(words.substr(gap));
  if (std::ranges::find(kWeights, weights) == kWeights.end()) return std::nullopt;
  ListHead head;
  if (edges == "sym")
    head.edges = Edges::undirected;
  else if (edges == "bip")
    head.edges = Edges::bipartite;
  else if (edges != "asym")
    return std::nullopt;
  head.timed = true;
  head.weighted = weights != "unweighted" && weights != "dynamic";
  return head;
}

/// Returns the number LEFT of KONECT's second line, EDGES LEFT RIGHT; 0 for other lines.
std::uint64_t left_of(const Input& input, const Piece& piece, std::string_view line) {
  if (!line.starts_with('%')) return 0;
  Fields fields(input, piece, line.substr(1));
  const auto edges = fields.number(), left = fields.number(), right = fields.number();
  return edges && left && right && !fields.more() ? *left : 0;
}

ListHead head_of(Input& input) {
  constexpr std::string_view kSnap = "# undirected graph";
  Piece piece;
  piece.text = input.peek();
  ListHead head;
  for (std::string_view rest = piece.text; !rest.empty();) {
    const std::string_view line = trimmed(cut_line(rest));
    if (line.empty()) continue;
    if (comment_of(line) == Comment::none) break;
    if (head.line.empty()) {
      if (auto said = konect_head(line)) head = *std::move(said);
      if (is_one_of(line.substr(0, kSnap.size()), std::span(&kSnap, 1))) head.edges = Edges::undirected;
      if (head.timed || head.edges != Edges::directed) head.line = line;
    } else if (head.timed && head.left == 0) {
      head.left = left_of(input, piece, line);
    }
  }
  head.path = input.path();
  return head;
}

}  // namespace

ListHead head_of(std::span<Input* const> inputs) {
  ListHead all;
  for (Input* const input : inputs) {
    ListHead one = head_of(*input);
    if (one.line.empty()) continue;
    const bool bipartite = one.edges == Edges::bipartite;
    if (bipartite && one.left == 0)
      throw Error(
          fmt::format("{}: it is bipartite ({}), but does not say how many vertices are on its left: put a "
                      "line '% EDGES LEFT RIGHT' below that",
                      one.path, one.line));
    const bool either = bipartite || all.edges == Edges::bipartite;
    if (!all.line.empty() && either && (one.edges != all.edges || one.left != all.left))
      throw Error(
          fmt::format("{}: it is another graph than {}: their first lines differ ({}, and {} vertices on the "
                      "left; {}, and {})",
                      one.path, all.path, one.line, one.left, all.line, all.left));
    if (all.line.empty() || one.edges > all.edges) all = std::move(one);
  }
  return all;
}

HeadedSink::HeadedSink(EdgeSink& sink, const ListHead& head, const ConvertOptions& options)
    : sink_(sink), head_(head), options_(options) {
  std::string columns = options.columns;
  std::erase(columns, ' ');
  if (head.edges == Edges::bipartite && !options.vertices.empty())
    throw UsageError(fmt::format(
        "--vertices: {} is bipartite ({}), so an id alone does not say on which side it is: leave "
        "--vertices out",
        head.path, head.line));
  if (head.edges == Edges::bipartite && !columns.empty() && columns != "1,2" && !columns.starts_with("1,2,"))
    throw UsageError(
        fmt::format("--columns: {} is bipartite ({}), with its left in column 1 and its right in "
                    "column 2: choose these",
                    head.path, head.line));
}

void HeadedSink::check_bipartite(std::span<const std::uint64_t> ids) const {
  for (std::size_t i = 0; i < ids.size(); i += 2) {
    if (ids[i] < 1 || ids[i] > head_.left)
      throw Error(fmt::format("{}: a vertex on the left is {}, but its head says 1 to {} ({})", head_.path,
                              ids[i], head_.left, head_.line));
    if (ids[i + 1] < 1 || ids[i + 1] > std::numeric_limits<std::uint64_t>::max() - head_.left)
      throw Error(fmt::format("{}: a vertex on the right is {}; ids of a bipartite graph ({}) are from 1 on",
                              head_.path, ids[i + 1], head_.line));
  }
}

template <class Id>
void HeadedSink::count(std::span<const Id> ids) {
  if (options_.undirected) return;
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
  std::uint64_t difference = 0;
  for (std::size_t i = 0; i < ids.size(); i += 2) {
    const std::uint64_t source = ids[i], target = ids[i + 1];
    difference += mix64(source * kOdd + target) - mix64(target * kOdd + source);
  }
  asymmetry_.fetch_add(difference, std::memory_order_relaxed);
}

void HeadedSink::add(int worker, std::span<const std::uint64_t> ids, Weights weights) {
  if (head_.edges == Edges::undirected) {
    count(ids);
    return sink_.add(worker, ids, weights);
  }
  check_bipartite(ids);
  std::vector<std::uint64_t> shifted(ids.begin(), ids.end());
  for (std::size_t i = 1; i < shifted.size(); i += 2) shifted[i] += head_.left;
  sink_.add(worker, shifted, weights);
}

void HeadedSink::add_narrow(int worker, std::span<const std::uint32_t> ids, Weights weights) {
  if (head_.edges == Edges::bipartite) return EdgeSink::add_narrow(worker, ids, weights);
  count(ids);
  sink_.add_narrow(worker, ids, weights);
}

BuildSummary HeadedSink::write(std::uint32_t flags, const Progress& progress) {
  asymmetry_ = sink_.sum(asymmetry_);
  return sink_.write(flags, progress);
}

void HeadedSink::look_at(const std::vector<LabelledPart>& parts, const std::vector<std::string_view>& names) {
  Bits left(names.size()), right(names.size());
  for (const LabelledPart& part : parts)
    for (const LabelledEdges& edges : part.edges) {
      std::vector<std::uint32_t> ids;
      for (const std::uint32_t name : edges.ids) ids.push_back(part.vertices[name]);
      for (std::size_t i = 0; i < ids.size(); ++i) (i % 2 == 0 ? left : right).add(ids[i]);
      count(std::span<const std::uint32_t>(ids));
    }
  for (std::size_t name = 0; head_.edges == Edges::bipartite && name < names.size(); ++name)
    if (left.test(name) && right.test(name))
      throw Error(
          fmt::format("{}: it is bipartite ({}), but {} is on both sides; without --labels numbers on the "
                      "right are other vertices than those on the left",
                      head_.path, head_.line, names[name]));
}

void HeadedSink::tell(bool labelled) const {
  if (!options_.note || sink_.rank() > 0) return;
  const bool bipartite = head_.edges == Edges::bipartite;
  std::string line =
      fmt::format("{}: it is {} ({})", head_.path, bipartite ? "bipartite" : "undirected", head_.line);
  const bool numbered = bipartite && !labelled;
  if (numbered)
    line += fmt::format("; ids on its right follow the {} on its left, so 1 on the right is {}", head_.left,
                        head_.left + 1);
  const bool one_way = !options_.undirected && (bipartite || asymmetry_ != 0);
  if (one_way)
    line += fmt::format("; edges are stored {}; `edgewire convert --undirected` stores them both ways",
                        bipartite ? "from left to right" : "one way, as they stand");
  if (numbered || one_way) options_.note(line);
}

}  // namespace edgewire::graph
