#include "plan/cover.h"

#include <array>
#include <bit>
#include <numeric>

namespace edgewire::plan {

namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFF;
constexpr std::size_t kAhead = 16;     // nearly everything here is read at random: it is asked for before
constexpr std::size_t kSearches = 64;  // prepared together
/// Successful searches up to this long are forgotten at once: their vertices are cheap to see again, and the
/// searches that would have met them need no round of breadth-first search.
constexpr std::size_t kShortSearch = 256;

/// A bit a destination: what is asked for at every edge stays in the L2 cache.
class Set {
 public:
  explicit Set(std::uint32_t size) : words_(size / 64 + 1) {}
  bool operator[](std::uint32_t i) const noexcept { return (words_[i / 64] >> (i % 64) & 1) != 0; }
  void add(std::uint32_t i) noexcept { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  /// Its members, ascending.
  std::vector<std::uint32_t> members() const {
    std::vector<std::uint32_t> all;
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t left = words_[w]; left != 0; left &= left - 1)
        all.push_back(static_cast<std::uint32_t>(w * 64) +
                      static_cast<std::uint32_t>(std::countr_zero(left)));
    }
    return all;
  }

 private:
  std::vector<std::uint64_t> words_;
};

class Matcher {
 public:
  explicit Matcher(const PairEdges& edges)
      : edges_(edges),
        mates_(edges.sources.size(), kNone),
        next_free_(edges.sources.size()),
        destinations_(edges.destinations),
        matched_(edges.destinations),
        dead_(edges.destinations) {}

  void match_greedily();
  void augment(std::uint32_t max_rounds);
  PairCover cover() const;

 private:
  struct Destination {
    std::uint32_t mate = kNone;
    std::uint32_t seen = 0;  ///< the search that saw it
  };
  struct Step {
    std::uint32_t row;
    std::uint64_t edge;
  };
  enum class Outcome { found, dead, open };

  std::uint32_t rows() const noexcept { return static_cast<std::uint32_t>(edges_.sources.size()); }
  std::vector<std::uint32_t> rows_by_degree() const;
  bool match_free_destination(std::uint32_t row);
  Outcome search(const Step& root);
  std::span<const Step> next_searches(std::span<const std::uint32_t> roots);
  void flip_path(std::uint32_t destination);

  PairEdges edges_;
  std::vector<std::uint32_t> mates_;  ///< of rows
  std::vector<std::uint32_t>
      next_free_;  ///< edges of a row before this one end in matched destinations, for good
  std::vector<Destination> destinations_;
  Set matched_, dead_;
  std::vector<std::uint32_t> open_rows_;  ///< after augment: unmatched, not proven to stay so
  std::array<Step, kSearches> first_steps_;
  std::vector<Step> path_;
  std::vector<std::uint32_t> trail_;
  std::uint32_t searches_ = 0;
  std::uint32_t before_round_ = 0;  ///< the last search of the rounds before this one
};

/// Counting sort by degree, all high degrees alike.
std::vector<std::uint32_t> Matcher::rows_by_degree() const {
  constexpr std::uint64_t kClasses = 32;
  const auto degree_class = [this](std::uint32_t row) {
    return std::min(edges_.offsets[row + 1] - edges_.offsets[row], kClasses - 1);
  };
  std::array<std::uint32_t, kClasses + 1> starts{};
  for (std::uint32_t row = 0; row < rows(); ++row) ++starts[degree_class(row) + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  std::vector<std::uint32_t> order(rows());
  for (std::uint32_t row = 0; row < rows(); ++row) order[starts[degree_class(row)]++] = row;
  return order;
}

bool Matcher::match_free_destination(std::uint32_t row) {
  const std::uint64_t first = edges_.offsets[row];
  const std::uint64_t end = edges_.offsets[row + 1];
  std::uint64_t edge = first + next_free_[row];
  while (edge < end && matched_[edges_.targets[edge]]) ++edge;
  next_free_[row] = static_cast<std::uint32_t>(edge - first);
  return edge < end;
}

void Matcher::match_greedily() {
  const auto order = rows_by_degree();
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i + 3 * kAhead < order.size()) __builtin_prefetch(&edges_.offsets[order[i + 3 * kAhead]]);
    if (i + 2 * kAhead < order.size())
      __builtin_prefetch(&edges_.targets[edges_.offsets[order[i + 2 * kAhead]]]);
    if (i + kAhead < order.size()) {
      __builtin_prefetch(&destinations_[edges_.targets[edges_.offsets[order[i + kAhead]]]]);
      __builtin_prefetch(&mates_[order[i + kAhead]]);
      __builtin_prefetch(&next_free_[order[i + kAhead]]);
    }
    const std::uint32_t row = order[i];
    if (!match_free_destination(row)) continue;
    const std::uint32_t destination = edges_.targets[edges_.offsets[row] + next_free_[row]];
    mates_[row] = destination;
    destinations_[destination].mate = row;
    matched_.add(destination);
  }
}

/// Rematches the rows on path_, from the last to the root, each with the destination that the next one had.
void Matcher::flip_path(std::uint32_t destination) {
  for (std::size_t i = path_.size(); i-- > 0;) {
    const std::uint32_t row = path_[i].row;
    std::swap(mates_[row], destination);
    destinations_[mates_[row]].mate = row;
  }
}

