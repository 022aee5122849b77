// This file has the kernels whose values are labels, vertices that stand for groups: wcc, scc and cdlp.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/cdlp/cdlp.h"
#include "kernels/check/check.h"
#include "kernels/descriptor.h"
#include "kernels/scc/scc.h"
#include "kernels/wcc/wcc.h"
#include "runs/frontier_kernel.h"
#include "runs/kernels.h"

namespace edgewire::runs {

namespace {

class LabelKernel : public VertexKernel<PlainId> {
 public:
  /// Makes a kernel. `column`: the name of a label in results. `one`, `several`: the names of groups.
  LabelKernel(const char* name, const char* column, const char* one, const char* several)
      : VertexKernel(name, column, Values::Form::vertex, 0), one_(one), several_(several) {}

  report::Answer answer(const AnsweredRun& run) override { return group_answer(run, mine_, one_, several_); }
  report::Answer expected_answer(const Asked& asked) const override {
    return expected_of_groups(asked, all_, several_);
  }

 private:
  const char* one_;
  const char* several_;
};

/// A kernel that finds components. `Method` finds them.
template <class Method>
class ComponentKernel : public LabelKernel {
 public:
  explicit ComponentKernel(const char* name) : LabelKernel(name, "component", "component", "components") {}

  std::vector<frontier::Superstep> supersteps(frontier::Job& job) override {
    Method components(job);
    auto supersteps = components.run();
    mine_ = components.labels();
    return supersteps;
  }
};

class WccKernel : public ComponentKernel<kernels::Wcc> {
 public:
  WccKernel() : ComponentKernel("wcc") {}

  disk::VertexBytes vertex_bytes() const override { return kernels::vertex_bytes(name()); }
  std::string phase(const frontier::Superstep& one) const override {
    return kernels::kWccPhases.at(one.kind);
  }
  RecordCounts counts(const Graph& graph, bool on_disks) const override {
    return {kernels::count_components(graph, on_disks)};
  }
  std::string fault(const Graph& graph) const override { return kernels::check_wcc(graph, all_); }
  std::string rules() const override {
    return "labels agree along each edge, and no two components have the same";
  }
};

class SccKernel : public ComponentKernel<kernels::Scc> {
 public:
  SccKernel() : ComponentKernel("scc") {}

  std::string phase(const frontier::Superstep& one) const override {
    constexpr std::array kPhases{
        "search forward from one vertex",
        "join what leads back to it",
        "keep the edges that are left, both ways",
        "trim",
        "spread colours",
        "search backward within colours",
        "tell colours to neighbours",
        "collect the edges that are left",
        "find the first vertices",
    };
    constexpr std::uint64_t kFirst = kernels::Scc::kForward;
    return one.kind < kFirst ? kernels::kWccPhases.at(one.kind) : kPhases.at(one.kind - kFirst);
  }
  RecordCounts counts(const Graph& graph, bool /*on_disks*/) const override {
    return {kernels::count_strong_components(graph)};
  }
  std::string fault(const Graph& graph) const override { return kernels::check_scc(graph, all_); }
  std::string rules() const override {
    return "the strongly connected components were found again by one depth-first search";
  }
};

class CdlpKernel : public LabelKernel {
 public:
  explicit CdlpKernel(const CdlpOptions& asked)
      : LabelKernel("cdlp", "label", "community", "communities"), iterations_(asked.iterations) {}

  /// Returns whether it follows rows. With directed edges it numbers the vertices at both ends itself.
  bool follows_rows(const Graph& graph) const override { return graph.symmetric(); }
  std::string describe() const override { return fmt::format("cdlp, {} iterations", iterations_); }
  std::vector<frontier::Superstep> supersteps(frontier::Job& job) override {
    kernels::Cdlp propagation(job);
    const auto ids =
        checkpoints_.any() ? owned_vertices(job.ownership(), job.rank()) : std::vector<VertexId>();
    Checkpoints checkpoints({job.bootstrap(), job.pool(), job.graph(), ids, sizeof(PlainId), "cdlp"},
                            checkpoints_, iterations_);
    resumed_at_ = checkpoints.resumed_at();
    if (auto resumed = checkpoints.take_resumed())
      propagation.resume(resumed_at_, resumed->values<PlainId>());
    auto supersteps = propagation.run(
        iterations_, [&](std::uint64_t done) { checkpoints.step(done, std::span(propagation.labels())); });
    checkpoints.finish();
    mine_ = propagation.labels();
    return supersteps;
  }
  std::uint64_t most_supersteps() const override { return iterations_ - resumed_at_; }
  std::string phase(const frontier::Superstep& one) const override {
    return fmt::format("iteration {}", resumed_at_ + one.step + 1);
  }
  void fill(report::RunReport& report) const override {
    FrontierKernel::fill(report);
    report.options = {{"iterations", std::int64_t{iterations_}}};
    report.resumed_from = resumed_at_;
  }
  RecordCounts counts(const Graph& graph, bool /*on_disks*/) const override {
    if (resumed_at_ > 0) return {};
    return {kernels::count_labels(graph, iterations_)};
  }
  std::string fault(const Graph& graph) const override {
    return kernels::check_cdlp(graph, iterations_, all_);
  }
  std::string rules() const override { return "the labels were found again, one vertex after another"; }

 private:
  std::uint32_t iterations_;
  std::uint64_t resumed_at_ = 0;  ///< number of iterations that a checkpoint held
};

}  // namespace

std::unique_ptr<Kernel> make_wcc() { return std::make_unique<WccKernel>(); }

std::unique_ptr<Kernel> make_scc() { return std::make_unique<SccKernel>(); }

std::unique_ptr<Kernel> make_cdlp(const CdlpOptions& asked) { return std::make_unique<CdlpKernel>(asked); }

}  // namespace edgewire::runs
