#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "kernels/bc/bc.h"
#include "kernels/bc/by_source.h"
#include "kernels/check/check.h"
#include "kernels/descriptor.h"
#include "options/kernels.h"
#include "runs/digest.h"
#include "runs/frontier_kernel.h"
#include "runs/kernels.h"

namespace edgewire::runs {

namespace {

constexpr int kDigits = 15;

class BcKernel : public VertexKernel<double> {
 public:
  BcKernel(const Sources& sources, const BcOptions& asked, std::uint64_t samples)
      : VertexKernel("bc", "betweenness", Values::Form::number, kDigits),
        sources_(sources),
        asked_(asked),
        samples_(samples) {}

  std::string describe() const override {
    return fmt::format("bc, sources {}, parallel {}{}{}{}{}", digest(sources_.vertices),
                       word_of(opt::parallel, asked_.parallel), asked_.deterministic ? ", deterministic" : "",
                       asked_.weighted ? ", weighted" : "", asked_.endpoints ? ", endpoints" : "",
                       asked_.normalized ? ", normalized" : "");
  }
  bool weighted() const override { return asked_.weighted; }
  disk::VertexBytes vertex_bytes() const override { return kernels::vertex_bytes(name()); }
  std::size_t record_bytes() const override { return frontier::kWideRecordBytes; }
  bool choose_tasks(const Graph& graph, int processes, int workers, bool on_disks) override {
    return apart_ =
               kernels::BcBySource::chosen({apart_asked(asked_.parallel), graph.vertices(), graph.edges(),
                                            sources_.vertices.size(), processes, workers, on_disks},
                                           asked_);
  }
  void prepare(frontier::Job& job, const RunOptions&) override {
    if (apart_) searches_ = std::make_unique<kernels::BcBySource>(job, asked_);
  }
  std::vector<frontier::Superstep> supersteps(frontier::Job& job) override {
    const auto ids = checkpoints_.any() ? summed(job) : std::vector<VertexId>();
    Checkpoints checkpoints({job.bootstrap(), job.pool(), job.graph(), ids, sizeof(double), state()},
                            checkpoints_);
    done_ = checkpoints.resumed_at();
    if (done_ > sources_.vertices.size())
      throw Error(fmt::format("{}: the checkpoint has more sources than there are", checkpoints_.resume));
    auto supersteps = apart_ ? run_apart(checkpoints) : run_levels(job, checkpoints);
    checkpoints.finish();
    if (asked_.normalized)
      kernels::scale_scores(job, mine_, apart_,
                            kernels::normalized_scale(job.graph().vertices(), asked_.endpoints, samples_),
                            sources_.vertices);
    return supersteps;
  }
  std::pair<std::uint64_t, std::uint64_t> searched() const override {
    return {searched_, apart_ ? 0 : sources_.vertices.size()};
  }
  std::string phase(const frontier::Superstep& one) const override {
    if (one.kind == kernels::BcBySource::kSearches) return fmt::format("searches from {} sources", one.step);
    if (one.kind == kernels::BcBySource::kSums) return "sums to owners";
    return fmt::format("level {}, {}", one.step + 1,
                       one.kind == kernels::Bc::kForward ? "paths" : "shares of them");
  }
  std::uint64_t checksum(const frontier::Job& job) const override {
    return apart_ ? checksum_of_all(std::span<const double>(mine_)) : VertexKernel::checksum(job);
  }
  bool is_whole() const override { return apart_; }
  report::Answer answer(const AnsweredRun& run) override {
    report::Answer answer;
    set_highest<double>(answer, run, mine_, kTop, apart_);
    return answer;
  }
  void fill(report::RunReport& report) const override {
    FrontierKernel::fill(report);
    report.resumed_from = done_;
    report.resumed_unit = "sources";
    report.options = sources_.asked;
    report.options.insert(
        report.options.end(),
        {{"weighted", asked_.weighted}, {"endpoints", asked_.endpoints}, {"normalized", asked_.normalized}});
  }
  RecordCounts counts(const Graph& graph, bool /*on_disks*/) const override {
    RecordCounts counts;
    if (apart_) return counts;
    for (const VertexId source : std::span(sources_.vertices).subspan(done_))
      counts.push_back(kernels::count_betweenness(graph, source));
    return counts;
  }
  void gather(frontier::Job& job) override {
    if (apart_)
      all_ = mine_;
    else
      VertexKernel::gather(job);
  }
  std::string fault(const Graph& graph) const override {
    return kernels::check_bc(graph, sources_.vertices, all_,
                             {asked_.weighted, asked_.endpoints, asked_.normalized, samples_});
  }
  report::Answer expected_answer(const Asked& asked) const override {
    return expected_highest<double>(asked, all_, kTop);
  }
  std::string rules() const override {
    return fmt::format("scores differ from those of a sequential search by at most {} of their value",
                       kernels::kScoreTolerance);
  }

