#include "frontier/breadth_first.h"

#include <array>
#include <utility>

#include "exchange/barrier.h"
#include "graph/row.h"

namespace edgewire::frontier {

namespace {

// A pull pays when the frontier has more than 1/15 of the edges of vertices not reached yet, and as long as
// it has more than 1/18 of all vertices: the values that the paper found.
constexpr std::uint64_t kPullEdges = 15, kPullVertices = 18;
constexpr std::size_t kWords = 64;         // that a worker takes at a time in a pull
constexpr std::uint64_t kAlone = 1 << 12;  // edges that are followed sooner than workers wake up

}  // namespace

BreadthFirst::BreadthFirst(FrontierJob& job, Parents parents)
    : job_(job),
      several_(job.bootstrap().size() > 1),
      rank_(job.rank()),
      owned_words_((job.owned() + std::size_t{kBits} - 1) / kBits),
      levels_(job.owned()),
      parents_(parents == Parents::none ? 0 : job.owned()),
      workers_(static_cast<std::size_t>(job.pool().workers())) {
  std::size_t words = 0;
  for (int p = 0; p < job.bootstrap().size(); ++p) {
    first_words_.push_back(words);
    words += (job.ownership().count(static_cast<std::uint32_t>(p)) + std::size_t{kBits} - 1) / kBits;
  }
  first_words_.push_back(words);
  unseen_.reset(new std::atomic<Word>[words]);
  if (parents == Parents::smallest) candidates_ = std::vector<std::atomic<std::uint32_t>>(words * kBits);
  for (Worker& worker : workers_) worker.words_from.resize(static_cast<std::size_t>(job.bootstrap().size()));
}

void BreadthFirst::reset() {
  job_.for_each_range([&](int, std::uint32_t first, std::uint32_t last) {
    std::fill(levels_.begin() + first, levels_.begin() + last, kNone);
    if (!parents_.empty()) std::fill(parents_.begin() + first, parents_.begin() + last, kNone);
  });
  for (auto& candidate : candidates_) candidate.store(kNone, std::memory_order_relaxed);
  // Bits behind the last vertex of a process stay clear: a pull would look for them.
  for (std::uint32_t p = 0; p + 1 < first_words_.size(); ++p) {
    std::uint32_t left = job_.ownership().count(p);
    for (std::size_t w = first_words_[p]; w < first_words_[p + 1]; ++w, left -= std::min(left, kBits))
      unseen_[w].store(left >= kBits ? ~Word{0} : (Word{1} << left) - 1, std::memory_order_relaxed);
  }
  list_.clear();
  in_bits_ = false;
  level_ = 0;
  has_pulled_ = false;
  state_ = {};
  state_.unseen_edges = job_.graph().edges();
}

/// A vertex without edges is never found, and would be looked for in each pull.
void BreadthFirst::leave_out_isolated() {
  const auto offsets = job_.graph().offsets();
  const auto& ownership = job_.ownership();
  job_.for_each_range([&](int, std::uint32_t first, std::uint32_t last) {
    ownership.visit([&](const auto& scheme) {
      for (std::uint32_t begin = first; begin < last; begin += kBits) {
        Word with_edges = 0;
        for (std::uint32_t i = begin; i < std::min(last, begin + kBits); ++i) {
          const std::size_t v = scheme.vertex(rank_, i);
          with_edges |= Word{offsets[v] != offsets[v + 1]} << (i - begin);
        }
        unseen_[first_word(rank_) + begin / kBits].fetch_and(with_edges, std::memory_order_relaxed);
      }
    });
  });
}

std::vector<Superstep> BreadthFirst::run(std::uint32_t source) {
  reset();
  for (Worker& worker : workers_) worker.vertices = worker.edges = 0, worker.reached.clear();
  const plan::Place place = job_.ownership().place(source);
  claim(position(place));
  if (place.owner == rank_) {
    reach(workers_[0], place.local, source);
    job_.ownership().visit([&](const auto& scheme) { note_reached(workers_[0], scheme); });
    list_.swap(workers_[0].reached);
  }
  total();
  std::vector<Superstep> supersteps;
  while (state_.frontier > 0) {
    state_.pulled = wants_pull(job_.graph(), state_);
    supersteps.push_back(superstep(state_.pulled));
  }
  exchange::barrier(job_.bootstrap(), job_.link());
  return supersteps;
}

bool wants_pull(const graph::GraphFile& graph, const SearchState& state) {
  if (!graph.symmetric()) return false;
  if (state.pulled)
    return state.frontier >= state.before || state.frontier > graph.vertices() / kPullVertices;
  return state.frontier_edges > state.unseen_edges / kPullEdges;
}

Superstep BreadthFirst::superstep(bool pull) {
  const Meter meter(job_);
  Superstep done;
  done.step = level_++;
  done.kind = pull ? kPull : kPush;
  for (Worker& worker : workers_) {
    done.frontier += worker.vertices;
    worker.vertices = worker.edges = worker.followed = 0;
  }
  if (pull)
    this->pull();
  else
    push();
  for (const Worker& worker : workers_) done.edges += worker.followed;
  total();
  meter.stop(done);
  return done;
}

/// Adds up what all workers of all processes have reached.
void BreadthFirst::total() {
  std::array<std::uint64_t, 2> mine{};
  for (const Worker& worker : workers_) {
    mine[0] += worker.vertices;
    mine[1] += worker.edges;
  }
  const auto all = several_ ? job_.records().share(mine) : std::vector(mine.begin(), mine.end());
  std::uint64_t vertices = 0, edges = 0;
  for (std::size_t i = 0; i < all.size(); i += mine.size()) {
    vertices += all[i];
    edges += all[i + 1];
  }
  state_.advance(vertices, edges);
}

bool BreadthFirst::claim(std::size_t position) noexcept {
  std::atomic<Word>& word = unseen_[position / kBits];
  const Word bit = Word{1} << position % kBits, before = word.load(std::memory_order_relaxed);
  if ((before & bit) == 0) return false;
  if (workers_.size() > 1) return (word.fetch_and(~bit, std::memory_order_relaxed) & bit) != 0;
  word.store(before & ~bit, std::memory_order_relaxed);
  return true;
}

void BreadthFirst::propose(std::size_t position, std::uint32_t parent) noexcept {
  auto& best = candidates_[position];
  std::uint32_t before = best.load(std::memory_order_relaxed);
  while (parent < before && !best.compare_exchange_weak(before, parent, std::memory_order_relaxed)) {
  }
}

void BreadthFirst::reach(Worker& worker, std::uint32_t local, std::uint32_t parent) {
  if (!parents_.empty()) parents_[local] = parent;
  worker.reached.push_back(local);
}

/// The rest for all that a worker has reached. Nothing here depends on the vertex before, so that memory is
/// asked for many vertices at a time; between claims, each would wait for the one before.
template <class Scheme>
void BreadthFirst::note_reached(Worker& worker, const Scheme& scheme) {
  for (const std::uint32_t local : worker.reached) {
    levels_[local] = level_;
    worker.edges += graph::Row{job_.graph(), scheme.vertex(rank_, local)}.degree();
  }
  worker.vertices += worker.reached.size();
}

void BreadthFirst::push() {
  if (in_bits_) bits_to_list();
  if (job_.on_disks()) std::ranges::sort(list_);
  std::atomic<std::size_t> next{0};
  const bool wake = several_ || state_.frontier_edges >= kAlone;
  const auto work = [&](int lane) {
    job_.ownership().visit([&](const auto& scheme) { push_from(lane, wake, next, scheme); });
  };
  if (wake)
    job_.pool().run(work);
  else
    work(0);
  list_.clear();
  for (Worker& worker : workers_) {
    list_.insert(list_.end(), worker.reached.begin(), worker.reached.end());
    worker.reached.clear();
  }
}

/// `woken`: all workers are at it.
template <class Scheme>
void BreadthFirst::push_from(int lane, bool woken, std::atomic<std::size_t>& next, const Scheme& scheme) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  const std::size_t mine = first_word(rank_) * kBits;
  const bool smallest = !candidates_.empty();
  const auto take = [&](int, Record record) {
    if (smallest) propose(mine + record.vertex, record.value);
    if (claim(mine + record.vertex)) reach(worker, record.vertex, record.value);
  };
  const auto take_rows = [&] {
    const std::size_t count = job_.rows_at_once(), at = next.fetch_add(count);
    worker.taken.clear();
    for (std::size_t i = at; i < std::min(at + count, list_.size()); ++i)
      worker.taken.push_back(scheme.vertex(rank_, list_[i]));
    return std::span<const std::uint32_t>(worker.taken);
  };
  job_.each_row(lane, take_rows, [&](const Edges& edges) {
    const std::uint32_t u = edges.vertex;
    worker.followed += edges.targets.size();
    for (const std::uint32_t v : edges.targets) {
      const plan::Place place = scheme.place(v);
      if (smallest) propose(position(place), u);
      if (!claim(position(place))) continue;
      if (place.owner == rank_)
        reach(worker, place.local, u);
      else if (smallest)
        worker.others.push_back(v);
      else
        job_.records().send(lane, static_cast<int>(place.owner), {place.local, u}, take);
    }
  });
  if (smallest && woken) job_.pool().barrier();  // all candidates of this process are known
  for (const std::uint32_t v : worker.others) {
    const plan::Place place = scheme.place(v);
    job_.records().send(lane, static_cast<int>(place.owner), {place.local, candidates_[position(place)]},
                        take);
  }
  worker.others.clear();
  if (several_) job_.records().finish(lane, take);
  if (smallest) {
    if (woken) job_.pool().barrier();  // and those of the others
    for (const std::uint32_t local : worker.reached) parents_[local] = candidates_[mine + local];
  }
  note_reached(worker, scheme);
}

