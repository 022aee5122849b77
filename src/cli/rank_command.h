// What the commands have in common whose ranks settle: pagerank and ppr.
#pragma once

#include "cli/dense_command.h"
#include "kernels/convergence.h"
#include "kernels/reference.h"

namespace edgewire::cli {

class RankCommand : public DenseCommand {
 public:
  explicit RankCommand(std::string kernel) : DenseCommand(std::move(kernel), "rank") {}

 protected:
  /// --iterations, --damping and --tolerance.
  void add_options(CLI::App& command);
  void prepare(const graph::GraphFile& graph) override;
  int iterations() const override { return asked_.iterations; }
  bool has_goal() const override { return asked_.tolerance > 0; }
  double message_bound(int iterations, const kernels::Rounding& rounding) const override {
    return kernels::message_bound(asked_, iterations, rounding);
  }
  void add_to(report::RunReport& report, const DenseOutcome& outcome) const override;

  template <class P>
  DenseOutcome iterate_program(DenseStage& stage, P program) {
    typename P::Totals last;
    DenseOutcome outcome = run_program(stage, program, last);
    change_ = last.change;
    ending_ = program.convergence.ending();
    return outcome;
  }

  kernels::PageRankOptions asked_;

 private:
  /// `done`: iterations in all, of which `taken_up` are those of a checkpoint.
  report::RunReport::Convergence convergence(int done, int taken_up) const;

  double change_ = 0;  ///< of the last iteration
  kernels::Ending ending_ = kernels::Ending::iterations;
};

}  // namespace edgewire::cli
