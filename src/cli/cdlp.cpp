#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/label_kernel.h"
#include "frontier/label_propagation.h"
#include "kernels/verify.h"

namespace edgewire::cli {

namespace {

struct CdlpSettings {
  JobOptions job;
  std::uint32_t iterations = 10;
};

class CdlpKernel : public LabelKernel {
 public:
  explicit CdlpKernel(const CdlpSettings& settings)
      : LabelKernel("community", "communities"), settings_(settings) {}

  std::string describe() const override { return fmt::format("cdlp, {} iterations", settings_.iterations); }
  std::vector<frontier::Superstep> run(frontier::FrontierJob& job) override {
    frontier::LabelPropagation propagation(job);
    auto supersteps = propagation.run(settings_.iterations);
    mine_ = propagation.labels();
    return supersteps;
  }
  std::string phase(const frontier::Superstep& one) const override {
    return fmt::format("iteration {}", one.step + 1);
  }
  void fill(report::RunReport& report) const override {
    report.kernel = "cdlp";
    report.wire = "records";
    report.options = {{"iterations", std::int64_t{settings_.iterations}}};
  }
  std::string fault(const graph::GraphFile& graph) const override {
    return kernels::check_cdlp(graph, settings_.iterations, all_);
  }
  std::string rules() const override { return "the labels were found again, one vertex after another"; }

 private:
  const CdlpSettings& settings_;
};

}  // namespace

void add_cdlp(CLI::App& app) {
  auto settings = std::make_shared<CdlpSettings>();
  CLI::App* command =
      app.add_subcommand("cdlp", "detect communities by label propagation, as LDBC Graphalytics defines it");
  command->footer(
      "Each vertex starts with its own id as its label. In each iteration all vertices at once take the "
      "label "
      "that is most frequent among their neighbours, the smallest of those on a tie. Both ends of an edge "
      "are "
      "neighbours: once for each edge, and in directed graphs once for each direction. A vertex without "
      "neighbours keeps its label. A run ends early when no label has changed.");
  const auto own = [&] {
    command->add_option("--iterations", settings->iterations, "stop after this many iterations")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
  };
  add_frontier_options(*command, settings->job, own,
                       "write the labels to this file as lines of id, tab and the label, an id as well; - is "
                       "stdout",
                       "find the labels again, one vertex after another, and exit with 1 when one differs",
                       {"largest communities, by label and number of vertices"});
  command->callback([settings] {
    run_frontier(
        settings->job, [](const graph::GraphFile&) {},
        [&] { return std::make_unique<CdlpKernel>(*settings); });
  });
}

}  // namespace edgewire::cli
