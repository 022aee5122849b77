// This file has the checkpoints of a run: the one that it goes on from, and those that it writes.
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
  std::string folder{};  ///< empty: none are written
  int every = 10;        ///< iterations from checkpoint to checkpoint; bc counts sources
  std::string resume{};  ///< folder of a checkpoint to go on from; empty: from the start
  /// This is called at rank 0, where a checkpoint is taken up, with what it had done.
  std::function<void(std::uint64_t done)> resumed_at{};

  bool any() const noexcept { return !folder.empty() || !resume.empty(); }
};

/// The checkpoints of one process. What `of` refers to outlives them.
class Checkpoints {
 public:
  /// Reads the one to go on from, and only then makes the folder of those that are written. `iterations`:
  /// those that the run is to do, where the user says so. Collective. Throws Error, and UsageError where the
  /// run would end before it begins.
  Checkpoints(const job::Checkpointed& of, const CheckpointOptions& options,
              std::optional<std::uint64_t> iterations = {});

  /// Returns what the run goes on from, once; or nothing.
  std::optional<job::ResumedState> take_resumed() noexcept { return std::exchange(resumed_, {}); }
  /// Returns the iterations that a checkpoint held, or 0.
  std::uint64_t resumed_at() const noexcept { return resumed_at_; }
  /// Returns the checkpoint that is written, or null where none are written.
  job::Checkpoint* written() noexcept { return written_ ? &*written_ : nullptr; }
  /// These do what job::Checkpoint says; they do nothing where none are written.
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
