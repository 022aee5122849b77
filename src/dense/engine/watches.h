// What the workers of a loop look after beside its work: the link, an observer, checkpoints, and records of
// the iterations.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

#include "base/error.h"
#include "base/seconds.h"
#include "dense/engine/iteration.h"
#include "dense/exchange/exchange.h"
#include "topology/phase.h"

namespace edgewire::engine {

using topology::Phase;

/// A worker's care for the link: makes progress, waits, and tells an observer. All workers of a loop share
/// it.
class LinkWatch {
 protected:
  /// Makes the watch. `observer` may be null. Both outlive it.
  LinkWatch(exchange::Exchange& exchange, topology::Observer* observer, bool oversubscribed)
      : exchange_(exchange), observer_(observer), oversubscribed_(oversubscribed) {}

  bool failed() const { return exchange_.health().failed(); }

  void tell(int worker, Phase phase, std::size_t item = 0, int peer = -1) {
    if (observer_) observer_->enter(worker, phase, item, peer);
  }

  /// Makes progress of the link; each worker watches the chunks of the peers' lanes with its number.
  bool poll(int worker) {
    const bool well = exchange_.link().poll();
    for (int p = 0; observer_ && p < exchange_.size(); ++p)
      if (p != exchange_.rank())
        observer_->arrived(worker, p, exchange_.link().signalled(p, exchange::kFirstLaneKind + worker));
    return well;
  }

  /// Makes progress until done() holds; false once the job has failed. awaited(): the peer that it waits for.
  template <class Done, class Awaited>
  bool wait_until(int worker, const Done& done, const Awaited& awaited) {
    if (done()) return true;
    tell(worker, Phase::wait);
    for (int turns = 0; turns == 0 || !done(); ++turns) {
      if (observer_) observer_->waits_for(worker, awaited());
      const bool spin = !oversubscribed_ && turns < 100000;
      if (!spin && !exchange_.link().wait(std::chrono::microseconds(1000))) return false;
      if (!poll(worker) || failed()) return false;
    }
    return true;
  }

  exchange::Exchange& exchange_;
  topology::Observer* const observer_;

 private:
  bool oversubscribed_;  ///< whether workers share cores, so that none may spin
};

/// A writer of checkpoints, which also says when all processes have written one. One worker calls it after
/// each iteration, while the others wait. Exchange and options outlive it.
class CheckpointWatch {
 public:
  CheckpointWatch(exchange::Exchange& exchange, const IterationOptions& options)
      : exchange_(exchange), options_(options) {}

  /// Writes the state after `done` iterations, if one is due. `mine` are the totals of this process. Returns
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
    if (own == written_) return;
    if (exchange_.rank() != 0) {
      if (!exchange_.signal(0, 0, exchange::kCheckpointKind, own)) throw Error(exchange_.health().message());
      written_ = own;
      return;
    }
    const auto by_all = [&] {
      return exchange_.all_peers(
          [&](int p) { return exchange_.link().signalled(p, exchange::kCheckpointKind) >= own; });
    };
    if (wait) exchange_.wait_until(by_all);
    if (!by_all()) return;
    written_ = own;
    options_.commit_checkpoint();
  }

  exchange::Exchange& exchange_;
  const IterationOptions& options_;
  std::uint64_t written_ = 0;  ///< number of states written; at rank 0 of those that all have written
};

/// Writes down how long each iteration of a process took, and what the process sent in it.
class Recorder {
 public:
  /// Begins the first iteration now. `exchange` outlives it. `totals_bytes`: see SlotLoops.
  Recorder(const exchange::Exchange& exchange, std::size_t totals_bytes)
      : exchange_(exchange),
        scalar_bytes_(static_cast<std::uint64_t>(exchange.size() - 1) * totals_bytes),
        began_(Clock::now()),
        sent_(exchange.link().counters()) {
    for (int p = 0; p < exchange.size(); ++p) frames_to_.push_back(exchange.link().frame_bytes_to(p));
  }

  /// Ends an iteration and begins the next one. One worker calls it; the others wait.
  void end_iteration() {
    const auto now = Clock::now();
    const auto counters = exchange_.link().counters();
    IterationRecord record;
    record.seconds = seconds_between(began_, now);
    record.payload_bytes = counters.payload_bytes - sent_.payload_bytes - scalar_bytes_;
    // An iteration ends with a pause: its last segment carries nothing of the next one.
    for (int p = 0; p < exchange_.size(); ++p) {
      const std::uint64_t frames = exchange_.link().frame_bytes_to(p);
      record.wire_bytes += exchange_.link().wire_bytes_of(frames - std::exchange(frames_to_[p], frames));
    }
    records_.push_back(record);
    began_ = now;
    sent_ = counters;
  }

  std::uint64_t iterations() const noexcept { return records_.size(); }
  std::vector<IterationRecord> take_records() noexcept { return std::move(records_); }

 private:
  const exchange::Exchange& exchange_;
  std::uint64_t scalar_bytes_;
  Clock::time_point began_;
  transport::Counters sent_;
  std::vector<std::uint64_t> frames_to_;  ///< frame bytes to each peer before this iteration, [peer]
  std::vector<IterationRecord> records_;
};

}  // namespace edgewire::engine
