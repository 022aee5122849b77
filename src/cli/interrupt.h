#pragma once

#include "cli/stages.h"

namespace edgewire::cli {

/// While it lives, SIGINT and SIGTERM say on stderr, in one line, how far the run has come, and then end the
/// process as they would have. What ignores them (nohup) stays as it is. For one process of a job, one at a
/// time. A run that fails destroys it before it says why: a signal then adds no second line.
class InterruptLine {
 public:
  /// `iterates`: the line says which iteration it was.
  explicit InterruptLine(bool iterates = true);
  ~InterruptLine();
  InterruptLine(const InterruptLine&) = delete;
  InterruptLine& operator=(const InterruptLine&) = delete;
  /// `stages`, listened to: the step "iterate" is told of by its number.
  static Stages listen(Stages stages);
};

}  // namespace edgewire::cli
