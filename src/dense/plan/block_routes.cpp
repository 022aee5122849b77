#include "dense/plan/block_routes.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/bits.h"
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

}  // namespace edgewire::plan
