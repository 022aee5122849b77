#include "frontier/breadth_first.h"

#include <algorithm>
#include <array>

#include "graph/row.h"

namespace edgewire::frontier {

namespace {

// A pull pays when the frontier has more than 1/15 of the edges of vertices not reached yet, and as long as
// it has more than 1/18 of all vertices: the values that the paper found.
constexpr std::uint64_t kPullEdges = 15, kPullVertices = 18;
constexpr std::uint64_t kAlone = 1 << 10;         // edges that are followed sooner than workers share them
constexpr std::uint64_t kAloneBlocked = 1 << 12;  // and where workers that wait block at once
constexpr std::uint64_t kHandedOver = 8;          // vertices of the graph for each edge that is handed over
constexpr std::size_t kNotedAtOnce = 64;          // vertices; what they need stays in the nearest cache
constexpr std::size_t kLeastRows = 64, kMostRows = 1024;  // that a worker takes at a time in a push

}  // namespace

BreadthFirst::BreadthFirst(FrontierJob& job, Parents parents)
    : job_(job),
      several_(job.bootstrap().size() > 1),
      rank_(job.rank()),
      owned_words_((job.owned() + std::size_t{kBits} - 1) / kBits),
      words_(job),
      levels_(job.owned()),
      parents_(parents == Parents::none ? 0 : job.owned()),
      workers_(static_cast<std::size_t>(job.pool().workers())) {
  job.expect_records(sizeof(Record));
  unseen_memory_ = topology::NodeMemory(words_.words() * sizeof(Word), -1, "vertices not reached");
  unseen_ = unseen_memory_.as<std::atomic<Word>>();
  if (parents == Parents::smallest)
    candidates_ = std::vector<std::atomic<std::uint32_t>>(words_.words() * kBits);
}

void BreadthFirst::reset() {
  job_.for_each_range([&](int, LocalNumber first, LocalNumber last) {
    std::fill(levels_.begin() + first, levels_.begin() + last, kNone);
    if (!parents_.empty()) std::fill(parents_.begin() + first, parents_.begin() + last, kNone);
  });
  for (auto& candidate : candidates_) candidate.store(kNone, std::memory_order_relaxed);
  // Bits behind the last vertex of a process stay clear: a pull would look for them.
  for (std::uint32_t p = 0; p < static_cast<std::uint32_t>(job_.bootstrap().size()); ++p) {
    std::uint32_t left = job_.ownership().count(p);
    for (std::size_t w = first_word(p); w < first_word(p + 1); ++w, left -= std::min(left, kBits))
      unseen_[w].store(left >= kBits ? ~Word{0} : (Word{1} << left) - 1, std::memory_order_relaxed);
  }
  in_bits_ = false;
  level_ = 0;
  has_pulled_ = false;
  state_ = {};
  state_.unseen_edges = job_.graph().edges();
}

std::vector<Superstep> BreadthFirst::run(VertexId source, const std::function<bool(const State&)>& enough) {
  job_.expect_vertex(source);
  reset();
  for (Worker& worker : workers_) worker.vertices = worker.edges = worker.noted = 0, worker.reached.clear();
  const plan::Place place = job_.ownership().place(source);
  claim(position(place), false);
  if (place.owner == rank_) {
    job_.ownership().visit([&](const auto& scheme) {
      reach(workers_[0], place.local, source, scheme);
      note_reached(workers_[0], scheme);
    });
    next_lists();
  }
  total();
  std::vector<Superstep> supersteps;
  while (state_.frontier > 0 && !(enough && enough(state_))) {
    state_.pulled = wants_pull(job_.graph(), state_);
    supersteps.push_back(superstep(state_.pulled));
  }
  job_.wait_for_all();
  return supersteps;
}

bool BreadthFirst::wants_pull(const graph::GraphFile& graph, const State& state) {
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
  const auto [vertices, edges] = job_.sum_of_all(mine);
  state_.advance(vertices, edges);
}

bool BreadthFirst::claim(std::size_t position, bool shared) noexcept {
  std::atomic<Word>& word = unseen_[position / kBits];
  const Word bit = Word{1} << position % kBits, before = word.load(std::memory_order_relaxed);
  if ((before & bit) == 0) return false;
  if (shared) return (word.fetch_and(~bit, std::memory_order_relaxed) & bit) != 0;
  word.store(before & ~bit, std::memory_order_relaxed);
  return true;
}

void BreadthFirst::propose(std::size_t position, std::uint32_t parent) noexcept {
  auto& best = candidates_[position];
  std::uint32_t before = best.load(std::memory_order_relaxed);
  while (parent < before && !best.compare_exchange_weak(before, parent, std::memory_order_relaxed)) {
  }
}

/// Fetches the memory that note_reached() needs, which does the rest for many vertices at a time.
template <class Scheme>
inline void BreadthFirst::reach(Worker& worker, LocalNumber local, std::uint32_t parent,
                                const Scheme& scheme) {
  if (!parents_.empty()) parents_[local] = parent;
  __builtin_prefetch(&levels_[local], 1);
  __builtin_prefetch(&job_.graph().offsets()[scheme.vertex(rank_, local)]);
  worker.reached.push_back(local);
  if (worker.reached.size() - worker.noted >= kNotedAtOnce) note_reached(worker, scheme);
}

/// Writes the levels of the vertices that the worker has reached since the last call, and counts their edges.
template <class Scheme>
void BreadthFirst::note_reached(Worker& worker, const Scheme& scheme) {
  for (const LocalNumber local : std::span(worker.reached).subspan(worker.noted)) {
    levels_[local] = level_;
    worker.edges += graph::Row{job_.graph(), scheme.vertex(rank_, local)}.degree();
  }
  worker.vertices += worker.reached.size() - worker.noted;
  worker.noted = worker.reached.size();
}

/// Whether the edges of the frontier are worth the time that it takes until all workers are at it.
bool BreadthFirst::wakes() const noexcept {
  const bool blocked = job_.pool().placement().oversubscribed;
  return several_ || (workers_.size() > 1 && state_.frontier_edges >= (blocked ? kAloneBlocked : kAlone));
}

void BreadthFirst::push() {
  if (in_bits_) bits_to_list();
  if (job_.on_disks()) {
    auto& all = workers_[0].list;
    for (std::size_t w = 1; w < workers_.size(); ++w) {
      all.insert(all.end(), workers_[w].list.begin(), workers_[w].list.end());
      workers_[w].list.clear();
    }
    std::ranges::sort(all);
  }
  const bool wake = wakes();
  const bool hands_over =
      wake && !several_ && !job_.on_disks() && state_.frontier_edges <= job_.graph().vertices() / kHandedOver;
  const auto work = [&](int lane) {
    job_.ownership().visit([&](const auto& scheme) {
      hands_over ? push_to_keepers(lane, scheme) : push_from(lane, wake, scheme);
    });
  };
  if (wake)
    job_.pool().run(work);
  else
    work(0);
  next_lists();
}

/// The vertices that were reached become the frontier.
void BreadthFirst::next_lists() {
  for (Worker& worker : workers_) {
    worker.list.swap(worker.reached);
    worker.reached.clear();
    worker.noted = 0;
    worker.next.store(0, std::memory_order_relaxed);
  }
}

/// Of its own list as long as it lasts, then of the others'.
template <class Scheme>
std::span<const VertexId> BreadthFirst::take_rows(int lane, const Scheme& scheme) {
  auto& taken = workers_[static_cast<std::size_t>(lane)].taken;
  taken.clear();
  for (std::size_t i = 0; i < workers_.size() && taken.empty(); ++i) {
    Worker& from = workers_[(static_cast<std::size_t>(lane) + i) % workers_.size()];
    const std::size_t size = from.list.size();
    if (from.next.load(std::memory_order_relaxed) >= size) continue;
    const std::size_t count =
        job_.on_disks() ? job_.rows_at_once() : std::clamp(size / 8, kLeastRows, kMostRows);
    const std::size_t at = from.next.fetch_add(count, std::memory_order_relaxed);
    for (std::size_t r = at; r < std::min(at + count, size); ++r)
      taken.push_back(scheme.vertex(rank_, from.list[r]));
  }
  return taken;
}

/// `woken`: all workers are at it.
template <class Scheme>
void BreadthFirst::push_from(int lane, bool woken, const Scheme& scheme) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  const std::size_t mine = first_word(rank_) * kBits;
  const bool smallest = !candidates_.empty(), shared = woken && workers_.size() > 1;
  const auto take = [&](int, Record record) {
    if (smallest) propose(mine + record.vertex, record.value);
    if (claim(mine + record.vertex, shared)) reach(worker, LocalNumber(record.vertex), record.value, scheme);
  };
  const auto follow = [&](const Edges& edges) {
    const VertexId u = edges.vertex;
    worker.followed += edges.targets.size();
    for (const VertexId v : edges.targets) {
      const plan::Place place = scheme.place(v);
      if (smallest) propose(position(place), u);
      if (!claim(position(place), shared)) continue;
      if (place.owner == rank_)
        reach(worker, place.local, u, scheme);
      else if (smallest)
        worker.others.push_back(v);
      else
        job_.records().send(lane, static_cast<int>(place.owner), {place.local, u}, take);
    }
  };
  job_.each_row(
      lane, [&] { return take_rows(lane, scheme); }, follow);
  if (smallest && woken) job_.pool().barrier();  // all candidates of this process are known
  for (const VertexId v : worker.others) {
    const plan::Place place = scheme.place(v);
    job_.records().send(lane, static_cast<int>(place.owner), {place.local, candidates_[position(place)]},
                        take);
  }
  worker.others.clear();
  if (several_) job_.records().finish(lane, take);
  if (smallest) {
    if (woken) job_.pool().barrier();  // and those of the others
    for (const LocalNumber local : worker.reached) parents_[local] = candidates_[mine + local];
  }
  note_reached(worker, scheme);
}

