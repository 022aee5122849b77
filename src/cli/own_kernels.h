// This file makes commands of kernels that a caller of the library brings.
#pragma once

#include "base/rooms.h"
#include "cli/commands.h"
#include "edgewire/own_kernel.h"

namespace edgewire::cli {

/// Returns the command of a kernel. Throws UsageError where what is said of it makes no sense.
Command command_of(const OwnKernel& own);

}  // namespace edgewire::cli
