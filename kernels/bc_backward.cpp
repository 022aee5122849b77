// This file has the levels backward, which add up dependencies.
#include <utility>

#include "kernels/bc_levels.h"

namespace edgewire::kernels {

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

template void BcLevels<double>::accumulate();
template void BcLevels<Scaled>::accumulate();

}  // namespace edgewire::kernels
