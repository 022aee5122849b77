// What profiles need to know of the jobs of kernels.
#pragma once

#include <span>

#include "disk/read_figures.h"
#include "frontier/frontier_job.h"
#include "job/dense_job.h"
#include "perf/profile.h"

namespace edgewire::perf {

/// Of an iteration, in this process.
ProcessFacts facts_of(const launch::Bootstrap& bootstrap, const job::DenseJob& job);
/// The same of a superstep: `steps` are those of all runs. `disk`: what was read in all of them, if rows are
/// on disks. `at_rank_0`: the supersteps there are those of all processes. Collective.
ProcessFacts facts_of(frontier::FrontierJob& job, std::span<const frontier::Superstep> steps,
                      const disk::ReadFigures& disk, bool at_rank_0);

}  // namespace edgewire::perf
