#include "kernels/ppr.h"

#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/rank_command.h"
#include "cli/sources.h"
#include "error.h"
#include "kernels/runs.h"

namespace edgewire::cli {

namespace {

class PprCommand final : public RankCommand {
 public:
  PprCommand() : RankCommand("ppr") {}

  void add_options(CLI::App& command) {
    command.option_defaults()->group("Kernel");
    asked_sources_.add_to(command, "ranks restart at all of them");
    RankCommand::add_options(command);
  }

 private:
  void prepare(const graph::GraphFile& graph) override {
    RankCommand::prepare(graph);
    if (!asked_sources_.given()) throw UsageError("--source is required, or --sources for several vertices");
    sources_ = asked_sources_.find(graph);
  }
  std::string name() const {
    return fmt::format("ppr{}, sources {}", asked_.weighted ? " weighted" : "", digest(sources_));
  }
  std::string describe() const override {
    return fmt::format("{}, {} iterations, damping {}, tolerance {}, precision {}", name(), asked_.iterations,
                       asked_.damping, asked_.tolerance, job_.precision);
  }
  std::string state() const override { return fmt::format("{}, damping {}", name(), asked_.damping); }

  DenseOutcome iterate(DenseStage& stage) override {
    return doubles() ? iterate_program(stage, kernels::PersonalisedPageRank<double>(asked_, sources_))
                     : iterate_program(stage, kernels::PersonalisedPageRank<float>(asked_, sources_));
  }
  kernels::Reference reference(const graph::GraphFile& graph, int iterations,
                               const kernels::Rounding& rounding) const override {
    return kernels::reference_ranks(graph, asked_, iterations, sources_, rounding);
  }
  void add_to(report::RunReport& report, const DenseOutcome& outcome) const override {
    RankCommand::add_to(report, outcome);
    for (const auto& option : asked_sources_.options()) report.options.push_back(option);
  }

  NamedSources asked_sources_;
  std::vector<std::uint32_t> sources_;
};

}  // namespace

void add_ppr(CLI::App& app) {
  auto self = std::make_shared<PprCommand>();
  CLI::App* command =
      app.add_subcommand("ppr", "compute personalised PageRank: ranks as seen from some vertices");
  command->footer(
      "What personalised PageRank means here: the ranks of the sources start at 1 divided by their number, "
      "all others at 0, and all always sum to 1. In each iteration a vertex gives the share --damping of its "
      "rank to the targets of its edges, and the rest goes to the sources evenly. A vertex without out-edges "
      "gives all of its rank to the sources. An edge that occurs several times counts as often as it occurs. "
      "Weights are ignored, unless --weighted shares out in proportion to them.");
  self->add_options(*command);
  DenseCommand::complete(*command, self);
  command->remove_option(command->get_option("--wire"));  // ranks may be too small for 16 bits
}

}  // namespace edgewire::cli
