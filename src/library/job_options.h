// The library folder has what stands behind the public headers (include/edgewire) and is in no other room.
// This file makes the options of rooms from those of callers.
#pragma once

#include <initializer_list>
#include <string_view>

#include "dense/job/dense_options.h"
#include "edgewire/options.h"
#include "launch/bootstrap.h"
#include "options/option.h"
#include "process/local_process.h"

namespace edgewire {

/// Throws UsageError that names an option which was set, and is neither one of all jobs nor of these parts.
void expect_only(const JobOptions& asked, std::string_view job, std::initializer_list<options::Part> parts);

/// Sets what is asked for of a job on a graph, beside the options of its process. Throws UsageError where a
/// word is none of those that JobOptions names. The rooms check the rest.
void set_graph_options(job::DenseOptions& job, const JobOptions& asked);
/// Each throws the same. Collective: processes settle what is left open, see process::settle().
process::ProcessOptions process_options(launch::Bootstrap& bootstrap, const JobOptions& options);
job::DenseOptions job_options(launch::Bootstrap& bootstrap, const JobOptions& options);

}  // namespace edgewire