/// Depth-first search of all that no search of this round has seen.
Matcher::Outcome Matcher::search(const Step& root) {
  const std::uint32_t me = ++searches_;
  bool met_other = false;
  trail_.clear();
  path_.assign(1, root);
  bool arrived = true;  // at a row not looked at before
  while (!path_.empty()) {
    Step& step = path_.back();
    if (arrived && match_free_destination(step.row)) {
      const std::uint32_t free = edges_.targets[edges_.offsets[step.row] + next_free_[step.row]];
      matched_.add(free);
      flip_path(free);
      if (trail_.size() <= kShortSearch) {
        for (const auto seen : trail_) destinations_[seen].seen = 0;
      }
      return Outcome::found;
    }
    const std::uint64_t end = edges_.offsets[step.row + 1];
    if (arrived) {
      for (std::uint64_t edge = step.edge; edge < std::min(end, step.edge + kAhead); ++edge)
        __builtin_prefetch(&destinations_[edges_.targets[edge]]);
    }
    arrived = false;
    while (step.edge < end && !arrived) {
      const std::uint32_t target = edges_.targets[step.edge++];
      if (dead_[target]) continue;
      Destination& destination = destinations_[target];
      if (destination.seen <= before_round_) {
        destination.seen = me;
        trail_.push_back(target);
        path_.push_back({destination.mate, edges_.offsets[destination.mate]});
        arrived = true;
        break;
      }
      met_other = met_other || destination.seen != me;
    }
    if (!arrived) path_.pop_back();
  }
  if (met_other) return Outcome::open;
  for (const auto seen : trail_) dead_.add(seen);
  return Outcome::dead;
}

/// The first steps of the searches that have one to make. What they will read is asked for, side by side:
/// most end after the second step.
std::span<const Matcher::Step> Matcher::next_searches(std::span<const std::uint32_t> roots) {
  std::size_t count = 0;
  for (const std::uint32_t row : roots) {
    std::uint64_t edge = edges_.offsets[row];
    const std::uint64_t end = edges_.offsets[row + 1];
    while (edge < end && dead_[edges_.targets[edge]]) ++edge;
    if (edge == end) continue;
    __builtin_prefetch(&destinations_[edges_.targets[edge]]);
    first_steps_[count++] = {row, edge};
  }
  const auto steps = std::span(first_steps_).first(count);
  const auto mate = [&](const Step& step) { return destinations_[edges_.targets[step.edge]].mate; };
  for (const Step& step : steps) {
    __builtin_prefetch(&edges_.offsets[mate(step)]);
    __builtin_prefetch(&next_free_[mate(step)]);
  }
  for (const Step& step : steps)
    __builtin_prefetch(&edges_.targets[edges_.offsets[mate(step)] + next_free_[mate(step)]]);
  return steps;
}

void Matcher::augment(std::uint32_t max_rounds) {
  for (std::uint32_t row = 0; row < rows(); ++row) {
    if (mates_[row] == kNone) open_rows_.push_back(row);
  }
  for (std::uint32_t round = 0; round < max_rounds && !open_rows_.empty(); ++round) {
    before_round_ = searches_;
    bool found = false;
    std::size_t still_open = 0;
    for (std::size_t i = 0; i < open_rows_.size(); i += kSearches) {
      const std::size_t count = std::min(kSearches, open_rows_.size() - i);
      for (const Step& first : next_searches(std::span(open_rows_).subspan(i, count))) {
        const Outcome outcome = search(first);
        found = found || outcome == Outcome::found;
        if (outcome == Outcome::open) open_rows_[still_open++] = first.row;
      }
    }
    open_rows_.resize(still_open);
    if (!found) {  // what all these searches saw has no free destination
      for (std::uint32_t d = 0; d < edges_.destinations; ++d)
        if (destinations_[d].seen > before_round_) dead_.add(d);
      open_rows_.clear();
    }
  }
}

PairCover Matcher::cover() const {
  PairCover cover;
  std::vector<unsigned char> open(rows());
  for (const std::uint32_t row : open_rows_) open[row] = 1;
  cover.mirrors.resize(rows() + std::size_t{1});
  std::uint32_t* next = cover.mirrors.data();
  for (std::uint32_t row = 0; row < rows(); ++row) {  // no branch: they would be anything but foreseen
    const std::uint32_t mate = mates_[row];
    const unsigned matched = mate != kNone ? 1 : 0;
    const unsigned mirrored = (matched & ~unsigned{dead_[mate & -matched]}) | open[row];
    *next = edges_.sources[row];
    next += mirrored;
    cover.matching += matched;
    cover.mirrored_edges += mirrored * (edges_.offsets[row + 1] - edges_.offsets[row]);
  }
  cover.mirrors.resize(static_cast<std::size_t>(next - cover.mirrors.data()));
  cover.sums = dead_.members();
  return cover;
}

/// What covers all edges from one side alone.
PairCover one_sided_cover(const PairEdges& edges, std::uint64_t matching) {
  PairCover cover;
  std::vector<char> used(edges.destinations);
  for (const auto target : edges.targets) used[target] = 1;
  for (std::uint32_t d = 0; d < edges.destinations; ++d) {
    if (used[d] != 0) cover.sums.push_back(d);
  }
  if (edges.sources.size() < cover.sums.size()) {
    cover.sums.clear();
    cover.mirrors.assign(edges.sources.begin(), edges.sources.end());
    cover.mirrored_edges = edges.targets.size();
  }
  cover.matching = matching;
  return cover;
}

}  // namespace

PairCover minimum_cover(const PairEdges& edges, const CoverOptions& options) {
  Matcher matcher(edges);
  matcher.match_greedily();
  const std::uint64_t affordable = std::max<std::uint64_t>(4, (1 << 24) / (edges.targets.size() + 1));
  matcher.augment(options.max_rounds == kAffordable ? static_cast<std::uint32_t>(affordable)
                                                    : options.max_rounds);
  PairCover cover = matcher.cover();
  if (cover.values() == cover.matching) return cover;
  PairCover simple = one_sided_cover(edges, cover.matching);
  return simple.values() < cover.values() ? simple : cover;
}

}  // namespace edgewire::plan
