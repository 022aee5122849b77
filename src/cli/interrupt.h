#pragma once

#include "cli/stages.h"

namespace edgewire::cli {

/// From now on SIGINT and SIGTERM say on stderr, in one line, how far the run has come, and then end the
/// process as they would have. What ignores them (nohup) stays as it is. Returns `stages`, listened to: the
/// step "iterate" is told of by its number. For one process of a job; call it once.
Stages tell_when_interrupted(Stages stages);

}  // namespace edgewire::cli
