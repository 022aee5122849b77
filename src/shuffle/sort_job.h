#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/output_file.h"
#include "base/output_folder.h"
#include "base/seconds.h"
#include "edgewire/progress.h"
#include "launch/bootstrap.h"
#include "process/local_process.h"
#include "shuffle/memory_plan.h"
#include "shuffle/record.h"
#include "shuffle/record_input.h"
#include "shuffle/shuffle.h"

namespace edgewire::shuffle {

struct SortOptions {
  process::ProcessOptions process{};
  std::vector<std::string> inputs;  ///< inputs, the same in all processes
  std::string output;               ///< folder of the parts; made where it is not there
  std::string temp;                 ///< folder of sorted runs; empty: the output folder
  RecordShape shape;
  std::uint32_t partitions = 1;
  std::uint64_t memory_bytes = 0;  ///< bytes of memory for records, rings and blocks of this process
  /// Called by any worker with the progress of this process in its part of the input, and in its partitions.
  Progress progress{};
  StepDone step_done{};
};

/// Returns the options. Throws UsageError when one makes no sense. A SortJob begins with this check.
const SortOptions& check(const SortOptions& options);

/// The counts and times of what one process did.
struct SortFigures {
  std::uint64_t records_read = 0, bytes_spilled = 0, runs = 0;
  std::uint64_t record_bytes_sent = 0, payload_bytes_sent = 0, wire_bytes_sent = 0;
  std::uint64_t checksum = 0;  ///< sum of the XXH3 of each record that was read
  double seconds_sample = 0, seconds_distribute = 0, seconds_merge = 0;

  /// Adds the figures of another process: counts are sums, times are those of the slowest.
  SortFigures& operator+=(const SortFigures& other);
};

/// Returns the needs of a process that sorts `records`, the number in all processes.
MemoryNeeds sort_needs(const RecordShape& shape, int workers, int processes, std::uint32_t partitions,
                       std::uint64_t records);

/// Returns the path of a part: "DIR/part-00003-of-00080".
std::string partition_file(const std::string& folder, std::uint32_t partition, std::uint32_t partitions);

/// Sorts the records of all inputs into partitions: process p gets a stretch of them, reads 1/P of the input
/// and sends each record to the process of its partition. Collective; throws Error.
class SortJob {
 public:
  /// Makes the job. Refuses inputs, folders and options that cannot be used. `bootstrap` outlives it.
  SortJob(launch::Bootstrap& bootstrap, const SortOptions& options);

  /// Runs the sort. Afterwards the parts of all processes are written.
  void run();
  /// Returns the parts of this process, which have no names yet.
  const std::vector<std::unique_ptr<OutputFile>>& parts() const noexcept { return parts_; }
  /// Gives the parts of all processes their names. Collective: all that can fail comes before it.
  void commit();

  process::LocalProcess& process() noexcept { return process_; }
  const SortFigures& figures() const noexcept { return figures_; }
  std::uint64_t input_records() const noexcept { return input_.records(); }
  /// Returns the first partition of this process; likewise the last one, and the records of each after run().
  std::uint32_t first_partition() const noexcept { return shuffle_->first_partition(); }
  std::uint32_t last_partition() const noexcept { return shuffle_->last_partition(); }
  const std::vector<std::uint64_t>& partition_records() const noexcept { return counts_; }

 private:
  struct alignas(128) Worker {
    std::vector<std::byte> block;  ///< block of the input, later of the output
    std::uint64_t checksum = 0, records = 0;
  };

  void refuse_folders() const;
  double end_step(const char* step, Clock::time_point& start) const;
  std::vector<std::byte> sample();
  void distribute();
  void read_and_send(int lane, std::atomic<std::uint64_t>& next);
  void tell(const char* step, std::uint64_t more, std::uint64_t total, const char* unit);
  void merge_all();
  void merge_partition(int worker, std::uint32_t partition, std::uint64_t total);

  launch::Bootstrap& bootstrap_;
  SortOptions options_;
  RecordInput input_;
  MemoryPlan plan_;
  std::unique_ptr<OutputFolder> folder_;
  process::LocalProcess process_;
  std::optional<Shuffle> shuffle_;
  std::vector<Worker> workers_;
  std::vector<std::unique_ptr<OutputFile>> parts_;  ///< files of the parts, [partition - first_partition()]
  std::vector<std::uint64_t> counts_;
  std::atomic<std::uint64_t> told_{0};  ///< number of units done of the step; for the progress alone
  SortFigures figures_;
};

}  // namespace edgewire::shuffle
