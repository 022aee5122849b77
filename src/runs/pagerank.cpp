#include "kernels/pagerank.h"

#include <fmt/format.h>

#include <memory>

#include "kernels/runs.h"
#include "runs/dense.h"
#include "runs/rank_kernel.h"

namespace edgewire::runs {

namespace {

class PageRankKernel final : public RankKernel {
 public:
  PageRankKernel(const kernels::PageRankOptions& asked, std::uint64_t vertices, bool doubles)
      : RankKernel("pagerank", asked, doubles), vertices_(vertices) {}

  DenseOutcome iterate(DenseStage& stage) override {
    return doubles() ? iterate_program(stage, kernels::PageRank<double>(asked_, vertices_))
                     : iterate_program(stage, kernels::PageRank<float>(asked_, vertices_));
  }
  kernels::Reference reference(const graph::GraphFile& graph, int iterations,
                               const kernels::Rounding& rounding) const override {
    return kernels::reference_ranks(graph, asked_, iterations, {}, rounding);
  }
  void add_to(report::RunReport& report, const DenseOutcome& outcome) const override {
    RankKernel::add_to(report, outcome);
    report.options.emplace_back("pagerank_2015", asked_.form_2015);
  }

 private:
  std::string program() const override {
    return fmt::format("pagerank{}{}", asked_.form_2015 ? " 2015" : "", asked_.weighted ? " weighted" : "");
  }

  std::uint64_t vertices_;
};

}  // namespace

std::unique_ptr<DenseKernel> make_pagerank(const kernels::PageRankOptions& options, std::uint64_t vertices,
                                           bool doubles) {
  return std::make_unique<PageRankKernel>(options, vertices, doubles);
}

}  // namespace edgewire::runs
