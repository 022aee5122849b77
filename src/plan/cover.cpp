#include "plan/cover.h"

#include <array>
#include <numeric>

#include "plan/bits.h"
#include "topology/page_vector.h"

namespace edgewire::plan {

namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFF;
constexpr std::size_t kAhead = 16;     // nearly everything here is read at random: it is asked for before
constexpr std::size_t kSearches = 64;  // prepared together
/// Successful searches up to this long are forgotten at once: their vertices are cheap to see again, and the
/// searches that would have met them need no round of breadth-first search.
constexpr std::size_t kShortSearch = 256;

class Matcher {
 public:
  explicit Matcher(const PairEdges& edges)
      : sources_(edges.sources),
        rows_(rows_by_degree(edges)),
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
  struct Row : PairRow {
    std::uint32_t mate = kNone;
    std::uint32_t next_free = 0;  ///< edges before this one end in matched destinations, for good
  };
  struct Step {
    std::uint32_t row, edge;
  };
  enum class Outcome { found, dead, open };

  static topology::PageVector<Row> rows_by_degree(const PairEdges& edges);
  bool match_free_destination(Row& row);
  Outcome search(const Step& root);
  std::span<const Step> next_searches(std::span<const std::uint32_t> roots);
  void flip_path(std::uint32_t destination);

