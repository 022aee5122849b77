#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/seconds.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/files.h"
#include "cli/job_options.h"
#include "cli/option.h"
#include "launch/packing.h"
#include "options/files.h"
#include "options/kernels.h"
#include "process/interrupt.h"
#include "profile/job_profile.h"
#include "report/json_text.h"
#include "report/progress.h"
#include "runs/job_report.h"
#include "shuffle/check.h"
#include "shuffle/sort_job.h"

namespace edgewire::cli {

namespace {

struct SortSettings {
  JobOptions job;
  std::vector<std::string> inputs;
  std::string output, temp, key = "0:8";
  std::size_t record = 100;
  std::uint32_t partitions = 0;  ///< number of partitions; 0: one for each worker of each process
  std::uint64_t memory = 0;      ///< memory of each process; 0: that of usual_memory()
  bool verify = false;
  bool deterministic = false;  ///< accepted, since sort always is
};

/// Returns the shape from "OFFSET:LENGTH".
shuffle::RecordShape shape_of(const SortSettings& settings) {
  shuffle::RecordShape shape{settings.record, 0, 0};
  const char* const end = settings.key.data() + settings.key.size();
  const auto [colon, bad] = std::from_chars(settings.key.data(), end, shape.key_offset);
  bool fits = bad == std::errc() && colon != end && *colon == ':';
  if (fits) {
    const auto [last, worse] = std::from_chars(colon + 1, end, shape.key_bytes);
    fits = worse == std::errc() && last == end;
  }
  if (!fits)
    throw UsageError(fmt::format("--key {}: give OFFSET:LENGTH in bytes, such as 0:8", settings.key));
  check(shape);
  return shape;
}

shuffle::SortOptions sort_options(launch::Bootstrap& bootstrap, const SortSettings& settings) {
  shuffle::SortOptions options;
  options.process = settings.job.process(bootstrap);
  options.inputs = settings.inputs;
  options.output = settings.output;
  options.temp = settings.temp;
  options.shape = shape_of(settings);
  options.memory_bytes = settings.memory > 0 ? settings.memory : usual_memory(bootstrap);
  options.partitions = settings.partitions > 0
                           ? settings.partitions
                           : static_cast<std::uint32_t>(bootstrap.size() * options.process.workers);
  return options;
}

struct SortReport : report::JobReport {
  std::uint64_t records = 0, record_bytes = 0, smallest = 0, largest = 0;
  std::uint64_t memory_bytes = 0;  ///< memory of a process for records
  shuffle::SortFigures figures;    ///< figures of all processes
  profile::Balance balance;
  std::optional<double> seconds_verify{};

  std::string to_json(const SortSettings& settings, std::uint32_t partitions) const {
    report::Json json{{"schema_version", 2}, {"command", "sort"}, {"inputs", settings.inputs}};
    EDGEWIRE_ADD_FIELDS(json, *this, records, record_bytes);
    json.update({{"key", settings.key},
                 {"partitions", partitions},
                 {"smallest_partition", smallest},
                 {"largest_partition", largest}});
    add_head(json);
    json.update({{"memory_bytes", memory_bytes},
                 {"runs", figures.runs},
                 {"bytes_read", records * record_bytes},
                 {"bytes_spilled", figures.bytes_spilled},
                 {"bytes_written", records * record_bytes},
                 {"bytes_sent", figures.record_bytes_sent}});
    EDGEWIRE_ADD_FIELDS(json, figures, payload_bytes_sent, wire_bytes_sent, seconds_sample,
                        seconds_distribute, seconds_merge);
    json["seconds_cores_busy"] = balance.all.cores_s;
    if (balance.disk_known) json["seconds_disk_busy"] = balance.all.disk_s;
    EDGEWIRE_ADD_FIELDS(json, *this, seconds_verify, seconds_total);
    json["balance"] = balance.to_json();
    add_place(json);
    json["verified"] = seconds_verify.has_value();
    json["checksum"] = fmt::format("{:016x}", checksum);
    add_end(json);
    return report::json_text(json, 2) + "\n";
  }

