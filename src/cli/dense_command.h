// What the commands of all dense kernels do: options, the way through a job, report, check, output.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/edge_place.h"
#include "cli/job_options.h"
#include "job/dense_run.h"
#include "kernels/reference.h"
#include "launch/bootstrap.h"
#include "report/run_report.h"

namespace edgewire::cli {

/// What the iterations of one process gave.
struct DenseOutcome {
  topology::NodeMemory memory{};     ///< of the values
  std::span<const double> values{};  ///< by index of the owned vertices
  std::vector<engine::IterationRecord> iterations{};
  int taken_up = 0;  ///< iterations done before, see --resume
};

/// A job that is ready to iterate.
struct DenseStage {
  launch::Bootstrap& bootstrap;
  job::DenseJob& job;
  const job::DenseOptions& options;
  job::RunOptions run{};
};

/// The command of a dense kernel whose values are doubles. What is virtual sets the kernel apart.
class DenseCommand {
 public:
  /// `value`: what messages call the value of a vertex.
  DenseCommand(std::string kernel, std::string value)
      : kernel_(std::move(kernel)), value_(std::move(value)) {}
  virtual ~DenseCommand() = default;
  DenseCommand(const DenseCommand&) = delete;
  DenseCommand& operator=(const DenseCommand&) = delete;

  /// Adds the options that all have, and the callback, which runs the job. `command` has its own options.
  static void complete(CLI::App& command, const std::shared_ptr<DenseCommand>& self);

 protected:
  /// Before the processes start: the kernel's own checks of its options. Throws Error or UsageError.
  virtual void prepare(const graph::GraphFile&) {}
  /// What is computed, with all options of the kernel; the same in all processes.
  virtual std::string describe() const = 0;
  /// What values depend on beside graph, wire and number of iterations; for checkpoints.
  virtual std::string state() const = 0;
  virtual int iterations() const = 0;
  /// Ask the program after each iteration whether it is done.
  virtual bool has_goal() const { return false; }
  /// Makes the program and hands it to run_program().
  virtual DenseOutcome iterate(DenseStage& stage) = 0;
  virtual kernels::Reference reference(const graph::GraphFile& graph, int iterations) const = 0;
  virtual kernels::ErrorBound error_bound(const job::DenseJob& job, const job::DenseOptions& options,
                                          int iterations, int processes) const = 0;
  /// Adds what was asked for, and what else the kernel has to say.
  virtual void add_to(report::RunReport& report, const DenseOutcome& outcome) const = 0;

  /// Sets `last` to the totals of the last iteration.
  template <class P>
  DenseOutcome run_program(DenseStage& stage, P& program, typename P::Totals& last) {
    job::DenseRun run(stage.job, program);
    if (!resume_.empty()) run.take_up(take_up(stage));
    const auto checkpoint = make_checkpoint(stage);
    stage.run.checkpoint = checkpoint.get();
    DenseOutcome outcome;
    outcome.iterations = run.iterate(stage.run);
    outcome.values = run.values();
    outcome.memory = run.take_values();
    outcome.taken_up = run.taken_up();
    last = run.totals();
    return outcome;
  }
  bool doubles() const { return job_.precision == "f64"; }

  JobOptions job_;

 private:
  void start();
  void run(launch::Bootstrap& bootstrap, const graph::GraphFile& graph);
  void check_outputs(launch::Bootstrap& bootstrap) const;
  std::string state(const DenseStage& stage) const;
  job::ResumedState take_up(const DenseStage& stage) const;
  std::unique_ptr<job::Checkpoint> make_checkpoint(const DenseStage& stage) const;
  void conclude(const graph::GraphFile& graph, const kernels::ErrorBound& limits, int iterations,
                std::span<const double> values, report::RunReport& report) const;
  /// Each process writes its own output.
  bool parts() const { return job_.output_parts && !job_.output_path.empty(); }
  /// Digits that tell any two values of the precision apart.
  int digits() const { return doubles() ? 17 : 9; }

  std::string kernel_, value_;
  std::string checkpoint_, resume_;
  std::optional<double> seconds_convert_;  ///< see OpenGraph
  int every_ = 10;
  std::uint64_t top_ = 0;  ///< vertices to print
};

}  // namespace edgewire::cli
