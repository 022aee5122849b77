// This file has the interface of a kernel that passes over all edges, and runs it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/rooms.h"
#include "dense/job/dense_job.h"
#include "edgewire/program.h"
#include "kernels/check/reference.h"
#include "runs/answer_check.h"
#include "runs/answers.h"
#include "runs/kernel.h"

namespace edgewire::runs {

/// The result of one process's iterations.
struct DenseOutcome {
  topology::NodeMemory memory{};     ///< memory of the values
  std::span<const double> values{};  ///< values of the owned vertices, by index
  std::vector<IterationRecord> iterations{};
  int resumed_at = 0;  ///< number of iterations that a checkpoint held

  int done() const noexcept { return resumed_at + static_cast<int>(iterations.size()); }
};

/// A job, and the tools to use beside computing.
struct DenseStage {
  launch::Bootstrap& bootstrap;
  DenseJob& job;
  const Tools& tools;
};

/// A kernel whose values are doubles. There is one object for each process of the job. Virtual functions set
/// the kernel apart; those functions that take the stage are collective.
class DenseKernel : public Kernel {
 public:
  /// `value`: the name of a vertex's value in messages. `doubles`: whether these are doubles, not floats.
  DenseKernel(std::string name, std::string value, bool doubles)
      : Kernel(std::move(name)), value_(std::move(value)), doubles_(doubles) {}
  bool has_tiles() const final { return true; }
  report::RunReport run(launch::Bootstrap& bootstrap, const Graph& graph, const graph::VertexNames& names,
                        const RunOptions& options) final;

  std::string_view value() const noexcept { return value_; }
  bool doubles() const noexcept { return doubles_; }
  const char* precision() const noexcept { return doubles_ ? "f64" : "f32"; }
  /// Returns the number of digits that tell any two values of the precision apart.
  int digits() const noexcept { return doubles_ ? 17 : 9; }

  /// Returns all that values depend on beside graph, wire and number of iterations; it is for checkpoints.
  virtual std::string state() const = 0;
  virtual int iterations() const = 0;
  /// Returns whether the program decides after each iteration if it is done.
  virtual bool has_goal() const { return false; }
  /// Makes the program and its run, which may note its end in the kernel. The kernel outlives it.
  virtual std::unique_ptr<detail::AnyRun<double>> start(DenseJob& job) = 0;
  virtual kernels::Reference reference(const Graph& graph, int iterations,
                                       const kernels::Rounding& rounding) const = 0;
  /// Returns the result of kernels::message_bound().
  virtual double message_bound(const Graph& graph, int iterations,
                               const kernels::Rounding& rounding) const = 0;
  /// Returns the answer, complete at rank 0.
  virtual report::Answer answer(const DenseStage& stage, const DenseOutcome& outcome,
                                const graph::VertexNames& names) const;
  /// Returns the answer that the values of all vertices give: see answer_check.h.
  virtual report::Answer expected_answer(const Asked& asked, std::span<const double> all) const {
    return expected_highest(asked, all, kTop);
  }
  /// Adds the options, and the kernel's own parts.
  virtual void add_to(report::RunReport& report, const DenseOutcome& outcome) const = 0;

 protected:
  /// Sets the list of an answer: the vertices that come first in this order, `word`. Collective.
  static void set_top(report::Answer& answer, const char* word, process::Order order, const DenseStage& stage,
                      const DenseOutcome& outcome, const graph::VertexNames& names);

 private:
  std::string value_;
  bool doubles_;
};

}  // namespace edgewire::runs
