// This file makes commands of a library caller's own kernels.
#pragma once

#include "base/rooms.h"
#include "cli/commands.h"
#include "edgewire/own_kernel.h"

namespace edgewire::cli {

/// Returns the command of a kernel. Throws UsageError where its description makes no sense.
Command command_of(const OwnKernel& own);

}  // namespace edgewire::cli
