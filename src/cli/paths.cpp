// This file has the kernels that search paths from sources: bfs, sssp and bc.
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/kernel_options.h"
#include "cli/option.h"
#include "cli/sources.h"
#include "options/kernels.h"
#include "runs/answers.h"

namespace edgewire::cli {

namespace {

struct PathSettings {
  KernelOptions job;
  SourceOptions sources;
  TargetOption target;
};

/// Throws UsageError where edges may be on disks, since `option` lets each worker search by itself.
void expect_rows_in_memory(const EdgePlace& edges, const std::string& option) {
  if (edges.edges != "memory")
    throw UsageError(
        fmt::format("--edges: a search from a source of its own reads rows of other processes from memory: "
                    "leave out {}",
                    option));
}

struct BcSettings {
  KernelOptions job;
  NamedSources named;
  std::uint64_t samples = 0, seed = 1;  ///< number of samples, where 0 is none, and their seed
  BcOptions asked;
};

std::unique_ptr<runs::Kernel> make_bc(const BcSettings& settings, const Graph& graph) {
  if (settings.asked.weighted) graph::expect_weights(graph, "leave out --weighted");
  auto asked = settings.asked;
  asked.deterministic = settings.job.deterministic;
  const std::uint64_t samples = settings.samples;
  runs::Sources sources;
  if (settings.named.given()) {
    sources = settings.named.find(graph);
  } else {
    if (samples > graph.vertices())
      throw Error(fmt::format("--samples {}: {} has {} vertices", samples, graph.path(), graph.vertices()));
    sources = sample(graph.vertices(), samples > 0 ? samples : graph.vertices(), settings.seed,
                     [](VertexId) { return true; });
    if (samples == 0) sources.asked.clear();
  }
  return runs::make_bc(sources, asked, samples);
}

/// Throws UsageError when the settings do not go together.
void check(const BcSettings& settings) {
  std::string apart;  // option that makes each worker search from sources of its own
  if (settings.asked.parallel == Parallel::sources) apart = "--parallel sources";
  if (settings.job.deterministic) apart = "--deterministic";
  if (settings.asked.weighted) apart = "--weighted";
  if (settings.asked.parallel == Parallel::levels && !apart.empty())
    throw UsageError(fmt::format("{}: {}: leave it out", apart,
                                 settings.asked.weighted
                                     ? "--parallel levels counts edges, not weights"
                                     : "with --parallel levels the order of sums depends on timing"));
  if (!apart.empty()) expect_rows_in_memory(settings.job.edge_place, apart);
  if (settings.asked.normalized && settings.samples == 1 && !settings.asked.endpoints)
    throw UsageError(
        "--normalized: --samples 1 gives no estimate for the sampled vertex itself: draw more, or add "
        "--endpoints");
}

}  // namespace

void add_bfs(CLI::App& app) {
  struct BfsSettings : PathSettings {
    BfsOptions asked;
  };
  auto settings = std::make_shared<BfsSettings>();
  CLI::App* command =
      app.add_subcommand("bfs", "compute the level of every vertex by breadth-first search from a vertex");
  const auto own = [&] {
    settings->sources.add_to(*command);
    add(*command, opt::parents, settings->asked.parents,
        "write for each vertex the one before it on a shortest path, instead of its level");
    settings->target.add_to(*command);
    add_choice(
        *command, opt::parallel, settings->asked.parallel,
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
    if (settings->asked.parallel == Parallel::sources)
      expect_rows_in_memory(settings->job.edge_place, "--parallel sources");
    settings->job.expect_stdout_for("--target", !settings->target.name.empty());
    run_kernel(settings->job, [&](const Graph& graph) {
      settings->asked.deterministic = settings->job.deterministic;
      return runs::make_bfs(settings->sources.find(graph), settings->asked, settings->target.find(graph));
    });
  });
}

void add_sssp(CLI::App& app) {
  using Precision = SsspOptions::Precision;
  struct SsspSettings : PathSettings {
    runs::SsspAsked asked;
  };
  auto settings = std::make_shared<SsspSettings>();
  CLI::App* command =
      app.add_subcommand("sssp", "compute the lengths of the shortest paths from a vertex by delta stepping");
  const auto own = [&] {
    settings->sources.add_to(*command);
    add(*command, opt::delta, settings->asked.delta);
    add(*command, opt::unit_weights, settings->asked.unit_weights);
    add_choice(*command, opt::distance_precision, settings->asked.precision,
               {Precision::automatic, Precision::f64, Precision::f32});
    add(*command, opt::parents, settings->asked.parents,
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
    run_kernel(settings->job, [&](const Graph& graph) {
      return runs::make_sssp(graph, settings->sources.find(graph), settings->asked,
                             settings->target.find(graph));
    });
  });
}

void add_bc(CLI::App& app) {
  auto settings = std::make_shared<BcSettings>();
  CLI::App* command =
      app.add_subcommand("bc", "compute betweenness centrality: how many shortest paths lead over a vertex");
  const auto own = [&] {
    const auto [one, list] = settings->named.add_to(*command, "by default at all");
    CLI::Option* const samples =
        add(*command, opt::samples, settings->samples)->excludes(one)->excludes(list);
    add_choice(*command, opt::parallel, settings->asked.parallel,
               "levels: workers share the levels of each search; sources: each worker searches from "
               "sources of its own, with 40 bytes for each vertex, 64 where more than 1e300 paths lead "
               "to one; auto: sources, if each worker has two or more and a process needs at most 4 GiB "
               "for them at 40 bytes");
    add(*command, opt::sample_seed, settings->seed)->needs(samples);
    add(*command, opt::weighted, settings->asked.weighted,
        "let shortest paths be those of the least sum of weights, all of which are above 0; each "
        "worker searches from sources of its own");
    add(*command, opt::endpoints, settings->asked.endpoints);
    add(*command, opt::normalized, settings->asked.normalized);
    settings->job.edge_place.add_to(*command, settings->job.launch);
  };
  add_frontier_options(
      *command, settings->job, own,
      {"The score of v is the sum over all sources s and all vertices t, neither of them v, of the share of "
       "the shortest paths from s to t that lead over v. Paths follow edges in their direction; an edge that "
       "occurs several times is several paths. Sums are over ordered pairs: in a graph that stores every "
       "edge both ways, halve the score to compare with NetworkX, or say --normalized, after which nothing "
       "is left to halve. For an estimate from K samples without --normalized, multiply the score by the "
       "number of vertices divided by K. Where a run goes on from a checkpoint, or writes some while each "
       "worker searches from sources of its own, sums are added in another order: the last digits may "
       "differ, also with --deterministic. Such workers all wait for each other at each checkpoint.",
       "the scores to this file as lines of id, tab and score",
       "compare with a sequential search from all sources, and exit with 1 when a score differs by more than "
       "1e-9 of its value",
       "vertices of the highest scores", runs::kTop});
  settings->job.add_checkpoint_options(*command, "score", "source");
  command->callback([settings] {
    check(*settings);
    run_kernel(settings->job, [&](const Graph& graph) { return make_bc(*settings, graph); });
  });
}

}  // namespace edgewire::cli
