// This file has the supersteps of the search that push.
#include <algorithm>

#include "base/error.h"
#include "kernels/bfs.h"

namespace edgewire::kernels {

namespace {

constexpr std::uint64_t kAlone = 1 << 10;         // edges that are followed sooner than workers share them
constexpr std::uint64_t kAloneBlocked = 1 << 12;  // and where workers that wait block at once
constexpr std::uint32_t kMostAlone = 64;          // levels, until all decide again
constexpr std::uint64_t kHandedOver = 8;          // vertices of the graph for each edge that is handed over
constexpr std::size_t kLeastRows = 64, kMostRows = 1024;  // rows that a worker takes at a time in a push

}  // namespace

/// Returns whether the edges of the frontier are worth the time that it takes until all workers are at it.
bool Bfs::wakes() const noexcept {
  const bool blocked = job_.pool().placement().oversubscribed;
  return distributed_ || (workers_.size() > 1 && state_.frontier_edges >= (blocked ? kAloneBlocked : kAlone));
}

/// Pushes. Returns false where this process goes on alone with what it has reached.
bool Bfs::push(const frontier::PushNote& mine, bool alone) {
  if (in_bits_) bits_to_list();
  if (job_.on_disks()) sort_lists();
  if (alone && !push_alone() && mine.levels < kMostAlone) {
    if (!candidates_.empty()) name_parents(workers_[0]);
    next_lists();
    return false;
  }
  const bool wake = wakes();
  const bool hands_over = wake && !distributed_ && !job_.on_disks() &&
                          state_.frontier_edges <= job_.graph().vertices() / kHandedOver;
  const auto work = [&](int lane) {
    job_.visit_known([&](const auto& known) {
      if (hands_over) return push_to_keepers(lane, known);
      if (!alone) push_from(lane, wake, known);
      finish_push(lane, wake, lane == 0 ? mine : frontier::PushNote());
    });
  };
  if (wake)
    job_.pool().run(work);
  else
    work(0);
  next_lists();
  return true;
}

/// Sorts the lists, since rows are read from disks in order.
void Bfs::sort_lists() {
  auto& all = workers_[0].list;
  for (std::size_t w = 1; w < workers_.size(); ++w) {
    all.insert(all.end(), workers_[w].list.begin(), workers_[w].list.end());
    workers_[w].list.clear();
  }
  std::ranges::sort(all);
}

/// Follows the edges of the frontier. Returns whether other processes must know: one of them has been told of
/// a vertex, so many edges follow that all should decide how, or none do.
bool Bfs::push_alone() {
  Worker& worker = workers_[0];
  job_.visit_known([&](const auto& known) {
    push_from(0, false, known);
    note_reached(worker);
  });
  const State next{.frontier_edges = worker.edges};
  return !worker.told.nobody() || worker.reached.empty() || !goes_on(job_.graph(), next);
}

/// Fetches the memory that note_reached() needs, which does the rest for many vertices at a time.
inline void Bfs::reach(Worker& worker, LocalNumber local, PlainId parent) {
  if (!parents_.empty()) parents_[local] = parent;
  __builtin_prefetch(&levels_[local], 1);
  job_.rows().fetch_begin(local);
  worker.reached.push_back(local);
  if (worker.reached.size() - worker.noted >= noted_at_once_) note_reached(worker);
}

/// Writes the levels of the vertices that the worker has reached since the last call, and counts their edges.
void Bfs::note_reached(Worker& worker) {
  for (const LocalNumber local : std::span(worker.reached).subspan(worker.noted)) {
    levels_[local] = level_;
    worker.edges += job_.degree(local);
  }
  worker.vertices += worker.reached.size() - worker.noted;
  worker.noted = worker.reached.size();
}

/// Does the same for the lists that have become the frontier, once their level is known.
void Bfs::note_held_back() {
  for (Worker& worker : workers_) {
    worker.list.swap(worker.reached);
    note_reached(worker);
    worker.list.swap(worker.reached);
    worker.noted = 0;
  }
}

void Bfs::propose(std::size_t number, PlainId parent, bool shared) noexcept {
  auto& best = candidates_[number];
  PlainId before = best.load(std::memory_order_relaxed);
  if (!shared) {
    if (parent < before) best.store(parent, std::memory_order_relaxed);
    return;
  }
  while (parent < before && !best.compare_exchange_weak(before, parent, std::memory_order_relaxed)) {
  }
}

void Bfs::name_parents(const Worker& worker) {
  for (const LocalNumber local : worker.reached) parents_[local] = candidates_[local];
}

/// Takes rows of the lane's own list as long as it lasts, then of the lists of the others.
std::span<const LocalNumber> Bfs::take_rows(int lane) {
  auto& taken = workers_[static_cast<std::size_t>(lane)].taken;
  taken.clear();
  for (std::size_t i = 0; i < workers_.size() && taken.empty(); ++i) {
    Worker& from = workers_[(static_cast<std::size_t>(lane) + i) % workers_.size()];
    const std::size_t size = from.list.size();
    if (from.next.load(std::memory_order_relaxed) >= size) continue;
    const std::size_t count =
        job_.on_disks() ? job_.rows_at_once() : std::clamp(size / 8, kLeastRows, kMostRows);
    const std::size_t at = from.next.fetch_add(count, std::memory_order_relaxed);
    for (std::size_t r = at; r < std::min(at + count, size); ++r) taken.push_back(from.list[r]);
  }
  return taken;
}

/// Takes what another process has found for an owned vertex.
inline void Bfs::take_record(Worker& worker, frontier::Record record) {
  if (record.vertex >= job_.owned() || record.value >= job_.graph().vertices())
    throw Error("a process has sent a vertex that does not exist");
  const bool shared = workers_.size() > 1;
  if (!candidates_.empty()) propose(record.vertex, record.value, shared);
  if (claim(record.vertex, shared)) reach(worker, frontier::local_of(record), record.value);
}

/// Follows the edges of the frontier. `woken`: all workers are at it.
template <class Known>
void Bfs::push_from(int lane, bool woken, const Known& known) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  const bool smallest = !candidates_.empty(), shared = woken && workers_.size() > 1;
  const bool binned = shared && bins_ != nullptr, later = smallest || (binned && distributed_);
  const std::uint32_t owned = job_.owned();
  const auto take = [&](frontier::Record record) { take_record(worker, record); };
  const auto tell = [&](Home home, PlainId parent) {
    worker.told.add(home.owner);
    job_.records().send(lane, static_cast<int>(home.owner), {home.local, parent}, take);
  };
  const auto find = [&](KnownNumber number, PlainId parent, bool with_others) {
    if (smallest) propose(number, parent, with_others);
    if (!claim(number, with_others)) return;
    if (number < owned)
      reach(worker, LocalNumber(number), parent);
    else if (later)
      worker.others.push_back({number, parent});
    else
      tell(job_.boundary().home(number), parent);
  };
  const auto gather = [&](const Found& one) { find(one.vertex, one.value, false); };
  const auto follow = [&](const FrontierRow& edges) {
    const VertexId u = known.vertex(edges.vertex);
    worker.followed += edges.targets.size();
    if (binned) {
      for (const KnownNumber number : edges.targets)
        if (is_news(number, u)) bins_->put(lane, {number, u}, gather);
    } else {
      for (const KnownNumber number : edges.targets) find(number, u, shared);
    }
  };
  job_.each_row(
      lane, [&] { return take_rows(lane); }, follow);
  if (binned) bins_->finish(lane, gather);
  if (later && woken) job_.pool().barrier();  // this process has found all, and nobody gathers
  for (const auto& [number, parent] : worker.others)
    tell(job_.boundary().home(number),
         smallest ? candidates_[number].load(std::memory_order_relaxed) : parent);
  worker.others.clear();
}

