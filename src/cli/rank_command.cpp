#include "cli/rank_command.h"

#include <fmt/format.h>

namespace edgewire::cli {

void RankCommand::add_options(CLI::App& command) {
  command.option_defaults()->group("Kernel");
  command.add_option("--iterations", asked_.iterations, "stop after this many iterations")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  command.add_option("--damping", asked_.damping, "let this share of a rank follow the edges")
      ->check(between(0, 1))
      ->capture_default_str();
  command
      .add_option("--tolerance", asked_.tolerance,
                  "stop when all changes of an iteration sum to less than this; 0: never")
      ->check(between(0, 1e9))
      ->capture_default_str();
}

void RankCommand::prepare(const graph::GraphFile&) { asked_.weighted = job_.weighted; }

/// How near the ranks are to those that iterations without end would give.
report::RunReport::Convergence RankCommand::convergence(int done, int taken_up) const {
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
        job_.encoding != "f32" ? " (--wire f32 rounds less)"
        : doubles()            ? ""
                               : " (--precision f64 rounds less)");
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

void RankCommand::add_to(report::RunReport& report, const DenseOutcome& outcome) const {
  report.convergence.push_back(
      convergence(outcome.taken_up + static_cast<int>(outcome.iterations.size()), outcome.taken_up));
  report.options = {{"iterations", std::int64_t{asked_.iterations}},
                    {"damping", asked_.damping},
                    {"tolerance", asked_.tolerance},
                    {"precision", job_.precision},
                    {"weighted", asked_.weighted}};
}

}  // namespace edgewire::cli
