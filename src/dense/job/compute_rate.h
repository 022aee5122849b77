// How fast this machine's workers sweep tiles, as a quick measurement before the plan is made.
#pragma once

#include "topology/worker_pool.h"

namespace edgewire::job {

/// Edges per second and worker while all workers of the pool sweep a synthetic graph (131,072 vertices, a
/// million edges, most of them to few destinations, as in a social graph). Takes some hundredths of a second
/// and some MB a worker.
double measure_compute_rate(topology::WorkerPool& pool);

}  // namespace edgewire::job
