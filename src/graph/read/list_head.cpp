#include "graph/read/list_head.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>

#include "base/bits.h"
#include "base/error.h"
#include "base/mixing.h"
#include "graph/read/first_lines.h"
#include "graph/read/text_lines.h"
#include "options/files.h"

namespace edgewire::graph {

namespace {

using Edges = ListHead::Edges;

/// Returns the head that KONECT's first line tells; nothing for other lines.
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

/// Takes the counts of KONECT's second line, EDGES LEFT RIGHT; nothing of other lines.
void take_counts(const Input& input, const Piece& piece, std::string_view line, ListHead& head) {
  if (!line.starts_with('%')) return;
  Fields fields(input, piece, line.substr(1));
  const auto edges = fields.number(), left = fields.number(), right = fields.number();
  if (!edges || !left || !right || fields.more()) return;
  head.counts = {*edges};
  head.left = *left;
  head.right = *right;
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
    } else if (head.timed && head.counts.empty()) {
      take_counts(input, piece, line, head);
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
    if (bipartite && one.right > std::numeric_limits<std::uint64_t>::max() - one.left)
      throw Error(
          fmt::format("{}: its head counts {} vertices on the left and {} on the right ({}): more than "
                      "ids of 64 bits tell apart",
                      one.path, one.left, one.right, one.line));
    const bool either = bipartite || all.edges == Edges::bipartite;
    if (!all.line.empty() && either &&
        (one.edges != all.edges || one.left != all.left || one.right != all.right))
      throw Error(
          fmt::format("{}: it is another graph than {}: their first lines differ ({}, and {} vertices on the "
                      "left and {} on the right; {}, and {} and {})",
                      one.path, all.path, one.line, one.left, one.right, all.line, all.left, all.right));
    one.counts.insert(one.counts.begin(), all.counts.begin(), all.counts.end());
    if (all.line.empty() || one.edges > all.edges)
      all = std::move(one);
    else
      all.counts = std::move(one.counts);
  }
  return all;
}

HeadedSink::HeadedSink(EdgeSink& sink, const ListHead& head, const ConvertOptions& options)
    : sink_(sink), head_(head), options_(options) {
  if (head.edges == Edges::bipartite && !options.vertices.empty())
    throw UsageError(
        fmt::format("{}: {} is bipartite ({}), so an id alone does not say on which side it is: leave {} out",
                    opt::vertices, head.path, head.line, opt::vertices));
  const ChosenColumns chosen = chosen_columns(options.columns);
  if (head.edges == Edges::bipartite && !chosen.columns.empty() && !chosen.are_first_ends())
    throw UsageError(fmt::format(
        "{}: {} is bipartite ({}), with its left in column 1 and its right in column 2: choose these",
        opt::columns, head.path, head.line));
}

void HeadedSink::check_bipartite(std::span<const std::uint64_t> ids) const {
  for (std::size_t i = 0; i < ids.size(); i += 2) {
    const bool left = ids[i] - 1 >= head_.left;  // 0 wraps around
    if (!left && ids[i + 1] - 1 < head_.right) continue;
    throw Error(fmt::format("{}: a vertex on the {} is {}, but its head says 1 to {} ({})", head_.path,
                            left ? "left" : "right", ids[left ? i : i + 1], left ? head_.left : head_.right,
                            head_.line));
  }
}

template <class Id>
void HeadedSink::count(std::span<const Id> ids) {
  edges_.fetch_add(ids.size() / 2, std::memory_order_relaxed);
  if (options_.undirected || head_.edges != Edges::undirected) return;
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
  std::uint64_t difference = 0;
  for (std::size_t i = 0; i < ids.size(); i += 2) {
    const std::uint64_t source = ids[i], target = ids[i + 1];
    difference += mix64(source * kOdd + target) - mix64(target * kOdd + source);
  }
  asymmetry_.fetch_add(difference, std::memory_order_relaxed);
}

void HeadedSink::add(int worker, std::span<const std::uint64_t> ids, Weights weights) {
  count(ids);
  if (head_.edges != Edges::bipartite) return sink_.add(worker, ids, weights);
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
  const std::array all = {head_.left + head_.right, head_.left + head_.right};
  if (head_.edges == Edges::bipartite && options_.keep_ids && sink_.rank() == 0) sink_.add_vertices(0, all);
  asymmetry_ = sink_.sum(asymmetry_);
  edges_ = sink_.sum(edges_);
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
          fmt::format("{}: it is bipartite ({}), but {} is on both sides; without {} numbers on the right "
                      "are other vertices than those on the left",
                      head_.path, head_.line, names[name], opt::labels));
}

void HeadedSink::tell(bool labelled) const {
  if (!options_.note || sink_.rank() > 0) return;
  const auto& counts = head_.counts;
  const std::uint64_t count = counts.empty() ? edges_.load() : counts[0];
  if (edges_ != count && edges_ != std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}))
    options_.note(fmt::format("{}: its head counts {} edges, but there are {}: is it cut short? ({})",
                              head_.path, count, edges_.load(), head_.line));
  if (edges_ == 0 || head_.edges == Edges::directed) return;
  const bool bipartite = head_.edges == Edges::bipartite;
  std::string line =
      fmt::format("{}: it is {} ({})", head_.path, bipartite ? "bipartite" : "undirected", head_.line);
  const bool numbered = bipartite && !labelled;
  if (numbered)
    line += fmt::format("; ids on its right follow the {} on its left, so 1 on the right is {}", head_.left,
                        head_.left + 1);
  const bool one_way = !options_.undirected && (bipartite || asymmetry_ != 0);
  if (one_way)
    line += fmt::format("; edges are stored {}; {} stores them both ways",
                        bipartite ? "from left to right" : "one way, as they stand",
                        options::conversion_with(opt::undirected.said()));
  if (numbered || one_way) options_.note(line);
}

}  // namespace edgewire::graph
