// The tools of all kernels beside computing.
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
  bool verify = false;  ///< whether to check the result at rank 0
  /// Whether rank 0 counts the least that a kernel which follows a frontier had to send.
  bool bound = false;
  bool gather = false;  ///< whether to bring the values of all vertices to rank 0
  /// Whether each process uses the values of its own vertices; the same in all processes.
  bool parts = false;
  /// Returns whether values leave the process that has computed them, or are shown there.
  bool wants_values() const noexcept { return verify || gather || parts; }
  /// Options to profile the run: the report then has the profile. Its words and its number of iterations are
  /// the kernel's.
  std::optional<profile::ProfileOptions> profile{};
  Progress progress{};  ///< called for each step, and for one without a name when all are done
  /// The time from which the report counts.
  Clock::time_point start = Clock::now();
};

}  // namespace edgewire::runs
