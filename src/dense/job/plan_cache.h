// `--plan-cache`: the results of loading and planning of a process, kept in a file for the next run. The file
// is no input: when one process cannot use its file, all make the plan anew and replace what is there.
// Whoever changes a section also changes the ranges in plan_check.cpp and the version in base/array_file.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dense/job/dense_plan.h"

namespace edgewire::job {

/// The content of a file.
struct CachedPlan {
  Choices choices;
  std::uint64_t matching = 0;
  partition::Ownership ownership;
  plan::OwnedVertices owned;
  std::vector<std::uint32_t> bounds;  ///< bounds of columns
  EdgeTiles tiles;
  std::vector<exchange::IncomingStream> incoming;
  std::vector<exchange::OutgoingStream> outgoing;
};

/// Describes the graph, in its direction, and the options that a plan depends on, a line each.
std::string subject_of_plan(const PlanTask& task);

/// The file of one process: FOLDER/GRAPH.plan-RANK-of-PROCESSES, or edges_name() where edges are on disks. It
/// is used when it was written by this user for the same graph, options and program, its checksums are right,
/// and all its indexes are in range. Tiles stay mapped from it; no program may cut it short meanwhile.
class PlanCache {
 public:
  /// Makes the cache. `task` outlives it. Throws Error when a partition file cannot be read.
  explicit PlanCache(const PlanTask& task);

  /// Returns the plan from the cache; nothing when the file of a process is missing or cannot be used.
  /// Collective; throws Error when the graph is damaged or the job fails.
  std::optional<ConnectedPlan> take();
  /// Writes a plan that take() did not return. Collective.
  void store(const ConnectedPlan& plan);
  const CacheUse& use() const noexcept { return use_; }

 private:
  CachedPlan read() const;
  std::optional<CachedPlan> read_all();

  const PlanTask& task_;
  ForEach for_each_;
  std::optional<partition::Ownership> ranges_;  ///< ranges, while files are read
  std::string path_, key_;
  CacheUse use_;
};

/// Returns the number of columns that may have edges of mirrors: the local ones where vertices have owners.
std::size_t mirrored_columns(const Choices& choices, std::span<const std::uint32_t> bounds,
                             std::uint32_t owned);

// These functions throw Error that names the file when something read from it is not in range.
void check_choices(const Choices& read, const DenseOptions& options, const std::string& path);
void check_plan(const CachedPlan& plan, const PlanTask& task, const std::string& path);
[[noreturn]] void refuse(const std::string& path, const std::string& what);

}  // namespace edgewire::job
