#include "kernels/sssp.h"

#include <fmt/format.h>

#include <bit>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/frontier_command.h"
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
};

class SsspKernel : public FrontierKernel {
 public:
  explicit SsspKernel(const SsspSettings& settings) : settings_(settings) {}

  std::string describe() const override {
    return fmt::format("sssp from {}, delta {}{}", digest(settings_.sources.vertices), settings_.delta,
                       settings_.unit_weights ? ", unit weights" : "");
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
    std::vector<std::uint32_t> bits(mine_.size());
    for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = std::bit_cast<std::uint32_t>(mine_[i]);
    return cli::checksum(job, bits);
  }
  void fill(report::RunReport& report) const override {
    report.kernel = "sssp";
    report.wire = "f32";
    report.options = settings_.sources.options();
    report.options.emplace_back("delta", program_->delta);
    report.options.emplace_back("unit_weights", settings_.unit_weights);
  }
  void gather(frontier::FrontierJob& job) override { all_ = frontier::gather_values(job, mine_); }
  std::string fault(const graph::GraphFile& graph) const override {
    return kernels::check_sssp(graph, source_, all_, settings_.unit_weights);
  }
  std::string rules() const override {
    return "no edge is shorter than the distances at its ends allow, and a path of edges as long as its "
           "distance leads to each vertex that is reached";
  }
  void add_line(VertexLines& lines, std::uint32_t vertex) const override {
    lines.add_distance(vertex, all_[vertex]);
  }

 private:
  const SsspSettings& settings_;
  std::uint32_t source_ = 0;
  std::optional<kernels::Sssp> program_;
  std::vector<float> mine_, all_;  ///< by local number; of all vertices
};

void add_options(CLI::App& command, SsspSettings& settings) {
  settings.sources.add_to(command);
  command
      .add_option(
          "--delta", settings.delta,
          "the width of a bucket of distances; by default a quarter of average weight / average degree")
      ->check(between(1e-300, 1e300));
  command.add_flag("--unit-weights", settings.unit_weights, "let each edge have weight 1");
  settings.job.edge_place.add_to(command, settings.job.launch);
}

/// What is wrong is said here once, not by each process.
void check(const graph::GraphFile& graph, SsspSettings& settings) {
  settings.sources.find(graph);
  if (!settings.unit_weights && !graph.weighted()) {
    throw Error(
        fmt::format("{}: the graph has no weights: convert it from a file with weights, or say "
                    "--unit-weights",
                    graph.path()));
  }
}

}  // namespace

void add_sssp(CLI::App& app) {
  auto settings = std::make_shared<SsspSettings>();
  CLI::App* command =
      app.add_subcommand("sssp", "compute the lengths of the shortest paths from a vertex by delta stepping");
  command->footer(
      "The length of a path is the sum of its edges' weights, none of which is negative. Paths follow edges "
      "in their direction. Sums are floats, and the same in every run.");
  add_frontier_options(
      *command, settings->job, [&] { add_options(*command, *settings); },
      "write the distances to this file as lines of id, tab and value, `infinity` where no path leads; - is "
      "stdout",
      "check that the distances are those of shortest paths, and exit with 1 when they are not");
  command->callback([settings] {
    run_frontier(
        settings->job, [&](const graph::GraphFile& graph) { check(graph, *settings); },
        [&] { return std::make_unique<SsspKernel>(*settings); });
  });
}

}  // namespace edgewire::cli
