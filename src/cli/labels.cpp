// This file has the kernels that give each vertex a label or a coefficient, with few options or none: wcc,
// scc, cdlp, lcc.
#include <cstdint>
#include <memory>

#include "cli/commands.h"
#include "cli/frontier_command.h"

namespace edgewire::cli {

namespace {

constexpr const char* kLabels = "the labels to this file as lines of id, tab and the label, an id as well";

/// Adds a kernel without options of its own. `on_disks`: its edges may be on disks.
void add_kernel(CLI::App& app, const char* name, const char* description, const FrontierWords& words,
                std::unique_ptr<runs::Kernel> (*make)(), bool on_disks) {
  auto options = std::make_shared<KernelOptions>();
  CLI::App* command = app.add_subcommand(name, description);
  const auto own = [&] {
    if (on_disks) options->edge_place.add_to(*command, options->launch);
  };
  add_frontier_options(*command, *options, own, words);
  command->callback(
      [options, make] { run_kernel(*options, [make](const graph::GraphFile&) { return make(); }); });
}

}  // namespace

void add_wcc(CLI::App& app) {
  add_kernel(
      app, "wcc", "compute the weakly connected component of every vertex",
      {"Two vertices are in the same component when edges, in any direction, lead from one to the other. The "
       "label of a component is its first vertex in the file. In graphs that store every edge both ways "
       "(convert --undirected) most edges are skipped.",
       kLabels,
       "check that labels agree along each edge and that no two components share one, and exit with 1 when "
       "they do",
       "largest components, by label and number of vertices"},
      runs::make_wcc, true);
}

void add_scc(CLI::App& app) {
  add_kernel(
      app, "scc", "compute the strongly connected component of every vertex",
      {"Two vertices are in the same component when paths lead along edges from each to the other. The label "
       "of a component is its first vertex in the file. In graphs that store every edge both ways (convert "
       "--undirected) these are the components of wcc, and are found as it finds them. Edges stay in memory: "
       "those that are left beside the largest component are needed in both directions.",
       kLabels,
       "find the components again by one depth-first search, and exit with 1 when a label is not the first "
       "vertex of its component",
       "largest components, by label and number of vertices"},
      runs::make_scc, false);
}

void add_lcc(CLI::App& app) {
  add_kernel(
      app, "lcc", "compute the local clustering coefficient of every vertex, count triangles",
      {"The neighbours of a vertex are all others with an edge to or from it. Its coefficient is the number "
       "of edges that lead from one neighbour to another, divided by d (d - 1), the most that there can be "
       "between d neighbours; it is 0 where d is less than 2. An edge that occurs several times counts once, "
       "self loops do not count. A triangle is three vertices that are neighbours of one another.",
       "the coefficients to this file as lines of id, tab and coefficient",
       "count the edges between the neighbours of each vertex again, one vertex after another, and exit with "
       "1 when a coefficient is wrong",
       "vertices of the highest coefficients"},
      runs::make_lcc, false);
}

void add_cdlp(CLI::App& app) {
  struct CdlpSettings {
    KernelOptions job;
    CdlpOptions asked;
  };
  auto settings = std::make_shared<CdlpSettings>();
  CLI::App* command =
      app.add_subcommand("cdlp", "detect communities by label propagation, as LDBC Graphalytics defines it");
  const auto own = [&] {
    add_checked(*command, "--iterations", settings->asked.iterations, "stop after this many iterations",
                whole(1, 1'000'000));
  };
  add_frontier_options(
      *command, settings->job, own,
      {"Each vertex starts with its own id as its label. In each iteration all vertices at once take the "
       "label that is most frequent among their neighbours, the smallest of those on a tie. Both ends of an "
       "edge are neighbours: once for each edge, and in directed graphs once for each direction. A vertex "
       "without neighbours keeps its label. A run ends early when no label has changed.",
       std::string(kLabels) + "; ",
       "find the labels again, one vertex after another, and exit with 1 when one differs",
       "largest communities, by label and number of vertices"});
  settings->job.add_checkpoint_options(*command, "label", "iteration");
  command->callback([settings] {
    run_kernel(settings->job,
               [settings](const graph::GraphFile&) { return runs::make_cdlp(settings->asked); });
  });
}

}  // namespace edgewire::cli
