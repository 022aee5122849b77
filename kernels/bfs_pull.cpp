// This file has the supersteps of the search that pull.
#include <algorithm>
#include <utility>

#include "frontier/known_values.h"
#include "kernels/bfs.h"

namespace edgewire::kernels {

namespace {

constexpr std::size_t kWords = 64;  // words that a worker takes at a time in a pull

}  // namespace

/// Leaves out vertices without edges: such a vertex is never found, and would be looked for in each pull.
void Bfs::leave_out_isolated() {
  job_.for_each_range([&](int, LocalNumber first, LocalNumber last) {
    for (LocalNumber begin = first; begin < last; begin += kBits) {
      Word with_edges = 0;
      for (LocalNumber i = begin; i < std::min(last, begin + kBits); ++i)
        with_edges |= Word{job_.degree(i) > 0} << (i - begin);
      unseen_[begin / kBits].fetch_and(with_edges | ~owned_bits(begin / kBits), std::memory_order_relaxed);
    }
  });
}

void Bfs::pull() {
  if (!std::exchange(has_pulled_, true)) {
    leave_out_isolated();
    bits_.resize(unseen_.size());
    next_bits_.resize(owned_words_);
  }
  if (!in_bits_) list_to_bits();
  std::fill(bits_.begin() + static_cast<std::ptrdiff_t>(owned_words_), bits_.end(), 0);
  std::atomic<std::size_t> next{0};
  job_.pool().run([&](int lane) {
    if (distributed_) share_frontier(lane);
    job_.pool().barrier();  // a worker reads what all lanes have brought
    if (job_.on_disks())
      pull_from_disks(lane, next);
    else
      topology::run_scalar_for_cpu([&] { pull_into(lane, next); });
  });
  std::ranges::copy(next_bits_, bits_.begin());
}

/// Fetches the rows of the vertices of a word that are not reached yet.
inline void Bfs::fetch_rows(std::size_t w, const frontier::KnownRows& rows) const {
  for (Word left = unseen_[w].load(std::memory_order_relaxed) & owned_bits(w); left != 0; left &= left - 1) {
    const LocalNumber local = lowest(w, left);
    rows.fetch(local);
  }
}

/// Looks whether the frontier has an edge to a vertex that was not reached before, and so reaches it. The
/// graph stores every edge both ways.
inline bool Bfs::look(Worker& worker, LocalNumber local, std::span<const KnownNumber> sources) {
  for (const KnownNumber u : sources) {
    ++worker.followed;
    if ((bits_[u / kBits] >> u % kBits & 1) == 0) continue;
    levels_[local] = level_;
    if (!parents_.empty()) parents_[local] = distributed_ ? job_.boundary().vertex(u) : VertexId(PlainId{u});
    ++worker.vertices;
    worker.edges += sources.size();
    return true;
  }
  return false;
}

void Bfs::pull_into(int lane, std::atomic<std::size_t>& next) {
  const frontier::KnownRows rows = job_.rows();
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  for (std::size_t at = next.fetch_add(kWords); at < owned_words_; at = next.fetch_add(kWords)) {
    fetch_rows(at, rows);
    for (std::size_t w = at; w < std::min(at + kWords, owned_words_); ++w) {
      if (w + 1 < owned_words_) fetch_rows(w + 1, rows);
      const Word unseen = unseen_[w].load(std::memory_order_relaxed);
      Word found = 0;
      for (Word left = unseen & owned_bits(w); left != 0; left &= left - 1) {
        const LocalNumber local = lowest(w, left);
        if (look(worker, local, rows[local])) found |= left & -left;
      }
      next_bits_[w] = found;
      if (found != 0) unseen_[w].store(unseen & ~found, std::memory_order_relaxed);
    }
  }
}

/// Does the same where rows come when they are read: a worker still has whole words.
void Bfs::pull_from_disks(int lane, std::atomic<std::size_t>& next) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  const auto take_rows = [&] {
    worker.taken.clear();
    for (std::size_t at = 0; worker.taken.empty() && (at = next.fetch_add(kWords)) < owned_words_;) {
      for (std::size_t w = at; w < std::min(at + kWords, owned_words_); ++w) {
        next_bits_[w] = 0;
        for (Word left = unseen_[w].load(std::memory_order_relaxed) & owned_bits(w); left != 0;
             left &= left - 1)
          worker.taken.push_back(lowest(w, left));
      }
    }
    return std::span<const LocalNumber>(worker.taken);
  };
  job_.each_row(lane, take_rows, [&](const FrontierRow& edges) {
    const LocalNumber local = edges.vertex;
    if (!look(worker, local, edges.targets)) return false;
    const Word bit = Word{1} << local % kBits;
    next_bits_[local / kBits] |= bit;
    unseen_[local / kBits].fetch_and(~bit, std::memory_order_relaxed);
    return true;
  });
}

/// Tells every process which of the vertices that it knows are in the frontier, in the order of its numbers,
/// and puts what the others say into bits_.
void Bfs::share_frontier(int lane) {
  frontier::exchange_known_bits(
      job_, lane, [&](LocalNumber local) { return frontier_bit(local); },
      [&](std::uint32_t number, std::uint32_t bits) { add_to_frontier(number, bits); });
}

/// Adds some of the vertices from this number on. Their owners know of those in the frontier, so they are not
/// told.
void Bfs::add_to_frontier(std::uint32_t number, Word bits) {
  const auto add = [&](std::size_t word, Word some) {
    if (some == 0) return;
    std::atomic_ref(bits_[word]).fetch_or(some, std::memory_order_relaxed);
    unseen_[word].fetch_and(~some, std::memory_order_relaxed);
  };
  const std::uint32_t shift = number % kBits;
  add(number / kBits, bits << shift);
  if (shift != 0) add(number / kBits + 1, bits >> (kBits - shift));
}

}  // namespace edgewire::kernels