  std::string to_text(std::uint32_t partitions) const {
    const std::uint64_t bytes = records * record_bytes;
    std::string text = fmt::format("sort: {} records of {} bytes ({}), {}\n", records, record_bytes,
                                   readable_bytes(bytes), describe());
    text += fmt::format("{} partition{} of {} to {} records\n", partitions, partitions == 1 ? "" : "s",
                        smallest, largest);
    text += fmt::format(
        "sample {}, read and send {}, merge {}, total {} ({}/s)\n", readable_seconds(figures.seconds_sample),
        readable_seconds(figures.seconds_distribute), readable_seconds(figures.seconds_merge),
        readable_seconds(seconds_total),
        readable_bytes(
            seconds_total > 0 ? static_cast<std::uint64_t>(static_cast<double>(bytes) / seconds_total) : 0));
    text += balance.to_line();
    text += fmt::format("spilled {} in {} sorted runs with {} of memory a process, peak {}\n",
                        readable_bytes(figures.bytes_spilled), figures.runs, readable_bytes(memory_bytes),
                        readable_bytes(peak_rss_bytes));
    if (processes > 1)
      text += fmt::format("had to be sent: {}; sent: payload {}\n", readable_bytes(figures.record_bytes_sent),
                          readable_bytes(figures.payload_bytes_sent));
    text += link.to_text();
    if (seconds_verify)
      text += fmt::format("verified: in order, and all records of the input, in {}\n",
                          readable_seconds(*seconds_verify));
    return text + fmt::format("checksum {:016x}\n", checksum) + profile_text();
  }
};

/// Returns the report at rank 0. `seconds`: times of this process. Collective.
SortReport gather_report(launch::Bootstrap& bootstrap, shuffle::SortJob& job,
                         const shuffle::SortOptions& options, double seconds_total,
                         std::optional<double> seconds_verify) {
  SortReport report;
  static_cast<report::JobReport&>(report) =
      runs::gather_job(bootstrap, job.process(), options.process.transport_reason,
                       {0, 0, seconds_total, job.figures().checksum});
  report.records = job.input_records();
  report.record_bytes = options.shape.bytes;
  report.memory_bytes = options.memory_bytes;
  if (seconds_verify) report.seconds_verify = launch::allreduce(bootstrap, *seconds_verify, std::ranges::max);
  const auto figures = bootstrap.gather(launch::pack(std::vector{job.figures()}));
  const auto parts = bootstrap.gather(launch::pack(job.partition_records()));
  report.smallest = parts.empty() ? 0 : ~std::uint64_t{0};
  for (std::size_t p = 0; p < figures.size(); ++p) {
    report.figures += launch::unpack<shuffle::SortFigures>(figures[p], p, 1)[0];
    for (const auto records : launch::unpack<std::uint64_t>(parts[p], p)) {
      report.smallest = std::min(report.smallest, records);
      report.largest = std::max(report.largest, records);
    }
  }
  return report;
}

/// Reads the parts again, before they get names. Collective; throws Error when they are not the sorted input.
void verify_parts(launch::Bootstrap& bootstrap, shuffle::SortJob& job, const shuffle::SortOptions& options) {
  std::vector<shuffle::PartProof> mine(job.last_partition() - job.first_partition());
  job.process().pool().for_each(mine.size(), [&](int, std::uint64_t p) {
    if (bootstrap.health().failed()) throw Error(bootstrap.health().message());
    const OutputFile& part = *job.parts()[p];
    mine[p] = shuffle::prove_part(part.path_for_others(), options.shape, part.path());
  });
  const auto proofs = bootstrap.gather(shuffle::pack_proofs(mine));
  const auto sums = bootstrap.gather(launch::pack(std::vector{job.figures().checksum}));
  if (proofs.empty()) return;
  std::vector<shuffle::PartProof> all;
  std::uint64_t checksum = 0;
  for (std::size_t p = 0; p < proofs.size(); ++p) {
    for (auto& proof : shuffle::unpack_proofs(proofs[p], options.shape)) all.push_back(std::move(proof));
    checksum += launch::unpack<std::uint64_t>(sums[p], p, 1)[0];
  }
  const std::string fault = shuffle::fault_of(all, options.shape, job.input_records(), checksum);
  if (!fault.empty()) throw Error(fmt::format("{}: the result is wrong: {}", options.output, fault));
}

profile::ProcessFacts facts_of(const shuffle::SortJob& job, std::uint64_t record_bytes, double disk_s) {
  constexpr std::uint64_t kSteps = 3;
  const auto& figures = job.figures();
  const auto& parts = job.partition_records();
  const std::uint64_t written = std::accumulate(parts.begin(), parts.end(), std::uint64_t{0});
  return profile::facts_of({figures.records_read, figures.records_read * record_bytes, figures.bytes_spilled,
                            written * record_bytes, disk_s, kSteps});
}

/// Runs one process of the job.
void sort_process(launch::Bootstrap& bootstrap, const SortSettings& settings) {
  const auto start = Clock::now();
  auto options = sort_options(bootstrap, settings);
  const bool first = bootstrap.rank() == 0;
  if (first) {
    check_report_files(settings.job);
    options.progress = process::InterruptLine::listen(report::progress_on_stderr());
  }
  profile::LoadWatch* told = nullptr;
  options.step_done = [&told](const char* step) { told->end_step(step); };
  shuffle::SortJob job(bootstrap, options);
  auto paths = settings.inputs;
  paths.insert(paths.end(), {settings.temp, settings.output});
  profile::LoadWatch watch(bootstrap, job.process(), paths,
                           profile_options(settings.job, {"step", "records"}),
                           settings.job.profiled());  // it refers to the job, so it ends first
  told = &watch;
  std::optional<process::InterruptLine> interrupt_line;
  if (first) interrupt_line.emplace();
  job.run();
  if (first) options.progress({});
  watch.end_run();
  const double seconds_sort = seconds_since(start);
  // This follows the wish of rank 0, which also verifies the results of kernels.
  const bool verify = !bootstrap.allgather(settings.verify ? "wanted" : "")[0].empty();
  const auto verify_start = Clock::now();
  if (verify) verify_parts(bootstrap, job, options);
  const auto seconds_verify = verify ? std::optional(seconds_since(verify_start)) : std::nullopt;
  auto report = gather_report(bootstrap, job, options, seconds_sort, seconds_verify);
  report.balance = watch.gather(report, facts_of(job, settings.record, watch.disk_s()));
  job.commit();
  interrupt_line.reset();  // the result is whole
  if (!first) return;
  write_profile_files(report, settings.job, "Sort to " + settings.output);
  if (!settings.job.json_path.empty())
    write_whole(settings.job.json_path, report.to_json(settings, options.partitions));
  if (settings.job.stdout_is_free()) show(report.to_text(options.partitions));
}

void add_options(CLI::App& command, SortSettings& settings) {
  reads(command.add_option("input", settings.inputs, "files of records, all of one length")->required());
  command.option_defaults()->group("Sort");
  writes(
      add(command, opt::output, settings.output, "write the parts to this folder: part-00000-of-00080, ...")
          ->required(),
      Form::folder, inside({"part-*-of-*"}));
  add(command, opt::record, settings.record);
  add(command, opt::key, settings.key);
  add(command, opt::partitions, settings.partitions);
  add(command, opt::sort_memory, settings.memory);
  writes(add(command, opt::temp, settings.temp), Form::folder, no_names);
  add(command, opt::deterministic, settings.deterministic,
      "give the same bytes from run to run, as kernels do: sort always does");
  settings.job.add_to(command);
  settings.job.launch.less_memory = "a smaller --memory";
  command.option_defaults()->group("Output");
  add_report_options(command, settings.job.json_path, "run report");
  add(command, opt::verify, settings.verify,
      "read the parts again, and exit with 1 when they are not in order or do not hold the records of the "
      "input");
  add(command, opt::check, settings.verify)->group("");  // the old name of --verify
  add_profile_options(command, settings.job);
}

}  // namespace

void add_sort(CLI::App& app) {
  auto settings = std::make_shared<SortSettings>();
  CLI::App* command = app.add_subcommand("sort", "sort records of one length into parts, in bounded memory");
  command->footer(
      "Records are ordered by the bytes of their keys, and those with equal keys by all their bytes. So the "
      "parts, one behind the other, are the same for any number of processes and workers.");
  add_options(*command, *settings);
  command->callback([settings] {
    shape_of(*settings);  // this may refuse the shape
    run_job_into(settings->output, OutputFolder::Parents::must_exist, settings->job.launch,
                 [&](launch::Bootstrap& bootstrap) { sort_process(bootstrap, *settings); });
  });
}

}  // namespace edgewire::cli
