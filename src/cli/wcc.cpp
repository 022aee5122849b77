#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/label_kernel.h"
#include "frontier/components.h"
#include "kernels/verify.h"

namespace edgewire::cli {

namespace {

class WccKernel : public LabelKernel {
 public:
  WccKernel() : LabelKernel("component", "components") {}
  std::string describe() const override { return "wcc"; }
  std::vector<frontier::Superstep> run(frontier::FrontierJob& job) override {
    frontier::Components components(job);
    auto supersteps = components.run();
    mine_ = components.labels();
    return supersteps;
  }
  std::string phase(const frontier::Superstep& one) const override { return kComponentPhases.at(one.kind); }
  void fill(report::RunReport& report) const override {
    report.kernel = "wcc";
    report.wire = "records";
  }
  std::string fault(const graph::GraphFile& graph) const override { return kernels::check_wcc(graph, all_); }
  std::string rules() const override {
    return "labels agree along each edge, and no two components have the same";
  }
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
      "they do",
      {"largest components, by label and number of vertices"});
  command->callback([options] {
    run_frontier(
        *options, [](const graph::GraphFile&) {}, [] { return std::make_unique<WccKernel>(); });
  });
}

}  // namespace edgewire::cli
