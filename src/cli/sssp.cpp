#include <memory>
#include <string>
#include <utility>

#include "cli/commands.h"
#include "cli/frontier_command.h"
#include "cli/sources.h"

namespace edgewire::cli {

namespace {

struct SsspSettings {
  KernelOptions job;
  SourceOptions sources;
  TargetOption target;
  double delta = 0;
  bool unit_weights = false, parents = false;
  std::string precision = "auto";
};

void add_options(CLI::App& command, SsspSettings& settings) {
  settings.sources.add_to(command);
  command
      .add_option(
          "--delta", settings.delta,
          "the width of a bucket of distances; by default a quarter of average weight / average degree")
      ->check(between(1e-300, 1e300));
  command.add_flag("--unit-weights", settings.unit_weights, "let each edge have weight 1");
  command
      .add_option("--precision", settings.precision,
                  "of distances: f64 (8 bytes), f32 (4 bytes, faster, each edge rounds more), or auto: whole "
                  "weights are added exactly, as whole numbers of 8 bytes, others as f64")
      ->check(CLI::IsMember({"auto", "f64", "f32"}))
      ->capture_default_str();
  command.add_flag("--parents", settings.parents,
                   "write for each vertex the one before it on a shortest path, instead of its distance: of "
                   "several the smallest on a path of the fewest edges");
  settings.target.add_to(command);
  settings.job.edge_place.add_to(command, settings.job.launch);
}

}  // namespace

void add_sssp(CLI::App& app) {
  auto settings = std::make_shared<SsspSettings>();
  CLI::App* command =
      app.add_subcommand("sssp", "compute the lengths of the shortest paths from a vertex by delta stepping");
  command->footer(
      "The length of a path is the sum of its edges' weights, none of which is negative. Paths follow edges "
      "in their direction. Sums are the same in every run.");
  add_frontier_options(
      *command, settings->job, [&] { add_options(*command, *settings); },
      "the distances to this file as lines of id, tab and value, `infinity` where no path leads "
      "(--parents: -1)",
      "check that the distances are those of shortest paths, and how far rounding has moved them, and exit "
      "with 1 when they are not",
      {"vertices that are farthest, of those that are reached"});
  command->callback([settings] {
    settings->job.expect_stdout_for("--target", !settings->target.name.empty());
    run_frontier(settings->job, [&](const graph::GraphFile& graph) {
      using Precision = runs::SsspOptions::Precision;
      runs::SsspOptions asked;
      asked.sources = settings->sources.find(graph);
      asked.target = settings->target.find(graph);
      asked.delta = settings->delta;
      asked.unit_weights = settings->unit_weights;
      asked.parents = settings->parents;
      if (settings->precision != "auto")
        asked.precision = settings->precision == "f32" ? Precision::f32 : Precision::f64;
      return [&graph, asked = std::move(asked)] { return runs::make_sssp(graph, asked); };
    });
  });
}

}  // namespace edgewire::cli
