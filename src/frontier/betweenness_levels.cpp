#include "frontier/betweenness_levels.h"

#include <array>
#include <bit>
#include <type_traits>
#include <utility>

#include "frontier/betweenness_shares.h"
#include "graph/row.h"

namespace edgewire::frontier {

namespace {

constexpr std::uint64_t kRecordEdges = 5;  // edges that are followed in the time of a record to a process

template <class T>
void move_all(std::vector<T>& from, std::vector<T>& to) {
  to.insert(to.end(), from.begin(), from.end());
  from.clear();
}

}  // namespace

/// A pull sends the whole frontier to all other processes.
bool betweenness_pulls(std::uint64_t frontier, std::uint64_t edges, std::uint64_t unseen, int processes) {
  return unseen + frontier * static_cast<std::uint64_t>(processes - 1) * kRecordEdges < edges;
}

template <class Number>
BetweennessLevels<Number>::BetweennessLevels(FrontierJob& job, bool endpoints)
    : job_(job),
      endpoints_(endpoints),
      several_(job.bootstrap().size() > 1),
      alone_(job.pool().workers() == 1),
      sigma_memory_(job.graph().vertices() * sizeof(Number), -1, "numbers of paths",
                    topology::Begin::staggered),
      shares_memory_(job.graph().vertices() * sizeof(Number), -1, "shares of paths",
                     topology::Begin::staggered),
      sigma_(sigma_memory_.as<Number>()),
      shares_(shares_memory_.as<Number>()),
      settled_(job.graph().vertices(), !alone_),
      marked_(job.graph().vertices(), !alone_),
      owned_(several_ ? job.graph().vertices() : 0),
      workers_(static_cast<std::size_t>(job.pool().workers())) {
  job.expect_records(sizeof(WideRecord));
  if (!several_) return;
  for (Worker& worker : workers_) worker.halves.resize(static_cast<std::size_t>(job.bootstrap().size()));
  job.for_each_range([&](int, LocalNumber first, LocalNumber last) {
    for (LocalNumber local = first; local < last; ++local)
      owned_.add(job_.ownership().vertex(job_.rank(), local));
  });
}

template <class Number>
bool BetweennessLevels<Number>::add(VertexId source, BetweennessSums& sums) {
  out_ = &sums;
  start(source);
  const bool counted = search();
  if (counted) {
    answer();
    if (endpoints_) add_endpoints(source);
  }
  reset();
  return counted;
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
  if (is_mine(source)) {
    sigma_[source] = Number(1);
    first.reached.push_back(source);
  } else {
    first.others.push_back(source);
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
    for (const VertexId v : worker.mirrored) {
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
void BetweennessLevels<Number>::sort(std::span<VertexId> vertices) {
  if (vertices.size() < marked_.words() / 4) {
    if (job_.on_disks()) std::ranges::sort(vertices);
    return;
  }
  for (const VertexId v : vertices) marked_.add(v);
  auto out = vertices.begin();
  for (std::size_t w = 0; w < marked_.words(); ++w) {
    const auto first = static_cast<std::uint32_t>(w * Bits::kBits);
    for (Bits::Word left = marked_.word(w); left != 0; left &= left - 1)
      *out++ = VertexId(first + static_cast<std::uint32_t>(std::countr_zero(left)));
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
      mirror_paths(lane, level(l));
      job_.pool().barrier([&] { next_ = 0; });
    }
    if (!pull)
      push_paths(lane, level(l));
    else if (job_.on_disks())
      pull_paths_from_disks(lane);
    else
      pull_paths(lane);
    if (wake) job_.pool().barrier();  // all sums are complete
    if (several_ && !pull) send_paths(lane);
    if (wake) job_.pool().barrier();  // no worker looks at what is settled
    settle(worker);
    if (pull) marked_.clear_words_of(worker.mirrored);
  });
  if (pull) marked_.clear_words_of(level(l));
}

template <class Number>
void BetweennessLevels<Number>::push_paths(int lane, Vertices frontier) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  share_out_rows(lane, frontier, [&](const Edges& edges) {
    const Number paths = sigma_[edges.vertex];
    worker.followed += edges.targets.size();
    for (const VertexId v : edges.targets) {
      if (settled_.test(v) || !is_zero(add(sigma_[v], paths))) continue;
      (is_mine(v) ? worker.reached : worker.others).push_back(v);
    }
  });
}

/// To the owners. What their owner has reached before is no news there, and gets no answer later.
template <class Number>
void BetweennessLevels<Number>::send_paths(int lane) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  const auto take = [&](int peer, VertexId v, const Number& paths) {
    if (settled_.test(v)) return;
    worker.asked.push_back({v, peer});
    if (is_zero(add(sigma_[v], paths))) worker.reached.push_back(v);
  };
  for (const VertexId v : worker.others)
    send(lane, static_cast<int>(job_.ownership().place(v).owner), v, sigma_[v], take);
  finish(lane, take);
}