void BreadthFirst::pull() {
  if (!std::exchange(has_pulled_, true)) {
    leave_out_isolated();
    bits_.resize(first_words_.back());
    next_bits_.resize(owned_words_);
  }
  if (!in_bits_) list_to_bits();
  std::atomic<std::size_t> next{0};
  job_.pool().run([&](int lane) {
    if (several_) share_frontier(lane);
    job_.pool().barrier();  // a worker reads what all lanes have brought
    job_.ownership().visit([&](const auto& scheme) {
      job_.on_disks() ? pull_from_disks(lane, next, scheme) : pull_into(lane, next, scheme);
    });
  });
  std::copy(next_bits_.begin(), next_bits_.end(),
            bits_.begin() + static_cast<std::ptrdiff_t>(first_word(rank_)));
}

/// Of the vertices of a word that are not reached yet.
template <class Scheme>
void BreadthFirst::fetch_rows(std::size_t w, const Scheme& scheme) const {
  for (Word left = unseen_[first_word(rank_) + w].load(std::memory_order_relaxed); left != 0;
       left &= left - 1) {
    const std::uint32_t local = lowest(w, left);
    graph::Row{job_.graph(), scheme.vertex(rank_, local)}.fetch();
  }
}

/// Whether the frontier has an edge to a vertex that was not reached before, and so reaches it. The graph
/// stores every edge both ways.
template <class Scheme>
inline bool BreadthFirst::look(Worker& worker, std::uint32_t local, std::span<const std::uint32_t> sources,
                               const Scheme& scheme) {
  for (const std::uint32_t u : sources) {
    ++worker.followed;
    const std::size_t at = position(scheme.place(u));
    if ((bits_[at / kBits] >> at % kBits & 1) == 0) continue;
    levels_[local] = level_;
    if (!parents_.empty()) parents_[local] = u;
    ++worker.vertices;
    worker.edges += sources.size();
    return true;
  }
  return false;
}

