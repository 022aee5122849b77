// Supersteps that pull: vertices that are not reached look for a neighbour in the frontier, and stop at the
// first one (Beamer, Asanovic, Patterson: "Direction-optimizing breadth-first search", 2012).
//
// First owners tell the frontier: a bit for each boundary vertex of the receiver. It stays in bits.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "base/rooms.h"
#include "edgewire/detail/cpu_level.h"
#include "frontier/frontier_job.h"
#include "frontier/frontier_workers.h"
#include "frontier/known_rows.h"
#include "frontier/known_values.h"

namespace edgewire::detail {

/// The supersteps that pull. Functions are collective, while workers rest; they throw Error.
class FrontierState::Puller {
 public:
  using Word = Bits::Word;

  /// Makes a puller. Memory: a bit for each known vertex, and one for each owned one. `workers` outlive it.
  explicit Puller(Workers& workers)
      : workers_of_job_(workers),
        job_(workers.job()),
        frontier_(job_.known()),
        next_((job_.owned() + std::size_t{kBits} - 1) / kBits) {}

  /// Makes this the frontier. It needs no other process.
  void start(std::span<const LocalNumber> frontier, std::span<Word> wanted) {
    frontier_.clear();
    frontier_.add_all(frontier);
    for (const LocalNumber v : frontier) wanted[v / kBits] &= ~(Word{1} << v % kBits);
    in_frontier_ = frontier.size();
  }
  /// Runs a superstep, which makes the next frontier of this one, and returns its size in all processes.
  Totals pull(std::span<Word> wanted, const Reach& reach, frontier::Superstep& done) {
    for (Worker& worker : workers_) worker.vertices = worker.edges = worker.followed = 0;
    std::atomic<std::size_t> next{0};
    workers_of_job_.run_workers([&](int lane) {
      share_frontier(lane, wanted);
      job_.pool().barrier();  // a worker reads the frontier of all lanes
      if (job_.on_disks())
        pull_from_disks(lane, next, wanted, reach);
      else
        topology::run_scalar_for_cpu([&] { pull_rows(lane, next, wanted, reach); });
      reach_all(workers_[static_cast<std::size_t>(lane)], reach);
    });
    frontier_.clear();
    for (std::size_t w = 0; w < next_.size(); ++w) frontier_.set_word(w, next_[w]);
    std::array<std::uint64_t, 2> sums{};
    for (const Worker& worker : workers_) {
      sums[0] += worker.vertices;
      sums[1] += worker.edges;
      done.edges += worker.followed;
    }
    done.frontier = std::exchange(in_frontier_, sums[0]);
    const auto [vertices, edges] = job_.sum_of_all(sums);
    return {vertices, edges};
  }
  /// Returns the frontier, after a pull. It needs no other process.
  std::vector<LocalNumber> list() const { return frontier_.members<LocalNumber>(); }

 private:
  static constexpr std::uint32_t kBits = Bits::kBits;
  static constexpr std::size_t kWords = 64;   ///< number of words that a worker takes at a time
  static constexpr std::size_t kFound = 256;  ///< number of vertices found before reach() is called
  struct alignas(128) Worker {
    std::uint64_t vertices = 0, edges = 0;  ///< number of vertices and edges that it has reached
    std::uint64_t followed = 0;             ///< number of edges that it has looked at
    std::vector<LocalNumber> taken;         ///< vertices whose rows are read
    std::vector<Found> found;
  };

