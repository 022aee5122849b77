// The options that all dense kernels share.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "base/error.h"
#include "cli/dense_command.h"
#include "cli/files.h"
#include "cli/output_parts.h"
#include "dense/plan/block_plan.h"

namespace edgewire::cli {

void DenseSettings::add_to(CLI::App& command) {
  KernelOptions::add_to(command);
  command.option_defaults()->group("What is sent");
  command
      .add_option(
          "--strategy", strategy,
          "send a value for each edge, for each destination of a worker or of a process (as published "
          "in 2015, with ids), for each destination without ids (slots), or the fewest that suffice "
          "(cover); auto takes slots, or cover where sending takes longer than computing")
      ->check(CLI::IsMember({"auto", "edge", "worker", "process", "slots", "cover"}))
      ->capture_default_str();
  command
      .add_option("--compute-rate", compute_rate,
                  "let --strategy auto assume this many edges/s for a worker; measured by default")
      ->check(between(1, 1e15));
  command
      .add_option("--wire", encoding,
                  "how values travel: as they are (f32), or bf16, f16 or u16 with error feedback")
      ->check(CLI::IsMember({"f32", "bf16", "f16", "u16"}))
      ->capture_default_str();
  command.add_option("--precision", precision, "of messages along edges: f32 (4 bytes) or f64 (8 bytes)")
      ->check(CLI::IsMember({"f32", "f64"}))
      ->capture_default_str();
  command.add_flag("--weighted", weighted, "use the weights of the edges; by default all count the same");
  command
      .add_option("--direction", direction,
                  "let values go along edges from source to target (out), against them (in), or both ways")
      ->check(CLI::IsMember({"out", "in", "both"}))
      ->capture_default_str();
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
  command
      .add_option("--layout", layout,
                  "keep a process's vertices in the given order, or put those of high degree first; auto "
                  "measures and takes the faster one")
      ->check(CLI::IsMember({"auto", "given", "degree"}))
      ->capture_default_str();
  command
      .add_option(
          "--order", order,
          "let workers sweep tiles strip by strip in one column after the other (strips), along the Hilbert "
          "curve over several columns (hilbert), or strip by strip but for thin tiles, whose values go "
          "through memory in bins (bins); auto measures a sample and takes the fastest one")
      ->check(CLI::IsMember({"auto", "strips", "hilbert", "bins"}))
      ->capture_default_str();
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

void DenseSettings::check(const graph::GraphFile& graph) const {
  job::DenseOptions options;
  options.choose_strategy = strategy == "auto";
  if (!options.choose_strategy) options.strategy = plan::strategy_from(strategy);
  options.encoding = sent_as();
  options.weighted = weighted;
  options.ownership = ownership;
  options.order = tile_order();
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

job::DenseOptions DenseSettings::dense(launch::Bootstrap& bootstrap) const {
  job::DenseOptions options;
  options.seat = seat(bootstrap);
  options.strategy = strategy == "auto" ? plan::Strategy::slots : plan::strategy_from(strategy);
  options.choose_strategy = strategy == "auto";
  options.assumed_compute_rate = compute_rate;
  if (deterministic) {
    options.assumed_link_rate = 10e9 / 8;
    if (compute_rate == 0) options.assumed_compute_rate = 1e9;
  }
  options.encoding = sent_as();
  options.weighted = weighted;
  options.ownership = ownership == "range" ? "ranges" : ownership;
  options.rows = partition::row_reading_from(rows);
  options.plan_cache = plan_folder();
  options.link_bits_per_s = launch.link_bits_per_s;
  options.layout = layout == "given" ? plan::Layout::given : plan::Layout::degree;
  options.choose_layout = layout == "auto" && !deterministic;
  options.order = tile_order();
  return options;
}

}  // namespace edgewire::cli
