#pragma once

#include <chrono>

#include "frontier/frontier_job.h"

namespace edgewire::frontier {

/// Measures a superstep from here on.
class Meter {
 public:
  explicit Meter(FrontierJob& job) : job_(job), before_(job.records().sent()) {}

  /// Adds time and bytes, and tells the job's listener.
  void stop(Superstep& done) const {
    const Sent now = job_.records().sent();
    done.sent.record_bytes += now.record_bytes - before_.record_bytes;
    done.sent.payload_bytes += now.payload_bytes - before_.payload_bytes;
    done.sent.wire_bytes += now.wire_bytes - before_.wire_bytes;
    done.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    job_.tell(done);
  }

 private:
  FrontierJob& job_;
  Sent before_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace edgewire::frontier