  std::uint32_t sources_;
  topology::PageVector<Row> rows_;
  topology::PageVector<Destination> destinations_;
  Bits matched_, dead_;                   ///< asked for at every edge
  std::vector<std::uint32_t> open_rows_;  ///< after augment: unmatched, not proven to stay so
  std::array<Step, kSearches> first_steps_;
  std::vector<Step> path_;
  std::vector<std::uint32_t> trail_;
  std::uint32_t searches_ = 0;
  std::uint32_t before_round_ = 0;  ///< the last search of the rounds before this one
};

/// Counting sort by degree, all high degrees alike.
topology::PageVector<Matcher::Row> Matcher::rows_by_degree(const PairEdges& edges) {
  constexpr std::uint32_t kClasses = 32;
  const auto degree_class = [](const PairRow& row) { return std::min(row.edges, kClasses - 1); };
  std::array<std::uint32_t, kClasses + 1> starts{};
  for (const auto& part : edges.parts)
    for (const PairRow& row : part) ++starts[degree_class(row) + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  topology::PageVector<Row> rows(starts.back());
  for (const auto& part : edges.parts)
    for (const PairRow& row : part) static_cast<PairRow&>(rows[starts[degree_class(row)]++]) = row;
  return rows;
}

bool Matcher::match_free_destination(Row& row) {
  while (row.next_free < row.edges && matched_.test(row.targets[row.next_free])) ++row.next_free;
  return row.next_free < row.edges;
}

void Matcher::match_greedily() {
  for (std::uint32_t i = 0; i < rows_.size(); ++i) {
    if (i + 2 * kAhead < rows_.size()) __builtin_prefetch(rows_[i + 2 * kAhead].targets);
    if (i + kAhead < rows_.size()) __builtin_prefetch(&destinations_[rows_[i + kAhead].targets[0]]);
    Row& row = rows_[i];
    if (!match_free_destination(row)) continue;
    row.mate = row.targets[row.next_free];
    destinations_[row.mate].mate = i;
    matched_.add(row.mate);
  }
}

/// Rematches the rows on path_, from the last to the root, each with the destination that the next one had.
void Matcher::flip_path(std::uint32_t destination) {
  for (std::size_t i = path_.size(); i-- > 0;) {
    const std::uint32_t row = path_[i].row;
    std::swap(rows_[row].mate, destination);
    destinations_[rows_[row].mate].mate = row;
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
    Row& row = rows_[step.row];
    if (arrived && match_free_destination(row)) {
      const std::uint32_t free = row.targets[row.next_free];
      matched_.add(free);
      flip_path(free);
      if (trail_.size() <= kShortSearch) {
        for (const auto seen : trail_) destinations_[seen].seen = 0;
      }
      return Outcome::found;
    }
    if (arrived) {
      for (const auto target :
           row.span().subspan(step.edge, std::min(kAhead, std::size_t{row.edges} - step.edge)))
        __builtin_prefetch(&destinations_[target]);
    }
    arrived = false;
    while (step.edge < row.edges && !arrived) {
      const std::uint32_t target = row.targets[step.edge++];
      if (dead_.test(target)) continue;
      Destination& destination = destinations_[target];
      if (destination.seen <= before_round_) {
        destination.seen = me;
        trail_.push_back(target);
        path_.push_back({destination.mate, 0});
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
  for (const std::uint32_t root : roots) {
    const Row& row = rows_[root];
    std::uint32_t edge = 0;
    while (edge < row.edges && dead_.test(row.targets[edge])) ++edge;
    if (edge == row.edges) continue;
    __builtin_prefetch(&destinations_[row.targets[edge]]);
    first_steps_[count++] = {root, edge};
  }
  const auto steps = std::span(first_steps_).first(count);
  const auto mate = [&](const Step& step) -> const Row& {
    return rows_[destinations_[rows_[step.row].targets[step.edge]].mate];
  };
  for (const Step& step : steps) __builtin_prefetch(&mate(step));
  for (const Step& step : steps) __builtin_prefetch(mate(step).targets + mate(step).next_free);
  return steps;
}

void Matcher::augment(std::uint32_t max_rounds) {
  for (std::uint32_t row = 0; row < rows_.size(); ++row) {
    if (rows_[row].mate == kNone) open_rows_.push_back(row);
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
      for (std::uint32_t d = 0; d < destinations_.size(); ++d)
        if (destinations_[d].seen > before_round_) dead_.add(d);
      open_rows_.clear();
    }
  }
}

PairCover Matcher::cover() const {
  PairCover cover;
  Bits mirrors(sources_);
  const auto mirror = [&](const Row& row) {
    mirrors.add(row.source);
    std::uint32_t free = 0;
    for (const auto target : row.span()) free += dead_.test(target) ? 1 : 0;
    cover.free_edges += free;
    cover.moved_edges += row.edges - free;
  };
  for (const Row& row : rows_) {
    if (row.mate == kNone) continue;
    ++cover.matching;
    if (!dead_.test(row.mate)) mirror(row);
  }
  for (const auto row : open_rows_) mirror(rows_[row]);
  cover.mirrors = mirrors.members();
  cover.sums = dead_.members();
  return cover;
}

/// What covers all edges from one side alone.
PairCover one_sided_cover(const PairEdges& edges, std::uint64_t matching) {
  PairCover cover;
  cover.matching = matching;
  Bits used(edges.destinations);
  std::uint64_t all_edges = 0;
  for (const auto& part : edges.parts) {
    for (const PairRow& row : part) {
      cover.mirrors.push_back(row.source);
      all_edges += row.edges;
      for (const auto target : row.span()) used.add(target);
    }
  }
  cover.sums = used.members();
  if (cover.mirrors.size() < cover.sums.size()) {
    cover.sums.clear();
    cover.moved_edges = all_edges;
  } else {
    cover.mirrors.clear();
  }
  return cover;
}

}  // namespace

PairCover minimum_cover(const PairEdges& edges, const CoverOptions& options) {
  Matcher matcher(edges);
  matcher.match_greedily();
  std::uint64_t all_edges = 0;
  for (const auto& part : edges.parts)
    for (const PairRow& row : part) all_edges += row.edges;
  const std::uint64_t affordable = std::max<std::uint64_t>(4, (1 << 24) / (all_edges + 1));
  matcher.augment(options.max_rounds == kAffordable ? static_cast<std::uint32_t>(affordable)
                                                    : options.max_rounds);
  PairCover cover = matcher.cover();
  if (cover.values() == cover.matching) return cover;
  PairCover simple = one_sided_cover(edges, cover.matching);
  return simple.values() < cover.values() ? simple : cover;
}

}  // namespace edgewire::plan
