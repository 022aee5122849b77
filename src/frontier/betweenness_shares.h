// The way back: shares of the paths, from the last level to the first. Part of betweenness_levels.cpp.
#pragma once

#include <utility>

#include "frontier/betweenness_levels.h"

namespace edgewire::frontier {

template <class Number>
void BetweennessLevels<Number>::answer() {
  const std::size_t last = level_edges_.size() - 1;
  for (const KnownNumber v : level(last)) shares_[v] = Number(1) / sigma_[v];
  for (std::size_t l = last; l-- > 1;) {
    record(out_->backward, l, kBackward, [&] {
      if (several_ ? pulled_[l] : job_.graph().symmetric() && level_edges_[l + 1] < level_edges_[l])
        push_level(l);
      else
        pull_level(l);
    });
  }
}

template <class Number>
void BetweennessLevels<Number>::pull_level(std::size_t l) {
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
    for (const KnownNumber v : level(l)) finish_share(v, sums_[v]);
  });
}

template <class Number>
void BetweennessLevels<Number>::push_level(std::size_t l) {
  const auto mirrored = several_ ? part(mirrored_, mirrored_starts_, l) : List();
  const bool wake = wakes(level_edges_[l + 1]);
  next_ = 0;
  marked_.add_all(level(l));
  marked_.add_all(mirrored);
  run_workers(wake, [&](int lane) {
    push_shares(lane, level(l + 1));
    if (wake) job_.pool().barrier([&] { next_ = 0; });
    if (several_) send_sums(lane, mirrored);
    if (wake) job_.pool().barrier();
    if (lane != 0) return;
    for (const KnownNumber v : level(l)) finish_share(v, shares_[v]);
  });
  marked_.clear_words_of(level(l));
  marked_.clear_words_of(mirrored);
}

/// To the processes that have sent paths to these vertices.
template <class Number>
void BetweennessLevels<Number>::send_shares(int lane, std::span<const Asked> asked) {
  const auto take = [&](int peer, std::uint32_t index, const Number& share) {
    shares_[boundary_vertex(peer, index)] = share;
  };
  share_out(asked.size(), [&](std::size_t i) {
    send(lane, asked[i].peer, asked[i].index, shares_[asked[i].vertex], take);
  });
  finish(lane, take);
}

/// Those targets that have shares by now are on the next level: no edge leads farther.
template <class Number>
void BetweennessLevels<Number>::pull_shares(int lane, List level) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  share_out_rows(lane, level, [&](KnownNumber v, List targets) {
    worker.followed += targets.size();
    Number sum{};
    for (std::size_t e = 0; e < targets.size(); ++e) {
      if (targets.size() - e > kAhead) __builtin_prefetch(&shares_[targets[e + kAhead]]);
      sum += shares_[targets[e]];
    }
    sums_[v] = sum;
  });
}

template <class Number>
void BetweennessLevels<Number>::push_shares(int lane, List from) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  // Every edge is stored both ways.
  share_out_rows(lane, from, [&](KnownNumber w, List targets) {
    worker.followed += targets.size();
    const Number share = shares_[w];
    for (const KnownNumber v : targets)
      if (marked_.test(v)) add(shares_[v], share);
  });
}

/// To the owners, of the marked vertices that are theirs.
template <class Number>
void BetweennessLevels<Number>::send_sums(int lane, List mirrored) {
  const auto take = [&](int peer, std::uint32_t index, const Number& sum) {
    add(shares_[owned(peer, index)], sum);
  };
  share_out(mirrored.size(), [&](std::size_t i) {
    const Number sum = std::exchange(shares_[mirrored[i]], Number());
    if (!is_zero(sum)) send_to_owner(lane, mirrored[i], sum, take);
  });
  finish(lane, take);
}

template <class Number>
void BetweennessLevels<Number>::finish_share(KnownNumber v, Number sum) {
  shares_[v] = Number(1) / sigma_[v] + sum;
  out_->scores[v] += static_cast<double>(sigma_[v] * sum);
}

}  // namespace edgewire::frontier
