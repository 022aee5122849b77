#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "kernels/bfs/bfs.h"
#include "kernels/check/check.h"
#include "kernels/descriptor.h"
#include "kernels/sssp/sssp.h"
#include "options/kernels.h"
#include "runs/digest.h"
#include "runs/frontier_kernel.h"
#include "runs/kernels.h"

namespace edgewire::runs {

namespace {

/// The name of the type of distances.
template <class Distance>
constexpr const char* kType = std::is_integral_v<Distance>         ? "u64"
                              : sizeof(Distance) == sizeof(double) ? "f64"
                                                                   : "f32";

const char* to_name(SsspOptions::Precision precision) noexcept {
  return precision == SsspOptions::Precision::f32   ? "f32"
         : precision == SsspOptions::Precision::f64 ? "f64"
                                                    : "auto";
}

/// The kernel sssp. `Distance`: that of kernels::Sssp.
template <class Distance>
class SsspKernel : public VertexKernel<Distance> {
  using Base = VertexKernel<Distance>;
  using Base::all_, Base::mine_;

 public:
  SsspKernel(const Sources& sources, const SsspAsked& asked, const Target& target)
      : Base("sssp", "distance", Values::Form::distance, 0),
        sources_(sources),
        asked_(asked),
        target_(target) {}

  std::string describe() const override {
    return fmt::format("sssp from {}, delta {}, distances {}{}{}{}", digest(sources_.vertices), asked_.delta,
                       kType<Distance>, asked_.unit_weights ? ", unit weights" : "",
                       asked_.parents ? ", parents" : "",
                       target_.vertex ? fmt::format(", target {}", *target_.vertex) : "");
  }
  std::size_t record_bytes() const override { return kernels::DeltaStepping<Distance>::kRecordBytes; }
  bool weighted() const override { return !asked_.unit_weights; }
  disk::VertexBytes vertex_bytes() const override { return kernels::vertex_bytes("sssp"); }
  /// Chooses delta, and checks the weights.
  void prepare(frontier::Job& job, const RunOptions&) override {
    program_.emplace(job, asked_.delta, asked_.unit_weights);
  }
  std::vector<std::string> runs() const override { return sources_.names; }
  void choose(std::size_t run) override { source_ = sources_.vertices[run]; }
  std::vector<frontier::Superstep> supersteps(frontier::Job& job) override {
    kernels::DeltaStepping stepping(job, *program_);
    auto supersteps = stepping.run(source_, 0);
    mine_ = stepping.distances();
    gathered_ = false;
    return supersteps;
  }
  std::string phase(const frontier::Superstep& one) const override {
    return fmt::format("distances from {:.6g}", static_cast<double>(one.step) * program_->delta);
  }
  report::Answer answer(const AnsweredRun& run) override {
    auto answer = distance_answer<Distance>(run, mine_, program_->unreached());
    if (!target_.vertex) return answer;
    gather(run.job);
    if (run.job.rank() == 0) answer.path = path_to(*target_.vertex, run.names);
    return answer;
  }
  void fill(report::RunReport& report) const override {
    FrontierKernel::fill(report);
    report.wire = kType<Distance>;
    report.options = sources_.asked;
    report.options.emplace_back("delta", program_->delta);
    report.options.emplace_back("unit_weights", asked_.unit_weights);
    report.options.emplace_back("precision", to_name(asked_.precision));
    report.options.emplace_back("parents", asked_.parents);
    if (target_.vertex) report.options.emplace_back("target", target_.asked);
  }
  RecordCounts counts(const Graph& graph, bool /*on_disks*/) const override {
    return {kernels::count_shortest_paths(graph, source_, sizeof(Distance))};
  }
  bool is_whole() const override { return asked_.parents; }
  Values all() const override {
    if (!asked_.parents) return Base::all();
    return shown_parents(parents_);
  }
  void gather(frontier::Job& job) override {
    if (std::exchange(gathered_, true)) return;
    Base::gather(job);
    if (job.rank() > 0 || (!asked_.parents && !target_.vertex)) return;
    const std::span<const Distance> distances = all_;
    parents_ = kernels::find_parents(job.graph(), source_, distances, asked_.unit_weights);
  }
  std::string fault(const Graph& graph) const override {
    const auto found = kernels::check_sssp(graph, source_, std::span(all_), asked_.unit_weights, parents_);
    checked_.edges = std::max(checked_.edges, found.edges);
    checked_.error = std::max(checked_.error, found.error);
    checked_.bound = std::max(checked_.bound, found.bound);
    checked_.unchecked += found.unchecked;
    if (found.fault.empty() && !found.conclusive)
      throw Error(fmt::format(
          "{} can say nothing of this result: along {} edges {} may round by more than the distance; {} "
          "rounds less",
          opt::verify, found.edges, kType<Distance>,
          opt::distance_precision(sizeof(Distance) == 4 ? "f64" : "auto")));
    return found.fault;
  }
  report::Answer expected_answer(const Asked& asked) const override {
    auto answer = expected_of_distances<Distance>(asked, all_, program_->unreached());
    if (const auto target = target_.vertex)
      answer.path = expected_path(asked, parents_, source_, *target, as_number(all_[*target]));
    return answer;
  }
  std::string rules() const override {
    return fmt::format(
        "no edge is shorter than the distances at its ends allow, and a path of edges as long as its "
        "distance leads to each vertex that is reached; {}",
        std::is_integral_v<Distance>
            ? "distances are those of a sequential search, exactly"
            : fmt::format("distances differ from those of a sequential search by at most {:.2g} of their "
                          "value, and may by {:.2g}, since paths have up to {} edges",
                          checked_.error, checked_.bound, checked_.edges) +
                  (checked_.unchecked == 0
                       ? ""
                       : fmt::format(
                             "; {} distances may differ by all of their value: it says nothing of these",
                             checked_.unchecked)));
  }

 private:
  report::Path path_to(VertexId target, const graph::VertexNames& names) const {
    return named_path(names, kernels::path_to(parents_, source_, target), source_, target,
                      as_number(all_[target]));
  }

  Sources sources_;
  SsspAsked asked_;
  Target target_;
  VertexId source_{};
  std::optional<kernels::Sssp<Distance>> program_;
  bool gathered_ = false;                   ///< whether `all_` and `parents_` are those of the last run
  std::vector<PlainId> parents_;            ///< parents at rank 0, where they are wanted
  mutable kernels::DistanceCheck checked_;  ///< results of the check over all runs
};

}  // namespace

std::unique_ptr<Kernel> make_sssp(const Graph& graph, const Sources& sources, const SsspAsked& asked,
                                  const Target& target) {
  using Precision = SsspOptions::Precision;
  check(sources);
  if (!asked.unit_weights) graph::expect_weights(graph, fmt::format("say {}", opt::unit_weights));
  const bool whole = asked.unit_weights || graph::is_whole(graph.weights().type());
  if (asked.precision == Precision::f32) return std::make_unique<SsspKernel<float>>(sources, asked, target);
  if (asked.precision == Precision::f64 || !whole)
    return std::make_unique<SsspKernel<double>>(sources, asked, target);
  return std::make_unique<SsspKernel<std::uint64_t>>(sources, asked, target);
}

}  // namespace edgewire::runs
