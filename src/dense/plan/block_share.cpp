#include "dense/plan/block_share.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>

#include "base/error.h"
#include "partition/vertex_set.h"

namespace edgewire::plan {

namespace {

constexpr std::size_t kWordsAWeight = sizeof(double) / sizeof(PlainId);
using WeightWords = std::array<PlainId, kWordsAWeight>;

[[noreturn]] void refuse(std::size_t process) {
  throw Error(fmt::format("rank {} sent a faulty exchange plan: edges of blocks", process));
}

}  // namespace

std::vector<BlockEdges> split(const BlockEdges& block, const RoutedBlock& routed, std::size_t processes) {
  std::vector<BlockEdges> parts(processes);
  std::vector<std::uint64_t> edges(processes);
  for (const std::uint16_t process : routed.computed_by) ++edges[process];
  for (std::size_t p = 0; p < processes; ++p) {
    parts[p].targets.reserve(edges[p]);
    if (!block.weights.empty()) parts[p].weights.reserve(edges[p]);
  }
  for (std::size_t i = 0; i < block.sources.size(); ++i)
    for (std::uint64_t e = block.ends[i]; e < block.ends[i + 1]; ++e) {
      BlockEdges& part = parts[routed.computed_by[e]];
      if (block.weights.empty())
        part.add(block.sources[i], block.targets[e]);
      else
        part.add(block.sources[i], block.targets[e], block.weights[e]);
    }
  return parts;
}

/// Packs, for each row, the source, the number of edges, the targets, and the bits of each weight.
Words pack(const BlockEdges& edges) {
  Words words;
  words.reserve(2 * edges.sources.size() + edges.edges() + kWordsAWeight * edges.weights.size());
  for (std::size_t i = 0; i < edges.sources.size(); ++i) {
    const auto row = plain(edges.row(i));
    words.push_back(edges.sources[i]);
    words.push_back(static_cast<PlainId>(row.size()));
    words.insert(words.end(), row.begin(), row.end());
    if (edges.weights.empty()) continue;
    for (std::uint64_t e = edges.ends[i]; e < edges.ends[i + 1]; ++e) {
      const auto bits = std::bit_cast<WeightWords>(edges.weights[e]);
      words.insert(words.end(), bits.begin(), bits.end());
    }
  }
  return words;
}

BlockEdges unpack(const Words& words, bool weighted, std::size_t sender, std::uint64_t vertices) {
  BlockEdges edges;
  const std::size_t words_an_edge = weighted ? 1 + kWordsAWeight : 1;
  for (std::span<const PlainId> rest = words; !rest.empty();) {
    if (rest.size() < 2 || rest[1] == 0 || rest[1] > (rest.size() - 2) / words_an_edge) refuse(sender);
    const auto targets = rest.subspan(2, rest[1]), weights = rest.subspan(2 + rest[1]);
    if (rest[0] >= vertices || targets.back() >= vertices || !std::ranges::is_sorted(targets)) refuse(sender);
    for (std::size_t e = 0; e < targets.size(); ++e) {
      const VertexId source(rest[0]), target(targets[e]);
      if (!weighted) {
        edges.add(source, target);
        continue;
      }
      WeightWords bits;
      std::ranges::copy(weights.subspan(kWordsAWeight * e, kWordsAWeight), bits.begin());
      edges.add(source, target, std::bit_cast<double>(bits));
    }
    rest = rest.subspan(2 + words_an_edge * targets.size());
  }
  return edges;
}

std::vector<PeerLists> lists_for(const BlockEdges& edges, const partition::Ownership& owners,
                                 std::uint32_t rank) {
  std::vector<PeerLists> lists(static_cast<std::size_t>(owners.processes()));
  for (const VertexId source : edges.sources) {
    const std::uint32_t owner = owners.home(source).owner;
    if (owner != rank) lists[owner].mirrors_from.push_back(source);
  }
  const partition::VertexSet targets(owners.vertices(), owners.count(rank), [&](const auto& take) {
    for (const VertexId target : edges.targets) take(target);
  });
  for (const VertexId target : targets.members()) {
    const std::uint32_t owner = owners.home(target).owner;
    if (owner != rank) lists[owner].sums_to.push_back(target);
  }
  return lists;
}

/// Returns the number of mirrors, and the local numbers of mirrors and of partial sums.
Words announce(const PeerLists& lists, const partition::Ownership& owners) {
  Words words{static_cast<PlainId>(lists.mirrors_from.size())};
  for (const auto* list : {&lists.mirrors_from, &lists.sums_to})
    for (const VertexId vertex : *list) words.push_back(owners.home(vertex).local);
  return words;
}

void take_announced(PeerLists& lists, const Words& words, const partition::Ownership& owners,
                    std::uint32_t rank, std::size_t peer) {
  if (words.empty() || words[0] > words.size() - 1) refuse(peer);
  const auto take = [&](std::span<const PlainId> locals, std::vector<VertexId>& list) {
    if (std::ranges::adjacent_find(locals, std::ranges::greater_equal()) != locals.end() ||
        (!locals.empty() && locals.back() >= owners.count(rank)))
      refuse(peer);
    for (const auto local : locals)
      list.push_back(owners.vertex(rank, LocalNumber(static_cast<std::uint32_t>(local))));
  };
  const auto all = std::span(words).subspan(1);
  take(all.first(words[0]), lists.mirrors_to);
  take(all.subspan(words[0]), lists.sums_from);
}

}  // namespace edgewire::plan
