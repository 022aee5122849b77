#pragma once

#include <cstddef>
#include <cstdint>

#include "shuffle/record.h"

namespace edgewire::shuffle {

/// The needs of memory of a process that sorts.
struct MemoryNeeds {
  RecordShape shape;
  int workers = 1;
  std::uint32_t partitions = 1;
  std::uint64_t input_records = 0;
  std::size_t ring_bytes = 0;     ///< bytes of all rings of the process
  std::uint64_t other_bytes = 0;  ///< bytes for the other work of the process
};

/// The way a process uses its memory. Buffers are given back before runs are merged.
struct MemoryPlan {
  std::uint64_t sample_records = 0;  ///< records in the sample of all processes
  std::uint64_t buffer_records = 0;  ///< records in the buffer of a worker
  std::size_t merge_bytes = 0;       ///< bytes of a worker that merges
  std::size_t fan_in = 0;            ///< number of runs that it merges at once; at least 2 for each worker
};

/// Returns the plan for `memory_bytes`. Throws UsageError that names the least memory.
MemoryPlan plan_memory(const MemoryNeeds& needs, std::uint64_t memory_bytes);

/// Returns how many of a worker's first runs to merge to one, so that all can be merged in the end; 0: none.
std::size_t runs_to_merge(const MemoryPlan& plan, int workers, std::size_t runs) noexcept;

/// The runs that the records of one worker become.
struct SpillPlan {
  std::uint64_t runs = 0;           ///< number of runs that are merged at last; 0: all stay in memory
  std::uint64_t records_again = 0;  ///< records that are written again, as runs are merged to longer ones
};

/// Returns the same for `records` of each worker of a process, as Shuffle does it.
SpillPlan plan_spill(const MemoryPlan& plan, int workers, std::uint64_t records);

}  // namespace edgewire::shuffle
