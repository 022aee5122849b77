#include <fmt/format.h>

#include <array>
#include <functional>
#include <memory>
#include <numeric>
#include <string>

#include "kernels/check.h"
#include "kernels/lcc.h"
#include "kernels/plain_neighbours.h"
#include "launch/packing.h"
#include "runs/frontier_kernel.h"
#include "runs/kernels.h"

namespace edgewire::runs {

namespace {

class LccKernel : public VertexKernel<double> {
 public:
  LccKernel() : VertexKernel("lcc", "coefficient", Values::Form::number, 17) {}
  bool follows_rows(const graph::GraphFile&) const override { return false; }
  std::vector<frontier::Superstep> supersteps(frontier::FrontierJob& job) override {
    kernels::Lcc clustering(job);
    auto supersteps = clustering.run();
    mine_ = clustering.coefficients();
    triangles_ = clustering.triangles();
    pairs_ = clustering.pairs_of_neighbours();
    return supersteps;
  }
  std::string phase(const frontier::Superstep& one) const override {
    constexpr std::array kPhases{"order vertices by degree, keep each edge once", "intersect rows",
                                 "send credits to owners"};
    return kPhases.at(one.kind);
  }
  report::Answer answer(const AnsweredRun& run) override {
    report::Answer answer;
    const double sum = launch::allreduce(run.job.bootstrap(),
                                         std::accumulate(mine_.begin(), mine_.end(), 0.0), std::plus<>());
    const double pairs = launch::allreduce(run.job.bootstrap(), pairs_, std::plus<>());
    const auto vertices = static_cast<double>(run.job.graph().vertices());
    const double mean = vertices == 0 ? 0 : sum / vertices;
    const double transitivity = pairs == 0 ? 0 : 3 * static_cast<double>(triangles_) / pairs;
    answer.text = fmt::format("mean coefficient {:.6g}, {} triangle{}, transitivity {:.6g}", mean, triangles_,
                              triangles_ == 1 ? "" : "s", transitivity);
    answer.fields = {{"mean", mean}, {"triangles", triangles_}, {"transitivity", transitivity}};
    set_highest(answer, run, mine_, 0);
    return answer;
  }
  void fill(report::RunReport& report) const override {
    FrontierKernel::fill(report);
    report.triangles = triangles_;
  }
  RecordCounts counts(const graph::GraphFile& graph, bool /*on_disks*/) const override {
    return {kernels::count_triangles(graph)};
  }
  std::string fault(const graph::GraphFile& graph) const override {
    return kernels::check_lcc(graph, all_, triangles_);
  }
  /// Counts pairs of neighbours again; fault() has counted the triangles.
  report::Answer expected_answer(const Asked& asked) const override {
    report::Answer answer = expected_highest(asked, all_, 0);
    const kernels::PlainSources sources(asked.graph);
    double sum = 0, pairs = 0;
    for (VertexId v{}; v < all_.size(); ++v) {
      const auto degree = static_cast<double>(kernels::neighbours_of(asked.graph, sources, v).size());
      sum += all_[v];
      pairs += degree * (degree - 1) / 2;
    }
    answer.fields = {{"mean", all_.empty() ? 0 : sum / static_cast<double>(all_.size())},
                     {"triangles", triangles_},
                     {"transitivity", pairs == 0 ? 0 : 3 * static_cast<double>(triangles_) / pairs}};
    return answer;
  }
  std::string rules() const override {
    return "the edges between the neighbours of each vertex, and the triangles, were counted again";
  }

 private:
  std::uint64_t triangles_ = 0;
  double pairs_ = 0;  ///< pairs of neighbours of a vertex of this process
};

}  // namespace

std::unique_ptr<Kernel> make_lcc() { return std::make_unique<LccKernel>(); }

}  // namespace edgewire::runs
