#include "dense/plan/cover.h"

#include <algorithm>
#include <array>

#include "base/bits.h"
#include "base/rooms.h"
#include "dense/plan/owner_filter.h"
#include "edgewire/detail/memory.h"
#include "edgewire/detail/page_vector.h"

namespace edgewire::plan {

namespace {

constexpr std::uint32_t kNoMate = 0xFFFFFFFF;
constexpr std::size_t kReadsAhead = 16;  // reads ahead: nearly all are random, so they are prefetched
// Rows for one leaf: with fewer leaves another pass costs more than it saves.
constexpr std::size_t kFewLeaves = 16;
constexpr std::uint32_t kAtOnce = 16;  // number of edges of a row that are looked at together
constexpr std::size_t kSearches = 64;  // number of searches that are prepared together
/// The length of successful searches that are forgotten at once: their vertices are cheap to see again, and
/// the searches that would have met them need no round of breadth-first search.
constexpr std::size_t kShortSearch = 256;

class Matcher {
 public:
  explicit Matcher(const PairEdges& edges);

  void match_leaves();
  void match_greedily();
  void augment(std::uint32_t max_rounds);
  PairCover cover() const;
  std::uint64_t edges() const noexcept { return all_edges_; }

 private:
  struct Destination {
    std::uint32_t mate;
    std::uint32_t seen;  ///< number of the search that saw it
  };
  struct Row : PairRow {
    std::uint32_t mate = kNoMate;
    /// Number of an edge: those before this one end in destinations that stay matched.
    std::uint32_t next_free = 0;
    std::array<std::uint32_t, 2> alive;  ///< two of the destinations that were not dead in keeps()
  };
  struct Step {
    std::uint32_t row, edge;
  };
  enum class Outcome { found, dead, open };

  bool keeps(Row& row);
  bool match_free_destination(Row& row);
  Outcome search(const Step& root);
  std::span<const Step> next_searches(std::span<const std::uint32_t> roots);
  void flip_path(std::uint32_t destination);

  std::uint32_t sources_;
  std::uint64_t all_edges_ = 0;
  std::uint64_t leaves_ = 0;        ///< number of rows that were matched as leaves, and are not kept
  topology::PageVector<Row> rows_;  ///< rows by source, where edges are left that leaves do not cover
  topology::NodeMemory destination_memory_;
  std::span<Destination> destinations_;  ///< destinations: the matched ones without leaves
  Bits matched_, dead_;                  ///< sets that are read at every edge
  /// Rows that are unmatched after augmenting, and not proven to stay so.
  std::vector<std::uint32_t> open_rows_;
  std::array<Step, kSearches> first_steps_;
  std::vector<Step> path_;
  std::vector<std::uint32_t> trail_;
  std::uint32_t searches_ = 0;
  std::uint32_t before_round_ = 0;  ///< number of the last search of the rounds before this one
};

Matcher::Matcher(const PairEdges& edges)
    : sources_(edges.sources),
      destination_memory_(edges.destinations * sizeof(Destination), -1, "a cover"),
      destinations_(destination_memory_.as<Destination>()),
      matched_(edges.destinations),
      dead_(edges.destinations) {
  std::size_t rows = 0;
  for (const auto& part : edges.parts) rows += part.size();
  rows_.reserve(rows);
  for (const auto& part : edges.parts) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (i + kReadsAhead < part.size()) __builtin_prefetch(part[i + kReadsAhead].targets);
      Row row{part[i], kNoMate, 0, {}};
      all_edges_ += row.edges;
      if (keeps(row)) rows_.push_back(row);
    }
  }
}

/// Returns whether the row has two destinations that are not dead. With one it is a leaf: the two are
/// matched, and the destination covers all its edges.
bool Matcher::keeps(Row& row) {
  std::array<std::uint32_t, kAtOnce + kCopySlack> alive;
  row.alive = {kNoMate, kNoMate};
  for (std::uint32_t edge = row.next_free; edge < row.edges; edge += kAtOnce) {
    const auto some = plain(row.span().subspan(edge, std::min(kAtOnce, row.edges - edge)));
    const auto* const end = copy_others(dead_, some, alive.data());
    for (const auto* target = alive.data(); target != end; ++target) {
      if (row.alive[0] == kNoMate) {
        row.alive[0] = *target;
        row.next_free = edge;
      } else if (*target != row.alive[0]) {
        row.alive[1] = *target;
        return true;
      }
    }
  }
  if (row.alive[0] == kNoMate) return false;
  ++leaves_;
  matched_.add(row.alive[0]);
  dead_.add(row.alive[0]);
  return false;
}

