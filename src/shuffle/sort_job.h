#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "disk/queue.h"
#include "exchange/record_stream.h"
#include "exchange/seat.h"
#include "graph/output_file.h"
#include "launch/bootstrap.h"
#include "shuffle/memory_plan.h"
#include "shuffle/record.h"
#include "shuffle/record_input.h"
#include "shuffle/run.h"
#include "shuffle/splitters.h"
#include "topology/memory.h"

namespace edgewire::shuffle {

struct SortOptions {
  exchange::SeatOptions seat{};
  std::vector<std::string> inputs;  ///< the same in all processes
  std::string output;               ///< folder of the parts; made where it is not there
  std::string temp;                 ///< folder of sorted runs; empty: the output's
  RecordShape shape;
  std::uint32_t partitions = 1;
  std::uint64_t memory_bytes = 0;  ///< of this process: for records, rings and blocks
};

/// What one process did.
struct SortFigures {
  std::uint64_t records_read = 0, bytes_spilled = 0, runs = 0;
  std::uint64_t record_bytes_sent = 0, payload_bytes_sent = 0, wire_bytes_sent = 0;
  std::uint64_t checksum = 0;  ///< of the records read: sum of the XXH3 of each
  double seconds_sample = 0, seconds_distribute = 0, seconds_merge = 0;
  double seconds_disk_busy = -1;  ///< of the busiest disk of its host; below 0: not known
  double seconds_cores_busy = 0;  ///< CPU time of all its threads, shared out among its workers
};

/// The path of a part: "DIR/part-00003-of-00080".
std::string partition_file(const std::string& folder, std::uint32_t partition, std::uint32_t partitions);

/// Sorts the records of all inputs into partitions: process p gets a stretch of them, reads 1/P of the input
/// and sends each record to the process of its partition. Collective; throws Error.
class SortJob {
 public:
  /// Refuses inputs, folders and options that cannot be used. `bootstrap` outlives it.
  SortJob(launch::Bootstrap& bootstrap, const SortOptions& options);

  /// Parts appear when those of all processes are written.
  void run();

  exchange::Seat& seat() noexcept { return seat_; }
  const SortFigures& figures() const noexcept { return figures_; }
  std::uint64_t input_records() const noexcept { return input_.records(); }
  /// Partitions [first, last) of this process, and the records of each after run().
  std::uint32_t first_partition() const noexcept { return first_; }
  std::uint32_t last_partition() const noexcept { return last_; }
  const std::vector<std::uint64_t>& partition_records() const noexcept { return counts_; }

 private:
  struct alignas(128) Worker {
    disk::Queue queue;
    std::optional<RecordBuffer> buffer;
    std::optional<RunFile> spilled;
    topology::NodeMemory merging;       ///< runs that are merged pass through it
    std::vector<std::byte> block;       ///< of the input, later of the output
    std::vector<std::uint64_t> begins;  ///< of the buffer, when it is sorted at the end
    std::uint64_t checksum = 0, records = 0;
  };

  std::uint32_t first_of(std::uint32_t process) const noexcept;
  void refuse_folders() const;
  Splitters choose_splitters();
  void distribute();
  void read_and_send(int lane, std::atomic<std::uint64_t>& next);
  void keep(Worker& worker, const std::byte* record, std::uint64_t prefix);
  void spill(Worker& worker);
  void settle_rest();
  void reduce_runs(Worker& worker);
  void merge_all();
  void merge_partition(int worker, std::uint32_t partition);
  void commit_parts();

  launch::Bootstrap& bootstrap_;
  SortOptions options_;
  RecordInput input_;
  MemoryPlan plan_;
  graph::OutputFolder folder_;
  exchange::Seat seat_;
  std::uint32_t first_, last_;
  std::optional<exchange::RecordStream> stream_;
  std::optional<Splitters> splitters_;
  std::vector<std::uint32_t> owners_;  ///< [partition]
  std::vector<Worker> workers_;
  std::size_t runs_ = 0;                                   ///< that are merged
  std::vector<std::unique_ptr<graph::OutputFile>> parts_;  ///< [partition - first_]
  std::vector<std::uint64_t> counts_;
  SortFigures figures_;
};

}  // namespace edgewire::shuffle
