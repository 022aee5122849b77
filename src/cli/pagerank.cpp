#include <memory>

#include "cli/commands.h"
#include "cli/dense_command.h"

namespace edgewire::cli {

void add_pagerank(CLI::App& app) {
  auto settings = std::make_shared<RankSettings>();
  CLI::App* command = app.add_subcommand("pagerank", "compute the rank of every vertex by power iteration");
  command->footer(
      "What PageRank means here: all ranks start at 1/n and always sum to 1. In each iteration a vertex "
      "gives "
      "the share --damping of its rank to the targets of its edges, and the rest goes to all vertices "
      "evenly. "
      "An edge that occurs several times counts as often as it occurs. A vertex without out-edges gives its "
      "rank to all vertices evenly. Weights are ignored, unless --weighted shares out in proportion to "
      "them.");
  settings->add_rank_options(*command);
  command->add_flag(
      "--pagerank-2015", settings->asked.form_2015,
      "compute the form of 2015 instead: ranks start at 0, a new one is 1 - d + d * sum, and what vertices "
      "without out-edges have is dropped");
  add_dense_options(*command, *settings, "rank", "vertices of the highest ranks");
  command->callback([settings] {
    run_dense(*settings, [&](const graph::GraphFile& graph) {
      return [&] { return runs::make_pagerank(settings->options(), graph.vertices(), settings->doubles()); };
    });
  });
}

}  // namespace edgewire::cli
