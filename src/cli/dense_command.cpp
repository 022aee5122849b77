#include "cli/dense_command.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "cli/files.h"
#include "cli/option.h"
#include "library/job_options.h"
#include "options/kernels.h"
#include "partition/ownership.h"
#include "runs/answers.h"

namespace edgewire::cli {

namespace {

constexpr const char* kBesideGraph = "next to the graph";

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

}  // namespace edgewire::cli
