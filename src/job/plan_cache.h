// `--plan-cache`: what loading and planning made for a process, kept in a file for the next run. The file is
// no input: when one process cannot use its file, all make the plan anew and replace what is there.
#pragma once

#include <string>
#include <vector>

#include "job/dense_job.h"

namespace edgewire::job {

/// The file of one process: FOLDER/GRAPH.plan-RANK-of-PROCESSES. It is used when it was written by this user
/// for the same graph, options and program, its checksums are right, and all its indexes are in range. Tiles
/// stay mapped from it; as with the graph, nobody may cut the file short meanwhile (it is replaced by
/// renaming).
class PlanCache {
 public:
  /// All outlive it. Throws Error when a partition file cannot be read.
  PlanCache(DenseJob& job, const DenseOptions& options, const topology::Machine& machine);

  /// Makes the job ready to iterate. False when there is a process whose file is missing or cannot be used;
  /// the job is then as before. Collective; throws Error when the graph is damaged or the job fails.
  bool take();
  /// Writes the plan that was built. Collective.
  void keep();

 private:
  template <class File, class Incoming, class Outgoing>
  void sections(File& file, Incoming& incoming, Outgoing& outgoing,
                const std::function<void()>& columns_known);
  std::uint64_t read();
  bool matches(const std::vector<std::string>& slots) const;
  void drop();
  /// Throw Error that names the file when what was read is not in range.
  void check_choices() const;
  void check() const;
  void spread();
  void check_stream(std::size_t stream) const;
  void check_destinations() const;
  void check_tiles() const;
  [[noreturn]] void refuse(const std::string& what) const;

  DenseJob& job_;
  const DenseOptions& options_;
  const topology::Machine& machine_;
  plan::ForEach for_each_;
  std::string path_, key_, partition_file_;
  TileSegments segments_;  ///< where edges are on disks
  std::vector<exchange::IncomingStream> incoming_;
  std::vector<exchange::OutgoingStream> outgoing_;
};

}  // namespace edgewire::job
