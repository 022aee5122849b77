#pragma once

#include <array>
#include <csignal>
#include <cstdint>

#include "cli/stages.h"

namespace edgewire::cli {

/// While it lives, SIGINT and SIGTERM say on stderr, in one line, how far the run has come, and then end the
/// process as they would have. What ignores them (nohup) stays as it is. For one process of a job, one at a
/// time. A run that fails destroys it before it says why: a signal then adds no second line.
class InterruptLine {
 public:
  /// The unit of progress in the line. The number of iterations is known beforehand, that of supersteps is
  /// not. Without a unit the line says that there is no result yet.
  enum class Counts { iterations, supersteps, nothing };
  explicit InterruptLine(Counts unit = Counts::iterations);
  ~InterruptLine();
  InterruptLine(const InterruptLine&) = delete;
  InterruptLine& operator=(const InterruptLine&) = delete;
  /// `stages`, listened to: the step "iterate" is told of by its number.
  static Stages listen(Stages stages);
  /// So many supersteps are done.
  static void note_supersteps(std::uint64_t done);

 private:
  static constexpr std::array kTold = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kTold.size()> before_{};
};

}  // namespace edgewire::cli
