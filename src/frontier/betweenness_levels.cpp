#include "frontier/betweenness_levels.h"

#include <array>
#include <bit>
#include <utility>

#include "frontier/betweenness_records.h"
#include "frontier/betweenness_shares.h"

namespace edgewire::frontier {

namespace {

constexpr std::size_t kMany = 16;          // many vertices are one in so many
constexpr std::uint64_t kRecordEdges = 5;  // edges that are followed in the time of a record to a process

template <class T>
void move_all(std::vector<T>& from, std::vector<T>& to) {
  to.insert(to.end(), from.begin(), from.end());
  from.clear();
}

}  // namespace

/// A pull sends vertices of the frontier to all processes that know them.
bool betweenness_pulls(std::uint64_t frontier, std::uint64_t edges, std::uint64_t unseen, int processes) {
  return unseen + frontier * static_cast<std::uint64_t>(processes - 1) * kRecordEdges < edges;
}

template <class Number>
BetweennessLevels<Number>::BetweennessLevels(FrontierJob& job, bool endpoints)
    : job_(job),
      endpoints_(endpoints),
      several_(job.bootstrap().size() > 1),
      alone_(job.pool().workers() == 1),
      sigma_memory_(job.known() * sizeof(Number), -1, "numbers of paths", topology::Begin::staggered),
      shares_memory_(job.known() * sizeof(Number), -1, "shares of paths", topology::Begin::staggered),
      sums_memory_(job.owned() * sizeof(Number), -1, "sums of shares", topology::Begin::staggered),
      sigma_(sigma_memory_.as<Number>()),
      shares_(shares_memory_.as<Number>()),
      sums_(sums_memory_.as<Number>()),
      settled_(job.known(), !alone_),
      marked_(job.known(), !alone_),
      owned_words_((job.owned() + std::size_t{Bits::kBits} - 1) / Bits::kBits),
      workers_(static_cast<std::size_t>(job.pool().workers())) {
  job.expect_records(sizeof(WideRecord));
  job.make_rows();
  for (Worker& worker : workers_) worker.halves.resize(static_cast<std::size_t>(job.bootstrap().size()));
}

template <class Number>
bool BetweennessLevels<Number>::add(VertexId source, BetweennessSums& sums) {
  out_ = &sums;
  reset();
  start(source);
  if (!search()) return false;
  answer();
  if (endpoints_) add_endpoints(source);
  return true;
}

template <class Number>
void BetweennessLevels<Number>::start(VertexId source) {
  starts_ = asked_starts_ = {0};
  mirrored_starts_.clear();
  level_edges_.clear();
  pulled_.clear();
  unseen_edges_ = job_.graph().edges();
  reached_ = 0;
  too_many_ = false;
  Worker& first = workers_[0];
  const partition::Place place = job_.ownership().place(source);
  if (place.owner == job_.rank()) {
    sigma_[place.local] = Number(1);
    first.reached.emplace_back(std::uint32_t{place.local});
  } else if (job_.boundary().knows(place)) {
    first.others.push_back(job_.boundary().number(place));
  }
  settle(first);
}

/// Levels and numbers of paths. False: there are too many.
template <class Number>
bool BetweennessLevels<Number>::search() {
  bool more = total();
  for (std::size_t l = 0; more; ++l) {
    pulled_.push_back(job_.graph().symmetric() && betweenness_pulls(frontier_, level_edges_[l], unseen_edges_,
                                                                    several_ ? job_.bootstrap().size() : 1));
    record(out_->forward, l, kForward, [&] {
      forward_level(l, pulled_[l]);
      more = total();
    });
  }
  return !too_many_;
}

/// Closes a level. False when no process has found anything, or one has found too many paths.
template <class Number>
bool BetweennessLevels<Number>::total() {
  std::array<std::uint64_t, 3> mine{};
  for (Worker& worker : workers_) {
    mine[0] += worker.reached.size();
    mine[1] += std::exchange(worker.edges, 0);
    mine[2] += std::exchange(worker.too_many, false) ? 1 : 0;
  }
  collect();
  const auto sum = job_.sum_of_all(mine);
  too_many_ = sum[2] != 0;
  if (sum[0] == 0 || too_many_) return false;
  starts_.push_back(order_.size());
  asked_starts_.push_back(asked_.size());
  frontier_ = sum[0];
  reached_ += sum[0];
  level_edges_.push_back(sum[1]);
  unseen_edges_ -= sum[1];
  return true;
}

/// What the workers have found.
template <class Number>
void BetweennessLevels<Number>::collect() {
  for (Worker& worker : workers_) {
    for (const KnownNumber v : worker.mirrored) {
      if (settled_.test(v)) continue;
      settled_.add(v);
      others_.push_back(v);
    }
    move_all(worker.reached, order_);
    move_all(worker.others, others_);
    move_all(worker.asked, asked_);
    move_all(worker.mirrored, mirrored_);
  }
  mirrored_starts_.push_back(mirrored_.size());
  sort(std::span(order_).subspan(starts_.back()));
}

/// So that rows and sums of a level are read in their order in memory. A short list stays as it is, except
/// where its rows are on disks.
template <class Number>
void BetweennessLevels<Number>::sort(std::span<KnownNumber> vertices) {
  if (vertices.size() < owned_words_ / 4) {
    if (job_.on_disks()) std::ranges::sort(vertices);
    return;
  }
  marked_.add_all(vertices);
  auto out = vertices.begin();
  for (std::size_t w = 0; w < owned_words_; ++w) {
    const auto first = static_cast<std::uint32_t>(w * Bits::kBits);
    for (Bits::Word left = marked_.word(w); left != 0; left &= left - 1)
      *out++ = KnownNumber(first + static_cast<std::uint32_t>(std::countr_zero(left)));
    marked_.clear_word_of(first);
  }
}

template <class Number>
void BetweennessLevels<Number>::run_workers(bool wake, const std::function<void(int)>& work) {
  if (wake)
    job_.pool().run(work);
  else
    work(0);
}

template <class Number>
void BetweennessLevels<Number>::forward_level(std::size_t l, bool pull) {
  const bool wake = wakes(std::min(level_edges_[l], unseen_edges_));
  next_ = 0;
  if (pull) marked_.add_all(level(l));
  run_workers(wake, [&](int lane) {
    Worker& worker = workers_[static_cast<std::size_t>(lane)];
    if (pull && several_) {
      mirror_paths(lane);
      job_.pool().barrier([&] { next_ = 0; });
    }
    if (!pull)
      push_paths(lane, level(l));
    else if (job_.on_disks())
      pull_paths_from_disks(lane);
    else
      pull_paths(lane);
    if (wake) job_.pool().barrier([this] { many_others_ = reached_many_others(); });  // all sums are complete
    if (several_ && !pull) send_paths(lane);
    if (wake) job_.pool().barrier();  // no worker looks at what is settled
    settle(worker);
    if (pull) marked_.clear_words_of(worker.mirrored);
  });
  if (pull) marked_.clear_words_of(level(l));
}

template <class Number>
void BetweennessLevels<Number>::push_paths(int lane, List frontier) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  share_out_rows(lane, frontier, [&](KnownNumber u, List targets) {
    const Number paths = sigma_[u];
    worker.followed += targets.size();
    for (std::size_t e = 0; e < targets.size(); ++e) {
      if (targets.size() - e > kAhead) __builtin_prefetch(&sigma_[targets[e + kAhead]], 1);
      const KnownNumber v = targets[e];
      if (settled_.test(v) || !is_zero(add(sigma_[v], paths))) continue;
      (is_mine(v) ? worker.reached : worker.others).push_back(v);
    }
  });
}

