// Writes the values of a run to files, so that another run can continue from them. Each process writes
// `values.ITERATION.RANK`, and once `ids.RUN.RANK` with the ids of its vertices, from a copy while the
// iterations go on. When the files of all processes are complete, rank 0 writes `manifest`, which names the
// checkpoint. The last three checkpoints stay in the folder, so the manifest always names files that exist;
// the next one reuses the files of the one before them. Each file has a checksum, because a crash of the
// machine may leave it incomplete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <future>
#include <span>
#include <string>
#include <vector>

#include "dense/exchange/exchange.h"
#include "dense/job/checkpoint_file.h"
#include "edgewire/graph.h"
#include "edgewire/numbering.h"
#include "launch/bootstrap.h"
#include "topology/worker_pool.h"

namespace edgewire::job {

/// The run that a checkpoint belongs to, and this process's part of it. What it refers to outlives its users.
struct Checkpointed {
  launch::Bootstrap& bootstrap;
  const topology::WorkerPool& pool;  ///< pool to whose cores the writing thread is not bound
  const Graph& graph;
  /// The vertices whose values this process has, by index. The processes have each vertex once.
  std::span<const VertexId> ids;
  std::size_t value_bytes;  ///< bytes of a value: 4 or 8
  std::string state;        ///< text in one line: all that values depend on, beside the graph
};

/// The state from which one process continues.
struct ResumedState {
  std::uint64_t iteration = 0;       ///< number of iterations that are done
  std::vector<std::uint32_t> words;  ///< words of values, by index
  detail::PackedTotals totals{};     ///< totals of this process then
  /// Whether there are totals; false: this process had other vertices, so the program must sum again.
  bool has_totals = false;

  /// Returns the values by index. Value has Checkpointed::value_bytes.
  template <class Value>
  std::vector<Value> values() const {
    std::vector<Value> all(words.size() * sizeof(std::uint32_t) / sizeof(Value));
    if (!all.empty()) std::memcpy(all.data(), words.data(), all.size() * sizeof(Value));
    return all;
  }
};

/// A writer of the checkpoints of one run, in the background. All members throw Error. A loop that learns by
/// itself what other processes have written calls start(), written() and commit(), another one step().
class Checkpoint {
 public:
  /// Makes the folder. Collective. Throws Error when it holds a checkpoint and `resumed` is another folder.
  Checkpoint(Checkpointed of, std::string folder, const std::string& resumed);

  /// Starts to write this process's values, by index, of which it takes a copy. Call it after written(true).
  void start(std::uint64_t iteration, std::span<const std::byte> values,
             const detail::PackedTotals& totals = {});
  /// Returns the number of whole ones in this process. With `wait`, it first waits for the last one that was
  /// started. Throws the error of writing it.
  std::uint64_t written(bool wait);
  /// Makes the last one that was started the checkpoint: at rank 0, when all processes have written it.
  void commit();
  /// Commits the last one, if all processes have written it by now, and starts the next one where `iteration`
  /// is a multiple of `every`. Collective, after each iteration.
  void step(std::uint64_t iteration, std::uint64_t every, std::span<const std::byte> values);
  /// Waits for the one that was started, and commits it. Collective, after the last iteration.
  void finish();

 private:
  CheckpointHeader header(const Magic& magic, std::uint64_t iteration) const;
  void write();

  Checkpointed of_;
  std::string folder_;
  std::uint64_t run_ = 0;   ///< number that tells the files of one run from those of another
  std::uint64_t last_ = 0;  ///< iteration of the last one
  std::uint64_t started_ = 0;
  std::uint64_t committed_ = 0;  ///< number of those that are committed; without step() only at rank 0
  std::vector<std::uint64_t> iterations_;  ///< iterations whose files are there
  CheckpointFile file_;
  std::future<void> writing_;  ///< thread that writes; last, so that it is waited for before the others go
};

/// Reads the checkpoint of `folder`, written by any number of processes. Collective. Throws Error that names
/// the file when something is missing, torn, of another run or of another graph or kernel.
ResumedState resume(const Checkpointed& of, const std::string& folder);

}  // namespace edgewire::job
