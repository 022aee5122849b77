// This file has the kernels that search paths from sources: bfs and sssp.
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/frontier_command.h"
#include "cli/sources.h"

namespace edgewire::cli {

namespace {

struct PathSettings {
  KernelOptions job;
  SourceOptions sources;
  TargetOption target;
  bool parents = false;
};

}  // namespace

void add_bfs(CLI::App& app) {
  struct BfsSettings : PathSettings {
    std::string parallel = "auto";
  };
  auto settings = std::make_shared<BfsSettings>();
  CLI::App* command =
      app.add_subcommand("bfs", "compute the level of every vertex by breadth-first search from a vertex");
  const auto own = [&] {
    settings->sources.add_to(*command);
    command->add_flag("--parents", settings->parents,
                      "write for each vertex the one before it on a shortest path, instead of its level");
    settings->target.add_to(*command);
    add_parallel_option(
        *command, settings->parallel,
        "levels: workers share the levels of each search, one search after the other; sources: each worker "
        "searches from sources of its own, with 16 bytes for each vertex; auto: sources, if each worker has "
        "two "
        "or more and a process needs at most 4 GiB for them and their results");
    settings->job.edge_place.add_to(*command, settings->job.launch);
  };
  add_frontier_options(
      *command, settings->job, own,
      {"The level of a vertex is the number of edges of a shortest path from the source to it. Paths follow "
       "edges in their direction. In graphs that store every edge both ways (convert --undirected), a "
       "superstep pulls where that looks at fewer edges.",
       "the levels to this file as lines of id, tab and value, 9223372036854775807 where no path leads "
       "(--parents: -1)",
       "check levels and parents by the rules of Graph500, and exit with 1 when they are wrong",
       "vertices that are farthest, of those that are reached"});
  command->callback([settings] {
    if (settings->parallel == "sources")
      expect_rows_in_memory(settings->job.edge_place, "--parallel sources");
    settings->job.expect_stdout_for("--target", !settings->target.name.empty());
    run_frontier(settings->job, [&](const graph::GraphFile& graph) {
      runs::BfsOptions asked{settings->sources.find(graph), settings->parents, settings->target.find(graph),
                             apart_asked(settings->parallel), settings->job.deterministic};
      return [asked = std::move(asked)] { return runs::make_bfs(asked); };
    });
  });
}

void add_sssp(CLI::App& app) {
  using Precision = runs::SsspOptions::Precision;
  struct SsspSettings : PathSettings {
    double delta = 0;
    bool unit_weights = false;
    std::string precision = "auto";
  };
  auto settings = std::make_shared<SsspSettings>();
  CLI::App* command =
      app.add_subcommand("sssp", "compute the lengths of the shortest paths from a vertex by delta stepping");
  const auto own = [&] {
    settings->sources.add_to(*command);
    command
        ->add_option(
            "--delta", settings->delta,
            "the width of a bucket of distances; by default a quarter of average weight / average degree")
        ->check(between(1e-300, 1e300));
    command->add_flag("--unit-weights", settings->unit_weights, "let each edge have weight 1");
    add_choice(*command, "--precision", settings->precision,
               "of distances: f64 (8 bytes), f32 (4 bytes, faster, each edge rounds more), or auto: whole "
               "weights are added exactly, as whole numbers of 8 bytes, others as f64",
               {"auto", "f64", "f32"});
    command->add_flag(
        "--parents", settings->parents,
        "write for each vertex the one before it on a shortest path, instead of its distance: of "
        "several the smallest on a path of the fewest edges");
    settings->target.add_to(*command);
    settings->job.edge_place.add_to(*command, settings->job.launch);
  };
  add_frontier_options(
      *command, settings->job, own,
      {"The length of a path is the sum of its edges' weights, none of which is negative. Paths follow edges "
       "in their direction. Sums are the same in every run.",
       "the distances to this file as lines of id, tab and value, `infinity` where no path leads "
       "(--parents: -1)",
       "check that the distances are those of shortest paths, and how far rounding has moved them, and exit "
       "with 1 when they are not",
       "vertices that are farthest, of those that are reached"});
  command->callback([settings] {
    settings->job.expect_stdout_for("--target", !settings->target.name.empty());
    run_frontier(settings->job, [&](const graph::GraphFile& graph) {
      runs::SsspOptions asked{settings->sources.find(graph),
                              settings->delta,
                              settings->unit_weights,
                              settings->precision == "f32"   ? Precision::f32
                              : settings->precision == "f64" ? Precision::f64
                                                             : Precision::automatic,
                              settings->parents,
                              settings->target.find(graph)};
      return [&graph, asked = std::move(asked)] { return runs::make_sssp(graph, asked); };
    });
  });
}

}  // namespace edgewire::cli
