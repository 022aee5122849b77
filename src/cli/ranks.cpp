// This file has the kernels that pass over all edges: pagerank, ppr and spmv.
#include <limits>
#include <memory>
#include <vector>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/dense_command.h"
#include "cli/files.h"
#include "cli/sources.h"

namespace edgewire::cli {

namespace {

/// The options of pagerank and ppr.
struct RankSettings : DenseSettings {
  kernels::PageRankOptions asked;

  /// Adds --iterations, --damping and --tolerance.
  void add_rank_options(CLI::App& command) {
    command.option_defaults()->group("Kernel");
    add_checked(command, "--iterations", asked.iterations, "stop after this many iterations",
                CLI::Range(0, 1000000));
    add_checked(command, "--damping", asked.damping, "let this share of a rank follow the edges",
                between(0, 1));
    add_checked(command, "--tolerance", asked.tolerance,
                "stop when all changes of an iteration sum to less than this; 0: never", between(0, 1e9));
  }
  /// Returns the options as they were asked for, and whether weights are used.
  kernels::PageRankOptions options() const {
    auto result = asked;
    result.weighted = weighted;
    return result;
  }
};

struct SpmvSettings : DenseSettings {
  runs::SpmvOptions asked;
};

/// Returns the vector of --x, or nothing.
std::vector<double> vector_of(const SpmvSettings& settings, const graph::GraphFile& graph) {
  const std::string& path = settings.asked.x_path;
  if (path.empty()) return {};
  return settings.doubles() ? named_values(graph, path, std::numeric_limits<double>::max(), "")
                            : named_values(graph, path, double{std::numeric_limits<float>::max()},
                                           "--precision f64 takes it");
}

}  // namespace

void add_pagerank(CLI::App& app) {
  auto settings = std::make_shared<RankSettings>();
  CLI::App* command = app.add_subcommand("pagerank", "compute the rank of every vertex by power iteration");
  command->footer(
      "What PageRank means here: all ranks start at 1/n and always sum to 1. In each iteration a vertex "
      "gives the share --damping of its rank to the targets of its edges, and the rest goes to all vertices "
      "evenly. An edge that occurs several times counts as often as it occurs. A vertex without out-edges "
      "gives its "
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

void add_spmv(CLI::App& app) {
  auto settings = std::make_shared<SpmvSettings>();
  CLI::App* command =
      app.add_subcommand("spmv", "multiply the matrix of the graph by a vector, once or more");
  command->footer(
      "What y = A x means here: y[v] is the sum of w(u,v) * x[u] over all edges (u,v) into v. So row v of A "
      "holds the edges into v. w is the weight of the edge, or 1 where the graph has no weights. An edge "
      "that occurs several times counts as often as it occurs. With --direction in, row v holds the edges "
      "out of "
      "v: y = A^T x.");
  command->option_defaults()->group("Kernel");
  add_checked(*command, "--iterations", settings->asked.iterations,
              "multiply so often: x becomes y, and again", CLI::Range(1, 1000000));
  reads(command->add_option("--x", settings->asked.x_path,
                            "read x from this file: lines of vertex and value, others 0; by default x is 1 "
                            "everywhere"));
  add_dense_options(*command, *settings, "value", "vertices of the largest absolute values");
  for (const char* name : {"--wire", "--weighted"}) command->remove_option(command->get_option(name));
  command->callback([settings] {
    run_dense(*settings, [&](const graph::GraphFile& graph) {
      settings->weighted = graph.weighted();
      settings->asked.weighted = graph.weighted();
      settings->asked.x = vector_of(*settings, graph);
      return [&] { return runs::make_spmv(settings->asked, settings->doubles()); };
    });
  });
}

}  // namespace edgewire::cli