/// Matches rows that have become leaves because other destinations are dead, until there are few of them.
void Matcher::match_leaves() {
  for (std::size_t before = 2 * rows_.size(); before - rows_.size() > before / kFewLeaves;) {
    before = rows_.size();
    std::erase_if(rows_, [&](Row& row) {
      return (dead_.test(row.alive[0]) || dead_.test(row.alive[1])) && !keeps(row);
    });
  }
}

bool Matcher::match_free_destination(Row& row) {
  while (row.next_free < row.edges && matched_.test(row.targets[row.next_free])) ++row.next_free;
  return row.next_free < row.edges;
}

void Matcher::match_greedily() {
  for (std::uint32_t i = 0; i < rows_.size(); ++i) {
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

/// Searches depth first, over vertices that no search of this round has visited.
Matcher::Outcome Matcher::search(const Step& root) {
  const std::uint32_t me = ++searches_;
  bool met_other = false;
  trail_.clear();
  path_.assign(1, root);
  bool arrived = true;  // whether it is at a row not looked at before
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
           row.span().subspan(step.edge, std::min(kReadsAhead, std::size_t{row.edges} - step.edge)))
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

/// Takes the first step of each search that has one. Prefetches what the searches will read, for many at a
/// time: most end after the second step.
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
    if (rows_[row].mate == kNoMate) open_rows_.push_back(row);
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
    if (!found) {  // no search here has reached a free destination
      for (std::uint32_t d = 0; d < destinations_.size(); ++d)
        if (destinations_[d].seen > before_round_) dead_.add(d);
      open_rows_.clear();
    }
  }
}

PairCover Matcher::cover() const {
  PairCover cover;
  cover.matching = leaves_;
  Bits mirrors(sources_);
  for (const Row& row : rows_) {
    if (row.mate == kNoMate) continue;
    ++cover.matching;
    if (!dead_.test(row.mate)) mirrors.add(row.source);
  }
  for (const auto row : open_rows_) mirrors.add(rows_[row].source);
  cover.mirrors = mirrors.members<LocalNumber>();
  cover.sums = dead_.members<LocalNumber>();
  return cover;
}

/// Returns a cover that consists of sources only, or of destinations only.
PairCover one_sided_cover(const PairEdges& edges, std::uint64_t matching) {
  PairCover cover;
  cover.matching = matching;
  Bits used(edges.destinations);
  for (const auto& part : edges.parts) {
    for (const PairRow& row : part) {
      cover.mirrors.push_back(row.source);
      for (const auto target : row.span()) used.add(target);
    }
  }
  cover.sums = used.members<LocalNumber>();
  if (cover.mirrors.size() < cover.sums.size())
    cover.sums.clear();
  else
    cover.mirrors.clear();
  return cover;
}

}  // namespace

PairCover minimum_cover(const PairEdges& edges, std::optional<std::uint32_t> max_rounds) {
  Matcher matcher(edges);
  matcher.match_leaves();
  matcher.match_greedily();
  const std::uint64_t affordable = std::max<std::uint64_t>(4, (1 << 24) / (matcher.edges() + 1));
  matcher.augment(max_rounds.value_or(static_cast<std::uint32_t>(affordable)));
  PairCover cover = matcher.cover();
  if (cover.values() == cover.matching) return cover;
  PairCover simple = one_sided_cover(edges, cover.matching);
  return simple.values() < cover.values() ? simple : cover;
}

void count_moved(const PairEdges& edges, PairCover& cover) {
  const Bits mirrors(edges.sources, cover.mirrors);
  const Bits sums(edges.destinations, cover.sums);
  cover.moved_edges = cover.free_edges = 0;
  for (const auto& part : edges.parts) {
    for (const PairRow& row : part) {
      if (!mirrors.test(row.source)) continue;
      std::uint64_t free = 0;
      for (const auto target : row.span()) free += sums.test(target) ? 1 : 0;
      cover.free_edges += free;
      cover.moved_edges += row.edges - free;
    }
  }
}

}  // namespace edgewire::plan