template <class Scheme>
void BreadthFirst::pull_into(int lane, std::atomic<std::size_t>& next, const Scheme& scheme) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  const std::size_t mine = first_word(rank_);
  for (std::size_t at = next.fetch_add(kWords); at < owned_words_; at = next.fetch_add(kWords)) {
    fetch_rows(at, scheme);
    for (std::size_t w = at; w < std::min(at + kWords, owned_words_); ++w) {
      if (w + 1 < owned_words_) fetch_rows(w + 1, scheme);
      const Word unseen = unseen_[mine + w].load(std::memory_order_relaxed);
      Word found = 0;
      for (Word left = unseen; left != 0; left &= left - 1) {
        const std::uint32_t local = lowest(w, left);
        const auto sources = graph::Row{job_.graph(), scheme.vertex(rank_, local)}.targets();
        if (look(worker, local, sources, scheme)) found |= left & -left;
      }
      next_bits_[w] = found;
      if (found != 0) unseen_[mine + w].store(unseen & ~found, std::memory_order_relaxed);
    }
  }
}

/// The same where rows come when they are read: a worker still has whole words.
template <class Scheme>
void BreadthFirst::pull_from_disks(int lane, std::atomic<std::size_t>& next, const Scheme& scheme) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  const std::size_t mine = first_word(rank_);
  const auto take_rows = [&] {
    worker.taken.clear();
    for (std::size_t at = 0; worker.taken.empty() && (at = next.fetch_add(kWords)) < owned_words_;) {
      for (std::size_t w = at; w < std::min(at + kWords, owned_words_); ++w) {
        next_bits_[w] = 0;
        for (Word left = unseen_[mine + w].load(std::memory_order_relaxed); left != 0; left &= left - 1)
          worker.taken.push_back(scheme.vertex(rank_, lowest(w, left)));
      }
    }
    return std::span<const std::uint32_t>(worker.taken);
  };
  job_.each_row(lane, take_rows, [&](const Edges& edges) {
    const std::uint32_t local = scheme.place(edges.vertex).local;
    if (!look(worker, local, edges.targets, scheme)) return;
    const Word bit = Word{1} << local % kBits;
    next_bits_[local / kBits] |= bit;
    unseen_[mine + local / kBits].fetch_and(~bit, std::memory_order_relaxed);
  });
}

