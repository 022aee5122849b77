#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "kernels/bfs/bfs.h"
#include "kernels/bfs/by_source.h"
#include "kernels/check/check.h"
#include "kernels/descriptor.h"
#include "launch/packing.h"
#include "options/kernels.h"
#include "runs/digest.h"
#include "runs/frontier_kernel.h"
#include "runs/kernels.h"

namespace edgewire::runs {

namespace {

using kernels::Bfs;

class BfsKernel : public FrontierKernel {
 public:
  BfsKernel(const Sources& sources, const BfsOptions& asked, const Target& target)
      : FrontierKernel("bfs"), sources_(sources), asked_(asked), target_(target) {}

  std::string describe() const override {
    return fmt::format("bfs from {}, parallel {}{}{}{}", digest(sources_.vertices),
                       word_of(opt::parallel, asked_.parallel), asked_.parents ? ", parents" : "",
                       target_.vertex ? fmt::format(", target {}", *target_.vertex) : "",
                       asked_.deterministic ? ", deterministic" : "");
  }
  disk::VertexBytes vertex_bytes() const override {
    const auto bytes = kernels::vertex_bytes(name()), parents = Bfs::parent_bytes(asked_parents());
    return {bytes.owned + parents.owned, bytes.other + parents.other};
  }
  std::vector<std::string> runs() const override { return sources_.names; }
  bool choose_tasks(const Graph& graph, int processes, int workers, bool on_disks) override {
    return apart_ =
               kernels::BfsBySource::chosen({apart_asked(asked_.parallel), graph.vertices(), graph.edges(),
                                             sources_.vertices.size(), processes, workers, on_disks},
                                            asked_parents());
  }
  void prepare(frontier::Job& job, const RunOptions& options) override {
    if (!apart_) return;
    searches_ = std::make_unique<kernels::BfsBySource>(
        job, kernels::BfsBySourceOptions{
                 asked_parents(),
                 {options.tools.top.value_or(0), target_.vertex},
                 options.tools.verify || options.tools.gather || options.tools.parts,
                 [](std::span<const std::uint32_t> levels) { return checksum_of_all(levels); }});
  }
  void choose(std::size_t run) override { run_ = run; }
  std::vector<frontier::Superstep> supersteps(frontier::Job& job) override {
    if (!search_) search_ = std::make_unique<Bfs>(job, asked_parents());
    return search_->run(source());
  }
  std::vector<std::vector<frontier::Superstep>> run_at_once(frontier::Job&) override {
    if (!apart_) return {};
    return searches_->run(sources_.vertices);
  }
  std::string phase(const frontier::Superstep& one) const override {
    return fmt::format("level {}, {}", one.step + 1, one.kind == Bfs::kPull ? "pull" : "push");
  }
  /// Returns the checksum of the levels, also with parents: the parent of a vertex depends on timing.
  std::uint64_t checksum(const frontier::Job& job) const override {
    return apart_ ? searches_->checksum(run_) : runs::checksum(job, search_->levels());
  }
  report::Answer answer(const AnsweredRun& run) override {
    auto& job = run.job;
    auto& bootstrap = job.bootstrap();
    const std::uint64_t count = process::count_of_rank_0(bootstrap, run.top.value_or(0));
    const auto found =
        kernels::join_answers(bootstrap,
                              apart_ ? searches_->answer(run_)
                                     : kernels::answer_of(job, *search_, source(), {count, target_.vertex}),
                              count);
    std::vector<std::uint64_t> mine;
    for (const auto& step : run.supersteps) mine.push_back(step.frontier);
    followed_.assign(mine.size(), 0);
    const auto gathered = bootstrap.gather(launch::pack(mine));
    for (std::size_t p = 0; p < gathered.size(); ++p)
      for (std::size_t l = 0;
           const std::uint64_t some : launch::unpack<std::uint64_t>(gathered[p], p, mine.size()))
        followed_[l++] += some;
    const double seconds = launch::allreduce(bootstrap, run.seconds, std::ranges::max);
    report::Answer answer;
    if (job.rank() > 0) return answer;
    // Counts input edges, which are stored both ways.
    const std::uint64_t edges = found.edges / (job.graph().symmetric() ? 2 : 1);
    const double rate = seconds > 0 ? static_cast<double>(edges) / seconds : 0;
    if (edges > 0) {
      ++timed_;
      seconds_for_an_edge_ += seconds / static_cast<double>(edges);
    }
    answer.text = fmt::format("reached {} of {} vertices, depth {}, {:.6g} M traversed edges/s (TEPS)",
                              found.reached, job.graph().vertices(), found.depth, rate * 1e-6);
    answer.fields = {
        {"reached", found.reached}, {"depth", found.depth}, {"traversed_edges", edges}, {"teps", rate}};
    if (count > 0) set_top(answer, "farthest", found.farthest, run.names, true);
    if (!target_.vertex) return answer;
    answer.path = named_path(run.names, found.path, source(), *target_.vertex,
                             std::uint64_t{found.path.empty() ? 0 : found.path.size() - 1});
    return answer;
  }
  /// Returns the harmonic mean, as Graph500 defines it.
  report::Answer answer_of_all() const override {
    report::Answer answer;
    const double mean = seconds_for_an_edge_ > 0 ? static_cast<double>(timed_) / seconds_for_an_edge_ : 0;
    answer.text = fmt::format("{} search{}, harmonic mean {:.6g} M traversed edges/s (TEPS)", runs().size(),
                              runs().size() == 1 ? "" : "es", mean * 1e-6);
    answer.fields = {{"searches", runs().size()}, {"harmonic_mean_teps", mean}};
    return answer;
  }
  void fill(report::RunReport& report) const override {
    FrontierKernel::fill(report);
    report.options = sources_.asked;
    report.options.emplace_back("parents", asked_.parents);
    if (target_.vertex) report.options.emplace_back("target", target_.asked);
  }
  RecordCounts counts(const Graph& graph, bool on_disks) const override {
    if (apart_) return {};
    return {kernels::count_breadth_first(graph, source(), on_disks)};
  }
  bool is_whole() const override { return apart_; }
  Values own() const override { return shown(search_->levels(), search_->parents()); }
  Values all() const override { return shown(found_.levels, found_.parents); }
  void gather(frontier::Job& job) override {
    if (apart_) {
      found_ = searches_->bring(run_);
      return;
    }
    found_.levels = partition::gather_values(job.bootstrap(), job.ownership(), search_->levels());
    if (needs_parents())
      found_.parents = partition::gather_values(job.bootstrap(), job.ownership(), search_->parents());
  }
  std::string fault(const Graph& graph) const override {
    std::string fault = kernels::check_bfs(graph, source(), found_.levels, found_.parents);
    return fault.empty() ? kernels::check_level_sizes(found_.levels, followed_) : fault;
  }
  report::Answer expected_answer(const Asked& asked) const override {
    auto answer = expected_of_levels(asked, found_.levels);
    if (const auto target = target_.vertex) {
      const std::uint32_t level = found_.levels[*target];
      answer.path = expected_path(asked, found_.parents, source(), *target,
                                  std::uint64_t{level == kernels::kNoLevel ? 0 : level});
    }
    return answer;
  }
  std::string rules() const override {
    return "levels differ by at most 1 along each edge from a vertex that is reached, and an edge from the "
           "level before leads to each of them";
  }

