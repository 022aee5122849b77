// What the kernels have in common whose ranks settle: pagerank and ppr.
#pragma once

#include <string>
#include <utility>

#include "kernels/convergence.h"
#include "kernels/reference.h"
#include "runs/dense_kernel.h"

namespace edgewire::runs {

class RankKernel : public DenseKernel {
 public:
  RankKernel(std::string name, const kernels::PageRankOptions& asked, bool doubles)
      : DenseKernel(std::move(name), "rank", doubles), asked_(asked) {}

  std::string describe() const override;
  std::string state() const override;
  int iterations() const override { return asked_.iterations; }
  bool has_goal() const override { return asked_.tolerance > 0; }
  double message_bound(int iterations, const kernels::Rounding& rounding) const override {
    return kernels::message_bound(asked_, iterations, rounding);
  }
  void add_to(report::RunReport& report, const DenseOutcome& outcome) const override;

 protected:
  /// The kernel and what its program depends on, but damping.
  virtual std::string program() const = 0;

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
  /// `done`: iterations in all, of which `taken_up` are those of a checkpoint. `wire`: as in the report.
  report::RunReport::Convergence convergence(int done, int taken_up, const std::string& wire) const;

  double change_ = 0;  ///< of the last iteration
  kernels::Ending ending_ = kernels::Ending::iterations;
};

}  // namespace edgewire::runs
