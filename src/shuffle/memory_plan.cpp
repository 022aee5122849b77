#include "shuffle/memory_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <numeric>

#include "base/error.h"
#include "options/files.h"
#include "shuffle/run.h"

namespace edgewire::shuffle {

namespace {

constexpr std::size_t kBlocks = 3;  // blocks of a worker: two of runs, one of input and later of output
constexpr std::uint64_t kLeastRecords = 1024;  // records of a worker's buffer
// Samples of each partition: so many independent ones give parts that deviate by 1.25 % (1 / sqrt(6400)).
constexpr std::uint64_t kSamples = 6400, kLeastSamples = 100;
constexpr std::uint64_t kSampleBytes = std::uint64_t{64} << 20;  // bytes of the whole sample
constexpr std::size_t kChunkBytes = std::size_t{256} << 10;  // bytes of a run that is merged, where they fit

/// Returns the bytes of a sample: as messages, in one piece, and as prefixes and pointers that are sorted.
std::uint64_t bytes_a_sample(const MemoryNeeds& needs) {
  return 2 * needs.shape.stride() + 2 * sizeof(void*);
}

/// Returns the records in the sample. Unless memory is short, it depends only on input and partitions.
std::uint64_t sample_records(const MemoryNeeds& needs, std::uint64_t fixed, std::uint64_t memory_bytes) {
  if (needs.partitions < 2) return 0;
  const std::uint64_t left = memory_bytes - std::min(fixed, memory_bytes);
  const std::uint64_t roomy = std::min(memory_bytes / 8, left) / bytes_a_sample(needs);
  const std::uint64_t fitting =
      std::max<std::uint64_t>(needs.partitions, kSampleBytes / needs.shape.stride());
  const std::uint64_t wanted =
      std::clamp(roomy, kLeastSamples * needs.partitions, kSamples * needs.partitions);
  return std::min({wanted, fitting, needs.input_records});
}

}  // namespace

std::size_t runs_to_merge(const MemoryPlan& plan, int workers, std::size_t runs) noexcept {
  const std::size_t most = plan.fan_in / static_cast<std::size_t>(workers);
  return runs > most ? std::min(plan.fan_in, runs - most + 1) : 0;
}

MemoryPlan plan_memory(const MemoryNeeds& needs, std::uint64_t memory_bytes) {
  const auto workers = static_cast<std::uint64_t>(needs.workers);
  MemoryPlan plan;
  // This counts the splitters, and the records that are the same as a splitter.
  const std::uint64_t fixed =
      needs.ring_bytes + needs.other_bytes +
      needs.partitions * (needs.shape.stride() + (5 + workers) * sizeof(std::uint64_t));
  plan.sample_records = sample_records(needs, fixed, memory_bytes);
  const std::uint64_t sampling = plan.sample_records * bytes_a_sample(needs);
  const std::uint64_t least_chunk = Cursor::least_bytes(needs.shape);
  constexpr std::uint64_t kAllBlocks = kBlocks * RunFile::kBlockBytes;
  const std::uint64_t least_share =
      std::max(kLeastRecords * RecordBuffer::bytes_a_record(needs.shape), 2 * workers * least_chunk);
  const std::uint64_t least = std::max(sampling + fixed, fixed + workers * (kAllBlocks + least_share));
  if (memory_bytes < least)
    throw UsageError(fmt::format(
        "{}: a process of {} workers needs at least {} bytes to sort records of {} bytes into {} partitions",
        opt::sort_memory, needs.workers, least, needs.shape.bytes, needs.partitions));
  plan.merge_bytes = (memory_bytes - fixed) / workers - kAllBlocks;
  plan.buffer_records = plan.merge_bytes / RecordBuffer::bytes_a_record(needs.shape);
  plan.fan_in = std::max<std::uint64_t>(2 * workers, plan.merge_bytes / kChunkBytes);
  return plan;
}

SpillPlan plan_spill(const MemoryPlan& plan, int workers, std::uint64_t records) {
  if (records <= plan.buffer_records) return {};
  std::deque<std::uint64_t> runs(records / plan.buffer_records, plan.buffer_records);
  if (records % plan.buffer_records > 0) runs.push_back(records % plan.buffer_records);
  SpillPlan spill;
  while (const std::size_t count = runs_to_merge(plan, workers, runs.size())) {
    const auto end = runs.begin() + static_cast<std::ptrdiff_t>(count);
    const std::uint64_t merged = std::accumulate(runs.begin(), end, std::uint64_t{0});
    runs.erase(runs.begin(), end);
    runs.push_back(merged);
    spill.records_again += merged;
  }
  spill.runs = runs.size();
  return spill;
}

}  // namespace edgewire::shuffle
