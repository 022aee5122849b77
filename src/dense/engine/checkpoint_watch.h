// Keeps the state of a process after some iterations, and says when the states of all processes are kept.
#pragma once

#include <cstdint>
#include <exception>

#include "base/error.h"
#include "dense/engine/iteration.h"
#include "dense/exchange/exchange.h"

namespace edgewire::engine {

/// A writer of checkpoints. One worker calls it after each iteration, while the others wait. Exchange and
/// options outlive it.
class CheckpointWatch {
 public:
  CheckpointWatch(exchange::Exchange& exchange, const IterationOptions& options)
      : exchange_(exchange), options_(options) {}

  /// Keeps the state after `done` iterations, if one is due. `mine` are the totals of this process. Returns
  /// false once the job has failed.
  bool after(int done, const detail::PackedTotals& mine) {
    try {
      if (!options_.checkpoint_due) return true;
      const bool begins = options_.checkpoint_due(done);
      see(begins);
      if (begins) options_.start_checkpoint(done, mine);
      return true;
    } catch (const std::exception& error) {
      exchange_.health().fail(-1, line_of(error));
      return false;
    }
  }

 private:
  /// Looks for a checkpoint that is whole. No process waits for another here, except rank 0 before the next
  /// checkpoint: peers may by then be an iteration ahead, and need to know that the last one is named before
  /// they write over an older one.
  void see(bool wait) {
    const std::uint64_t own = options_.checkpoints_written(wait);
    if (exchange_.rank() != 0) {
      if (own != written_ && !exchange_.signal(0, 0, exchange::kCheckpointKind, own))
        throw Error(exchange_.health().message());
      written_ = own;
      return;
    }
    const auto by_all = [&] {
      for (int p = 1; p < exchange_.size(); ++p) {
        if (exchange_.link().signalled(p, exchange::kCheckpointKind) < own) return false;
      }
      return true;
    };
    if (own == written_) return;
    if (wait) exchange_.wait_until(by_all);
    if (!by_all()) return;
    written_ = own;
    options_.commit_checkpoint();
  }

  exchange::Exchange& exchange_;
  const IterationOptions& options_;
  std::uint64_t written_ = 0;  ///< number of states written; at rank 0 of those that all have kept
};

}  // namespace edgewire::engine
