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

#include "cli/answers.h"
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
  virtual kernels::Reference reference(const graph::GraphFile& graph, int iterations,
                                       const kernels::Rounding& rounding) const = 0;
  /// See kernels::message_bound().
  virtual double message_bound(int iterations, const kernels::Rounding& rounding) const = 0;
  /// What --top lists.
  virtual std::string listed() const { return fmt::format("vertices of the highest {}s", value_); }
  /// What people ask first, complete at rank 0. Collective.
  virtual report::Answer answer(const DenseStage& stage, const DenseOutcome& outcome,
                                const graph::VertexNames& names) const;
  /// Sets the list of an answer: the vertices that come first in this order, `word`. Collective.
  void set_top(report::Answer& answer, const char* word, exchange::Order order, const DenseStage& stage,
               const DenseOutcome& outcome, const graph::VertexNames& names) const;
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
  void run(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const graph::VertexNames& names);
  void check_outputs(launch::Bootstrap& bootstrap) const;
  std::string state(const DenseStage& stage) const;
  job::ResumedState take_up(const DenseStage& stage) const;
  std::unique_ptr<job::Checkpoint> make_checkpoint(const DenseStage& stage) const;
  kernels::Rounding rounding(const DenseStage& stage) const;
  void verify(const graph::GraphFile& graph, const graph::VertexNames& names,
              const kernels::Rounding& rounding, int iterations, std::span<const double> values,
              report::RunReport& report) const;
  void conclude(const graph::GraphFile& graph, std::span<const double> values,
                report::RunReport& report) const;
  /// Each process writes its own output.
  bool parts() const { return job_.output_parts && !job_.output_path.empty(); }
  /// Digits that tell any two values of the precision apart.
  int digits() const { return doubles() ? 17 : 9; }

  std::string kernel_, value_;
  std::string checkpoint_, resume_;
  std::optional<double> seconds_convert_;  ///< see OpenGraph
  int every_ = 10;
};

}  // namespace edgewire::cli
