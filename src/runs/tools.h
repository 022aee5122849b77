// What all kernels can do beside computing.
#pragma once

#include <cstdint>
#include <optional>

#include "base/seconds.h"
#include "edgewire/progress.h"
#include "profile/profile.h"

namespace edgewire::runs {

struct Tools {
  /// The number of vertices that the answer lists; by default it lists those that the kernel lists unasked.
  std::optional<std::uint64_t> top{};
  bool verify = false;  ///< check the result at rank 0
  /// Whether rank 0 counts what a kernel that follows a frontier had to send at least.
  bool bound = false;
  bool gather = false;  ///< bring the values of all vertices to rank 0
  bool parts = false;   ///< each process uses the values of its own vertices; the same in all processes
  /// Returns whether values leave the process that has computed them, or are shown there.
  bool wants_values() const noexcept { return verify || gather || parts; }
  /// Options to profile the run: the report then has the profile. Its words and its number of iterations are
  /// the kernel's.
  std::optional<profile::ProfileOptions> profile{};
  Progress progress{};  ///< told of each step, and of one without a name when all are done
  /// The time from which the report counts.
  Clock::time_point start = Clock::now();
};

}  // namespace edgewire::runs
