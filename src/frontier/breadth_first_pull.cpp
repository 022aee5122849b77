// The supersteps of the search that pull.
#include <algorithm>
#include <utility>

#include "frontier/breadth_first.h"
#include "graph/row.h"

namespace edgewire::frontier {

namespace {

constexpr std::size_t kWords = 64;  // that a worker takes at a time in a pull

}  // namespace

/// A vertex without edges is never found, and would be looked for in each pull.
void BreadthFirst::leave_out_isolated() {
  const auto offsets = job_.graph().offsets();
  const auto& ownership = job_.ownership();
  job_.for_each_range([&](int, LocalNumber first, LocalNumber last) {
    ownership.visit([&](const auto& scheme) {
      for (LocalNumber begin = first; begin < last; begin += kBits) {
        Word with_edges = 0;
        for (LocalNumber i = begin; i < std::min(last, begin + kBits); ++i) {
          const std::size_t v = scheme.vertex(rank_, i);
          with_edges |= Word{offsets[v] != offsets[v + 1]} << (i - begin);
        }
        unseen_[first_word(rank_) + begin / kBits].fetch_and(with_edges, std::memory_order_relaxed);
      }
    });
  });
}

void BreadthFirst::pull() {
  if (!std::exchange(has_pulled_, true)) {
    leave_out_isolated();
    bits_.resize(words_.words());
    next_bits_.resize(owned_words_);
  }
  if (!in_bits_) list_to_bits();
  std::atomic<std::size_t> next{0};
  job_.pool().run([&](int lane) {
    if (several_) share_frontier(lane);
    job_.pool().barrier();  // a worker reads what all lanes have brought
    job_.ownership().visit_for_cpu([&](const auto& scheme) {
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
    const LocalNumber local = lowest(w, left);
    graph::Row{job_.graph(), scheme.vertex(rank_, local)}.fetch();
  }
}

/// Whether the frontier has an edge to a vertex that was not reached before, and so reaches it. The graph
/// stores every edge both ways.
template <class Scheme>
inline bool BreadthFirst::look(Worker& worker, LocalNumber local, std::span<const VertexId> sources,
                               const Scheme& scheme) {
  for (const VertexId u : sources) {
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
        const LocalNumber local = lowest(w, left);
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
    return std::span<const VertexId>(worker.taken);
  };
  job_.each_row(lane, take_rows, [&](const Edges& edges) {
    const LocalNumber local = scheme.place(edges.vertex).local;
    if (!look(worker, local, edges.targets, scheme)) return;
    const Word bit = Word{1} << local % kBits;
    next_bits_[local / kBits] |= bit;
    unseen_[mine + local / kBits].fetch_and(~bit, std::memory_order_relaxed);
  });
}

void BreadthFirst::share_frontier(int lane) {
  words_.share(
      lane, [this](std::size_t w) { return bits_[w]; },
      [this](std::size_t w, Word bits) {
        bits_[w] = bits;
        unseen_[w].fetch_and(~bits, std::memory_order_relaxed);  // their owners know
      });
}

}  // namespace edgewire::frontier
