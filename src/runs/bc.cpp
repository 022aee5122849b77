#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "frontier/betweenness.h"
#include "frontier/betweenness_apart.h"
#include "kernels/verify.h"
#include "runs/digest.h"
#include "runs/kernels.h"
#include "runs/vertex_kernel.h"

namespace edgewire::runs {

namespace {

constexpr int kDigits = 15;

class BcKernel : public VertexKernel<double> {
 public:
  explicit BcKernel(const BcOptions& asked) : VertexKernel(Values::Form::number, kDigits), asked_(asked) {}

  std::string describe() const override {
    return fmt::format("bc, sources {}, parallel {}{}{}{}{}", digest(asked_.sources), how(asked_.apart),
                       asked_.deterministic ? ", deterministic" : "", asked_.weighted ? ", weighted" : "",
                       asked_.endpoints ? ", endpoints" : "", asked_.normalized ? ", normalized" : "");
  }
  bool weighted() const override { return asked_.weighted; }
  std::size_t record_bytes() const override { return sizeof(frontier::WideRecord); }
  bool choose_tasks(const graph::GraphFile& graph, int processes, int workers, bool on_disks) override {
    return apart_ = frontier::BetweennessApart::chosen(
               {asked_.apart, graph.vertices(), asked_.sources.size(), processes, workers, on_disks},
               options());
  }
  void prepare(frontier::FrontierJob& job, const Tools&) override {
    if (apart_) searches_ = std::make_unique<frontier::BetweennessApart>(job, options());
  }
  std::vector<frontier::Superstep> run(frontier::FrontierJob& job) override {
    std::vector<frontier::Superstep> supersteps;
    if (apart_) {
      supersteps = searches_->run(asked_.sources);
      mine_ = searches_->scores();
    } else {
      frontier::Betweenness levels(job, asked_.endpoints);
      supersteps = levels.run(asked_.sources);
      mine_ = levels.scores();
    }
    if (asked_.normalized)
      frontier::scale_scores(
          job, mine_, apart_,
          frontier::normalized_scale(job.graph().vertices(), asked_.endpoints, asked_.samples),
          asked_.sources);
    return supersteps;
  }
  std::string phase(const frontier::Superstep& one) const override {
    if (one.kind == frontier::BetweennessApart::kSearches)
      return fmt::format("searches from {} sources", asked_.sources.size());
    if (one.kind == frontier::BetweennessApart::kSums) return "sums to owners";
    return fmt::format("level {}, {}", one.step + 1,
                       one.kind == frontier::Betweenness::kForward ? "paths" : "shares of them");
  }
  std::uint64_t checksum(const frontier::FrontierJob& job) const override {
    return apart_ ? checksum_of_all(std::span<const double>(mine_)) : VertexKernel::checksum(job);
  }
  bool is_whole() const override { return apart_; }
  report::Answer answer(const AnsweredRun& run) override {
    report::Answer answer;
    set_highest(answer, run, mine_, kTop, apart_);
    return answer;
  }
  void fill(report::RunReport& report) const override {
    report.kernel = "bc";
    report.wire = "records";
    report.options = asked_.asked;
    report.options.insert(
        report.options.end(),
        {{"weighted", asked_.weighted}, {"endpoints", asked_.endpoints}, {"normalized", asked_.normalized}});
  }
  void gather(frontier::FrontierJob& job) override {
    if (apart_)
      all_ = mine_;
    else
      VertexKernel::gather(job);
  }
  std::string fault(const graph::GraphFile& graph) const override {
    return kernels::check_bc(graph, asked_.sources, all_,
                             {asked_.weighted, asked_.endpoints, asked_.normalized, asked_.samples});
  }
  std::string rules() const override {
    return fmt::format("scores differ from those of a sequential search by at most {} of their value",
                       kernels::kScoreTolerance);
  }

 private:
  frontier::BetweennessApartOptions options() const {
    return {asked_.deterministic, asked_.weighted, asked_.endpoints};
  }

  BcOptions asked_;
  bool apart_ = false;  ///< then rank 0 has the scores of all vertices, and the others have none
  std::unique_ptr<frontier::BetweennessApart> searches_;
};

}  // namespace

std::unique_ptr<Kernel> make_bc(const BcOptions& options) { return std::make_unique<BcKernel>(options); }

}  // namespace edgewire::runs
