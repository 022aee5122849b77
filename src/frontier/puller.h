// Supersteps that pull: vertices that are not reached look for a neighbour in the frontier, and stop at the
// first one (Beamer, Asanovic, Patterson: "Direction-optimizing breadth-first search", 2012).
//
// First the owners tell the frontier: a bit for each boundary vertex of the receiver. The frontier stays in
// bits from one pull to the next.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bits.h"
#include "frontier/frontier_job.h"
#include "frontier/frontier_workers.h"
#include "frontier/known_rows.h"

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
  void start(std::span<const LocalNumber> frontier, std::span<Word> wanted);
  /// Runs a superstep, which makes the next frontier of this one, and returns its size in all processes. See
  /// FrontierState::pull().
  Totals pull(std::span<Word> wanted, const Reach& reach, frontier::Superstep& done);
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

  void share_frontier(int lane, std::span<Word> wanted);
  void pull_rows(int lane, std::atomic<std::size_t>& next, std::span<Word> wanted, const Reach& reach);
  void pull_from_disks(int lane, std::atomic<std::size_t>& next, std::span<Word> wanted, const Reach& reach);
  bool look(Worker& worker, const FrontierRow& row, const Reach& reach) const;
  void fetch_rows(std::size_t w, Word wanted, const frontier::KnownRows& rows) const;
  static void reach_all(Worker& worker, const Reach& reach);
  /// Returns the owned vertices of a word that are in a set. Other workers may change other words, and a
  /// worker that fetches rows ahead sees either.
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

  Workers& workers_of_job_;
  frontier::Job& job_;
  Bits frontier_;                  ///< frontier by known number
  std::vector<Word> next_;         ///< next frontier, of owned vertices
  std::uint64_t in_frontier_ = 0;  ///< number of vertices of this process in it
  std::vector<Worker> workers_{static_cast<std::size_t>(job_.pool().workers())};
};

}  // namespace edgewire::detail
