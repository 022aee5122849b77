#include "kernels/sssp.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/frontier_command.h"
#include "cli/named_vertices.h"
#include "cli/sources.h"
#include "error.h"
#include "frontier/settle.h"
#include "kernels/verify.h"

namespace edgewire::cli {

namespace {

struct SsspSettings {
  JobOptions job;
  Sources sources;
  double delta = 0;  ///< 0: the usual one
  bool unit_weights = false;
  std::string precision = "auto";  ///< or f64, f32
  std::string distances;           ///< what they are: f32, f64 or u64
  bool parents = false;
  std::string target_list;
  std::vector<std::uint32_t> targets;  ///< to which paths are told
};

/// `Distance` is as kernels::Sssp has it.
template <class Distance>
class SsspKernel : public FrontierKernel {
 public:
  explicit SsspKernel(const SsspSettings& settings) : settings_(settings) {}

  std::string describe() const override {
    return fmt::format("sssp from {}, delta {}, distances {}{}{}, targets {}",
                       digest(settings_.sources.vertices), settings_.delta, settings_.distances,
                       settings_.unit_weights ? ", unit weights" : "", settings_.parents ? ", parents" : "",
                       digest(settings_.targets));
  }
  std::size_t record_bytes() const override {
    return frontier::Settling<kernels::Sssp<Distance>>::kRecordBytes;
  }
  bool weighted() const override { return !settings_.unit_weights; }
  /// Chooses delta, and checks the weights.
  void prepare(frontier::FrontierJob& job) override {
    program_.emplace(job, settings_.delta, settings_.unit_weights);
  }
  std::vector<std::string> runs() const override { return settings_.sources.names; }
  void choose(std::size_t run) override { source_ = settings_.sources.vertices[run]; }
  std::vector<frontier::Superstep> run(frontier::FrontierJob& job) override {
    frontier::Settling settling(job, *program_);
    auto supersteps = settling.run(source_, 0);
    mine_ = settling.values();
    return supersteps;
  }
  std::string phase(const frontier::Superstep& one) const override {
    return fmt::format("distances from {:.6g}", static_cast<double>(one.step) * program_->delta);
  }
  std::uint64_t checksum(const frontier::FrontierJob& job) const override {
    return cli::checksum(job, mine_);
  }
  void fill(report::RunReport& report) const override {
    report.kernel = "sssp";
    report.wire = settings_.distances;
    report.options = settings_.sources.options();
    report.options.emplace_back("delta", program_->delta);
    report.options.emplace_back("unit_weights", settings_.unit_weights);
    report.options.emplace_back("precision", settings_.precision);
    report.options.emplace_back("parents", settings_.parents);
    if (!settings_.target_list.empty()) report.options.emplace_back("target", settings_.target_list);
    report.paths = paths_;
  }
  bool gathers() const override { return !settings_.targets.empty(); }
  void gather(frontier::FrontierJob& job) override {
    all_ = frontier::gather_values(job, mine_);
    if (job.rank() > 0 || (!settings_.parents && settings_.targets.empty())) return;
    const std::span<const Distance> distances = all_;
    parents_ = kernels::find_parents(job.graph(), source_, distances, settings_.unit_weights);
    for (const std::uint32_t target : settings_.targets) add_path(job.graph(), target);
  }
  std::string fault(const graph::GraphFile& graph) const override {
    const auto found = kernels::check_sssp(graph, source_, std::span(all_), settings_.unit_weights, parents_);
    checked_.edges = std::max(checked_.edges, found.edges);
    checked_.error = std::max(checked_.error, found.error);
    checked_.bound = std::max(checked_.bound, found.bound);
    return found.fault;
  }
  std::string rules() const override {
    return fmt::format(
        "no edge is shorter than the distances at its ends allow, and a path of edges as long as its "
        "distance leads to each vertex that is reached; {}",
        std::is_integral_v<Distance>
            ? "distances are those of a sequential search, exactly"
            : fmt::format("distances differ from those of a sequential search by at most {:.2g} of their "
                          "value, and may by {:.2g}, since paths have up to {} edges",
                          checked_.error, checked_.bound, checked_.edges));
  }
  void add_line(VertexLines& lines, std::uint32_t vertex) const override {
    if (settings_.parents)
      lines.add_vertex(vertex, parents_[vertex]);
    else
      lines.add_distance(vertex, all_[vertex]);
  }

 private:
  void add_path(const graph::GraphFile& graph, std::uint32_t target) {
    const graph::VertexNames names(graph);
    const auto named = [&](std::uint32_t v) {
      return report::RunReport::Top{std::string(names(v)), graph.labelled(), 0};
    };
    auto& path = paths_.emplace_back();
    path.source = named(source_);
    path.target = named(target);
    if (all_[target] == program_->unreached()) return;
    if constexpr (std::is_integral_v<Distance>)
      path.length = std::uint64_t{all_[target]};
    else
      path.length = double{all_[target]};
    for (std::uint32_t v = target; v != source_; v = parents_[v]) path.vertices.push_back(named(v));
    path.vertices.push_back(path.source);
    std::ranges::reverse(path.vertices);
  }

  const SsspSettings& settings_;
  std::uint32_t source_ = 0;
  std::optional<kernels::Sssp<Distance>> program_;
  std::vector<Distance> mine_, all_;            ///< by local number; of all vertices
  std::vector<std::uint32_t> parents_;          ///< at rank 0, where they are asked for
  std::vector<report::RunReport::Path> paths_;  ///< at rank 0, of all runs
  mutable kernels::DistanceCheck checked_;      ///< of all runs
};

std::unique_ptr<FrontierKernel> make_kernel(const SsspSettings& settings) {
  if (settings.distances == "f32") return std::make_unique<SsspKernel<float>>(settings);
  if (settings.distances == "f64") return std::make_unique<SsspKernel<double>>(settings);
  return std::make_unique<SsspKernel<std::uint64_t>>(settings);
}

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
  command
      .add_option("--target", settings.target_list,
                  "print a shortest path to each of these vertices: ID,ID,... or @FILE with one on each line")
      ->type_name("ID[,ID...]|@FILE");
  settings.job.edge_place.add_to(command, settings.job.launch);
}

/// What is wrong is said here once, not by each process.
void check(const graph::GraphFile& graph, SsspSettings& settings) {
  settings.sources.find(graph);
  if (!settings.target_list.empty())
    settings.targets = named_vertices(graph, settings.target_list, "--target");
  if (!settings.unit_weights && !graph.weighted()) {
    throw Error(
        fmt::format("{}: the graph has no weights: convert it from a file with weights, or say "
                    "--unit-weights",
                    graph.path()));
  }
  const bool whole = settings.unit_weights || graph::is_whole(graph.weights().type());
  settings.distances = settings.precision != "auto" ? settings.precision : whole ? "u64" : "f64";
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
      "write the distances to this file as lines of id, tab and value, `infinity` where no path leads "
      "(--parents: -1); - is stdout",
      "check that the distances are those of shortest paths, and how far rounding has moved them, and exit "
      "with 1 when they are not");
  command->callback([settings] {
    run_frontier(
        settings->job, [&](const graph::GraphFile& graph) { check(graph, *settings); },
        [&] { return make_kernel(*settings); });
  });
}

}  // namespace edgewire::cli
