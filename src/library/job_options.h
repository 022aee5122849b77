// The library folder has what stands behind the public headers (include/edgewire) and is in no other room.
// This file makes the options of rooms from those of callers.
#pragma once

#include "dense/job/dense_options.h"
#include "edgewire/options.h"
#include "frontier/frontier_job.h"
#include "process/local_process.h"

namespace edgewire {

/// Each throws UsageError where a word is none of those that JobOptions names. The rooms check the rest.
process::ProcessOptions process_options(const JobOptions& options);
job::DenseOptions dense_options(const JobOptions& options);
frontier::Options frontier_options(const JobOptions& options);

}  // namespace edgewire
