#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/median.h"
#include "base/seconds.h"
#include "cli/common.h"
#include "cli/option.h"
#include "cli/task_command.h"
#include "launch/packing.h"
#include "options/measures.h"
#include "perf/bench/grains.h"
#include "report/json_text.h"
#include "runs/job_report.h"
#include "tasks/task_job.h"

namespace edgewire::cli {

namespace {

using bench::Pattern;

constexpr std::uint64_t kMostWork = std::uint64_t{1} << 18;  // of a task, in multiplications
constexpr double kEfficiency = 0.5, kLeastEfficiency = 0.2;

struct MetgSettings {
  TaskOptions tasks;
  std::string pattern = "stencil";
  std::uint32_t width = 0;  ///< 0: one column for each worker
  std::uint32_t steps = 200;
};

const std::map<std::string, Pattern> kPatterns{
    {"stencil", Pattern::stencil}, {"fft", Pattern::fft}, {"random", Pattern::random}};

/// Runs with one amount of work in each task.
struct Level {
  std::uint64_t work = 0;
  double seconds = 0;     ///< median
  double grain_s = 0;     ///< time of all workers / tasks
  double efficiency = 0;  ///< part of that time that the work alone takes
};

/// The shortest grain at which the efficiency is 1/2, between the last level that reaches it and the next
/// one. Below 0: no level reaches it, or the last one does.
double metg_of(const std::vector<Level>& levels) {
  for (std::size_t i = levels.size() - 1; i-- > 0;) {
    const Level &longer = levels[i], &shorter = levels[i + 1];
    if (longer.efficiency < kEfficiency || shorter.efficiency >= kEfficiency) continue;
    const double part = (longer.efficiency - kEfficiency) / (longer.efficiency - shorter.efficiency);
    return std::exp(std::log(longer.grain_s) * (1 - part) + std::log(shorter.grain_s) * part);
  }
  return -1;
}

/// Of one multiplication, without tasks: the least of several tries of all workers. Collective.
double seconds_of_work(launch::Bootstrap& bootstrap, topology::WorkerPool& pool) {
  constexpr int kTries = 20;
  std::vector<double> mine(static_cast<std::size_t>(pool.workers()), 1);
  for (int run = 0; run < kTries; ++run)
    pool.run([&](int worker) {
      const auto start = Clock::now();
      bench::work_for(kMostWork);
      double& least = mine[static_cast<std::size_t>(worker)];
      least = std::min(least, seconds_since(start));
    });
  return launch::allreduce(bootstrap, std::ranges::min(mine), std::ranges::min) / kMostWork;
}

struct MetgReport : report::JobReport {
  bench::Grains grains;
  std::string pattern, result;
  std::vector<Level> levels;
  double metg_s = -1;

  std::string to_json() const {
    report::Json json{{"schema_version", 1}, {"command", "tasks"}, {"program", "metg"}, {"pattern", pattern}};
    EDGEWIRE_ADD_FIELDS(json, grains, width, steps);
    add_head(json);
    json["result"] = result;
    if (metg_s >= 0) json["seconds_metg"] = metg_s;
    for (const Level& level : levels)
      json["levels"].push_back({{"work", level.work},
                                {"seconds", level.seconds},
                                {"seconds_a_task", level.grain_s},
                                {"efficiency", level.efficiency}});
    json["seconds_total"] = seconds_total;
    add_place(json);
    add_end(json);
    return report::json_text(json, 2) + "\n";
  }

