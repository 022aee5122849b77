#include "kernels/ppr.h"

#include <fmt/format.h>

#include <memory>

#include "kernels/runs.h"
#include "runs/dense.h"
#include "runs/digest.h"
#include "runs/rank_kernel.h"

namespace edgewire::runs {

namespace {

class PprKernel final : public RankKernel {
 public:
  PprKernel(const kernels::PageRankOptions& asked, Sources sources, bool doubles)
      : RankKernel("ppr", asked, doubles), sources_(std::move(sources)) {}

  DenseOutcome iterate(DenseStage& stage) override {
    return doubles()
               ? iterate_program(stage, kernels::PersonalisedPageRank<double>(asked_, sources_.vertices))
               : iterate_program(stage, kernels::PersonalisedPageRank<float>(asked_, sources_.vertices));
  }
  kernels::Reference reference(const graph::GraphFile& graph, int iterations,
                               const kernels::Rounding& rounding) const override {
    return kernels::reference_ranks(graph, asked_, iterations, sources_.vertices, rounding);
  }
  void add_to(report::RunReport& report, const DenseOutcome& outcome) const override {
    RankKernel::add_to(report, outcome);
    report.options.insert(report.options.end(), sources_.asked.begin(), sources_.asked.end());
  }

 private:
  std::string program() const override {
    return fmt::format("ppr{}, sources {}", asked_.weighted ? " weighted" : "", digest(sources_.vertices));
  }

  Sources sources_;
};

}  // namespace

std::unique_ptr<DenseKernel> make_ppr(const kernels::PageRankOptions& options, Sources sources,
                                      bool doubles) {
  return std::make_unique<PprKernel>(options, std::move(sources), doubles);
}

}  // namespace edgewire::runs
