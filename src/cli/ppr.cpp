#include <memory>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/dense_command.h"
#include "cli/sources.h"

namespace edgewire::cli {

void add_ppr(CLI::App& app) {
  auto settings = std::make_shared<RankSettings>();
  auto sources = std::make_shared<NamedSources>();
  CLI::App* command =
      app.add_subcommand("ppr", "compute personalised PageRank: ranks as seen from some vertices");
  command->footer(
      "What personalised PageRank means here: the ranks of the sources start at 1 divided by their number, "
      "all others at 0, and all always sum to 1. In each iteration a vertex gives the share --damping of its "
      "rank to the targets of its edges, and the rest goes to the sources evenly. A vertex without out-edges "
      "gives all of its rank to the sources. An edge that occurs several times counts as often as it occurs. "
      "Weights are ignored, unless --weighted shares out in proportion to them.");
  command->option_defaults()->group("Kernel");
  sources->add_to(*command, "ranks restart at all of them");
  settings->add_rank_options(*command);
  add_dense_options(*command, *settings, "rank", "vertices of the highest ranks");
  command->remove_option(command->get_option("--wire"));  // ranks may be too small for 16 bits
  command->callback([settings, sources] {
    run_dense(*settings, [&](const graph::GraphFile& graph) {
      if (!sources->given()) throw UsageError("--source is required, or --sources for several vertices");
      return [&, found = sources->find(graph)] {
        return runs::make_ppr(settings->options(), found, settings->doubles());
      };
    });
  });
}

}  // namespace edgewire::cli
