#include "kernels/sssp.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/frontier_command.h"
#include "cli/sources.h"
#include "error.h"
#include "frontier/path.h"
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
  Target target;
};

/// `Distance` is as kernels::Sssp has it.
template <class Distance>
class SsspKernel : public FrontierKernel {
 public:
  explicit SsspKernel(const SsspSettings& settings) : settings_(settings) {}

  std::string describe() const override {
    return fmt::format("sssp from {}, delta {}, distances {}{}{}{}", digest(settings_.sources.vertices),
                       settings_.delta, settings_.distances, settings_.unit_weights ? ", unit weights" : "",
                       settings_.parents ? ", parents" : "",
                       settings_.target.vertex ? fmt::format(", target {}", *settings_.target.vertex) : "");
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
    gathered_ = false;
    return supersteps;
  }
  std::string phase(const frontier::Superstep& one) const override {
    return fmt::format("distances from {:.6g}", static_cast<double>(one.step) * program_->delta);
  }
  std::uint64_t checksum(const frontier::FrontierJob& job) const override {
    return cli::checksum(job, mine_);
  }
  report::Answer answer(const AnsweredRun& run) override {
    auto answer = distance_answer<Distance>(run, mine_, program_->unreached());
    if (!settings_.target.vertex) return answer;
    gather(run.job);
    if (run.job.rank() == 0) answer.path = path_to(*settings_.target.vertex, run.names);
    return answer;
  }
  void fill(report::RunReport& report) const override {
    report.kernel = "sssp";
    report.wire = settings_.distances;
    report.options = settings_.sources.options();
    report.options.emplace_back("delta", program_->delta);
    report.options.emplace_back("unit_weights", settings_.unit_weights);
    report.options.emplace_back("precision", settings_.precision);
    report.options.emplace_back("parents", settings_.parents);
    if (settings_.target.vertex) report.options.emplace_back("target", settings_.target.name);
  }
  void gather(frontier::FrontierJob& job) override {
    if (std::exchange(gathered_, true)) return;
    all_ = frontier::gather_values(job, mine_);
    if (job.rank() > 0 || (!settings_.parents && !settings_.target.vertex)) return;
    const std::span<const Distance> distances = all_;
    parents_ = kernels::find_parents(job.graph(), source_, distances, settings_.unit_weights);
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
  report::Path path_to(std::uint32_t target, const graph::VertexNames& names) const {
    return named_path(names, frontier::path_to(parents_, source_, target), source_, target,
                      as_number(all_[target]));
  }

  const SsspSettings& settings_;
  std::uint32_t source_ = 0;
  std::optional<kernels::Sssp<Distance>> program_;
  std::vector<Distance> mine_, all_;        ///< by local number; of all vertices
  bool gathered_ = false;                   ///< `all_` and `parents_` are of the last run
  std::vector<std::uint32_t> parents_;      ///< at rank 0, where they are asked for
  mutable kernels::DistanceCheck checked_;  ///< of all runs
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
  settings.target.add_to(command);
  settings.job.edge_place.add_to(command, settings.job.launch);
}

/// What is wrong is said here once, not by each process.
void check(const graph::GraphFile& graph, SsspSettings& settings) {
  settings.sources.find(graph);
  settings.target.find(graph);
  if (!settings.unit_weights) graph::expect_weights(graph, "say --unit-weights");
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
      "with 1 when they are not",
      {"vertices that are farthest, of those that are reached"});
  command->callback([settings] {
    expect_stdout_for("--target", !settings->target.name.empty(), settings->job);
    run_frontier(
        settings->job, [&](const graph::GraphFile& graph) { check(graph, *settings); },
        [&] { return make_kernel(*settings); });
  });
}

}  // namespace edgewire::cli
