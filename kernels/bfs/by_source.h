// Breadth-first searches from many sources: each worker searches from sources of its own. Nothing is sent,
// and what a search finds stays in the process where it ran until it is asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "frontier/searches.h"
#include "kernels/bfs/bfs.h"

namespace edgewire::kernels {

struct BfsBySourceOptions {
  Bfs::Parents parents = Bfs::Parents::none;
  BfsQuestion question{};  ///< question of each search; rank 0 decides the number of farthest ones
  bool keep = false;       ///< whether to keep the results for bring(), as rank 0 decides
  /// Makes a checksum of the levels of all vertices, after each search.
  std::function<std::uint64_t(std::span<const std::uint32_t> levels)> checksum{};
};

/// The level and the parent of each vertex that a search finds.
struct BfsFound {
  std::vector<std::uint32_t> levels;  ///< levels as in Bfs
  std::vector<PlainId> parents;       ///< parents, likewise
};

class BfsBySource {
 public:
  /// Returns whether workers search apart, see Searches::apart().
  static bool chosen(const frontier::SearchPlan& plan, Bfs::Parents parents);

  /// Makes the kernel. `job` was made for tasks, and outlives this. Collective; throws Error.
  BfsBySource(frontier::Job& job, BfsBySourceOptions options);

  /// Searches from all of them, once. Returns what Searches::run() does. Collective; throws Error.
  std::vector<std::vector<frontier::Superstep>> run(std::span<const VertexId> sources);

  /// Returns at rank 0 the result of the search from source `number`, once. Collective; throws Error.
  BfsFound bring(std::size_t number);
  /// Returns the answer for join_answers(), which is empty unless this process has searched from this source.
  const BfsAnswer& answer(std::size_t number) const { return answers_[number]; }
  /// Returns the checksum, which is 0 unless this process has searched from this source.
  std::uint64_t checksum(std::size_t number) const { return checksums_[number]; }

 private:
  class Searcher;

  BfsBySourceOptions options_;
  std::vector<BfsFound> found_;           ///< results of this process, [number of the source]
  std::vector<BfsAnswer> answers_;        ///< answers, likewise
  std::vector<std::uint64_t> checksums_;  ///< checksums, likewise
  frontier::Searches searches_;
  tasks::FunctionId give_, bring_;
};

}  // namespace edgewire::kernels
