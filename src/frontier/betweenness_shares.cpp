// The way back: shares of the paths, from the last level to the first.
#include <utility>

#include "frontier/betweenness.h"
#include "graph/row.h"

namespace edgewire::frontier {

void Betweenness::answer() {
  const std::size_t last = level_edges_.size() - 1;
  for (const std::uint32_t v : level(last)) shares_[v] = 1 / sigma_[v];
  for (std::size_t l = last; l-- > 1;) {
    record(backward_, l, kBackward, [&] {
      if (several_ ? pulled_[l] : job_.graph().symmetric() && level_edges_[l + 1] < level_edges_[l])
        push_level(l);
      else
        pull_level(l);
    });
  }
}

void Betweenness::pull_level(std::size_t l) {
  sums_.resize(several_ ? job_.owned() : job_.graph().vertices());
  const bool wake = wakes(level_edges_[l]);
  next_ = 0;
  run_workers(wake, [&](int lane) {
    if (several_) {
      send_shares(lane, part(asked_, asked_starts_, l + 1));
      job_.pool().barrier([&] { next_ = 0; });
    }
    pull_shares(lane, level(l));
    if (wake) job_.pool().barrier();  // until now, vertices of this level had no shares
    if (lane != 0) return;
    for (const std::uint32_t v : level(l)) finish_share(v, sums_[local(v)]);
  });
}

void Betweenness::push_level(std::size_t l) {
  const auto mirrored = several_ ? part(mirrored_, mirrored_starts_, l) : Vertices();
  const bool wake = wakes(level_edges_[l + 1]);
  next_ = 0;
  marked_.add_all(level(l));
  marked_.add_all(mirrored);
  run_workers(wake, [&](int lane) {
    push_shares(lane, level(l + 1));
    if (wake) job_.pool().barrier();
    if (several_) send_sums(lane);
    if (wake) job_.pool().barrier();
    if (lane != 0) return;
    for (const std::uint32_t v : level(l)) finish_share(v, shares_[v]);
  });
  marked_.clear_words_of(level(l));
  marked_.clear_words_of(mirrored);
}

/// To the processes that have sent paths to these vertices.
void Betweenness::send_shares(int lane, std::span<const Asked> asked) {
  const auto take = [&](const WideRecord& record) { shares_[record.vertex] = record.number(); };
  share_out(asked.size(), [&](std::size_t i) {
    job_.records().send(lane, asked[i].peer, WideRecord(asked[i].vertex, shares_[asked[i].vertex]), take);
  });
  job_.records().finish<WideRecord>(lane, take);
}

/// Those targets that have shares by now are on the next level: no edge leads farther.
void Betweenness::pull_shares(int lane, Vertices level) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  share_out_rows(lane, level, [&](const Edges& edges) {
    worker.followed += edges.targets.size();
    double sum = 0;
    for (const std::uint32_t w : edges.targets) sum += shares_[w];
    sums_[local(edges.vertex)] = sum;
  });
}

void Betweenness::push_shares(int lane, Vertices from) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  share_out_rows(lane, from, [&](const Edges& edges) {  // every edge is stored both ways
    worker.followed += edges.targets.size();
    const double share = shares_[edges.vertex];
    for (const std::uint32_t v : edges.targets)
      if (marked_.test(v) && add(shares_[v], share) == 0 && !is_mine(v)) worker.others.push_back(v);
  });
}

/// To the owners.
void Betweenness::send_sums(int lane) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  const auto take = [&](const WideRecord& record) { add(shares_[record.vertex], record.number()); };
  for (const std::uint32_t v : worker.others) {
    job_.records().send(lane, static_cast<int>(job_.ownership().place(v).owner),
                        WideRecord(v, std::exchange(shares_[v], 0)), take);
  }
  worker.others.clear();
  job_.records().finish<WideRecord>(lane, take);
}

void Betweenness::finish_share(std::uint32_t v, double sum) {
  shares_[v] = 1 / sigma_[v] + sum;
  scores_[local(v)] += sigma_[v] * sum;
}

}  // namespace edgewire::frontier
