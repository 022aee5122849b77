#include "cli/task_command.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/error.h"
#include "base/median.h"
#include "base/seconds.h"
#include "base/units.h"
#include "cli/common.h"
#include "cli/option.h"
#include "launch/packing.h"
#include "options/jobs.h"
#include "options/measures.h"
#include "profile/profile.h"
#include "report/json_text.h"
#include "runs/job_report.h"

namespace edgewire::cli {

namespace {

/// The figures of a process.
struct TaskSummary {
  tasks::Figures figures;      ///< figures of the run in which phases were measured
  std::uint64_t results_kept;  ///< results kept in all runs
};

struct TaskReport : report::JobReport {
  std::string result;
  std::vector<double> seconds;           ///< times of the runs in which phases were not measured
  std::vector<std::uint64_t> tasks_run;  ///< number of tasks run by each process, [process]
  std::vector<int> lost;                 ///< processes that were lost
  TaskSummary sum{};                     ///< sum over all processes

  /// Returns the seconds a task by phase, in the order in which a task passes them.
  std::vector<std::pair<std::string, double>> phases() const {
    const auto& figures = sum.figures;
    const auto a_task = [&](std::uint64_t ns) {
      return static_cast<double>(ns) / 1e9 / static_cast<double>(figures.tasks);
    };
    return {{"spawn", a_task(figures.spawn_ns)},
            {"send", a_task(figures.send_ns)},
            {"queue", a_task(figures.queue_ns)},
            {"run", a_task(figures.run_ns)},
            {"return", a_task(figures.return_ns)}};
  }

  std::string to_json(const TaskProgram& program) const {
    const auto& figures = sum.figures;
    report::Json json{{"schema_version", 1}, {"command", "tasks"}, {"program", program.name()}};
    program.add_to(json);
    add_head(json);
    json.update({{"result", result}, {"tasks", figures.tasks}, {"tasks_run", tasks_run}});
    EDGEWIRE_ADD_FIELDS(json, figures, tasks_sent, tasks_moved, results_sent, suspensions);
    json.update({{"payload_bytes_sent", figures.payload_bytes},
                 {"wire_bytes_sent", figures.wire_bytes},
                 {"seconds", median(seconds)},
                 {"seconds_runs", seconds},
                 {"seconds_a_task", median(seconds) / static_cast<double>(figures.tasks)}});
    for (const auto& [phase, time] : phases()) json["seconds_a_task_by_phase"][phase] = time;
    if (!lost.empty()) json.update({{"lost", lost}, {"results_kept", sum.results_kept}});
    json["seconds_total"] = seconds_total;
    add_place(json);
    add_end(json);
    return report::json_text(json, 2) + "\n";
  }

