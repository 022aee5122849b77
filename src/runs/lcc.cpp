// lcc and tc, which find the same triangles.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <numeric>
#include <string>

#include "kernels/check/check.h"
#include "kernels/check/plain.h"
#include "kernels/lcc/lcc.h"
#include "launch/packing.h"
#include "runs/frontier_kernel.h"
#include "runs/kernels.h"

namespace edgewire::runs {

namespace {

using kernels::Lcc;

/// The part that lcc and tc share. `Value`: the type of the value of a vertex.
template <class Value>
class TriangleKernel : public VertexKernel<Value> {
 public:
  using VertexKernel<Value>::VertexKernel;
  bool follows_rows(const Graph&) const override { return false; }
  std::vector<frontier::Superstep> supersteps(frontier::Job& job) override {
    Lcc finding(job, wanted());
    auto supersteps = finding.run();
    this->mine_ = values(finding);
    triangles_ = finding.triangles();
    pairs_ = finding.pairs_of_neighbours();
    return supersteps;
  }
  std::string phase(const frontier::Superstep& one) const override {
    constexpr std::array kPhases{"order vertices by degree, keep each edge once", "intersect rows",
                                 "send credits to owners"};
    return kPhases.at(one.kind);
  }
  /// Returns the number of triangles.
  report::Answer answer(const AnsweredRun& run) override {
    const double pairs = launch::allreduce(run.job.bootstrap(), pairs_, std::plus<>());
    report::Answer answer;
    answer.fields = fields(pairs);
    answer.text = fmt::format("{} triangle{}, transitivity {:.6g}", triangles_, triangles_ == 1 ? "" : "s",
                              transitivity(pairs));
    set_highest<Value>(answer, run, this->mine_, 0);
    return answer;
  }
  void fill(report::RunReport& report) const override {
    VertexKernel<Value>::fill(report);
    report.triangles = triangles_;
  }
  RecordCounts counts(const Graph& graph, bool /*on_disks*/) const override {
    return {kernels::count_triangles(graph, this->name(), wanted() != Lcc::Wanted::count)};
  }
  /// Counts pairs of neighbours again; fault() has counted the triangles.
  report::Answer expected_answer(const Asked& asked) const override {
    report::Answer answer = expected_highest<Value>(asked, this->all_, 0);
    const kernels::PlainSources sources(asked.graph);
    double pairs = 0;
    for (VertexId v{}; v < asked.graph.vertices(); ++v) {
      const auto degree = static_cast<double>(kernels::neighbours_of(asked.graph, sources, v).size());
      pairs += degree * (degree - 1) / 2;
    }
    answer.fields = fields(pairs);
    return answer;
  }

 protected:
  virtual Lcc::Wanted wanted() const = 0;
  /// Returns the values of the owned vertices.
  virtual std::vector<Value> values(const Lcc& finding) const = 0;

  std::uint64_t triangles_ = 0;

 private:
  double transitivity(double pairs) const {
    return pairs == 0 ? 0 : 3 * static_cast<double>(triangles_) / pairs;
  }
  std::vector<std::pair<std::string, report::Answer::Value>> fields(double pairs) const {
    return {{"triangles", triangles_}, {"transitivity", transitivity(pairs)}};
  }

  double pairs_ = 0;  ///< number of pairs of neighbours of a vertex of this process
};

class LccKernel : public TriangleKernel<double> {
 public:
  LccKernel() : TriangleKernel("lcc", "coefficient", Values::Form::number, 17) {}
  report::Answer answer(const AnsweredRun& run) override {
    auto answer = TriangleKernel::answer(run);
    const double sum = launch::allreduce(run.job.bootstrap(),
                                         std::accumulate(mine_.begin(), mine_.end(), 0.0), std::plus<>());
    add_mean(answer, sum, run.job.graph());
    return answer;
  }
  std::string fault(const Graph& graph) const override { return kernels::check_lcc(graph, all_, triangles_); }
  report::Answer expected_answer(const Asked& asked) const override {
    auto answer = TriangleKernel::expected_answer(asked);
    add_mean(answer, std::accumulate(all_.begin(), all_.end(), 0.0), asked.graph);
    return answer;
  }
  std::string rules() const override {
    return "the edges between the neighbours of each vertex, and the triangles, were counted again";
  }

 private:
  Lcc::Wanted wanted() const override { return Lcc::Wanted::coefficients; }
  std::vector<double> values(const Lcc& finding) const override { return finding.coefficients(); }
  /// Puts the mean of the coefficients first in an answer. `sum`: their sum.
  static void add_mean(report::Answer& answer, double sum, const Graph& graph) {
    const double mean = graph.vertices() == 0 ? 0 : sum / static_cast<double>(graph.vertices());
    answer.text = fmt::format("mean coefficient {:.6g}, {}", mean, answer.text);
    answer.fields.insert(answer.fields.begin(), {"mean", mean});
  }
};

class TcKernel : public TriangleKernel<std::uint64_t> {
 public:
  explicit TcKernel(const TcOptions& asked)
      : TriangleKernel("tc", "triangles", Values::Form::distance, 0), asked_(asked) {}
  /// Finds the triangles of vertices where a process wants them, such as the one that writes them.
  void prepare(frontier::Job& job, const RunOptions&) override {
    const auto wishes = job.bootstrap().allgather(asked_.vertices ? "vertices" : "");
    asked_.vertices = std::ranges::any_of(wishes, [](const auto& wish) { return !wish.empty(); });
  }
  std::uint64_t checksum(const frontier::Job& job) const override {
    if (asked_.vertices) return TriangleKernel::checksum(job);
    return job.rank() == 0 ? runs::checksum_of(VertexId{}, triangles_) : 0;
  }
  void gather(frontier::Job& job) override {
    if (asked_.vertices)
      TriangleKernel::gather(job);
    else if (job.rank() == 0)
      count_ = {triangles_};
  }
  Values all() const override { return asked_.vertices ? TriangleKernel::all() : shown(count_); }
  std::string fault(const Graph& graph) const override {
    return kernels::check_triangles(graph, all_, triangles_);
  }
  std::string rules() const override {
    return asked_.vertices ? "the triangles of each vertex were counted again"
                           : "the triangles were counted again";
  }

 private:
  Lcc::Wanted wanted() const override {
    return asked_.vertices ? Lcc::Wanted::triangles : Lcc::Wanted::count;
  }
  std::vector<std::uint64_t> values(const Lcc& finding) const override {
    return asked_.vertices ? finding.triangles_of_vertices() : std::vector<std::uint64_t>();
  }

  TcOptions asked_;
  std::vector<std::uint64_t> count_;  ///< number of triangles, at rank 0, where nothing else is wanted
};

}  // namespace

std::unique_ptr<Kernel> make_lcc() { return std::make_unique<LccKernel>(); }

std::unique_ptr<Kernel> make_tc(const TcOptions& asked) { return std::make_unique<TcKernel>(asked); }

}  // namespace edgewire::runs
