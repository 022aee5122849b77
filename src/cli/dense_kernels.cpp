#include "cli/dense_command.h"

#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/option.h"
#include "cli/sources.h"
#include "library/job_options.h"
#include "options/kernels.h"
#include "partition/ownership.h"
#include "runs/answers.h"
#include "runs/kernels.h"

namespace edgewire::cli {

namespace {

constexpr const char* kBesideGraph = "next to the graph";

/// The options of pagerank and ppr.
struct RankSettings : DenseSettings {
  PageRankOptions asked;

  /// Adds --iterations, --damping, --tolerance and --weighted.
  void add_rank_options(CLI::App& command) {
    command.option_defaults()->group("Kernel");
    add(command, opt::rank_iterations, asked.iterations)->default_str("20");
    set_iterations = [this](int iterations) { asked.iterations = iterations; };
    add(command, opt::damping, asked.damping);
    add(command, opt::tolerance, asked.tolerance);
    add(command, opt::weighted, asked.weighted);
  }
};

struct SpmvSettings : DenseSettings {
  SpmvOptions asked;
  std::string x_path;
};

/// Returns the vector of --x, or nothing.
std::vector<double> vector_of(const SpmvSettings& settings, const Graph& graph) {
  const std::string& path = settings.x_path;
  if (path.empty()) return {};
  return settings.doubles ? named_values(graph, path, std::numeric_limits<double>::max(), "")
                          : named_values(graph, path, double{std::numeric_limits<float>::max()},
                                         "--precision f64 takes it");
}

}  // namespace

void DenseSettings::add_to(CLI::App& command) {
  KernelOptions::add_to(command);
  command.option_defaults()->group("What is sent");
  add_choice(command, opt::strategy, common.strategy);
  add(command, opt::compute_rate, compute_rate);
  if (has_wire) add_choice(command, opt::wire, common.wire, {Wire::f32, Wire::bf16, Wire::f16, Wire::u16});
  if (of_house) {
    add(command, opt::precision, doubles);
    add_choice(command, opt::direction, direction);
  }
  add_ownership(command, partition::kOwnershipNames,
                "who owns a vertex: hash, ranges, or a partition file with a part for each line; auto and "
                "auto,FILE count the bytes of each and take the best; hilbert, grid: processes own edges, a "
                "stretch of the Hilbert curve over the edge matrix or a block of a grid");
  add_choice(command, opt::layout, common.layout);
  add_choice(command, opt::order, common.order);
  const std::string names = fmt::format("{}{{{}}}", names_of(opt::plan_cache), kBesideGraph);
  writes(describe(command.add_flag(names, plan_cache), opt::plan_cache), Form::folder,
         [this](const std::string&) {
           return std::vector{NamedFile{plan_folder(), kept_names()}};
         });
  add(command, opt::deterministic, deterministic,
      "give bit-identical results from run to run: auto does not measure, but assumes a 10G link, "
      "1 G edges/s a worker, degree order, and strips");
}

void DenseSettings::check() const {
  KernelOptions::check();
  if (common.wire != Wire::f32 && checkpoints.any())
    throw UsageError("--checkpoint and --resume need --wire f32: others carry rounding errors along");
}

void DenseSettings::check_job(const Graph& graph, const runs::Kernel& kernel) const {
  job::DenseOptions options;
  set_known(options);
  options.weighted = kernel.weighted();
  options.plan_cache = plan_cache;
  if (edge_place.edges == "disk") {
    options.devices.emplace_back(".");
    if (plan_cache.empty()) options.plan_cache = ".";
  }
  job::check(options, graph);
}

std::string DenseSettings::plan_folder() const {
  if (plan_cache != kBesideGraph) return plan_cache;
  const std::string graph = graph_path.substr(0, graph_path.find_last_not_of('/') + 1);  // "g.ew/", in parts
  const std::string folder = std::filesystem::path(graph).parent_path();
  return folder.empty() ? "." : folder;
}

void DenseSettings::set_known(job::DenseOptions& options) const {
  edgewire::JobOptions known = common;
  if (known.wire != Wire::f32 && doubles)
    throw UsageError(fmt::format("--wire {} and --precision f64 exclude each other: leave one of them out",
                                 word_of(opt::any_wire, known.wire)));
  if (doubles) known.wire = Wire::f64;
  if (known.ownership == "range") known.ownership = "ranges";
  set_graph_options(options, known);
  if (!deterministic) return;
  options.order.choose = options.choose_layout = false;
  options.assumed_link_rate = 10e9 / 8;
  options.assumed_compute_rate = 1e9;
}

job::DenseOptions DenseSettings::job(launch::Bootstrap& bootstrap) const {
  job::DenseOptions options = KernelOptions::job(bootstrap);
  set_known(options);
  if (compute_rate > 0) options.assumed_compute_rate = compute_rate;
  options.plan_cache = plan_folder();
  return options;
}

void add_dense_options(CLI::App& command, DenseSettings& settings, const std::string& value,
                       const std::string& listed, const std::string& verify) {
  settings.add_to(command);
  settings.edge_place.add_to(command, settings.launch);
  settings.add_output_options(command, "the result to this file as lines of id, tab and value", verify,
                              listed, runs::kTop);
  add_profile_options(command, settings);
  settings.add_checkpoint_options(command, value, "iteration");
}

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
  settings->has_wire = true;
  settings->add_rank_options(*command);
  add(*command, opt::pagerank_2015, settings->asked.form_2015);
  add_dense_options(*command, *settings, "rank", "vertices of the highest ranks");
  command->callback([settings] {
    run_kernel(*settings, [&](const Graph& graph) {
      return runs::make_pagerank(settings->asked, graph.vertices(), settings->doubles);
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
      "gives all of its rank to the sources. Where --sources @FILE has shares, sources get parts of 1 and of "
      "the rest in proportion to them. An edge that occurs several times counts as often as it occurs. "
      "Weights are ignored, unless --weighted shares out in proportion to them.");
  command->option_defaults()->group("Kernel");
  sources->with_shares = true;
  sources->add_to(
      *command,
      "ranks restart at all of them, in a file by the shares that stand behind the IDs, after a tab "
      "(without --labels also a blank), if all lines have one");
  settings->add_rank_options(*command);
  add_dense_options(*command, *settings, "rank", "vertices of the highest ranks");
  settings->python_call = "edgewire.pagerank(...)";
  command->callback([settings, sources] {
    run_kernel(*settings, [&](const Graph& graph) {
      if (!sources->given()) throw UsageError("--source is required, or --sources for several vertices");
      return runs::make_ppr(settings->asked, sources->find(graph), settings->doubles);
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
      "out of v: y = A^T x. With --direction both a self loop counts once: y = (A + A^T - D) x, where D is "
      "the diagonal of A. An entry (i,j) of a matrix M (.mtx) is an edge from i to j, so the default is "
      "M^T x, and --direction in is M x, which SciPy calls M @ x.");
  command->option_defaults()->group("Kernel");
  add(*command, opt::iterations, settings->asked.iterations,
      "multiply this many times: x becomes y each time");
  settings->set_iterations = [&asked = settings->asked](int iterations) { asked.iterations = iterations; };
  reads(add(*command, opt::x, settings->x_path));
  add_dense_options(*command, *settings, "value", "vertices of the largest absolute values");
  command->callback([settings] {
    run_kernel(*settings, [&](const Graph& graph) {
      return runs::make_spmv(settings->asked, {vector_of(*settings, graph), settings->x_path},
                             graph.weighted(), settings->doubles);
    });
  });
}

}  // namespace edgewire::cli
