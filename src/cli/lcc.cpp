#include <memory>

#include "cli/commands.h"
#include "cli/frontier_command.h"
#include "runs/kernels.h"

namespace edgewire::cli {

void add_lcc(CLI::App& app) {
  auto options = std::make_shared<KernelOptions>();
  CLI::App* command =
      app.add_subcommand("lcc", "compute the local clustering coefficient of every vertex, count triangles");
  command->footer(
      "The neighbours of a vertex are all others with an edge to or from it. Its coefficient is the number "
      "of edges that lead from one neighbour to another, divided by d (d - 1), the most that there can be "
      "between d neighbours; it is 0 where d is less than 2. An edge that occurs several times counts once, "
      "self loops do not count. A triangle is three vertices that are neighbours of one another.");
  add_frontier_options(
      *command, *options, [] {}, "the coefficients to this file as lines of id, tab and coefficient",
      "count the edges between the neighbours of each vertex again, one vertex after another, and exit with "
      "1 when a coefficient is wrong",
      {"vertices of the highest coefficients"});
  command->callback([options] {
    run_frontier(*options, [](const graph::GraphFile&) { return [] { return runs::make_lcc(); }; });
  });
}

}  // namespace edgewire::cli
