// This file has the levels forward, which count paths.
#include <algorithm>

#include "kernels/bc_levels.h"

namespace edgewire::kernels {

namespace {

constexpr std::size_t kMuch = 16;          // much of the boundary is one vertex in so many
constexpr std::uint64_t kRecordEdges = 5;  // edges that are followed in the time of a record to a process

}  // namespace

/// Returns whether a level is pulled. A pull sends vertices of the frontier to all processes that know them.
bool betweenness_pulls(std::uint64_t frontier, std::uint64_t edges, std::uint64_t unseen, int processes) {
  return unseen + frontier * static_cast<std::uint64_t>(processes - 1) * kRecordEdges < edges;
}

/// Goes forward, level by level: sigma of a vertex on level l + 1 is the sum of sigma over its predecessors
/// on level l. Returns false where there are too many paths.
template <class Number>
bool BcLevels<Number>::count_paths() {
  bool more = end_level();
  for (std::size_t l = 0; more; ++l)
    record(out_->forward, l, Bc::kForward, [&] {
      Level& level = levels_[l];
      level.pulled = job_.graph().symmetric() && betweenness_pulls(level.vertices, level.edges,
                                                                   unvisited_edges_, job_.bootstrap().size());
      if (level.pulled)
        count_by_pull(l);
      else
        count_by_push(l);
      more = end_level();
    });
  return !too_many_;
}

/// Each vertex of level l adds its sigma to its unvisited targets; owners get what was added elsewhere.
template <class Number>
void BcLevels<Number>::count_by_push(std::size_t l) {
  run_workers(std::min(levels_[l].edges, unvisited_edges_), [&](int lane) {
    Worker& worker = this->worker(lane);
    job_.each_shared_row(lane, order_.of(l), next_, [&](const FrontierRow& edges) {
      const List targets = edges.targets;
      const Number paths = sigma_[edges.vertex];
      worker.followed += targets.size();
      for (std::size_t e = 0; e < targets.size(); ++e) {
        if (targets.size() - e > kAhead) __builtin_prefetch(&sigma_[targets[e + kAhead]], 1);
        const KnownNumber v = targets[e];
        if (visited_.test(v) || !is_zero(add_to(sigma_[v], paths))) continue;
        (v < job_.owned() ? worker.owned : worker.boundary).push_back(v);
      }
    });
    barrier([this] {  // all sums are complete
      std::size_t reached = 0;
      for (const Worker& one : workers_) reached += one.boundary.size();
      much_of_boundary_ = reached > (job_.known() - job_.owned()) / kMuch;
    });
    send_paths(lane);
    barrier();  // no worker asks any more what is visited
    visit(worker);
  });
}

/// Sends sums to the owners of boundary vertices. Where the level has reached many of them, all are looked
/// at, in the order that they and their owners have them in memory. A vertex that its owner has visited
/// before is no news there, and gets no answer later.
template <class Number>
void BcLevels<Number>::send_paths(int lane) {
  Worker& worker = this->worker(lane);
  const auto take = [&](int peer, std::uint32_t index, const Number& paths) {
    const LocalNumber v = owned_vertex(peer, index);
    if (visited_.test(v)) return;
    worker.predecessors.push_back({v, index, peer});
    if (is_zero(add_to(sigma_[v], paths))) worker.owned.emplace_back(std::uint32_t{v});
  };
  const frontier::Boundary& boundary = job_.boundary();
  const auto size = static_cast<std::uint32_t>(job_.bootstrap().size());
  for (std::uint32_t turn = 1; much_of_boundary_ && turn < size; ++turn) {
    const std::uint32_t owner = (job_.rank() + turn) % size;
    const auto [first, last] = job_.pool().part(lane, boundary.count(owner));
    for (auto i = static_cast<std::uint32_t>(first); i < last; ++i) {
      const KnownNumber v(boundary.first(owner) + i);
      if (!is_zero(sigma_[v]) && !visited_.test(v))
        records_.send(lane, static_cast<int>(owner), i, sigma_[v], take);
    }
  }
  if (!much_of_boundary_)
    for (const KnownNumber v : worker.boundary) send_to_owner(lane, v, sigma_[v], take);
  records_.finish(lane, take);
}

/// Each unvisited vertex adds up sigma of its predecessors on level l. Its targets are its sources, too,
/// since the graph stores every edge both ways.
template <class Number>
void BcLevels<Number>::count_by_pull(std::size_t l) {
  in_level_.add_all(order_.of(l));
  run_workers(std::min(levels_[l].edges, unvisited_edges_), [&](int lane) {
    mirror_paths(lane);
    barrier();
    Worker& worker = this->worker(lane);
    const auto take = [&] { return take_unvisited(worker.unvisited); };
    job_.each_row(lane, take, [&](const FrontierRow& edges) {
      worker.followed += edges.targets.size();
      Number paths{};
      for (const KnownNumber u : edges.targets)
        if (in_level_.test(u)) paths += sigma_[u];
      if (is_zero(paths)) return;
      sigma_[edges.vertex] = paths;
      worker.owned.emplace_back(std::uint32_t{edges.vertex});
    });
    barrier();  // no worker asks any more what is visited, or in the level
    visit(worker);
    in_level_.clear_words_of(worker.mirrors);
  });
  in_level_.clear_words_of(order_.of(l));
}

/// Sends sigma of the vertices in the level to all processes that know them.
template <class Number>
void BcLevels<Number>::mirror_paths(int lane) {
  const auto take = [&](int peer, std::uint32_t index, const Number& paths) {
    const KnownNumber v = boundary_vertex(peer, index);
    sigma_[v] = paths;
    visited_.add(v);
    in_level_.add(v);
    worker(lane).mirrors.push_back(v);
  };
  for (int peer = 0; peer < job_.bootstrap().size(); ++peer) {
    const auto known = job_.boundary().known_by(static_cast<std::uint32_t>(peer));
    const auto [first, last] = job_.pool().part(lane, known.size());
    for (std::size_t i = first; i < last; ++i)
      if (in_level_.test(known[i]))
        records_.send(lane, peer, static_cast<std::uint32_t>(i), sigma_[known[i]], take);
  }
  records_.finish(lane, take);
}

/// Takes vertices that no worker has taken in this level, and returns them; none when there are no more.
template <class Number>
std::span<const LocalNumber> BcLevels<Number>::take_unvisited(std::vector<LocalNumber>& taken) {
  taken.clear();
  for (std::size_t at = 0; taken.empty() && (at = next_.fetch_add(kItemsAtOnce)) < owned_words_;)
    for (std::size_t w = at; w < std::min(at + kItemsAtOnce, owned_words_); ++w)
      for_each_bit(w, ~visited_.word(w), [&](std::uint32_t v) {
        if (v < job_.owned()) taken.emplace_back(v);
      });
  return taken;
}

/// Makes what the worker has reached visited from now on.
template <class Number>
void BcLevels<Number>::visit(Worker& worker) {
  visited_.add_all(worker.boundary);
  visited_.add_all(worker.owned);
  const frontier::KnownRows rows = job_.rows();
  for (std::size_t i = 0; i < worker.owned.size(); ++i) {
    if (worker.owned.size() - i > kAhead) {
      const LocalNumber next(worker.owned[i + kAhead]);
      rows.fetch_begin(next);
      __builtin_prefetch(&sigma_[worker.owned[i + kAhead]]);
    }
    const KnownNumber v = worker.owned[i];
    worker.edges += job_.degree(LocalNumber(v));
    if (is_too_many(sigma_[v])) worker.too_many = true;
  }
}

template bool BcLevels<double>::count_paths();
template bool BcLevels<Scaled>::count_paths();
template void BcLevels<double>::visit(Worker&);
template void BcLevels<Scaled>::visit(Worker&);

}  // namespace edgewire::kernels
