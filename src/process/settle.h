// This file has what the processes of a job choose together before they connect: workers, and what sends.
#pragma once

#include "launch/bootstrap.h"
#include "process/local_process.h"

namespace edgewire::process {

/// Returns the options of this process with all choices made. Without a number of workers
/// (ProcessOptions::workers is 0) the processes of a host share its cores; all processes have as many as the
/// one that can have the fewest. Transport "auto" takes shared memory inside a host, where there is some, and
/// between hosts the fastest network that all have. Cards of verbs that are not named, and the port of dpdk,
/// are those near the process. `asked.warn` is told, at rank 0, where shared memory is missing and where
/// workers share cores. Throws Error or UsageError where the transport does not reach all. Collective.
ProcessOptions settle(const ProcessOptions& asked, launch::Bootstrap& bootstrap);

}  // namespace edgewire::process
