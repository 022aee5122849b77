#include <memory>

#include "cli/commands.h"
#include "cli/frontier_command.h"
#include "runs/kernels.h"

namespace edgewire::cli {

void add_wcc(CLI::App& app) {
  auto options = std::make_shared<KernelOptions>();
  CLI::App* command = app.add_subcommand("wcc", "compute the weakly connected component of every vertex");
  command->footer(
      "Two vertices are in the same component when edges, in any direction, lead from one to the other. The "
      "label of a component is its first vertex in the file. In graphs that store every edge both ways "
      "(convert --undirected) most edges are skipped.");
  add_frontier_options(
      *command, *options, [&] { options->edge_place.add_to(*command, options->launch); },
      "the labels to this file as lines of id, tab and the label, an id as well",
      "check that labels agree along each edge and that no two components share one, and exit with 1 when "
      "they do",
      {"largest components, by label and number of vertices"});
  command->callback([options] {
    run_frontier(*options, [](const graph::GraphFile&) { return [] { return runs::make_wcc(); }; });
  });
}

}  // namespace edgewire::cli
