#include "kernels/scc.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "kernels/check.h"
#include "kernels/wcc.h"
#include "runs/kernels.h"
#include "runs/vertex_kernel.h"

namespace edgewire::runs {

namespace {

class SccKernel : public LabelKernel {
 public:
  SccKernel() : LabelKernel("component", "components") {}
  std::string describe() const override { return "scc"; }
  std::vector<frontier::Superstep> run(frontier::FrontierJob& job) override {
    kernels::StrongComponents components(job);
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
    constexpr std::uint64_t kFirst = kernels::StrongComponents::kForward;
    return one.kind < kFirst ? kernels::kComponentPhases.at(one.kind) : kPhases.at(one.kind - kFirst);
  }
  void fill(report::RunReport& report) const override {
    report.kernel = "scc";
    report.wire = "records";
  }
  RecordCounts counts(const graph::GraphFile& graph) const override {
    return one_count(kernels::count_strong_components(graph));
  }
  std::string fault(const graph::GraphFile& graph) const override { return kernels::check_scc(graph, all_); }
  std::string rules() const override {
    return "the strongly connected components were found again by one depth-first search";
  }
};

}  // namespace

std::unique_ptr<Kernel> make_scc() { return std::make_unique<SccKernel>(); }

}  // namespace edgewire::runs