  std::string to_text() const {
    std::string text =
        fmt::format("metg: {}, {} columns x {} steps, {}\n", pattern, grains.width, grains.steps, describe());
    text += fmt::format("{:>12} {:>12}\n", "us a task", "efficiency");
    for (const Level& level : levels)
      text += fmt::format("{:>12.3f} {:>11.1f}%\n", level.grain_s * 1e6, level.efficiency * 100);
    text += link.to_text();
    if (metg_s >= 0) return text + fmt::format("METG(50 %): {:.3f} us\n", metg_s * 1e6);
    return text + (levels.back().efficiency < kEfficiency
                       ? "no tasks are 50 % efficient: do the workers share cores?\n"
                       : "even the shortest tasks are 50 % efficient\n");
  }
};

/// What the tasks must give, by the definition.
std::uint64_t sum_plainly(const bench::Grains& grains) {
  std::vector<std::uint64_t> before, row;
  for (std::uint32_t t = 0; t < grains.steps; ++t) {
    row.clear();
    for (std::uint32_t i = 0; i < grains.width; ++i) {
      row.push_back(std::uint64_t{t} * 1'000'003 + i + 1);
      for (std::uint32_t j = 0; j < before.size(); ++j)
        if (bench::waits_for(grains, t, i, j)) row.back() += before[j];
    }
    before.swap(row);
  }
  std::uint64_t sum = 0;
  for (const auto value : before) sum += value;
  return sum;
}

/// The median of the runs; the results are right. Collective.
double measure(tasks::TaskJob& job, tasks::FunctionId root, const bench::Grains& grains, int repeat,
               bool first) {
  std::vector<double> seconds;
  for (int run = 0; run < repeat; ++run) {
    job.barrier();
    const auto start = Clock::now();
    const std::string result = job.run(root, tasks::to_bytes(grains));
    seconds.push_back(seconds_since(start));
    if (first && tasks::from_bytes<std::uint64_t>(result) != sum_plainly(grains))
      throw Error("the result of the tasks is wrong");
  }
  return median(std::move(seconds));
}

/// One process of the job.
void run_process(launch::Bootstrap& bootstrap, const MetgSettings& asked) {
  const auto start = Clock::now();
  const bool first = bootstrap.rank() == 0;
  if (first) check_writable(asked.tasks.job.json_path);
  const auto process = asked.tasks.job.process(bootstrap);
  const auto cores = static_cast<std::uint32_t>(bootstrap.size() * process.workers);
  tasks::Registry registry;
  const auto root = bench::add_grains(registry);
  MetgReport report;
  report.grains = {kPatterns.at(asked.pattern), asked.width > 0 ? asked.width : cores, asked.steps, 0};
  tasks::TaskJob job(bootstrap, registry, process,
                     fmt::format("{} x {} {}, {} times", report.grains.width, asked.steps, asked.pattern,
                                 asked.tasks.repeat));
  report.pattern = asked.pattern;
  const double tasks = static_cast<double>(report.grains.width) * report.grains.steps;
  {
    std::optional<TaskWatch> watch;
    if (first) watch.emplace(job, bootstrap.size() == 1);
    const double work_s = seconds_of_work(bootstrap, job.process().pool());
    bool goes_on = true;
    for (auto grains = report.grains; goes_on;) {
      const std::size_t done = report.levels.size();
      grains.work = kMostWork >> done;
      if (watch) watch->tell({"measuring", done, 0, "levels"});
      Level level{grains.work, measure(job, root, grains, asked.tasks.repeat, first), 0, 0};
      level.grain_s = level.seconds * cores / tasks;
      level.efficiency = static_cast<double>(level.work) * work_s / level.grain_s;
      report.levels.push_back(level);
      const bool enough = grains.work == 1 || level.efficiency < kLeastEfficiency;
      goes_on = bootstrap.allgather(enough ? "" : "on")[0] == "on";  // as rank 0 sees it
    }
  }
  static_cast<report::JobReport&>(report) =
      runs::gather_job(bootstrap, job.process(), process.transport_reason, {0, 0, seconds_since(start), 0});
  if (!first) return;
  report.metg_s = metg_of(report.levels);
  report.result = std::to_string(sum_plainly(report.grains));
  if (!asked.tasks.job.json_path.empty()) write_whole(asked.tasks.job.json_path, report.to_json());
  if (asked.tasks.job.json_path != "-") show(report.to_text());
}

/// A profile asks the clock at the begin and at the end of what each task does.
void refuse_profile_options(CLI::App& command) {
  const auto refuse = [](const std::string&) {
    throw UsageError(
        "tasks metg has no profile: its tasks become so short that measuring them would take "
        "longer than they do; profile another program, such as tasks iterative");
  };
  command
      .add_flag_function(
          "--profile", [refuse](std::int64_t) { refuse(""); }, "")
      ->group("");
  for (const char* option : {"--profile-page", "--trace", "--sample-interval"})
    command.add_option_function<std::string>(option, refuse)->group("");
}

}  // namespace

void add_metg(CLI::App& all) {
  auto settings = std::make_shared<MetgSettings>();
  CLI::App* command = all.add_subcommand(
      "metg", "the shortest task at which half of the time is spent working, METG(50 %) of Task Bench");
  std::vector<std::string> names;
  for (const auto& [name, pattern] : kPatterns) names.push_back(name);
  add(*command, opt::pattern, settings->pattern)->check(one_of(names));
  add(*command, opt::row_width, settings->width);
  add(*command, opt::steps, settings->steps);
  settings->tasks.add_to(*command);
  refuse_profile_options(*command);
  command->callback([settings] {
    run_job(settings->tasks.job.launch,
            [&](launch::Bootstrap& bootstrap) { run_process(bootstrap, *settings); });
  });
}

}  // namespace edgewire::cli
