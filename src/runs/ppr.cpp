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
  PprKernel(const kernels::PageRankOptions& asked, std::vector<std::uint32_t> sources, std::string list,
            bool doubles)
      : RankKernel("ppr", asked, doubles), sources_(std::move(sources)), list_(std::move(list)) {}

  DenseOutcome iterate(DenseStage& stage) override {
    return doubles() ? iterate_program(stage, kernels::PersonalisedPageRank<double>(asked_, sources_))
                     : iterate_program(stage, kernels::PersonalisedPageRank<float>(asked_, sources_));
  }
  kernels::Reference reference(const graph::GraphFile& graph, int iterations,
                               const kernels::Rounding& rounding) const override {
    return kernels::reference_ranks(graph, asked_, iterations, sources_, rounding);
  }
  void add_to(report::RunReport& report, const DenseOutcome& outcome) const override {
    RankKernel::add_to(report, outcome);
    report.options.emplace_back("sources", list_);
  }

 private:
  std::string program() const override {
    return fmt::format("ppr{}, sources {}", asked_.weighted ? " weighted" : "", digest(sources_));
  }

  std::vector<std::uint32_t> sources_;
  std::string list_;
};

}  // namespace

std::unique_ptr<DenseKernel> make_ppr(const kernels::PageRankOptions& options,
                                      std::vector<std::uint32_t> sources, std::string asked, bool doubles) {
  return std::make_unique<PprKernel>(options, std::move(sources), std::move(asked), doubles);
}

}  // namespace edgewire::runs
