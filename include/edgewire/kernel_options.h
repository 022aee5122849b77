// Options of kernels: one structure for each kernel. The command line, C++ and Python use the same ones.
#pragma once

#include <cstdint>
#include <optional>

namespace edgewire {

struct PageRankOptions {
  std::optional<int> iterations = {};  ///< the most, from 0 on; see most_iterations()
  double damping = 0.85;               ///< the part of its rank that a vertex gives to others, from 0 to 1
  double tolerance = 0;                ///< stop when the ranks have changed by less in sum; 0: never
  /// A vertex shares its rank among its edges in proportion to their weights, none of which is negative. A
  /// vertex whose weights sum to 0 is dangling. Otherwise the shares are equal.
  bool weighted = false;
  /// Ranks are as in McSherry's posts of 2015: start 0, new rank = 1 - damping + damping * sum, no dangling
  /// mass. ppr() does not have it.
  bool form_2015 = false;

  /// Returns the most iterations: without a number 20, or 1000 where there is a tolerance.
  int most_iterations() const { return iterations.value_or(tolerance > 0 ? 1000 : 20); }
};

struct SpmvOptions {
  int iterations = 1;  ///< how often A is applied, from 0 on
};

/// Who searches where a kernel has several sources.
enum class Parallel {
  automatic,  ///< as it pays
  levels,     ///< all workers share the levels of a search, one search after the other
  sources     ///< each worker searches from sources of its own
};

struct BfsOptions {
  bool parents = false;        ///< return the vertex before each one, see bfs()
  bool deterministic = false;  ///< take the smallest of several parents
  Parallel parallel = Parallel::automatic;
};

struct SsspOptions {
  double delta = 0;           ///< width of a bucket; 0: the usual one
  bool unit_weights = false;  ///< all edges have weight 1
  bool parents = false;       ///< return the vertex before each one, as bfs() does, as doubles
  /// The type of distances: f64 has 8 bytes, f32 has 4 and rounds more. Automatic: weights that are whole are
  /// added exactly, as whole numbers of 8 bytes, others as f64.
  enum class Precision { automatic, f32, f64 } precision = Precision::automatic;
};

struct BcOptions {
  bool weighted = false;    ///< paths have the least sum of weights, else the fewest edges
  bool endpoints = false;   ///< a path also counts for its ends
  bool normalized = false;  ///< divide by the number of pairs
  /// All sums are added in the same order in every run; each worker searches from sources of its own, and one
  /// that is done waits.
  bool deterministic = false;
  Parallel parallel = Parallel::automatic;
};

struct CdlpOptions {
  std::uint32_t iterations = 10;  ///< the most, from 1 on
};

}  // namespace edgewire