 private:
  bool needs_parents() const { return asked_.parents || target_.vertex.has_value(); }
  Bfs::Parents asked_parents() const {
    if (!needs_parents()) return Bfs::Parents::none;
    return asked_.deterministic ? Bfs::Parents::smallest : Bfs::Parents::any;
  }
  Values shown(const std::vector<std::uint32_t>& levels, const std::vector<PlainId>& parents) const {
    if (asked_.parents) return shown_parents(parents);
    return {Values::Form::level, std::span<const std::uint32_t>(levels), 0, "level"};
  }
  VertexId source() const { return sources_.vertices[run_]; }

  Sources sources_;
  BfsOptions asked_;
  Target target_;
  std::size_t run_ = 0;
  bool apart_ = false;
  /// Number of vertices that each superstep of the run has followed, at rank 0.
  std::vector<std::uint64_t> followed_;
  std::uint64_t timed_ = 0;         ///< number of searches that had edges to follow
  double seconds_for_an_edge_ = 0;  ///< time for an edge, summed over all these searches
  std::unique_ptr<Bfs> search_;     ///< search; one of these two
  std::unique_ptr<kernels::BfsBySource> searches_;
  kernels::BfsFound found_;  ///< result of the run, at rank 0
};

}  // namespace

std::unique_ptr<Kernel> make_bfs(const Sources& sources, const BfsOptions& asked, const Target& target) {
  check(sources);
  return std::make_unique<BfsKernel>(sources, asked, target);
}

}  // namespace edgewire::runs