  /// Returns the owned vertices of a word that are in a set. Other workers may change other words meanwhile.
  Word owned_of(std::span<const Word> set, std::size_t w) const noexcept {
    const std::size_t left = job_.owned() - w * kBits;
    const Word word = std::atomic_ref(const_cast<Word&>(set[w])).load(std::memory_order_relaxed);
    return left >= kBits ? word : word & ((Word{1} << left) - 1);
  }
  static void leave(std::span<Word> set, std::size_t w, Word some) noexcept {
    if (some != 0) std::atomic_ref(set[w]).fetch_and(~some, std::memory_order_relaxed);
  }
  /// Returns the vertex of the lowest bit of a word.
  static LocalNumber lowest(std::size_t w, Word bits) noexcept {
    return LocalNumber(static_cast<std::uint32_t>(w * kBits) +
                       static_cast<std::uint32_t>(std::countr_zero(bits)));
  }
  /// Tells every process which of the vertices that it knows are in the frontier, in the order of its
  /// numbers. The owners know of these, so they are not wanted here any more.
  void share_frontier(int lane, std::span<Word> wanted) {
    frontier::exchange_known_bits(
        job_, lane, [&](LocalNumber local) { return frontier_.test(local); },
        [&](std::uint32_t number, Word bits) {
          frontier_.set_some(number, bits);
          const std::uint32_t shift = number % kBits;
          leave(wanted, number / kBits, bits << shift);
          if (shift != 0) leave(wanted, number / kBits + 1, bits >> (kBits - shift));
        });
  }
  /// Fetches the rows of the vertices of a word that are wanted.
  void fetch_rows(std::size_t w, Word wanted, const frontier::KnownRows& rows) const {
    for (; wanted != 0; wanted &= wanted - 1) rows.fetch(lowest(w, wanted));
  }
  /// Returns whether the frontier has a vertex of the row.
  bool look(Worker& worker, const FrontierRow& row, const Reach& reach) const {
    const auto words = frontier_.all_words();
    for (const KnownNumber u : row.targets) {
      ++worker.followed;
      if ((words[u / kBits] >> u % kBits & 1) == 0) continue;
      worker.found.push_back({row.vertex, u});
      if (worker.found.size() == kFound) reach_all(worker, reach);
      worker.edges += row.targets.size();
      return true;
    }
    return false;
  }
  static void reach_all(Worker& worker, const Reach& reach) {
    reach(worker.found);
    worker.vertices += worker.found.size();
    worker.found.clear();
  }
  void pull_rows(int lane, std::atomic<std::size_t>& next, std::span<Word> wanted, const Reach& reach) {
    const frontier::KnownRows rows = job_.rows();
    Worker& worker = workers_[static_cast<std::size_t>(lane)];
    for (std::size_t at = next.fetch_add(kWords); at < next_.size(); at = next.fetch_add(kWords)) {
      fetch_rows(at, owned_of(wanted, at), rows);
      for (std::size_t w = at; w < std::min(at + kWords, next_.size()); ++w) {
        if (w + 1 < next_.size()) fetch_rows(w + 1, owned_of(wanted, w + 1), rows);
        Word found = 0;
        for (Word left = owned_of(wanted, w); left != 0; left &= left - 1) {
          const LocalNumber local = lowest(w, left);
          if (look(worker, {local, rows[local], {}}, reach)) found |= left & -left;
        }
        next_[w] = found;
        leave(wanted, w, found);
      }
    }
  }
  /// Does the same where rows come when they are read: a worker still has whole words.
  void pull_from_disks(int lane, std::atomic<std::size_t>& next, std::span<Word> wanted, const Reach& reach) {
    Worker& worker = workers_[static_cast<std::size_t>(lane)];
    const auto take_rows = [&] {
      worker.taken.clear();
      for (std::size_t at = 0; worker.taken.empty() && (at = next.fetch_add(kWords)) < next_.size();) {
        for (std::size_t w = at; w < std::min(at + kWords, next_.size()); ++w) {
          next_[w] = 0;
          for (Word left = owned_of(wanted, w); left != 0; left &= left - 1)
            worker.taken.push_back(lowest(w, left));
        }
      }
      return std::span<const LocalNumber>(worker.taken);
    };
    job_.each_row(lane, take_rows, [&](const FrontierRow& row) {
      if (!look(worker, row, reach)) return false;
      const Word bit = Word{1} << row.vertex % kBits;
      next_[row.vertex / kBits] |= bit;
      leave(wanted, row.vertex / kBits, bit);
      return true;
    });
  }

  Workers& workers_of_job_;
  frontier::Job& job_;
  Bits frontier_;                  ///< frontier by known number
  std::vector<Word> next_;         ///< next frontier, of owned vertices
  std::uint64_t in_frontier_ = 0;  ///< number of vertices of this process in it
  std::vector<Worker> workers_{static_cast<std::size_t>(job_.pool().workers())};
};

}  // namespace edgewire::detail
