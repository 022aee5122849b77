#include "runs/rank_kernel.h"

#include <fmt/format.h>

namespace edgewire::runs {

std::string RankKernel::state() const { return fmt::format("{}, damping {}", program(), asked_.damping); }

std::string RankKernel::describe() const {
  return fmt::format("{}, {} iterations, damping {}, tolerance {}, precision {}", program(),
                     asked_.iterations, asked_.damping, asked_.tolerance, precision());
}

/// How near the ranks are to those that iterations without end would give.
report::RunReport::Convergence RankKernel::convergence(int done, int taken_up,
                                                       const std::string& wire) const {
  report::RunReport::Convergence result{change_, ending_ == kernels::Ending::tolerance, {}};
  if (done == taken_up) {
    result.text = taken_up == 0
                      ? "no iteration was computed\n"
                      : fmt::format("no iteration was computed after the {} of the checkpoint\n", taken_up);
    return result;
  }
  result.text = fmt::format("the last iteration changed the ranks by {:.3g} in sum; ", change_);
  if (asked_.tolerance == 0)
    result.text += "no --tolerance was asked for\n";
  else if (ending_ == kernels::Ending::tolerance)
    result.text += fmt::format("tolerance {:g} reached after {} iterations\n", asked_.tolerance, done);
  else if (ending_ == kernels::Ending::stalled)
    result.text += fmt::format(
        "tolerance {:g} NOT reached: stopped after {} iterations, since the change no longer falls{}\n",
        asked_.tolerance, done,
        wire == "f64"   ? ""
        : wire == "f32" ? " (--precision f64 rounds less)"
                        : " (--wire f32 rounds less)");
  else
    result.text += fmt::format("tolerance {:g} NOT reached in {} iterations\n", asked_.tolerance, done);
  if (asked_.damping < 1) {
    // An iteration brings any two sets of ranks nearer to each other by the factor `damping`, in sum.
    result.text += fmt::format(
        "more iterations would change the ranks by at most {:.3g} in sum; single ranks may change by a "
        "larger part of their value\n",
        change_ * asked_.damping / (1 - asked_.damping));
  }
  return result;
}

void RankKernel::add_to(report::RunReport& report, const DenseOutcome& outcome) const {
  report.convergence.push_back(convergence(outcome.done(), outcome.taken_up, report.wire));
  report.options = {{"iterations", std::int64_t{asked_.iterations}},
                    {"damping", asked_.damping},
                    {"tolerance", asked_.tolerance},
                    {"precision", precision()},
                    {"weighted", asked_.weighted}};
}

}  // namespace edgewire::runs
