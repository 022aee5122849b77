#include "kernels/bc_levels.h"

#include <array>
#include <utility>

namespace edgewire::kernels {

namespace {

constexpr std::size_t kMuch = 16;          // much of the boundary is one vertex in so many
constexpr std::uint64_t kRecordEdges = 5;  // edges that are followed in the time of a record to a process

template <class T>
void move_all(std::vector<T>& from, std::vector<T>& to) {
  to.insert(to.end(), from.begin(), from.end());
  from.clear();
}

}  // namespace

/// Returns whether a level is pulled. A pull sends vertices of the frontier to all processes that know them.
bool betweenness_pulls(std::uint64_t frontier, std::uint64_t edges, std::uint64_t unseen, int processes) {
  return unseen + frontier * static_cast<std::uint64_t>(processes - 1) * kRecordEdges < edges;
}

template <class Number>
BcLevels<Number>::BcLevels(frontier::Job& job, bool endpoints)
    : job_(job),
      records_(job),
      endpoints_(endpoints),
      alone_(job.pool().workers() == 1),
      sigma_memory_(job.known() * sizeof(Number), -1, "numbers of paths", topology::Begin::staggered),
      shares_memory_(job.known() * sizeof(Number), -1, "dependencies", topology::Begin::staggered),
      sums_memory_(job.owned() * sizeof(Number), -1, "sums of dependencies", topology::Begin::staggered),
      sigma_(sigma_memory_.as<Number>()),
      shares_(shares_memory_.as<Number>()),
      sums_(sums_memory_.as<Number>()),
      visited_(job.known(), !alone_),
      in_level_(job.known(), !alone_),
      owned_words_((job.owned() + std::size_t{Bits::kBits} - 1) / Bits::kBits),
      workers_(static_cast<std::size_t>(job.pool().workers())) {
  job.expect_records(sizeof(frontier::WideRecord));
  job.make_rows();
}

template <class Number>
bool BcLevels<Number>::add(VertexId source, BcSums& sums) {
  out_ = &sums;
  start(source);
  if (!count_paths()) return false;
  accumulate();
  if (endpoints_) add_endpoints(source);
  return true;
}

/// Forgets the source before, and puts this one on the first level.
template <class Number>
void BcLevels<Number>::start(VertexId source) {
  for (const List list : {List(order_.items), List(boundary_), List(mirrors_.items)}) {
    for (const KnownNumber v : list) sigma_[v] = shares_[v] = Number();
    visited_.clear_words_of(list);
  }
  order_.clear();
  mirrors_.clear();
  predecessors_.clear();
  boundary_.clear();
  levels_.clear();
  unvisited_edges_ = job_.graph().edges();
  const Home home = job_.ownership().home(source);
  if (home.owner == job_.rank()) {
    sigma_[home.local] = Number(1);
    worker(0).owned.emplace_back(std::uint32_t{home.local});
  } else if (job_.boundary().knows(home)) {
    worker(0).boundary.push_back(job_.boundary().number(home));
  }
  visit(worker(0));
}

/// Puts together what the workers have reached. Returns false when that is nothing in any process, or one has
/// found too many paths.
template <class Number>
bool BcLevels<Number>::end_level() {
  std::array<std::uint64_t, 3> mine{};
  for (Worker& worker : workers_) {
    mine[0] += worker.owned.size();
    mine[1] += std::exchange(worker.edges, 0);
    mine[2] += std::exchange(worker.too_many, false) ? 1 : 0;
    move_all(worker.owned, order_.items);
    move_all(worker.boundary, boundary_);
    move_all(worker.mirrors, mirrors_.items);
    move_all(worker.predecessors, predecessors_.items);
  }
  sort(order_.open());
  const auto [vertices, edges, too_many] = job_.sum_of_all(mine);
  too_many_ = too_many != 0;
  if (vertices == 0 || too_many_) return false;
  order_.end_level();
  mirrors_.end_level();
  predecessors_.end_level();
  levels_.push_back({vertices, edges});
  unvisited_edges_ -= edges;
  return true;
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

/// Goes backward, level by level: the share of a path to a vertex v on level l is 1 / sigma[v], since v is a
/// target itself, and the sum of the shares of the paths that go on from v to level l + 1. No path ends
/// behind the last level, or leads over the source.
template <class Number>
void BcLevels<Number>::accumulate() {
  const std::size_t last = levels_.size() - 1;
  for (const KnownNumber v : order_.of(last)) shares_[v] = Number(1) / sigma_[v];
  for (std::size_t l = last; l-- > 1;)
    record(out_->backward, l, Bc::kBackward, [&] {
      if (pushes_back(l))
        accumulate_by_push(l);
      else
        accumulate_by_pull(l);
    });
}

/// Returns whether level l + 1 pushes its shares into level l. A process that has told others what it
/// reached, or was told, goes back the same way.
template <class Number>
bool BcLevels<Number>::pushes_back(std::size_t l) const {
  if (!job_.is_only()) return levels_[l].pulled;
  return job_.graph().symmetric() && levels_[l + 1].edges < levels_[l].edges;
}

/// Each vertex of level l + 1 adds its share to its predecessors on level l, whose owners get what was added
/// to mirrors.
template <class Number>
void BcLevels<Number>::accumulate_by_push(std::size_t l) {
  const List level = order_.of(l), mirrors = mirrors_.of(l + 1);
  in_level_.add_all(level);
  in_level_.add_all(mirrors);
  run_workers(levels_[l + 1].edges, [&](int lane) {
    Worker& worker = this->worker(lane);
    job_.each_shared_row(lane, order_.of(l + 1), next_, [&](const FrontierRow& edges) {
      worker.followed += edges.targets.size();
      const Number share = shares_[edges.vertex];
      for (const KnownNumber v : edges.targets)
        if (in_level_.test(v)) add_to(shares_[v], share);
    });
    barrier();
    send_sums(lane, mirrors);
    barrier();  // until now, the shares of this level were sums
    set_shares(level, shares_);
  });
  in_level_.clear_words_of(level);
  in_level_.clear_words_of(mirrors);
}

/// Sends what was summed up for mirrors to their owners.
template <class Number>
void BcLevels<Number>::send_sums(int lane, List mirrors) {
  const auto take = [&](int peer, std::uint32_t index, const Number& sum) {
    add_to(shares_[owned_vertex(peer, index)], sum);
  };
  for_each_shared(mirrors.size(), [&](std::size_t i) {
    const Number sum = std::exchange(shares_[mirrors[i]], Number());
    if (!is_zero(sum)) send_to_owner(lane, mirrors[i], sum, take);
  });
  records_.finish(lane, take);
}

/// Each vertex of level l adds up the shares of its targets, which owners have sent. Those targets that have
/// shares by now are on level l + 1: no edge leads farther.
template <class Number>
void BcLevels<Number>::accumulate_by_pull(std::size_t l) {
  const List level = order_.of(l);
  run_workers(levels_[l].edges, [&](int lane) {
    send_shares(lane, predecessors_.of(l + 1));
    barrier();
    Worker& worker = this->worker(lane);
    job_.each_shared_row(lane, level, next_, [&](const FrontierRow& edges) {
      const List targets = edges.targets;
      worker.followed += targets.size();
      Number sum{};
      for (std::size_t e = 0; e < targets.size(); ++e) {
        if (targets.size() - e > kAhead) __builtin_prefetch(&shares_[targets[e + kAhead]]);
        sum += shares_[targets[e]];
      }
      sums_[edges.vertex] = sum;
    });
    barrier();  // until now, no vertex of this level had a share
    set_shares(level, sums_);
  });
}

/// Sends the shares of the next level to the processes that have predecessors of its vertices.
template <class Number>
void BcLevels<Number>::send_shares(int lane, std::span<const RemotePredecessors> predecessors) {
  const auto take = [&](int peer, std::uint32_t index, const Number& share) {
    shares_[boundary_vertex(peer, index)] = share;
  };
  for_each_shared(predecessors.size(), [&](std::size_t i) {
    const auto& [vertex, index, peer] = predecessors[i];
    records_.send(lane, peer, index, shares_[vertex], take);
  });
  records_.finish(lane, take);
}

/// Makes shares of the sums of a level, and adds delta to its scores.
template <class Number>
void BcLevels<Number>::set_shares(List level, std::span<const Number> sums) {
  for_each_shared(level.size(), [&](std::size_t i) {
    const KnownNumber v = level[i];
    const Number sum = sums[v];
    shares_[v] = Number(1) / sigma_[v] + sum;
    out_->scores[v] += static_cast<double>(sigma_[v] * sum);
  });
}

/// Adds the ends of paths. A source lies on the paths to all that it reaches, and each of those on the paths
/// to it.
template <class Number>
void BcLevels<Number>::add_endpoints(VertexId source) {
  for (const KnownNumber v : order_.items) out_->scores[v] += 1;
  const Home home = job_.ownership().home(source);
  if (home.owner != job_.rank()) return;
  for (const Level& level : levels_) out_->scores[home.local] += static_cast<double>(level.vertices);
  out_->scores[home.local] -= 2;
}

/// Runs a superstep and adds what it did to those of the sources before.
template <class Number>
void BcLevels<Number>::record(std::vector<frontier::Superstep>& steps, std::size_t l, std::uint64_t kind,
                              const std::function<void()>& work) {
  const frontier::Meter meter(job_);
  for (Worker& worker : workers_) worker.followed = 0;
  work();
  if (steps.size() <= l) steps.resize(l + 1);
  frontier::Superstep& step = steps[l];
  step.step = l;
  step.kind = kind;
  step.frontier += order_.of(l).size();
  for (const Worker& worker : workers_) step.edges += worker.followed;
  meter.stop(step);
}

template class BcLevels<double>;
template class BcLevels<Scaled>;

}  // namespace edgewire::kernels
