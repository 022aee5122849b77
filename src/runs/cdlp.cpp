#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>

#include "frontier/label_propagation.h"
#include "kernels/verify.h"
#include "runs/kernels.h"
#include "runs/vertex_kernel.h"

namespace edgewire::runs {

namespace {

class CdlpKernel : public LabelKernel {
 public:
  explicit CdlpKernel(std::uint32_t iterations)
      : LabelKernel("community", "communities"), iterations_(iterations) {}

  std::string describe() const override { return fmt::format("cdlp, {} iterations", iterations_); }
  std::vector<frontier::Superstep> run(frontier::FrontierJob& job) override {
    frontier::LabelPropagation propagation(job);
    auto supersteps = propagation.run(iterations_);
    mine_ = propagation.labels();
    return supersteps;
  }
  std::uint64_t most_supersteps() const override { return iterations_; }
  std::string phase(const frontier::Superstep& one) const override {
    return fmt::format("iteration {}", one.step + 1);
  }
  void fill(report::RunReport& report) const override {
    report.kernel = "cdlp";
    report.wire = "records";
    report.options = {{"iterations", std::int64_t{iterations_}}};
  }
  std::string fault(const graph::GraphFile& graph) const override {
    return kernels::check_cdlp(graph, iterations_, all_);
  }
  std::string rules() const override { return "the labels were found again, one vertex after another"; }

 private:
  std::uint32_t iterations_;
};

}  // namespace

std::unique_ptr<Kernel> make_cdlp(std::uint32_t iterations) {
  return std::make_unique<CdlpKernel>(iterations);
}

}  // namespace edgewire::runs
