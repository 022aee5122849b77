// This file writes a profile for trace viewers (chrome://tracing, ui.perfetto.dev).
#pragma once

#include <string>

#include "profile/profile.h"

namespace edgewire::profile {

/// Returns the kept spans of all workers, each chunk's life (ready, in flight, arrived) and the samples, as
/// JSON in the Trace Event Format (Google, 2016). Times are microseconds from the earliest one. Processes on
/// other machines, whose clocks differ, are moved so that their last iterations end together.
std::string to_trace(const Profile& profile);

}  // namespace edgewire::profile