/// Whether it is best to look at all boundary vertices, in the order that they and their owners have them in
/// memory, instead of at those that a level has reached.
template <class Number>
bool BetweennessLevels<Number>::reached_many_others() const {
  std::size_t others = 0;
  for (const Worker& worker : workers_) others += worker.others.size();
  return others > (job_.known() - job_.owned()) / kMany;
}

/// To the owners. What their owner has reached before is no news there, and gets no answer later.
template <class Number>
void BetweennessLevels<Number>::send_paths(int lane) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  const auto take = [&](int peer, std::uint32_t index, const Number& paths) {
    const LocalNumber v = owned(peer, index);
    if (settled_.test(v)) return;
    worker.asked.push_back({v, index, peer});
    if (is_zero(add(sigma_[v], paths))) worker.reached.emplace_back(std::uint32_t{v});
  };
  if (many_others_) {
    for_each_boundary(lane, [&](int owner, std::uint32_t index, KnownNumber v) {
      if (!is_zero(sigma_[v]) && !settled_.test(v)) send(lane, owner, index, sigma_[v], take);
    });
  } else {
    for (const KnownNumber v : worker.others) send_to_owner(lane, v, sigma_[v], take);
  }
  finish(lane, take);
}

/// The marked frontier to all processes that know it.
template <class Number>
void BetweennessLevels<Number>::mirror_paths(int lane) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  const auto take = [&](int peer, std::uint32_t index, const Number& paths) {
    const KnownNumber v = boundary_vertex(peer, index);
    sigma_[v] = paths;
    marked_.add(v);
    worker.mirrored.push_back(v);
  };
  for (int peer = 0; peer < job_.bootstrap().size(); ++peer) {
    const auto known = job_.boundary().known_by(static_cast<std::uint32_t>(peer));
    const auto [first, last] = job_.pool().part(lane, known.size());
    for (std::size_t i = first; i < last; ++i)
      if (marked_.test(known[i])) send(lane, peer, static_cast<std::uint32_t>(i), sigma_[known[i]], take);
  }
  finish(lane, take);
}

