#include "dense/plan/block_routes.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <span>
#include <utility>

#include "base/bits.h"
#include "base/error.h"
#include "dense/plan/cover.h"
#include "partition/vertex_set.h"

namespace edgewire::plan {

namespace {

constexpr std::uint16_t kUndecided = 0xFFFF;

class Router {
 public:
  Router(const BlockEdges& edges, const partition::Ownership& owners, std::uint32_t holder)
      : edges_(edges), owners_(owners), holder_(holder) {
    routed_.computed_by.assign(edges.edges(), kUndecided);
    for (const VertexId source : edges.sources) source_owner_.push_back(owner(source));
  }

  RoutedBlock all_at_holder() && {
    std::ranges::fill(routed_.computed_by, static_cast<std::uint16_t>(holder_));
    for (const auto of_source : source_owner_) routed_.values += of_source != holder_ ? 1 : 0;
    for (const VertexId target : targets().members()) routed_.values += owner(target) != holder_ ? 1 : 0;
    return std::move(routed_);
  }

  RoutedBlock covered(bool with_core) && {
    if (with_core) take_core();
    for (std::size_t first = 0; first < source_owner_.size();) {
      std::size_t last = first;
      while (last < source_owner_.size() && source_owner_[last] == source_owner_[first]) ++last;
      cover_sources(first, last);
      first = last;
    }
    return std::move(routed_);
  }

 private:
  std::uint16_t owner(VertexId vertex) const noexcept {
    return static_cast<std::uint16_t>(owners_.home(vertex).owner);
  }
  partition::VertexSet targets() const {
    return {owners_.vertices(), owners_.count(holder_), [this](const auto& take) {
              for (const VertexId target : edges_.targets) take(target);
            }};
  }
  template <class Work>
  void each_undecided(const Work& work) {
    for (std::size_t i = 0; i < edges_.sources.size(); ++i)
      for (std::uint64_t e = edges_.ends[i]; e < edges_.ends[i + 1]; ++e)
        if (routed_.computed_by[e] == kUndecided) work(i, e);
  }

  /// Lets the holder compute the core of the block.
  void take_core() {
    const partition::VertexSet numbers = targets();
    std::vector<std::uint32_t> target_of(edges_.edges()), of_source(edges_.sources.size()),
        of_target(numbers.count());
    std::vector<std::uint16_t> target_owner;
    for (const VertexId target : numbers.members()) target_owner.push_back(owner(target));
    std::vector<bool> in_core(edges_.edges());
    each_undecided([&](std::size_t i, std::uint64_t e) {
      const std::uint32_t t = target_of[e] = numbers.place(edges_.targets[e]) - 1;
      in_core[e] = source_owner_[i] != target_owner[t];
      if (!in_core[e]) return;
      ++of_source[i];
      ++of_target[t];
    });
    const auto few = [&](std::uint32_t edges, std::uint16_t of) { return edges < 2 && of != holder_; };
    for (bool smaller = true; smaller;) {
      smaller = false;
      each_undecided([&](std::size_t i, std::uint64_t e) {
        std::uint32_t &at_source = of_source[i], &at_target = of_target[target_of[e]];
        if (!in_core[e] || !(few(at_source, source_owner_[i]) || few(at_target, target_owner[target_of[e]])))
          return;
        in_core[e] = false;
        --at_source;
        --at_target;
        smaller = true;
      });
    }
    for (std::size_t i = 0; i < of_source.size(); ++i)
      routed_.values += of_source[i] > 0 && source_owner_[i] != holder_ ? 1 : 0;
    for (std::size_t t = 0; t < of_target.size(); ++t)
      routed_.values += of_target[t] > 0 && target_owner[t] != holder_ ? 1 : 0;
    each_undecided([&](std::size_t, std::uint64_t e) {
      if (in_core[e]) routed_.computed_by[e] = static_cast<std::uint16_t>(holder_);
    });
  }

  /// Covers the sources [first, last), which are all of one owner.
  void cover_sources(std::size_t first, std::size_t last) {
    const std::uint16_t from = source_owner_[first];
    std::vector<std::vector<PairRow>> pairs(static_cast<std::size_t>(owners_.processes()));
    undecided_.clear();
    locals_.resize(edges_.ends[last] - edges_.ends[first]);
    for (std::size_t i = first; i < last; ++i) {
      const LocalNumber source = owners_.home(edges_.sources[i]).local;
      for (std::uint64_t e = edges_.ends[i]; e < edges_.ends[i + 1]; ++e) {
        const Home target = owners_.home(edges_.targets[e]);
        if (target.owner == from) routed_.computed_by[e] = from;
        if (routed_.computed_by[e] != kUndecided) continue;
        // Targets ascend, and each process owns a range of them: those of a row follow each other.
        auto& rows = pairs[target.owner];
        LocalNumber* const local = &locals_[undecided_.size()];
        if (rows.empty() || rows.back().source != source) rows.push_back({local, 0, source});
        ++rows.back().edges;
        *local = target.local;
        undecided_.push_back(e);
      }
    }
    for (std::uint32_t to = 0; to < pairs.size(); ++to)
      if (!pairs[to].empty()) cover(from, to, pairs[to]);
  }

  void cover(std::uint16_t from, std::uint32_t to, std::span<const PairRow> rows) {
    const PairEdges between{{rows}, owners_.count(from), owners_.count(to)};
    const PairCover cover = minimum_cover(between);
    routed_.values += cover.values();
    const Bits mirrored(between.sources, cover.mirrors), summed(between.destinations, cover.sums);
    for (const PairRow& row : rows) {
      const bool mirror = mirrored.test(row.source);
      for (const LocalNumber& target : row.span()) {
        // If both are there, the holder computes the edge if it can.
        const bool at_source = summed.test(target) && (!mirror || to != holder_);
        const std::uint64_t edge = undecided_[static_cast<std::size_t>(&target - locals_.data())];
        routed_.computed_by[edge] = at_source ? from : static_cast<std::uint16_t>(to);
      }
    }
  }

  const BlockEdges& edges_;
  const partition::Ownership& owners_;
  std::uint32_t holder_;
  std::vector<std::uint16_t> source_owner_;  ///< owners of the sources, [row]
  // The edges of the sources of one owner that are to be covered follow.
  std::vector<std::uint64_t> undecided_;  ///< numbers of the edges in the block
  std::vector<LocalNumber> locals_;       ///< destinations of the edges
  RoutedBlock routed_;
};

}  // namespace

std::vector<Route> routes_of(Strategy strategy) {
  if (strategy != Strategy::cover) return {Route::holder};
  return {Route::direct, Route::mixed};
}

RoutedBlock route_block(const BlockEdges& edges, const partition::Ownership& owners, std::uint32_t holder,
                        Route route) {
  Router router(edges, owners, holder);
  if (route == Route::holder) return std::move(router).all_at_holder();
  return std::move(router).covered(route == Route::mixed);
}

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
