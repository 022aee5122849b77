// The strongly connected component of one vertex, which in most directed graphs is by far the largest one
// (Fleischer, Hendrickson, Pinar: "On identifying strongly connected components in parallel", 2000): the
// vertices that can be reached from the vertex and can reach it.
//
// The file has rows of out-edges only. Forward they are followed; backward, a vertex joins as soon as its own
// row leads to one that has joined. That reads the rows of those that have not joined in each round.
//
// Both searches may end early: the forward one where it follows a long path from process to process, the
// backward one when a round finds few vertices. What has been found then is a part of the component.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bits.h"
#include "frontier/frontier_job.h"
#include "frontier/superstep.h"

namespace edgewire::kernels {

class GiantComponent {
 public:
  /// A vertex to search from, and the product of its out-degree and its in-degree, by a sample.
  struct Candidate {
    std::uint64_t product = 0, vertex = 0;
  };
  /// Returns the proposal of the process: the vertex with the largest product; 0 where its sample has no
  /// edge. The search starts at the first one with the largest product of all processes.
  static Candidate candidate(const Graph& graph, const partition::Ownership& ownership, std::uint32_t rank);

  /// The vertices of a thin level, and the thin levels that are enough, since processes wait at each.
  static constexpr std::uint64_t kThin = 64, kThinLevels = 256;
  /// Returns whether another round backward pays after `round` (counted from 1), in which `joined` vertices
  /// have joined, `left` are left, and `edges` were read. The numbers are those of all processes.
  static bool pays(std::uint64_t round, std::uint64_t joined, std::uint64_t left, std::uint64_t edges,
                   std::uint64_t vertices);

  /// Makes the kernel. Memory: two bits for each vertex that the process knows, and one for each owned
  /// vertex; while it searches that of Bfs, too. `job` outlives it.
  explicit GiantComponent(frontier::Job& job);

  /// Chooses a vertex with many edges, and searches; returns false without one. Collective; throws Error.
  bool find(frontier::SuperstepLog& log);

  /// Returns, for any vertex that the process knows, whether a path leads to it from the pivot; where
  /// all_reached() is false, one may lead to others, too.
  bool reached(KnownNumber number) const noexcept { return reached_.test(number); }
  bool all_reached() const noexcept { return all_reached_; }
  /// Returns whether a path leads back, too: it is in the component then. Others may be unless complete().
  bool has(KnownNumber number) const noexcept { return joined_.test(number); }
  bool complete() const noexcept { return all_reached_ && all_joined_; }
  /// Returns the smallest vertex of which has() is true. Collective.
  VertexId first() const;

 private:
  using Word = Bits::Word;
  static constexpr std::uint32_t kBits = Bits::kBits;
  struct alignas(128) Worker {
    std::uint64_t vertices = 0, edges = 0, left = 0;
  };

  bool choose_pivot();
  void search_forward(frontier::SuperstepLog& log);
  void unite(Bits& bits);
  void join();
  void join_words(Worker& worker, std::size_t first, std::size_t last);
  void fetch_rows(std::size_t w, const frontier::KnownRows& rows) const;

  frontier::Job& job_;
  std::uint32_t rank_;
  Bits reached_, joined_;   ///< vertices that are reached, and that have joined, by known number
  std::vector<Word> left_;  ///< owned vertices that are reached, with edges, and not joined
  VertexId pivot_{};
  bool all_reached_ = true, all_joined_ = true;
  std::vector<Worker> workers_;
};

}  // namespace edgewire::kernels
