#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/frontier_command.h"
#include "frontier/components.h"
#include "kernels/verify.h"

namespace edgewire::cli {

namespace {

class WccKernel : public FrontierKernel {
 public:
  std::string describe() const override { return "wcc"; }
  std::vector<frontier::Superstep> run(frontier::FrontierJob& job) override {
    frontier::Components components(job);
    auto supersteps = components.run();
    mine_ = components.labels();
    return supersteps;
  }
  std::string phase(const frontier::Superstep& one) const override {
    constexpr std::array kPhases{"link two edges of each vertex", "link the rest",
                                 "tell owners where their vertices hang", "ask owners for roots",
                                 "link all edges"};
    return kPhases.at(one.kind);
  }
  std::uint64_t checksum(const frontier::FrontierJob& job) const override {
    return cli::checksum(job, mine_);
  }
  void fill(report::RunReport& report) const override {
    report.kernel = "wcc";
    report.wire = "records";
  }
  void gather(frontier::FrontierJob& job) override { all_ = frontier::gather_values(job, mine_); }
  std::string fault(const graph::GraphFile& graph) const override { return kernels::check_wcc(graph, all_); }
  std::string rules() const override {
    return "labels agree along each edge, and no two components have the same";
  }
  void add_line(VertexLines& lines, std::uint32_t vertex) const override {
    lines.add_vertex(vertex, all_[vertex]);
  }

 private:
  std::vector<std::uint32_t> mine_, all_;  ///< by local number; of all vertices
};

}  // namespace

void add_wcc(CLI::App& app) {
  auto options = std::make_shared<JobOptions>();
  CLI::App* command = app.add_subcommand("wcc", "compute the weakly connected component of every vertex");
  command->footer(
      "Two vertices are in the same component when edges, in any direction, lead from one to the other. The "
      "label of a component is its first vertex in the file. In graphs that store every edge both ways "
      "(convert --undirected) most edges are skipped.");
  add_frontier_options(
      *command, *options, [&] { options->edge_place.add_to(*command, options->launch); },
      "write the labels to this file as lines of id, tab and the label, an id as well; - is stdout",
      "check that labels agree along each edge and that no two components share one, and exit with 1 when "
      "they do");
  command->callback([options] {
    run_frontier(
        *options, [](const graph::GraphFile&) {}, [] { return std::make_unique<WccKernel>(); });
  });
}

}  // namespace edgewire::cli