/// Takes what other processes have found. `note`: what the process says besides who has a frontier next.
void Bfs::finish_push(int lane, bool woken, const frontier::PushNote& note) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  if (distributed_) {
    if (!worker.reached.empty()) worker.told.add(rank_);
    frontier::PushNote said = note;
    said.next = worker.told;
    job_.records().finish(
        lane, [&](frontier::Record record) { take_record(worker, record); }, said.words());
  }
  if (!candidates_.empty()) {
    if (woken) job_.pool().barrier();  // the candidates of other processes are known, too
    name_parents(worker);
  }
  if (noted_at_once_ == kNotedAtOnce) note_reached(worker);
}

/// Returns the sum of what all processes have said at the end of a push.
frontier::PushNote Bfs::sum_of_notes(const frontier::PushNote& mine) const {
  frontier::PushNote sum = mine;
  for (const Worker& worker : workers_) sum.next.add(worker.told);
  for (int peer = 0; peer < job_.bootstrap().size(); ++peer) {
    if (peer == job_.bootstrap().rank()) continue;
    for (int lane = 0; lane < job_.pool().workers(); ++lane)
      sum.next.add(frontier::PushNote::of(job_.records().note(lane, peer)).next);
    const auto said = frontier::PushNote::of(job_.records().note(0, peer));
    if (said.levels > 1 && !active_.is_only(static_cast<std::uint32_t>(peer)))
      throw Error("a process has gone on alone while others had vertices to follow");
    sum.levels = std::max(sum.levels, said.levels);
    sum.vertices += said.vertices;
    sum.edges += said.edges;
    sum.edges_before += said.edges_before;
  }
  return sum;
}

/// Does the same in one process: a worker hands over what it finds to those that keep the bits.
template <class Known>
void Bfs::push_to_keepers(int lane, const Known& known) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  worker.handed.resize(workers_.size());
  for (auto& handed : worker.handed) handed.clear();
  const auto follow = [&](const FrontierRow& edges) {
    const VertexId u = known.vertex(edges.vertex);
    worker.followed += edges.targets.size();
    for (const KnownNumber number : edges.targets) {
      worker.handed[keeper(number)].push_back({number, u});
    }
  };
  job_.each_row(
      lane, [&] { return take_rows(lane); }, follow);
  job_.pool().barrier();  // all has been found
  const bool smallest = !candidates_.empty();
  for (const Worker& from : workers_) {
    for (const frontier::Record one : from.handed[static_cast<std::size_t>(lane)]) {
      if (smallest) propose(one.vertex, one.value, false);
      if (claim(one.vertex, false)) reach(worker, frontier::local_of(one), one.value);
    }
  }
  if (smallest) name_parents(worker);
  note_reached(worker);
}

}  // namespace edgewire::kernels
