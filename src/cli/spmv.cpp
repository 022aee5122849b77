#include "kernels/spmv.h"

#include <fmt/format.h>

#include <limits>
#include <memory>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/dense_command.h"
#include "cli/files.h"
#include "cli/named_vertices.h"
#include "error.h"
#include "kernels/runs.h"

namespace edgewire::cli {

namespace {

class SpmvCommand final : public DenseCommand {
 public:
  SpmvCommand() : DenseCommand("spmv", "value") {}

  void add_options(CLI::App& command) {
    command.option_defaults()->group("Kernel");
    command.add_option("--iterations", iterations_, "multiply so often: x becomes y, and again")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    reads(command.add_option("--x", x_path_,
                             "read x from this file: lines of vertex and value, others 0; by default x is 1 "
                             "everywhere"));
  }

 private:
  void prepare(const graph::GraphFile& graph) override {
    job_.weighted = graph.weighted();
    if (x_path_.empty()) return;
    x_ = doubles() ? named_values(graph, x_path_, std::numeric_limits<double>::max(), "")
                   : named_values(graph, x_path_, double{std::numeric_limits<float>::max()},
                                  "--precision f64 takes it");
  }
  std::string state() const override {
    return fmt::format("spmv{}, x {}", job_.weighted ? " weighted" : "", x_path_.empty() ? "1" : digest(x_));
  }
  std::string describe() const override {
    return fmt::format("{}, {} iterations, precision {}", state(), iterations_, job_.precision);
  }
  int iterations() const override { return iterations_; }

  DenseOutcome iterate(DenseStage& stage) override {
    return doubles() ? multiply<double>(stage) : multiply<float>(stage);
  }
  template <class Offered>
  DenseOutcome multiply(DenseStage& stage) {
    kernels::SpMV<Offered> program(x_);
    typename kernels::SpMV<Offered>::Totals last;
    DenseOutcome outcome = run_program(stage, program, last);
    if (last.too_large > 0) {
      throw Error(fmt::format("{}: after {} iterations {} of {} values are too large for {}: {}",
                              job_.graph_path, iterations_, last.too_large, stage.job.graph().vertices(),
                              job_.precision,
                              !doubles()        ? "--precision f64 takes more"
                              : iterations_ > 1 ? "ask for fewer --iterations or smaller values in --x"
                                                : "smaller values in --x or smaller weights are needed"));
    }
    return outcome;
  }
  kernels::Reference reference(const graph::GraphFile& graph, int iterations,
                               const kernels::Rounding& rounding) const override {
    return kernels::reference_spmv(graph, x_, iterations, rounding);
  }
  double message_bound(int iterations, const kernels::Rounding& rounding) const override {
    return kernels::spmv_message_bound(iterations, rounding);
  }
  std::string listed() const override { return "vertices of the largest absolute values"; }
  report::Answer answer(const DenseStage& stage, const DenseOutcome& outcome,
                        const graph::VertexNames& names) const override {
    report::Answer answer;
    const double norm = norm_of_all(stage.bootstrap, outcome.values);
    const auto done = outcome.taken_up + static_cast<int>(outcome.iterations.size());
    answer.text =
        fmt::format("norm {:.9g} (Euclidean, of y after {} iteration{})", norm, done, done == 1 ? "" : "s");
    answer.fields = {{"norm", norm}};
    set_top(answer, "largest", exchange::Order::magnitude, stage, outcome, names);
    return answer;
  }
  void add_to(report::RunReport& report, const DenseOutcome&) const override {
    report.options = {{"iterations", std::int64_t{iterations_}},
                      {"x", x_path_},
                      {"precision", job_.precision},
                      {"weighted", job_.weighted}};
  }

  int iterations_ = 1;
  std::string x_path_;
  std::vector<double> x_;  ///< by vertex; empty: all are 1
};

}  // namespace

void add_spmv(CLI::App& app) {
  auto self = std::make_shared<SpmvCommand>();
  CLI::App* command =
      app.add_subcommand("spmv", "multiply the matrix of the graph by a vector, once or more");
  command->footer(
      "What y = A x means here: y[v] is the sum of w(u,v) * x[u] over all edges (u,v) into v. So row v of A "
      "holds the edges into v. w is the weight of the edge, or 1 where the graph has no weights. An edge "
      "that "
      "occurs several times counts as often as it occurs. With --direction in, row v holds the edges out of "
      "v: "
      "y = A^T x.");
  self->add_options(*command);
  DenseCommand::complete(*command, self);
  for (const char* name : {"--wire", "--weighted"}) command->remove_option(command->get_option(name));
}

}  // namespace edgewire::cli
