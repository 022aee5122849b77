#include "kernels/scc/giant.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/rooms.h"
#include "edgewire/detail/cpu_level.h"
#include "edgewire/graph.h"
#include "frontier/known_values.h"
#include "kernels/bfs/bfs.h"
#include "kernels/scc/scc.h"

namespace edgewire::kernels {

namespace {

constexpr std::uint32_t kSampledRows = 1 << 16;  // number of rows of a process, to guess in-degrees
constexpr std::size_t kJoinedAtOnce = 64;        // number of words that a worker takes at a time
// A round that reads the rows of all that have not joined pays as long as it finds a share of them, or reads
// few edges; the first ones find few where the pivot has few in-edges.
constexpr std::uint64_t kFewJoin = 16, kFirstRounds = 3, kMostRounds = 32;
// Number of vertices of the graph for each edge that a round may read.
constexpr std::uint64_t kFewEdges = 64;
constexpr std::uint32_t kOfOther = ~std::uint32_t{0};

/// Chooses among vertices of process `rank`: row_of(local), and local_of(entry of it), or kOfOther.
template <class RowOf, class LocalOf>
GiantComponent::Candidate choose_candidate(const partition::Ownership& ownership, std::uint32_t rank,
                                           const RowOf& row_of, const LocalOf& local_of) {
  std::vector<std::uint32_t> targets;
  const std::uint32_t owned = ownership.count(rank), stride = owned / kSampledRows + 1;
  for (LocalNumber local{}; local < owned; local += stride) {
    const auto row = row_of(local);
    if (row.empty()) continue;
    const std::uint32_t target = local_of(row[local * std::uint64_t{0x9e3779b1} % row.size()]);
    if (target != local && target != kOfOther) targets.push_back(target);
  }
  std::ranges::sort(targets);
  GiantComponent::Candidate best;
  for (std::size_t i = 0, end = 0; i < targets.size(); i = end) {
    while (end < targets.size() && targets[end] == targets[i]) ++end;
    const LocalNumber local(targets[i]);
    const std::uint64_t product = (end - i) * row_of(local).size();
    if (product > best.product) best = {product, ownership.vertex(rank, local)};
  }
  return best;
}

}  // namespace

GiantComponent::GiantComponent(frontier::Job& job)
    : job_(job),
      rank_(job.rank()),
      reached_(job.known()),
      joined_(job.known()),
      workers_(static_cast<std::size_t>(job.pool().workers())) {
  job.make_rows();
}

bool GiantComponent::find(frontier::SuperstepLog& log) {
  if (!choose_pivot()) return false;
  search_forward(log);
  if (const Home at = job_.ownership().home(pivot_); at.owner == rank_) joined_.add(at.local);
  for (std::uint64_t round = 1;; ++round) {
    // Numbers of vertices that have joined, of those that have not, and of edges read.
    std::array<std::uint64_t, 3> sums{};
    log.step(Scc::kBackward, [&](frontier::Superstep& done) {
      join();
      for (const Worker& worker : workers_) {
        sums[0] += worker.vertices;
        sums[1] += worker.left;
        sums[2] += worker.edges;
      }
      done.frontier = sums[0];
      done.edges = sums[2];
      sums = job_.sum_of_all(sums);
    });
    all_joined_ = sums[0] == 0 || sums[1] == 0;
    if (all_joined_ || !pays(round, sums[0], sums[1], sums[2], job_.graph().vertices())) break;
  }
  unite(joined_);
  left_ = {};
  return true;
}

VertexId GiantComponent::first() const {
  std::uint64_t mine = ~std::uint64_t{0};
  for (std::size_t w = 0; w < joined_.words(); ++w) {
    if (joined_.word(w) == 0) continue;
    const auto first =
        static_cast<std::uint32_t>(w * kBits) + static_cast<std::uint32_t>(std::countr_zero(joined_.word(w)));
    // Local numbers ascend with vertices, and the vertices of other processes follow.
    if (first < job_.owned()) mine = job_.ownership().vertex(rank_, LocalNumber(first));
    break;
  }
  return VertexId(static_cast<PlainId>(job_.min_of_all(mine)));
}

bool GiantComponent::pays(std::uint64_t round, std::uint64_t joined, std::uint64_t left, std::uint64_t edges,
                          std::uint64_t vertices) {
  if (round == kMostRounds) return false;
  return round < kFirstRounds || joined >= left / kFewJoin || edges <= vertices / kFewEdges;
}

GiantComponent::Candidate GiantComponent::candidate(const Graph& graph, const partition::Ownership& ownership,
                                                    std::uint32_t rank) {
  return ownership.visit([&](const auto& scheme) {
    const auto row_of = [&](LocalNumber local) {
      return graph::Row{graph, scheme.vertex(rank, local)}.targets();
    };
    return choose_candidate(ownership, rank, row_of, [&](VertexId v) {
      const Home home = scheme.home(v);
      return home.owner == rank ? std::uint32_t{home.local} : kOfOther;
    });
  });
}

/// Chooses the pivot, which is the same in all processes.
bool GiantComponent::choose_pivot() {
  const Candidate mine = choose_candidate(
      job_.ownership(), rank_, [this](LocalNumber local) { return job_.rows()[local]; },
      [this](KnownNumber n) { return n < job_.owned() ? std::uint32_t{n} : kOfOther; });
  std::array<std::uint64_t, 2> best{};
  const auto all = job_.records().allgather(std::array{mine.product, mine.vertex});
  for (std::size_t i = 0; i < all.size(); i += 2)
    if (all[i] > best[0]) best = {all[i], all[i + 1]};
  pivot_ = VertexId(static_cast<PlainId>(best[1]));
  return best[0] > 0;
}

void GiantComponent::search_forward(frontier::SuperstepLog& log) {
  Bfs search(job_, Bfs::Parents::none);
  std::uint64_t thick = 0;  // number of the last level that was not thin
  const auto enough = [&](const Bfs::State& state) {
    if (state.frontier >= kThin) thick = state.levels;
    all_reached_ = state.levels - thick <= kThinLevels;
    return !all_reached_;
  };
  job_.tell_as(Scc::kForward);
  log.add(search.run(pivot_, enough), Scc::kForward);
  job_.tell_as({});
  const auto& levels = search.levels();
  left_.resize((levels.size() + kBits - 1) / kBits);
  const Home pivot = job_.ownership().home(pivot_);
  job_.for_each_range([&](int, LocalNumber first, LocalNumber last) {
    for (LocalNumber begin = first; begin < last; begin += kBits) {
      Word reached = 0, left = 0;
      for (LocalNumber i = begin; i < std::min(last, begin + kBits); ++i) {
        if (levels[i] == Bfs::kNone) continue;
        const bool is_pivot = pivot.owner == rank_ && pivot.local == i;
        reached |= Word{1} << (i - begin);
        left |= Word{!is_pivot && job_.degree(i) > 0} << (i - begin);
      }
      reached_.set_word(begin / kBits, reached);  // the vertices of other processes are not known yet
      left_[begin / kBits] = left;
    }
  });
  unite(reached_);
}

/// Shares bits: owners tell the bits of boundary vertices.
void GiantComponent::unite(Bits& bits) {
  job_.pool().run([&](int lane) {
    frontier::exchange_known_bits(
        job_, lane, [&](LocalNumber local) { return bits.test(local); },
        [&](std::uint32_t number, std::uint32_t some) { bits.set_some(number, some); });
  });
}

/// Makes a round: vertices whose rows lead to one that has joined join, too.
void GiantComponent::join() {
  unite(joined_);
  for (Worker& worker : workers_) worker = {};
  job_.pool().for_each((left_.size() + kJoinedAtOnce - 1) / kJoinedAtOnce, [&](int w, std::uint64_t piece) {
    const std::size_t first = piece * kJoinedAtOnce, last = std::min(first + kJoinedAtOnce, left_.size());
    topology::run_scalar_for_cpu([&] { join_words(workers_[static_cast<std::size_t>(w)], first, last); });
  });
}

/// Fetches the rows of the vertices of a word that have not joined.
void GiantComponent::fetch_rows(std::size_t w, const frontier::KnownRows& rows) const {
  for (Word left = left_[w]; left != 0; left &= left - 1)
    rows.fetch(LocalNumber(static_cast<std::uint32_t>(w * kBits) +
                           static_cast<std::uint32_t>(std::countr_zero(left))));
}

void GiantComponent::join_words(Worker& worker, std::size_t first, std::size_t last) {
  const frontier::KnownRows rows = job_.rows();
  fetch_rows(first, rows);
  for (std::size_t w = first; w < last; ++w) {
    if (w + 1 < last) fetch_rows(w + 1, rows);
    for (Word left = left_[w]; left != 0; left &= left - 1) {
      const LocalNumber local(static_cast<std::uint32_t>(w * kBits) +
                              static_cast<std::uint32_t>(std::countr_zero(left)));
      for (const KnownNumber target : rows[local]) {
        ++worker.edges;
        if (!has(target)) continue;
        // All workers of the process see it at once: later vertices of this round can join by it.
        joined_.set(local);
        left_[w] &= ~(left & -left);
        ++worker.vertices;
        break;
      }
    }
    worker.left += static_cast<std::uint64_t>(std::popcount(left_[w]));
  }
}

}  // namespace edgewire::kernels