/// The same in one process: a worker hands over what it finds to those that keep the bits.
template <class Scheme>
void BreadthFirst::push_to_keepers(int lane, const Scheme& scheme) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  worker.handed.resize(workers_.size());
  for (auto& handed : worker.handed) handed.clear();
  const auto follow = [&](const Edges& edges) {
    worker.followed += edges.targets.size();
    for (const VertexId v : edges.targets) {
      const LocalNumber local = scheme.place(v).local;
      worker.handed[keeper(local)].push_back({local, edges.vertex});
    }
  };
  job_.each_row(
      lane, [&] { return take_rows(lane, scheme); }, follow);
  job_.pool().barrier();  // all has been found
  const bool smallest = !candidates_.empty();
  for (const Worker& from : workers_) {
    for (const Record one : from.handed[static_cast<std::size_t>(lane)]) {
      if (smallest) propose(one.vertex, one.value);
      if (claim(one.vertex, false)) reach(worker, LocalNumber(one.vertex), one.value, scheme);
    }
  }
  if (smallest)
    for (const LocalNumber local : worker.reached) parents_[local] = candidates_[local];
  note_reached(worker, scheme);
}

void BreadthFirst::list_to_bits() {
  const auto mine = std::span(bits_).subspan(first_word(rank_), owned_words_);
  std::ranges::fill(mine, 0);
  for (Worker& worker : workers_) {
    for (const LocalNumber local : worker.list) mine[local / kBits] |= Word{1} << local % kBits;
    worker.list.clear();
  }
  in_bits_ = true;
}

void BreadthFirst::bits_to_list() {
  const auto mine = std::span<const Word>(bits_).subspan(first_word(rank_), owned_words_);
  for (std::size_t w = 0; w < mine.size(); ++w) {
    for (Word left = mine[w]; left != 0; left &= left - 1) workers_[0].list.push_back(lowest(w, left));
  }
  in_bits_ = false;
}

}  // namespace edgewire::frontier
