// The shuffle folder moves records of one size to the processes that own them, and sorts them on the way, in
// less memory than they take: what does not fit goes to disk as sorted runs, which are merged once.
// sort_job.h writes the records to parts, load_job.h makes edges the rows of a graph; this file serves both.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/output_file.h"
#include "base/output_folder.h"
#include "base/rooms.h"
#include "channel/record_stream.h"
#include "disk/queue.h"
#include "edgewire/detail/memory.h"
#include "launch/bootstrap.h"
#include "process/local_process.h"
#include "shuffle/memory_plan.h"
#include "shuffle/record.h"
#include "shuffle/run.h"
#include "shuffle/splitters.h"

namespace edgewire::shuffle {

/// A function that the thread of a sort or a load calls when this process has ended a step; its workers rest.
using StepDone = std::function<void(const char* step)>;

inline constexpr const char* kSample = "sample";             ///< choice of the splitters of partitions
inline constexpr const char* kDistribute = "read and send";  ///< also sorting, and writing of runs
inline constexpr const char* kNumber = "number";  ///< of vertices, and of edges that stay, in a load
inline constexpr const char* kMerge = "merge";    ///< reading of runs, and writing of the result
inline constexpr const char* kFinish = "finish";  ///< writing of the rest of the file, in a load

/// Gives all parts of a folder, which are written, their names. If a part of any process gets none, those of
/// this process lose theirs, too. Collective; throws Error.
void commit_parts(launch::Bootstrap& bootstrap, std::span<const std::unique_ptr<OutputFile>> parts,
                  OutputFolder& folder);

struct ShuffleOptions {
  RecordShape shape;
  std::uint32_t partitions = 1;
  std::string temp;  ///< folder of sorted runs
  MemoryPlan plan;
  /// Whether records that are the same as a splitter are counted, not sent, and spread as Splitters says.
  bool spreads_same = false;
};

/// Moves records to the processes of their partitions and sorts them: process p owns a stretch of the
/// partitions. Calls come in the order in which they stand here. Those that are collective are made by one
/// thread; all throw Error. Functions with a lane belong to the worker of that number.
class Shuffle {
 public:
  /// Makes the shuffle. Collective. `bootstrap` and `process` outlive this.
  Shuffle(launch::Bootstrap& bootstrap, process::LocalProcess& process, ShuffleOptions options);

  /// Chooses the splitters from the samples of all processes: records of shape.stride() bytes. Collective.
  void choose_splitters(const std::vector<std::byte>& sample);
  /// Hands over a record: shape.stride() bytes may be read. When memory is full, a run is written.
  void add(int lane, const std::byte* record) {
    const RecordShape& shape = options_.shape;
    const std::uint64_t prefix = shape.prefix(record);
    if (!stream_) return keep(worker(lane), record, prefix);
    const std::uint32_t partition = splitters_->partition(record, prefix), owner = owners_[partition];
    if (options_.spreads_same && splitters_->is_splitter(record, prefix, partition)) {
      ++worker(lane).same[partition - 1];
      return;
    }
    if (owner == rank_) return keep(worker(lane), record, prefix);
    stream_->send(lane, static_cast<int>(owner), record, shape.stride(), Keeper{*this, worker(lane)});
  }
  /// Ends this lane: waits for the records that other processes send to it.
  void finish(int lane) {
    if (stream_) stream_->finish(lane, Keeper{*this, worker(lane)});
  }
  /// Sorts and spills the rest, when all lanes have ended. Collective where equal records are spread.
  void settle();

  /// Returns the first partition of this process.
  std::uint32_t first_partition() const noexcept { return first_of(rank_); }
  std::uint32_t last_partition() const noexcept { return first_of(rank_ + 1); }
  const Splitters& splitters() const noexcept { return *splitters_; }
  /// Returns the number of records of a partition.
  std::uint64_t records(std::uint32_t partition) const;
  /// Calls take(record) for all records of a partition of this process in order. It may be called again.
  template <class Take>
  void merge_partition(int lane, std::uint32_t partition, const Take& take) {
    const auto [before, behind] = copies(partition);
    for (std::uint64_t i = 0; i < before; ++i) take(splitters_->splitter(partition - 1));
    auto cursors = cursors_of(lane, partition - first_partition());
    merge(options_.shape, cursors, take);
    for (std::uint64_t i = 0; i < behind; ++i) take(splitters_->splitter(partition));
  }

  std::uint64_t bytes_spilled() const;
  std::uint64_t runs() const noexcept { return runs_; }  ///< returns the number of runs that are merged
  /// Returns the stream to other processes, for more supersteps; null in a job of one process.
  channel::RecordStream* stream() noexcept { return stream_ ? &*stream_ : nullptr; }

 private:
  struct Worker {
    disk::Queue queue;
    std::optional<RecordBuffer> buffer;  ///< records, until they are spilled
    Cuts cuts;                           ///< cuts of the buffer, where nothing was spilled
    std::vector<std::uint64_t> same;     ///< number of records, not kept, the same as a splitter, by splitter
    std::optional<RunFile> spilled;
    topology::NodeMemory merging;
  };
  Worker& worker(int lane) noexcept { return *workers_[static_cast<std::size_t>(lane)]; }
  std::uint32_t first_of(std::uint32_t process) const noexcept {
    return static_cast<std::uint32_t>(std::uint64_t{options_.partitions} * process / size_);
  }
  /// A function that keeps records that have come from other processes.
  struct Keeper {
    Shuffle& shuffle;
    Worker& to;
    void operator()(int, std::span<const std::byte> bytes) const {
      const RecordShape& shape = shuffle.options_.shape;
      for (; !bytes.empty(); bytes = bytes.subspan(shape.stride()))
        shuffle.keep(to, bytes.data(), shape.prefix(bytes.data()));
    }
  };
  void keep(Worker& worker, const std::byte* record, std::uint64_t prefix) {
    if (worker.buffer->full()) spill(worker);
    worker.buffer->add(record, prefix);
  }
  void spill(Worker& worker) const;
  void count_same();
  /// Returns how many records of a partition are the same as the splitter before it, and behind it.
  std::pair<std::uint64_t, std::uint64_t> copies(std::uint32_t partition) const;
  /// Returns the place of a partition of this process in `cuts`, without records that are spread.
  std::pair<std::uint64_t, std::uint64_t> stretch(const Cuts& cuts, std::size_t part) const {
    const std::uint64_t first = cuts[2 * part - (part > 0 && !options_.spreads_same ? 1 : 0)];
    return {first, std::max(first, cuts[2 * part + 1])};
  }
  std::deque<Cursor> cursors_of(int lane, std::uint32_t part);

  launch::Bootstrap& bootstrap_;
  process::LocalProcess& process_;
  ShuffleOptions options_;
  std::uint32_t rank_, size_;
  std::vector<std::uint32_t> owners_;  ///< owners of partitions
  std::optional<Splitters> splitters_;
  std::optional<channel::RecordStream> stream_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::uint64_t runs_ = 0;
  /// Number of records of all processes that are the same as a splitter, by splitter, where they are spread.
  /// Of several splitters that are the same, the last one counts, until all get the number.
  std::vector<std::uint64_t> same_;
};

}  // namespace edgewire::shuffle