template <class Number>
template <class Work>
void BetweennessLevels<Number>::for_each_unsettled(std::size_t w, const Work& work) const {
  const auto first = static_cast<std::uint32_t>(w * Bits::kBits);
  for (Bits::Word left = ~settled_.word(w); left != 0; left &= left - 1) {
    const LocalNumber v(first + static_cast<std::uint32_t>(std::countr_zero(left)));
    if (v < job_.owned()) work(v);
  }
}

template <class Number>
void BetweennessLevels<Number>::pull_paths(int lane) {
  const KnownRows rows = job_.rows();
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  share_out(owned_words_, [&](std::size_t w) {
    if (w + 1 < owned_words_) for_each_unsettled(w + 1, [&](LocalNumber v) { rows.fetch(v); });
    for_each_unsettled(w, [&](LocalNumber v) { pull_path(worker, v, rows[v]); });
  });
}

template <class Number>
void BetweennessLevels<Number>::pull_paths_from_disks(int lane) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  const auto take = [&]() -> std::span<const LocalNumber> {
    worker.taken.clear();
    for (std::size_t at = 0; worker.taken.empty() && (at = next_.fetch_add(kItemsAtOnce)) < owned_words_;)
      for (std::size_t w = at; w < std::min(at + kItemsAtOnce, owned_words_); ++w)
        for_each_unsettled(w, [&](LocalNumber v) { worker.taken.push_back(v); });
    return worker.taken;
  };
  job_.each_row(lane, take, [&](const KnownEdges& edges) { pull_path(worker, edges.vertex, edges.targets); });
}

/// `sources`: of edges to the vertex, and from it: the graph stores every edge both ways.
template <class Number>
void BetweennessLevels<Number>::pull_path(Worker& worker, LocalNumber v, List sources) {
  worker.followed += sources.size();
  Number paths{};
  for (const KnownNumber u : sources)
    if (marked_.test(u)) paths += sigma_[u];
  if (is_zero(paths)) return;
  sigma_[v] = paths;
  worker.reached.emplace_back(std::uint32_t{v});
}

template <class Number>
void BetweennessLevels<Number>::settle(Worker& worker) {
  settled_.add_all(worker.others);
  settled_.add_all(worker.reached);
  const KnownRows rows = job_.rows();
  for (std::size_t i = 0; i < worker.reached.size(); ++i) {
    if (worker.reached.size() - i > kAhead) {
      const LocalNumber next(worker.reached[i + kAhead]);
      rows.fetch_begin(next);
      __builtin_prefetch(&sigma_[worker.reached[i + kAhead]]);
    }
    const KnownNumber v = worker.reached[i];
    worker.edges += job_.degree(LocalNumber(v));
    if (is_too_many(sigma_[v])) worker.too_many = true;
  }
}

/// A source lies on the paths to all that it reaches, and each of those on the paths to it.
template <class Number>
void BetweennessLevels<Number>::add_endpoints(VertexId source) {
  for (const KnownNumber v : order_) out_->scores[v] += 1;
  const partition::Place place = job_.ownership().place(source);
  if (place.owner == job_.rank()) out_->scores[place.local] += static_cast<double>(reached_) - 2;
}

/// Forgets the source before.
template <class Number>
void BetweennessLevels<Number>::reset() {
  for (const List list : {List(order_), List(others_)}) {
    for (const KnownNumber v : list) sigma_[v] = shares_[v] = Number();
    settled_.clear_words_of(list);
  }
  for (auto* const list : {&order_, &others_, &mirrored_}) list->clear();
  asked_.clear();
}

/// Runs a superstep and adds what it did to those of the sources before.
template <class Number>
void BetweennessLevels<Number>::record(std::vector<Superstep>& steps, std::size_t l, Kind kind,
                                       const std::function<void()>& work) {
  const Meter meter(job_);
  for (Worker& worker : workers_) worker.followed = 0;
  work();
  if (steps.size() <= l) steps.resize(l + 1);
  Superstep& step = steps[l];
  step.step = l;
  step.kind = kind;
  step.frontier += level(l).size();
  for (const Worker& worker : workers_) step.edges += worker.followed;
  meter.stop(step);
}

template class BetweennessLevels<double>;
template class BetweennessLevels<Scaled>;

}  // namespace edgewire::frontier