std::pair<std::size_t, std::size_t> BreadthFirst::lane_words(std::uint32_t owner, int lane) const noexcept {
  const std::size_t words = first_words_[owner + std::size_t{1}] - first_words_[owner];
  const std::size_t lanes = workers_.size(), i = static_cast<std::size_t>(lane);
  return {first_words_[owner] + words * i / lanes, first_words_[owner] + words * (i + 1) / lanes};
}

/// The words of a lane travel in their order, so they need no numbers.
void BreadthFirst::share_frontier(int lane) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  std::ranges::fill(worker.words_from, 0);
  const auto take = [&](int peer, Record record) {
    const auto owner = static_cast<std::uint32_t>(peer);
    const std::size_t w = lane_words(owner, lane).first + worker.words_from[owner]++;
    if (w >= lane_words(owner, lane).second) throw Error("a process has sent too much of its frontier");
    bits_[w] = Word{record.value} << 32 | record.vertex;
    unseen_[w].fetch_and(~bits_[w], std::memory_order_relaxed);  // their owners know
  };
  const auto [first, last] = lane_words(rank_, lane);
  for (int peer = 0; peer < job_.bootstrap().size(); ++peer) {
    if (static_cast<std::uint32_t>(peer) == rank_) continue;
    for (std::size_t w = first; w < last; ++w) {
      job_.records().send(lane, peer,
                          {static_cast<std::uint32_t>(bits_[w]), static_cast<std::uint32_t>(bits_[w] >> 32)},
                          take);
    }
  }
  job_.records().finish(lane, take);
}

void BreadthFirst::list_to_bits() {
  const auto mine = std::span(bits_).subspan(first_word(rank_), owned_words_);
  std::ranges::fill(mine, 0);
  for (const std::uint32_t local : list_) mine[local / kBits] |= Word{1} << local % kBits;
  list_.clear();
  in_bits_ = true;
}

void BreadthFirst::bits_to_list() {
  const auto mine = std::span<const Word>(bits_).subspan(first_word(rank_), owned_words_);
  for (std::size_t w = 0; w < mine.size(); ++w) {
    for (Word left = mine[w]; left != 0; left &= left - 1) list_.push_back(lowest(w, left));
  }
  in_bits_ = false;
}

}  // namespace edgewire::frontier