 private:
  /// Returns all that sums depend on. The way workers search is no part of it.
  std::string state() const {
    return fmt::format("bc, sources {}{}{}", digest(sources_.vertices), asked_.weighted ? ", weighted" : "",
                       asked_.endpoints ? ", endpoints" : "");
  }
  /// Returns the vertices whose sums this process has after a search.
  std::vector<VertexId> summed(const frontier::Job& job) const {
    if (!apart_) return owned_vertices(job.ownership(), job.rank());
    std::vector<VertexId> all(job.rank() == 0 ? job.graph().vertices() : 0);
    std::iota(all.begin(), all.end(), VertexId{});
    return all;
  }
  std::vector<frontier::Superstep> run_levels(frontier::Job& job, Checkpoints& checkpoints) {
    kernels::Bc levels(job, asked_);
    searched_ = done_;
    if (const auto resumed = checkpoints.take_resumed()) levels.resume(resumed->values<double>());
    auto supersteps = levels.run(std::span(sources_.vertices).subspan(done_), [&](std::size_t more) {
      searched_ = done_ + more;
      checkpoints.step(searched_, std::span(levels.scores()));
    });
    mine_ = levels.scores();
    return supersteps;
  }

  /// Runs all searches at once, or those before each checkpoint. A superstep is the sum of all of its kind.
  std::vector<frontier::Superstep> run_apart(Checkpoints& checkpoints) {
    if (const auto resumed = checkpoints.take_resumed()) searches_->resume(resumed->values<double>());
    const auto every = static_cast<std::size_t>(checkpoints_.every);
    std::vector<frontier::Superstep> sums;
    std::size_t done = done_;
    do {
      const auto left = std::span(sources_.vertices).subspan(done);
      const auto some = left.first(
          checkpoints.written() == nullptr ? left.size() : std::min(left.size(), every - done % every));
      const auto more = searches_->run(some, left.size() - some.size());
      sums.resize(more.size());
      for (std::size_t i = 0; i < more.size(); ++i) {
        sums[i].kind = more[i].kind;
        sums[i].step += more[i].step;
        sums[i] += more[i];
      }
      done += some.size();
      if (!some.empty()) checkpoints.step(done, std::span(searches_->scores()));
    } while (done < sources_.vertices.size());
    mine_ = searches_->scores();
    return sums;
  }
  Sources sources_;
  BcOptions asked_;
  std::uint64_t samples_;
  std::size_t done_ = 0;      ///< number of sources that a checkpoint held
  std::size_t searched_ = 0;  ///< number of sources that are done, where workers share the levels of each
  bool apart_ = false;  ///< whether workers search apart: then rank 0 has the scores of all vertices, and the
                        ///< others have none
  std::unique_ptr<kernels::BcBySource> searches_;
};

}  // namespace

std::unique_ptr<Kernel> make_bc(const Sources& sources, const BcOptions& asked, std::uint64_t samples) {
  return std::make_unique<BcKernel>(sources, asked, samples);
}

}  // namespace edgewire::runs
