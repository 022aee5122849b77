// This file has the common part of the commands of `edgewire tasks`: the job, its runs and their report.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/job_options.h"
#include "edgewire/tasks.h"
#include "process/interrupt.h"
#include "report/progress.h"
#include "tasks/task_job.h"

namespace edgewire::cli {

/// A program of tasks as a command runs it.
class TaskProgram {
 public:
  virtual ~TaskProgram() = default;
  virtual std::string name() const = 0;
  /// Describes the program in words, for people.
  virtual std::string describe() const = 0;
  /// Returns the text that must be the same in all processes.
  virtual std::string input() const { return {}; }
  /// Adds the options to the report.
  virtual void add_to(nlohmann::ordered_json& report) const = 0;
  /// Adds the functions, and returns that of the first task.
  virtual tasks::FunctionId add_functions(tasks::Registry& registry) const = 0;
  virtual std::string arguments() const = 0;
  /// Returns the bytes of the first task's result in words. Throws Error when the result is wrong.
  virtual std::string result(const std::string& bytes) = 0;
};

struct TaskOptions {
  JobOptions job;
  int repeat = 5;

  void add_to(CLI::App& command);
};

/// Adds the options of commands with run_tasks(): --retry, and options of profiles.
void add_run_options(CLI::App& command, TaskOptions& options);

/// Runs the job and returns when all processes have ended. `make`: the program of a process.
void run_tasks(const TaskOptions& options, const std::function<std::unique_ptr<TaskProgram>()>& make);

/// Each function adds a subcommand of `tasks`.
void add_smith_waterman(CLI::App& tasks);
void add_metg(CLI::App& tasks);

/// Shows the progress of tasks, on a terminal and when a signal ends them. One process of a job uses it.
class TaskWatch {
 public:
  /// Watches `job`, which outlives it. `alone`: whether it is the only process.
  TaskWatch(const tasks::TaskJob& job, bool alone);

  /// Shows that the next run begins, or, where their number is not known, the next level.
  void tell(const Step& step);

 private:
  const char* const unit_;
  std::atomic<std::uint64_t> level_{0};  ///< level that is measured; 0: there are no levels
  process::InterruptLine::Counting counting_;
  process::InterruptLine line_;  // ends before the members that it counts with
  report::Ticker ticker_;
  Progress progress_;
};

}  // namespace edgewire::cli
