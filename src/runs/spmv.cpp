#include "kernels/spmv.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <span>
#include <utility>

#include "base/error.h"
#include "kernels/runs.h"
#include "options/kernels.h"
#include "runs/dense_kernel.h"
#include "runs/digest.h"
#include "runs/kernels.h"

namespace edgewire::runs {

namespace {

class SpmvKernel final : public DenseKernel {
 public:
  SpmvKernel(const SpmvOptions& asked, Vector x, bool weighted, bool doubles)
      : DenseKernel("spmv", "value", doubles), asked_(asked), x_(std::move(x)), weighted_(weighted) {}

  std::string state() const override {
    return fmt::format("spmv{}, x {}", weighted_ ? " weighted" : "",
                       x_.values.empty() ? "1" : digest(x_.values));
  }
  std::string describe() const override {
    return fmt::format("{}, {} iterations, precision {}", state(), asked_.iterations, precision());
  }
  bool weighted() const override { return weighted_; }
  int iterations() const override { return asked_.iterations; }
  std::unique_ptr<detail::AnyRun<double>> start(DenseJob& job) override {
    return doubles() ? run_of<double>(job) : run_of<float>(job);
  }
  kernels::Reference reference(const Graph& graph, int iterations,
                               const kernels::Rounding& rounding) const override {
    return kernels::reference_spmv(graph, x_.values, iterations, rounding);
  }
  double message_bound(const Graph&, int iterations, const kernels::Rounding& rounding) const override {
    return kernels::spmv_message_bound(iterations, rounding);
  }
  report::Answer answer(const DenseStage& stage, const DenseOutcome& outcome,
                        const graph::VertexNames& names) const override {
    report::Answer answer;
    const double norm = norm_of_all(stage.bootstrap, outcome.values);
    answer.text = fmt::format("norm {:.9g} (Euclidean, of y after {} iteration{})", norm, outcome.done(),
                              outcome.done() == 1 ? "" : "s");
    answer.fields = {{"norm", norm}};
    set_top(answer, "largest", process::Order::magnitude, stage, outcome, names);
    return answer;
  }
  report::Answer expected_answer(const Asked& asked, std::span<const double> all) const override {
    report::Answer answer = expected_highest<double>(asked, all, kTop, true);
    long double squares = 0;  // sum of squares, which cannot overflow
    for (const double value : all) squares += static_cast<long double>(value) * value;
    answer.fields = {{"norm", static_cast<double>(std::sqrt(squares))}};
    return answer;
  }
  void add_to(report::RunReport& report, const DenseOutcome&) const override {
    report.options = {{"iterations", std::int64_t{asked_.iterations}},
                      {"x", x_.path},
                      {"precision", precision()},
                      {"weighted", weighted_}};
  }

 private:
  template <class Offered>
  std::unique_ptr<detail::AnyRun<double>> run_of(DenseJob& job) const {
    using Spmv = kernels::Spmv<Offered>;
    return std::make_unique<detail::OwningRun<Spmv>>(job, Spmv(x_.values),
                                                     [&](const Spmv&, const typename Spmv::Totals& last) {
                                                       if (last.too_large > 0)
                                                         refuse(job.graph(), last.too_large);
                                                     });
  }
  [[noreturn]] void refuse(const Graph& graph, double too_large) const {
    throw Error(
        fmt::format("{}: after {} iterations {} of {} values are too large for {}: {}", graph.path(),
                    asked_.iterations, too_large, graph.vertices(), precision(),
                    !doubles() ? fmt::format("{} takes more", opt::precision("f64"))
                    : asked_.iterations > 1
                        ? fmt::format("ask for fewer {} or smaller values in {}", opt::iterations, opt::x)
                        : fmt::format("smaller values in {} or smaller weights are needed", opt::x)));
  }

  SpmvOptions asked_;
  Vector x_;
  bool weighted_;
};

}  // namespace

std::unique_ptr<Kernel> make_spmv(const SpmvOptions& asked, Vector x, bool weighted, bool doubles) {
  return std::make_unique<SpmvKernel>(asked, std::move(x), weighted, doubles);
}

}  // namespace edgewire::runs
