#include <memory>

#include "cli/commands.h"
#include "cli/frontier_command.h"
#include "runs/kernels.h"

namespace edgewire::cli {

void add_scc(CLI::App& app) {
  auto options = std::make_shared<KernelOptions>();
  CLI::App* command = app.add_subcommand("scc", "compute the strongly connected component of every vertex");
  command->footer(
      "Two vertices are in the same component when paths lead along edges from each to the other. The label "
      "of a component is its first vertex in the file. In graphs that store every edge both ways (convert "
      "--undirected) these are the components of wcc, and are found as it finds them. Edges stay in memory: "
      "those that are left beside the largest component are needed in both directions.");
  add_frontier_options(
      *command, *options, [] {}, "the labels to this file as lines of id, tab and the label, an id as well",
      "find the components again by one depth-first search, and exit with 1 when a label is not the first "
      "vertex of its component",
      {"largest components, by label and number of vertices"});
  command->callback([options] {
    run_frontier(*options, [](const graph::GraphFile&) { return [] { return runs::make_scc(); }; });
  });
}

}  // namespace edgewire::cli
