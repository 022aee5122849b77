// Writes down how long each iteration of a process took, and what the process sent in it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/seconds.h"
#include "dense/exchange/exchange.h"

namespace edgewire::engine {

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
      auto& before = frames_to_[p];
      record.wire_bytes += exchange_.link().wire_bytes_of(frames - before);
      before = frames;
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
