// This file has the kernels that pass over all edges: pagerank, ppr and spmv.
#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/kernel_options.h"
#include "cli/sources.h"
#include "dense/plan/block_plan.h"
#include "runs/answers.h"
#include "runs/kernels.h"

namespace edgewire::cli {

namespace {

constexpr const char* kBesideGraph = "next to the graph";

struct DenseSettings : KernelOptions {
  std::string strategy = "auto";
  double compute_rate = 0;
  std::string encoding = "f32";
  std::string precision = "f32";
  std::string layout = "auto", order = "auto";
  std::string plan_cache;  ///< folder, or kBesideGraph; empty: none

  /// Adds the graph, and the options of the job.
  void add_to(CLI::App& command);
  bool doubles() const { return precision == "f64"; }
  void check() const override;
  void check_job(const graph::GraphFile& graph, const runs::Kernel& kernel) const override;
  job::DenseOptions job(launch::Bootstrap& bootstrap) const override;

 private:
  /// Sets the options that are known before the processes start, but not where plan and edges are.
  void set_known(job::DenseOptions& options) const;
  /// Returns the folder of the plan cache; empty: there is none.
  std::string plan_folder() const;
  /// Returns how --wire and --precision let values travel. Throws UsageError.
  plan::Encoding sent_as() const;
  /// Returns the order of tiles that --order asks for.
  job::OrderOptions tile_order() const;
};

void DenseSettings::add_to(CLI::App& command) {
  KernelOptions::add_to(command);
  command.option_defaults()->group("What is sent");
  add_choice(command, "--strategy", strategy,
             "send a value for each edge, for each destination of a worker or of a process (as published "
             "in 2015, with ids), for each destination without ids (slots), or the fewest that suffice "
             "(cover); auto takes slots, or cover where sending takes longer than computing",
             {"auto", "edge", "worker", "process", "slots", "cover"});
  command
      .add_option("--compute-rate", compute_rate,
                  "let --strategy auto assume this many edges/s for a worker; measured by default")
      ->check(between(1, 1e15));
  add_choice(command, "--wire", encoding,
             "how values travel: as they are (f32), or bf16, f16 or u16 with error feedback",
             {"f32", "bf16", "f16", "u16"});
  add_choice(command, "--precision", precision, "of messages along edges: f32 (4 bytes) or f64 (8 bytes)",
             {"f32", "f64"});
  add_choice(
      command, "--direction", direction,
      "let values go along edges from source to target (out), against them (in), or both ways, where a "
      "self loop counts once; a graph that `info` calls symmetric has each edge both ways, and all three "
      "are the same",
      {"out", "in", "both"});
  reads(command
            .add_option(
                "--ownership", ownership,
                "who owns a vertex: hash, ranges, or a partition file with a part for each line; auto and "
                "auto,FILE count the bytes of each and take the best; hilbert, grid: processes own edges, a "
                "stretch of the Hilbert curve over the edge matrix or a block of a grid")
            ->check([](const std::string& how) {
              partition::check_ownership_name(how);
              return std::string();
            })
            ->capture_default_str(),
        partition_files);
  add_choice(command, "--layout", layout,
             "keep a process's vertices in the given order, or put those of high degree first; auto "
             "measures and takes the faster one",
             {"auto", "given", "degree"});
  add_choice(
      command, "--order", order,
      "let workers sweep tiles strip by strip in one column after the other (strips), along the Hilbert "
      "curve over several columns (hilbert), or strip by strip but for thin tiles, whose values go "
      "through memory in bins (bins); auto measures a sample and takes the fastest one",
      {"auto", "strips", "hilbert", "bins"});
  writes(command.add_flag(
             fmt::format("--plan-cache{{{}}}", kBesideGraph), plan_cache,
             "keep the plan next to the graph, or in a folder (--plan-cache=DIR), so that the next run "
             "with the same options starts at once"),
         Form::folder, [this](const std::string&) {
           return std::vector{NamedFile{plan_folder(), kept_names()}};
         });
  command.add_flag(
      "--deterministic", deterministic,
      "give bit-identical results from run to run: auto does not measure, but assumes a 10G link, "
      "1 G edges/s a worker, degree order, and strips");
}

plan::Encoding DenseSettings::sent_as() const {
  if (encoding != "f32" && precision == "f64")
    throw UsageError(
        fmt::format("--wire {} and --precision f64 exclude each other: leave one of them out", encoding));
  return plan::encoding_from(precision == "f64" ? precision : encoding);
}

void DenseSettings::check() const {
  KernelOptions::check();
  if (encoding != "f32" && checkpoints.any())
    throw UsageError("--checkpoint and --resume need --wire f32: others carry rounding errors along");
}

void DenseSettings::check_job(const graph::GraphFile& graph, const runs::Kernel& kernel) const {
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

job::OrderOptions DenseSettings::tile_order() const {
  job::OrderOptions options;
  if (order == "hilbert") options.order = tiles::Order::hilbert;
  if (order == "bins") options.order = tiles::Order::bins;
  options.choose = order == "auto" && !deterministic;
  return options;
}

std::string DenseSettings::plan_folder() const {
  if (plan_cache != kBesideGraph) return plan_cache;
  const std::string graph = graph_path.substr(0, graph_path.find_last_not_of('/') + 1);  // "g.ew/", in parts
  const std::string folder = std::filesystem::path(graph).parent_path();
  return folder.empty() ? "." : folder;
}

void DenseSettings::set_known(job::DenseOptions& options) const {
  options.choose_strategy = strategy == "auto";
  if (!options.choose_strategy) options.strategy = plan::strategy_from(strategy);
  options.encoding = sent_as();
  options.ownership = ownership == "range" ? "ranges" : ownership;
  options.order = tile_order();
}

job::DenseOptions DenseSettings::job(launch::Bootstrap& bootstrap) const {
  job::DenseOptions options = KernelOptions::job(bootstrap);
  set_known(options);
  options.assumed_compute_rate = compute_rate;
  if (deterministic) {
    options.assumed_link_rate = 10e9 / 8;
    if (compute_rate == 0) options.assumed_compute_rate = 1e9;
  }
  options.plan_cache = plan_folder();
  options.layout = layout == "given" ? plan::Layout::given : plan::Layout::degree;
  options.choose_layout = layout == "auto" && !deterministic;
  return options;
}

/// Adds the options that all dense kernels have, behind the kernel's own. `value`: what messages call the
/// value of a vertex. `listed`: the vertices that --top lists.
void add_dense_options(CLI::App& command, DenseSettings& settings, const std::string& value,
                       const std::string& listed) {
  settings.add_to(command);
  settings.edge_place.add_to(command, settings.launch);
  settings.add_output_options(
      command, "the result to this file as lines of id, tab and value",
      "check the result against a sequential reference, and exit with 1 when it differs", listed, runs::kTop);
  add_profile_options(command, settings);
  settings.add_checkpoint_options(command, value, "iteration");
}

/// The options of pagerank and ppr.
struct RankSettings : DenseSettings {
  PageRankOptions asked;

  /// Adds --iterations, --damping, --tolerance and --weighted.
  void add_rank_options(CLI::App& command) {
    command.option_defaults()->group("Kernel");
    command
        .add_option("--iterations", asked.iterations,
                    "stop after this many iterations; with --tolerance alone after 1000")
        ->check(whole(0, 1000000))
        ->default_str("20");
    add_checked(command, "--damping", asked.damping, "let this share of a rank follow the edges",
                between(0, 1));
    add_checked(command, "--tolerance", asked.tolerance,
                "stop when all changes of an iteration sum to less than this; 0: never", between(0, 1e9));
    command.add_flag("--weighted", asked.weighted,
                     "use the weights of the edges; by default all count the same");
  }
};

struct SpmvSettings : DenseSettings {
  SpmvOptions asked;
  std::string x_path;
};

/// Returns the vector of --x, or nothing.
std::vector<double> vector_of(const SpmvSettings& settings, const graph::GraphFile& graph) {
  const std::string& path = settings.x_path;
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
    run_kernel(*settings, [&](const graph::GraphFile& graph) {
      return runs::make_pagerank(settings->asked, graph.vertices(), settings->doubles());
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
  command->remove_option(command->get_option("--wire"));  // ranks may be too small for 16 bits
  command->callback([settings, sources] {
    run_kernel(*settings, [&](const graph::GraphFile& graph) {
      if (!sources->given()) throw UsageError("--source is required, or --sources for several vertices");
      return runs::make_ppr(settings->asked, sources->find(graph), settings->doubles());
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
  add_checked(*command, "--iterations", settings->asked.iterations,
              "multiply so often: x becomes y, and again", whole(1, 1000000));
  reads(command->add_option("--x", settings->x_path,
                            "read x from this file: lines of vertex and value, others 0; by default x is 1 "
                            "everywhere"));
  add_dense_options(*command, *settings, "value", "vertices of the largest absolute values");
  command->remove_option(command->get_option("--wire"));
  command->callback([settings] {
    run_kernel(*settings, [&](const graph::GraphFile& graph) {
      return runs::make_spmv(settings->asked, {vector_of(*settings, graph), settings->x_path},
                             graph.weighted(), settings->doubles());
    });
  });
}

}  // namespace edgewire::cli
