#include "kernels/wcc.h"

#include <memory>
#include <string>

#include "kernels/check.h"
#include "perf/frontier_memory.h"
#include "runs/kernels.h"
#include "runs/vertex_kernel.h"

namespace edgewire::runs {

namespace {

class WccKernel : public LabelKernel {
 public:
  WccKernel() : LabelKernel("component", "components") {}
  std::string describe() const override { return "wcc"; }
  disk::VertexBytes vertex_bytes() const override { return perf::vertex_bytes("wcc"); }
  std::vector<frontier::Superstep> run(frontier::FrontierJob& job) override {
    kernels::Components components(job);
    auto supersteps = components.run();
    mine_ = components.labels();
    return supersteps;
  }
  std::string phase(const frontier::Superstep& one) const override {
    return kernels::kComponentPhases.at(one.kind);
  }
  void fill(report::RunReport& report) const override {
    report.kernel = "wcc";
    report.wire = "records";
  }
  RecordCounts counts(const graph::GraphFile& graph) const override {
    return one_count(kernels::count_components(graph));
  }
  std::string fault(const graph::GraphFile& graph) const override { return kernels::check_wcc(graph, all_); }
  std::string rules() const override {
    return "labels agree along each edge, and no two components have the same";
  }
};

}  // namespace

std::unique_ptr<Kernel> make_wcc() { return std::make_unique<WccKernel>(); }

}  // namespace edgewire::runs