  std::string to_text(const TaskProgram& program) const {
    const auto& figures = sum.figures;
    std::string text = fmt::format("{}: {}, {}\n", program.name(), program.describe(), describe());
    text += fmt::format("result: {}\n", result);
    text += fmt::format("{} tasks in {} (median of {}): {} a task\n", figures.tasks,
                        readable_seconds(median(seconds)), seconds.size(),
                        readable_seconds(median(seconds) / static_cast<double>(figures.tasks)));
    text += "by phase, a task, in a run of its own:";
    for (const char* comma = ""; const auto& [phase, time] : phases())
      text += fmt::format("{} {} {}", std::exchange(comma, ","), phase, readable_seconds(time));
    text += "\n";
    if (processes > 1)
      text += fmt::format(
          "between processes: {} tasks ({} because a process had nothing to do), {} results, payload {}\n",
          figures.tasks_sent, figures.tasks_moved, figures.results_sent,
          readable_bytes(figures.payload_bytes));
    text += link.to_text();
    for (const int process : lost)
      text += fmt::format("process {} was lost: the others have run its tasks ({} results were kept)\n",
                          process, sum.results_kept);
    return text + profile_text();
  }
};

/// Gathers the figures of all processes at rank 0. Collective. `kept`: the results that this process kept.
void gather(launch::Bootstrap& bootstrap, tasks::TaskJob& job, const std::string& transport_reason,
            double seconds_total, std::uint64_t kept, TaskReport& report) {
  static_cast<report::JobReport&>(report) =
      runs::gather_job(bootstrap, job.process(), transport_reason, {0, 0, seconds_total, 0});
  const auto summaries = bootstrap.gather(launch::pack(std::vector{TaskSummary{job.figures(), kept}}));
  for (std::size_t p = 0; p < summaries.size(); ++p) {
    if (summaries[p].empty()) {
      report.lost.push_back(static_cast<int>(p));
      report.tasks_run.push_back(0);
      note(fmt::format("warning: {}; the others have run its tasks",
                       bootstrap.health().why_lost(static_cast<int>(p))));
      continue;
    }
    const auto one = launch::unpack<TaskSummary>(summaries[p], p, 1)[0];
    report.tasks_run.push_back(one.figures.tasks);
    report.sum.figures += one.figures;
    report.sum.results_kept += one.results_kept;
  }
}

/// Runs one process of the job.
void run_process(launch::Bootstrap& bootstrap, const TaskOptions& asked, TaskProgram& program) {
  const auto start = Clock::now();
  const bool first = bootstrap.rank() == 0;
  if (first) check_report_files(asked.job);
  tasks::Registry registry;
  const auto root = program.add_functions(registry);
  const auto process = asked.job.process(bootstrap);
  tasks::TaskJob job(bootstrap, registry, process, program.input(), asked.job.launch.tolerates_losses);
  std::optional<profile::Profiler> profiler;
  if (asked.job.profiled())
    profiler.emplace(bootstrap, job.process(), profile_options(asked.job, {"run", "tasks"}));
  TaskReport report;
  std::uint64_t kept = 0, tasks = 0;
  {
    std::optional<TaskWatch> watch;
    if (first) watch.emplace(job, bootstrap.size() == 1);
    for (int run = 0; run <= asked.repeat; ++run) {
      if (watch)
        watch->tell({"running", static_cast<std::uint64_t>(run), static_cast<std::uint64_t>(asked.repeat) + 1,
                     "runs"});
      const bool measure_phases = run == asked.repeat;
      job.barrier();
      std::optional<profile::ProfiledRun> profiled(profiler && !measure_phases ? &*profiler : nullptr);
      const auto run_start = Clock::now();
      const std::string result = job.run(root, program.arguments(), measure_phases);
      kept += job.figures().results_kept;
      if (!measure_phases) report.seconds.push_back(seconds_since(run_start));
      if (profiler && !measure_phases) profiler->end_step(fmt::format("run {}", run + 1));
      if (!measure_phases) tasks += job.figures().tasks;
      if (first) report.result = program.result(result);
    }
  }
  gather(bootstrap, job, process.transport_reason, seconds_since(start), kept, report);
  if (profiler) {
    profile::ProcessFacts facts;
    facts.items = static_cast<double>(tasks) / asked.repeat;
    auto profile = profiler->gather(facts);
    if (first) profile::add_to(report, std::move(profile));
  }
  if (!first) return;
  write_profile_files(report, asked.job, fmt::format("Tasks: {}", program.name()));
  if (!asked.job.json_path.empty()) write_whole(asked.job.json_path, report.to_json(program));
  if (asked.job.stdout_is_free()) show(report.to_text(program));
}

}  // namespace

void TaskOptions::add_to(CLI::App& command) {
  add(command, opt::repeat, repeat);
  job.add_to(command);
  command.option_defaults()->group("Output");
  add_report_options(command, job.json_path, "run report");
}

void add_run_options(CLI::App& command, TaskOptions& options) {
  add(command, opt::retry, options.job.launch.tolerates_losses)->group("Processes");
  add_profile_options(command, options.job);
}

void run_tasks(const TaskOptions& options, const std::function<std::unique_ptr<TaskProgram>()>& make) {
  if (options.job.profiled() && options.job.launch.tolerates_losses)
    throw UsageError("--retry loses the times of a lost process: leave --retry or the profile out");
  run_job(options.job.launch,
          [&](launch::Bootstrap& bootstrap) { run_process(bootstrap, options, *make()); });
}

TaskWatch::TaskWatch(const tasks::TaskJob& job, bool alone)
    : unit_(alone ? "tasks run" : "tasks run here"),
      counting_(unit_, [&job] { return job.tasks_ended(); }),
      ticker_(process::InterruptLine::listen_if_shown(report::progress_on_terminal()),
              [this, &job] {
                const std::uint64_t level = level_;
                return fmt::format("{}{} {}", level > 0 ? fmt::format("level {}, ", level) : "",
                                   job.tasks_ended(), unit_);
              }),
      progress_(process::InterruptLine::listen([this](const Step& step) { ticker_.tell(step); })) {}

void TaskWatch::tell(const Step& step) {
  level_ = step.total == 0 ? step.done + 1 : 0;
  progress_(step);
}

}  // namespace edgewire::cli
