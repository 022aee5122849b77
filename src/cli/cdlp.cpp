#include <memory>

#include "cli/commands.h"
#include "cli/kernel_options.h"
#include "cli/option.h"
#include "options/kernels.h"

namespace edgewire::cli {

void add_cdlp(CLI::App& app) {
  struct CdlpSettings {
    KernelOptions job;
    CdlpOptions asked;
  };
  auto settings = std::make_shared<CdlpSettings>();
  CLI::App* command =
      app.add_subcommand("cdlp", "detect communities by label propagation, as LDBC Graphalytics defines it");
  const auto own = [&] { add(*command, opt::iterations, settings->asked.iterations); };
  add_frontier_options(
      *command, settings->job, own,
      {"Each vertex starts with its own id as its label. In each iteration all vertices at once take the "
       "label that is most frequent among their neighbours, the smallest of those on a tie. Both ends of an "
       "edge are neighbours: once for each edge, and in directed graphs once for each direction. A vertex "
       "without neighbours keeps its label. A run ends early when no label has changed.",
       kLabelsOutput, "find the labels again, one vertex after another, and exit with 1 when one differs",
       "largest communities, by label and number of vertices"});
  settings->job.add_checkpoint_options(*command, "label", "iteration");
  settings->job.set_iterations = [&asked = settings->asked](int iterations) {
    asked.iterations = static_cast<std::uint32_t>(iterations);
  };
  command->callback([settings] {
    run_kernel(settings->job, [settings](const Graph&) { return runs::make_cdlp(settings->asked); });
  });
}

}  // namespace edgewire::cli
