#pragma once

#include <chrono>
#include <cstdint>

#include "frontier/records.h"

namespace edgewire::frontier {

/// What one process did in a superstep.
struct Superstep {
  std::uint64_t step = 0;      ///< what the kernel counts by: a bucket, a level, a round
  std::uint64_t kind = 0;      ///< of the superstep, where the kernel has several
  std::uint64_t frontier = 0;  ///< vertices whose edges were followed; a vertex may count more than once
  std::uint64_t edges = 0;     ///< of them
  Sent sent;
  double seconds = 0;
};

/// Measures a superstep from here on.
class Meter {
 public:
  explicit Meter(const Records& records) : records_(records), before_(records.sent()) {}

  /// Adds time and bytes.
  void stop(Superstep& done) const {
    const Sent now = records_.sent();
    done.sent.record_bytes += now.record_bytes - before_.record_bytes;
    done.sent.payload_bytes += now.payload_bytes - before_.payload_bytes;
    done.sent.wire_bytes += now.wire_bytes - before_.wire_bytes;
    done.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  const Records& records_;
  Sent before_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace edgewire::frontier
