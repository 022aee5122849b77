#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/frontier_command.h"
#include "cli/sources.h"

namespace edgewire::cli {

namespace {

struct BfsSettings {
  KernelOptions job;
  SourceOptions sources;
  TargetOption target;
  bool parents = false;
  std::string parallel = "auto";
};

}  // namespace

void add_bfs(CLI::App& app) {
  auto settings = std::make_shared<BfsSettings>();
  CLI::App* command =
      app.add_subcommand("bfs", "compute the level of every vertex by breadth-first search from a vertex");
  command->footer(
      "The level of a vertex is the number of edges of a shortest path from the source to it. Paths follow "
      "edges in their direction. In graphs that store every edge both ways (convert --undirected), a "
      "superstep pulls where that looks at fewer edges.");
  const auto own = [&] {
    settings->sources.add_to(*command);
    command->add_flag("--parents", settings->parents,
                      "write for each vertex the one before it on a shortest path, instead of its level");
    settings->target.add_to(*command);
    command
        ->add_option("--parallel", settings->parallel,
                     "levels: workers share the levels of each search, one search after the other; sources: "
                     "each worker searches from sources of its own, with 16 bytes for each vertex; auto: "
                     "sources, if each worker has two or more and a process needs at most 4 GiB for them and "
                     "their results")
        ->check(CLI::IsMember({"auto", "levels", "sources"}))
        ->capture_default_str();
    settings->job.edge_place.add_to(*command, settings->job.launch);
  };
  add_frontier_options(
      *command, settings->job, own,
      "the levels to this file as lines of id, tab and value, 9223372036854775807 where no path leads "
      "(--parents: -1)",
      "check levels and parents by the rules of Graph500, and exit with 1 when they are wrong",
      {"vertices that are farthest, of those that are reached"});
  command->callback([settings] {
    if (settings->job.edge_place.edges != "memory" && settings->parallel == "sources")
      throw UsageError(
          "--edges: a search from a source of its own reads rows of other processes from memory: leave out "
          "--parallel sources");
    settings->job.expect_stdout_for("--target", !settings->target.name.empty());
    run_frontier(settings->job, [&](const graph::GraphFile& graph) {
      runs::BfsOptions asked{settings->sources.find(graph), settings->parents, settings->target.find(graph),
                             apart_asked(settings->parallel), settings->job.deterministic};
      return [asked = std::move(asked)] { return runs::make_bfs(asked); };
    });
  });
}

}  // namespace edgewire::cli
