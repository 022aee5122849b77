// This file has the checkpoints of a run: the one from which it goes on, and those that it writes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "dense/job/checkpoint.h"

namespace edgewire::runs {

struct CheckpointOptions {
  std::string folder{};  ///< folder for checkpoints; empty: none are written
  int every = 10;        ///< number of iterations from checkpoint to checkpoint; bc counts sources
  std::string resume{};  ///< folder of a checkpoint to go on from; empty: from the start
  /// Called at rank 0 when the run resumes from a checkpoint, with the iterations that it holds.
  std::function<void(std::uint64_t done)> resumed_at{};

  bool any() const noexcept { return !folder.empty() || !resume.empty(); }
};

/// The checkpoints of one process. The objects that `of` refers to outlive them.
class Checkpoints {
 public:
  /// Reads the checkpoint to go on from, and only then makes the folder of those to write. `iterations`:
  /// the number that the run will do, where the user gives it. Collective. Throws Error, and UsageError where
  /// the run would end before it begins.
  Checkpoints(const job::Checkpointed& of, const CheckpointOptions& options,
              std::optional<std::uint64_t> iterations = {});

  /// Returns the state from which the run goes on, once; or nothing.
  std::optional<job::ResumedState> take_resumed() noexcept { return std::exchange(resumed_, {}); }
  /// Returns the number of iterations that a checkpoint held, or 0.
  std::uint64_t resumed_at() const noexcept { return resumed_at_; }
  /// Returns the checkpoint that is written, or null where none are written.
  job::Checkpoint* written() noexcept { return written_ ? &*written_ : nullptr; }
  /// These functions do the same as those of job::Checkpoint, or nothing where none are written.
  template <class Value>
  void step(std::uint64_t done, std::span<const Value> values) {
    if (written_) written_->step(done, every_, std::as_bytes(values));
  }
  void finish() {
    if (written_) written_->finish();
  }

 private:
  std::optional<job::ResumedState> resumed_;
  std::uint64_t resumed_at_ = 0, every_;
  std::optional<job::Checkpoint> written_;
};

}  // namespace edgewire::runs
