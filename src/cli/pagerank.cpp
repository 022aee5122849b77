#include "kernels/pagerank.h"

#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/rank_command.h"
#include "kernels/runs.h"

namespace edgewire::cli {

namespace {

class PageRankCommand final : public RankCommand {
 public:
  PageRankCommand() : RankCommand("pagerank") {}

  void add_options(CLI::App& command) {
    RankCommand::add_options(command);
    command.add_flag(
        "--pagerank-2015", asked_.form_2015,
        "compute the form of 2015 instead: ranks start at 0, a new one is 1 - d + d * sum, and what vertices "
        "without out-edges have is dropped");
  }

 private:
  std::string name() const {
    return fmt::format("pagerank{}{}", asked_.form_2015 ? " 2015" : "", asked_.weighted ? " weighted" : "");
  }
  std::string describe() const override {
    return fmt::format("{}, {} iterations, damping {}, tolerance {}, precision {}", name(), asked_.iterations,
                       asked_.damping, asked_.tolerance, job_.precision);
  }
  std::string state() const override { return fmt::format("{}, damping {}", name(), asked_.damping); }

  DenseOutcome iterate(DenseStage& stage) override {
    const auto vertices = stage.job.graph().vertices();
    return doubles() ? iterate_program(stage, kernels::PageRank<double>(asked_, vertices))
                     : iterate_program(stage, kernels::PageRank<float>(asked_, vertices));
  }
  kernels::Reference reference(const graph::GraphFile& graph, int iterations,
                               const kernels::Rounding& rounding) const override {
    return kernels::reference_ranks(graph, asked_, iterations, {}, rounding);
  }
  void add_to(report::RunReport& report, const DenseOutcome& outcome) const override {
    RankCommand::add_to(report, outcome);
    report.options.emplace_back("pagerank_2015", asked_.form_2015);
  }
};

}  // namespace

void add_pagerank(CLI::App& app) {
  auto self = std::make_shared<PageRankCommand>();
  CLI::App* command = app.add_subcommand("pagerank", "compute the rank of every vertex by power iteration");
  command->footer(
      "What PageRank means here: all ranks start at 1/n and always sum to 1. In each iteration a vertex "
      "gives "
      "the share --damping of its rank to the targets of its edges, and the rest goes to all vertices "
      "evenly. "
      "An edge that occurs several times counts as often as it occurs. A vertex without out-edges gives its "
      "rank to all vertices evenly. Weights are ignored, unless --weighted shares out in proportion to "
      "them.");
  self->add_options(*command);
  DenseCommand::complete(*command, self);
}

}  // namespace edgewire::cli
