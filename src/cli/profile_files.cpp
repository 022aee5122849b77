#include "cli/profile_files.h"

#include <chrono>

#include "cli/common.h"
#include "cli/files.h"
#include "perf/trace.h"

namespace edgewire::cli {

void add_profile_options(CLI::App& command, JobOptions& options) {
  command.option_defaults()->group("Profile");
  command.add_flag("--profile", options.profile, "say where the time went, and what limited the run");
  writes(command.add_option("--profile-page", options.profile_path,
                            "say the same on an HTML page with charts, in this file"),
         Form::text);
  writes(
      command.add_option("--trace", options.trace_path,
                         "write what workers and chunks did to this file, as JSON for trace viewers (Chrome, "
                         "Perfetto); .json.gz is compressed"),
      Form::text);
  command
      .add_option("--sample-interval", options.sample_interval_s, "look at the machine every so many seconds")
      ->check(between(0.01, 3600))
      ->capture_default_str();
}

perf::ProfileOptions profile_options(const JobOptions& options, const perf::Words& words) {
  const std::chrono::duration<double> interval(options.sample_interval_s);
  perf::ProfileOptions asked;
  asked.sample_interval = std::chrono::duration_cast<std::chrono::milliseconds>(interval);
  asked.given_bits_per_s = static_cast<double>(options.launch.link_bits_per_s);
  asked.words = words;
  return asked;
}

void check_profile_files(const JobOptions& options) {
  check_writable(options.profile_path);
  check_writable(options.trace_path);
}

void write_profile_files(const report::JobReport& report, const JobOptions& options,
                         const std::string& title) {
  if (!report.profile) return;
  if (!options.profile_path.empty())
    write_whole(options.profile_path, report.profile->to_html(title, report.describe()));
  if (!options.trace_path.empty()) write_whole(options.trace_path, perf::to_trace(*report.profile));
}

}  // namespace edgewire::cli
