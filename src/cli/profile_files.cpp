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

void report_profile(const perf::Profile& profile, const JobOptions& options, const std::string& title,
                    bool first, report::JobReport& report) {
  if (!first) return;
  perf::add_to(report, profile);
  write_profile_files(profile, options, title, report);
}

void write_profile_files(const perf::Profile& profile, const JobOptions& options, const std::string& title,
                         const report::JobReport& report) {
  if (!options.profile_path.empty())
    write_whole(options.profile_path, profile.to_html(title, report.describe()));
  if (!options.trace_path.empty()) write_whole(options.trace_path, perf::to_trace(profile));
}

}  // namespace edgewire::cli
