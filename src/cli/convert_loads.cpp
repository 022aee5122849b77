// This file turns edges into a graph file, or into a folder of parts.
#include <fmt/core.h>

#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/output_folder.h"
#include "base/usage.h"
#include "cli/common.h"
#include "cli/convert_settings.h"
#include "cli/job_options.h"
#include "cli/load_watch.h"
#include "launch/packing.h"
#include "perf/job_profile.h"
#include "process/interrupt.h"
#include "report/json_text.h"
#include "report/progress.h"
#include "runs/job_report.h"
#include "shuffle/load_job.h"

namespace edgewire::cli {

using graph::Format;

namespace {

/// What a conversion moved, in all processes.
struct Moved {
  int workers = 1;
  std::optional<report::JobReport> job{};  ///< job of a conversion in parts
  std::uint64_t memory_bytes = 0;          ///< memory of a process; 0: as much as it takes
  std::uint64_t runs = 0, bytes_spilled = 0, bytes_sent = 0;
  perf::Balance balance{};  ///< balance of a conversion in parts
};

std::uint64_t input_bytes(const ConvertSettings& settings) {
  std::uint64_t bytes = 0;
  for (const std::string& input : settings.inputs)
    if (input != "-") bytes += std::filesystem::file_size(input);
  return bytes;
}

/// Prints the line for people, and writes the report.
void report_conversion(const ConvertSettings& settings, const graph::BuildSummary& summary,
                       const Moved& moved, Clock::time_point start) {
  const std::string& path = settings.job.json_path;
  if (summary.doubtful) note_doubtful_weights(settings.inputs);
  if (settings.job.stdout_is_free()) print_summary(settings.output.path, summary, start);
  if (settings.job.stdout_is_free() && moved.job) {
    write_whole("-", moved.balance.to_line());
    if (moved.job->processes > 1) write_whole("-", moved.job->link.to_text());
    write_whole("-", moved.job->profile_text);
  }
  if (moved.job) write_profile_files(*moved.job, settings.job, "Load to " + settings.output.path);
  if (path.empty()) return;
  report::Json json{
      {"schema_version", 1},  // src/report/schema
      {"command", "convert"},         {"inputs", settings.inputs}, {"output", settings.output.path},
      {"vertices", summary.vertices}, {"edges", summary.edges},    {"edges_dropped", summary.dropped}};
  if (moved.job)
    moved.job->add_head(json);
  else
    json.update({{"processes", 1}, {"workers", moved.workers}});
  if (moved.memory_bytes > 0) json["memory_bytes"] = moved.memory_bytes;
  if (settings.input != "-") json["bytes_read"] = input_bytes(settings);
  EDGEWIRE_ADD_FIELDS(json, moved, runs, bytes_spilled, bytes_sent);
  json["bytes_written"] = summary.bytes;
  json["seconds_total"] = seconds_since(start);
  if (moved.job) {
    json["balance"] = moved.balance.to_json();
    moved.job->add_place(json);
    moved.job->add_end(json);
  } else {
    json["peak_rss_bytes"] = peak_memory_bytes();
    json["version"] = EDGEWIRE_VERSION;
  }
  write_whole(path, report::json_text(json, 2) + "\n");
}

/// Returns what all processes moved, at rank 0. Collective.
Moved gather_moved(launch::Bootstrap& bootstrap, const shuffle::LoadJob& job,
                   const shuffle::LoadOptions& options) {
  Moved moved{options.process.workers,
              runs::gather_job(bootstrap, job.process(), options.process.transport_reason, {}),
              options.memory_bytes};
  const auto all =
      bootstrap.gather(launch::pack(std::vector{job.runs(), job.bytes_spilled(), job.bytes_sent()}));
  for (std::size_t p = 0; p < all.size(); ++p) {
    const auto one = launch::unpack<std::uint64_t>(all[p], p, 3);
    moved.runs += one[0];
    moved.bytes_spilled += one[1];
    moved.bytes_sent += one[2];
  }
  return moved;
}

/// Returns the records and bytes that this process moved. Bytes that are not counted for each process are
/// shared out evenly.
perf::ProcessFacts facts_of(const launch::Bootstrap& bootstrap, const shuffle::LoadJob& job,
                            const ConvertSettings& settings, const graph::BuildSummary& summary,
                            double disk_s) {
  constexpr std::uint64_t kSteps = 4;
  const auto size = static_cast<std::uint64_t>(bootstrap.size());
  const std::uint64_t written = summary.edges > 0
                                    ? static_cast<std::uint64_t>(static_cast<double>(summary.bytes) *
                                                                 static_cast<double>(job.edges_written()) /
                                                                 static_cast<double>(summary.edges))
                                    : summary.bytes / size;
  return perf::facts_of(
      {job.edges_read(), input_bytes(settings) / size, job.bytes_spilled(), written, disk_s, kSteps});
}

/// Runs one process of a job that converts in parts.
void load_process(launch::Bootstrap& bootstrap, const ConvertSettings& settings, Format input_format,
                  Clock::time_point start) {
  constexpr std::uint64_t kLeastMemory = std::uint64_t{128} << 20;  // taken only as far as edges need it
  if (bootstrap.rank() == 0) check_profile_files(settings.job);
  shuffle::LoadOptions options;
  options.process = settings.job.process(bootstrap);
  options.output = settings.output.path;
  options.parts = settings.parts;
  options.temp = settings.temp;
  if (options.temp.empty() && options.parts) options.temp = options.output;
  if (options.temp.empty())
    options.temp = std::filesystem::absolute(settings.output.path).parent_path().string();
  options.memory_bytes = settings.memory > 0 ? settings.memory : usual_memory(bootstrap, kLeastMemory);
  shuffle::LoadJob* started = nullptr;
  std::optional<LoadWatch>* watched = nullptr;
  options.started = [&] {
    auto paths = settings.inputs;
    paths.insert(paths.end(),
                 {options.temp, std::filesystem::absolute(settings.output.path).parent_path().string()});
    watched->emplace(bootstrap, started->process(), paths, settings.job, "edges");
  };
  options.step_done = [&](const char* step) { (*watched)->end_step(step); };
  shuffle::LoadJob job(bootstrap, options);
  started = &job;
  std::optional<LoadWatch> watch;  // looks at the job, so it goes first
  watched = &watch;
  auto reading = settings.reading(input_format);
  reading.workers = options.process.workers;
  const bool first = bootstrap.rank() == 0;
  std::optional<process::InterruptLine> interrupt_line;
  Progress progress;
  if (first) {
    interrupt_line.emplace();
    progress = process::InterruptLine::listen(report::progress_on_terminal());
  }
  const auto summary = graph::convert_to(job, settings.input, settings.output.path, reading, progress);
  progress = {};  // takes the line away
  watch->end_run();
  Moved moved = gather_moved(bootstrap, job, options);
  moved.balance = watch->gather(*moved.job, facts_of(bootstrap, job, settings, summary, watch->disk_s()));
  if (first) report_conversion(settings, summary, moved, start);
}

}  // namespace

void load_in_memory(const ConvertSettings& settings, Format input_format, Clock::time_point start) {
  report_conversion(settings,
                    graph::convert(settings.input, settings.output.path, settings.reading(input_format),
                                   report::progress_on_terminal()),
                    {workers_or_default(settings.output.workers)}, start);
}

void load_in_parts(const ConvertSettings& settings, Format input_format, Clock::time_point start) {
  if (settings.input == "-" && (settings.job.launch.processes > 1 || !settings.job.launch.hosts_file.empty()))
    throw UsageError("-: only one process can read stdin: leave -p and --hosts out");
  std::optional<OutputFolder> folder;  // here, so that it goes where processes are lost
  if (settings.parts) folder.emplace(settings.output.path);
  run_job(settings.job.launch, [&](launch::Bootstrap& bootstrap) {
    if (folder) adopt_folder(bootstrap, *folder);
    load_process(bootstrap, settings, input_format, start);
  });
  if (folder) folder->keep();
}

}  // namespace edgewire::cli
