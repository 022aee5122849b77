#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/label_kernel.h"
#include "frontier/strong_components.h"
#include "kernels/verify.h"

namespace edgewire::cli {

namespace {

class SccKernel : public LabelKernel {
 public:
  SccKernel() : LabelKernel("component", "components") {}
  std::string describe() const override { return "scc"; }
  std::vector<frontier::Superstep> run(frontier::FrontierJob& job) override {
    frontier::StrongComponents components(job);
    auto supersteps = components.run();
    mine_ = components.labels();
    return supersteps;
  }
  std::string phase(const frontier::Superstep& one) const override {
    constexpr std::array kPhases{"search forward from one vertex",
                                 "join what leads back to it",
                                 "keep the edges that are left, both ways",
                                 "trim",
                                 "spread colours",
                                 "search backward within colours",
                                 "tell colours to neighbours",
                                 "collect the edges that are left",
                                 "find the first vertices"};
    constexpr std::uint64_t kFirst = frontier::StrongComponents::kForward;
    return one.kind < kFirst ? kComponentPhases.at(one.kind) : kPhases.at(one.kind - kFirst);
  }
  void fill(report::RunReport& report) const override {
    report.kernel = "scc";
    report.wire = "records";
  }
  std::string fault(const graph::GraphFile& graph) const override { return kernels::check_scc(graph, all_); }
  std::string rules() const override {
    return "the strongly connected components were found again by one depth-first search";
  }
};

}  // namespace

void add_scc(CLI::App& app) {
  auto options = std::make_shared<JobOptions>();
  CLI::App* command = app.add_subcommand("scc", "compute the strongly connected component of every vertex");
  command->footer(
      "Two vertices are in the same component when paths lead along edges from each to the other. The label "
      "of a component is its first vertex in the file. In graphs that store every edge both ways (convert "
      "--undirected) these are the components of wcc, and are found as it finds them. Edges stay in memory: "
      "those that are left beside the largest component are needed in both directions.");
  add_frontier_options(
      *command, *options, [] {},
      "write the labels to this file as lines of id, tab and the label, an id as well; - is stdout",
      "find the components again by one depth-first search, and exit with 1 when a label is not the first "
      "vertex of its component",
      {"largest components, by label and number of vertices"});
  command->callback([options] {
    run_frontier(
        *options, [](const graph::GraphFile&) {}, [] { return std::make_unique<SccKernel>(); });
  });
}

}  // namespace edgewire::cli
