#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cdlp.h"
#include "kernels/check.h"
#include "runs/kernels.h"
#include "runs/vertex_kernel.h"

namespace edgewire::runs {

namespace {

class CdlpKernel : public LabelKernel {
 public:
  explicit CdlpKernel(const CdlpOptions& asked)
      : LabelKernel("community", "communities"),
        iterations_(asked.iterations),
        checkpoints_(asked.checkpoints) {}

  /// Where edges have a direction it numbers the vertices at both ends itself.
  bool follows_rows(const graph::GraphFile& graph) const override { return graph.symmetric(); }
  std::string describe() const override { return fmt::format("cdlp, {} iterations", iterations_); }
  std::vector<frontier::Superstep> run(frontier::FrontierJob& job) override {
    kernels::LabelPropagation propagation(job);
    const auto ids =
        checkpoints_.any() ? owned_vertices(job.ownership(), job.rank()) : std::vector<VertexId>();
    Checkpoints checkpoints({job.bootstrap(), job.pool(), job.graph(), ids, sizeof(PlainId), "cdlp"},
                            checkpoints_, iterations_);
    taken_up_ = checkpoints.taken_up();
    if (auto resumed = checkpoints.take_resumed()) propagation.take_up(taken_up_, resumed->values<PlainId>());
    auto supersteps = propagation.run(
        iterations_, [&](std::uint64_t done) { checkpoints.step(done, std::span(propagation.labels())); });
    checkpoints.finish();
    mine_ = propagation.labels();
    return supersteps;
  }
  std::uint64_t most_supersteps() const override { return iterations_ - taken_up_; }
  std::string phase(const frontier::Superstep& one) const override {
    return fmt::format("iteration {}", taken_up_ + one.step + 1);
  }
  void fill(report::RunReport& report) const override {
    report.kernel = "cdlp";
    report.wire = "records";
    report.options = {{"iterations", std::int64_t{iterations_}}};
    report.resumed_from = taken_up_;
  }
  RecordCounts counts(const graph::GraphFile& graph) const override {
    if (taken_up_ > 0) return {};
    return one_count(kernels::count_labels(graph, iterations_));
  }
  std::string fault(const graph::GraphFile& graph) const override {
    return kernels::check_cdlp(graph, iterations_, all_);
  }
  std::string rules() const override { return "the labels were found again, one vertex after another"; }

 private:
  std::uint32_t iterations_;
  CheckpointOptions checkpoints_;
  std::uint64_t taken_up_ = 0;  ///< iterations that a checkpoint held
};

}  // namespace

std::unique_ptr<Kernel> make_cdlp(const CdlpOptions& options) {
  return std::make_unique<CdlpKernel>(options);
}

}  // namespace edgewire::runs
