// What commands that can be profiled share: options, page and trace.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/job_options.h"
#include "perf/profile.h"
#include "report/job_report.h"

namespace edgewire::cli {

/// --profile, --profile-page, --trace and --sample-interval.
void add_profile_options(CLI::App& command, JobOptions& options);
/// What these options ask for. `words`: see perf::ProfileOptions.
perf::ProfileOptions profile_options(const JobOptions& options, const perf::Words& words = {});
/// At rank 0 before the run: throws Error when page or trace cannot be written.
void check_profile_files(const JobOptions& options);
/// At rank 0: writes page and trace of the run that has this report, where they were asked for. `title`: of
/// the page.
void write_profile_files(const report::JobReport& report, const JobOptions& options,
                         const std::string& title);

}  // namespace edgewire::cli
