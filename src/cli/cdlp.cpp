#include <cstdint>
#include <memory>

#include "cli/commands.h"
#include "cli/frontier_command.h"
#include "runs/kernels.h"

namespace edgewire::cli {

namespace {

struct CdlpSettings {
  KernelOptions job;
  std::uint32_t iterations = 10;
};

}  // namespace

void add_cdlp(CLI::App& app) {
  auto settings = std::make_shared<CdlpSettings>();
  CLI::App* command =
      app.add_subcommand("cdlp", "detect communities by label propagation, as LDBC Graphalytics defines it");
  command->footer(
      "Each vertex starts with its own id as its label. In each iteration all vertices at once take the "
      "label "
      "that is most frequent among their neighbours, the smallest of those on a tie. Both ends of an edge "
      "are "
      "neighbours: once for each edge, and in directed graphs once for each direction. A vertex without "
      "neighbours keeps its label. A run ends early when no label has changed.");
  const auto own = [&] {
    command->add_option("--iterations", settings->iterations, "stop after this many iterations")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
  };
  add_frontier_options(*command, settings->job, own,
                       "the labels to this file as lines of id, tab and the label, an id as well; ",
                       "find the labels again, one vertex after another, and exit with 1 when one differs",
                       {"largest communities, by label and number of vertices"});
  settings->job.add_checkpoint_options(*command, "label", "iteration");
  command->callback([settings] {
    run_frontier(settings->job, [settings](const graph::GraphFile&) {
      return [settings] {
        return runs::make_cdlp({settings->iterations, settings->job.checkpoint_options()});
      };
    });
  });
}

}  // namespace edgewire::cli