/// The frontier to all processes.
template <class Number>
void BetweennessLevels<Number>::mirror_paths(int lane, Vertices frontier) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  const auto take = [&](int, VertexId v, const Number& paths) {
    sigma_[v] = paths;
    marked_.add(v);
    worker.mirrored.push_back(v);
  };
  share_out(frontier.size(), [&](std::size_t i) {
    for (int peer = 0; peer < job_.bootstrap().size(); ++peer)
      if (peer != job_.bootstrap().rank()) send(lane, peer, frontier[i], sigma_[frontier[i]], take);
  });
  finish(lane, take);
}

/// Calls work(vertex) for the owned vertices of a word of bits that have no paths yet.
template <class Number>
template <class Work>
void BetweennessLevels<Number>::for_each_unsettled(std::size_t w, const Work& work) const {
  const auto first = static_cast<std::uint32_t>(w * Bits::kBits);
  const Bits::Word mine = several_ ? owned_.word(w) : ~Bits::Word{0};
  for (Bits::Word left = ~settled_.word(w) & mine; left != 0; left &= left - 1) {
    const VertexId v(first + static_cast<std::uint32_t>(std::countr_zero(left)));
    if (v < job_.graph().vertices()) work(v);
  }
}

template <class Number>
void BetweennessLevels<Number>::pull_paths(int lane) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  const std::size_t words = settled_.words();
  share_out(words, [&](std::size_t w) {
    if (w + 1 < words) for_each_unsettled(w + 1, [&](VertexId v) { graph::Row{job_.graph(), v}.fetch(); });
    for_each_unsettled(w, [&](VertexId v) { pull_path(worker, v, graph::Row{job_.graph(), v}.targets()); });
  });
}

template <class Number>
void BetweennessLevels<Number>::pull_paths_from_disks(int lane) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  const auto take = [&]() -> Vertices {
    worker.taken.clear();
    for (std::size_t at = 0; worker.taken.empty() && (at = next_.fetch_add(kItemsAtOnce)) < settled_.words();)
      for (std::size_t w = at; w < std::min(at + kItemsAtOnce, settled_.words()); ++w)
        for_each_unsettled(w, [&](VertexId v) { worker.taken.push_back(v); });
    return worker.taken;
  };
  job_.each_row(lane, take, [&](const Edges& edges) { pull_path(worker, edges.vertex, edges.targets); });
}

/// `sources`: of edges to the vertex, and from it: the graph stores every edge both ways.
template <class Number>
void BetweennessLevels<Number>::pull_path(Worker& worker, VertexId v, Vertices sources) {
  worker.followed += sources.size();
  Number paths{};
  for (const VertexId u : sources)
    if (marked_.test(u)) paths += sigma_[u];
  if (is_zero(paths)) return;
  sigma_[v] = paths;
  worker.reached.push_back(v);
}

template <class Number>
void BetweennessLevels<Number>::settle(Worker& worker) {
  settled_.add_all(worker.others);
  settled_.add_all(worker.reached);
  for (const VertexId v : worker.reached) {
    worker.edges += graph::Row{job_.graph(), v}.degree();
    if (is_too_many(sigma_[v])) worker.too_many = true;
  }
}

/// A source lies on the paths to all that it reaches, and each of those on the paths to it.
template <class Number>
void BetweennessLevels<Number>::add_endpoints(VertexId source) {
  for (const VertexId v : order_) out_->scores[local(v)] += 1;
  if (is_mine(source)) out_->scores[local(source)] += static_cast<double>(reached_) - 2;
}

template <class Number>
void BetweennessLevels<Number>::reset() {
  for (const Vertices list : {Vertices(order_), Vertices(others_)}) {
    for (const VertexId v : list) sigma_[v] = shares_[v] = Number();
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

// How numbers of paths travel: a double in a record, a Scaled in two, one behind the other.

/// Of records, what take(peer, vertex, number) is called for.
template <class Number>
template <class Take>
auto BetweennessLevels<Number>::numbers(int lane, const Take& take) {
  if constexpr (std::is_same_v<Number, double>) {
    return
        [&take](int peer, const WideRecord& record) { take(peer, VertexId(record.vertex), record.number()); };
  } else {
    return [&take, &halves = workers_[static_cast<std::size_t>(lane)].halves](int peer,
                                                                              const WideRecord& record) {
      double& half = halves[static_cast<std::size_t>(peer)];
      if (half == 0) {
        half = record.number();
        return;
      }
      Number number;
      number.mantissa = std::exchange(half, 0);
      number.exponent = std::bit_cast<std::int64_t>(record.value);
      take(peer, VertexId(record.vertex), number);
    };
  }
}

/// A number that is not 0.
template <class Number>
template <class Take>
void BetweennessLevels<Number>::send(int lane, int peer, VertexId v, const Number& number, const Take& take) {
  const auto take_records = numbers(lane, take);
  if constexpr (std::is_same_v<Number, double>) {
    job_.records().send(lane, peer, WideRecord(v, number), take_records);
  } else {
    job_.records().send(lane, peer, WideRecord(v, number.mantissa), take_records);
    job_.records().send(lane, peer, WideRecord(v, std::bit_cast<double>(number.exponent)), take_records);
  }
}

template <class Number>
template <class Take>
void BetweennessLevels<Number>::finish(int lane, const Take& take) {
  job_.records().template finish<WideRecord>(lane, numbers(lane, take));
}

template class BetweennessLevels<double>;
template class BetweennessLevels<Scaled>;

}  // namespace edgewire::frontier
