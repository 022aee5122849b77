#include "frontier/breadth_first.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontier/path.h"
#include "frontier/searches.h"
#include "kernels/verify.h"
#include "launch/packing.h"
#include "runs/digest.h"
#include "runs/kernels.h"
#include "runs/vertex_kernel.h"
#include "tasks/tasks.h"

namespace edgewire::runs {

namespace {

using frontier::BreadthFirst;

constexpr std::uint64_t kSearchBytes = 16;                          // of a vertex, for a worker
constexpr std::uint64_t kMostSearchBytes = std::uint64_t{4} << 30;  // of a process

/// Parents are looked for.
bool needs_parents(const BfsOptions& asked) { return asked.parents || asked.target.vertex.has_value(); }

BreadthFirst::Parents asked_parents(const BfsOptions& asked) {
  if (!needs_parents(asked)) return BreadthFirst::Parents::none;
  return asked.deterministic ? BreadthFirst::Parents::smallest : BreadthFirst::Parents::any;
}

/// Of all vertices; or empty.
struct Found {
  std::vector<std::uint32_t> levels, parents;
};

/// What a process knows of a search, for the answer.
struct SearchAnswer {
  std::uint64_t edges = 0;                           ///< out of all that was reached; in one process
  std::vector<exchange::WholeCandidate> farthest{};  ///< of its vertices, where --top asks for some
  std::vector<std::uint32_t> path{};                 ///< to --target; in one process; or empty
};

std::vector<exchange::WholeCandidate> farthest(const frontier::FrontierJob& job, std::uint64_t count,
                                               std::span<const std::uint32_t> levels) {
  exchange::HighestWhole highest(count);
  for (std::uint32_t local = 0; count > 0 && local < levels.size(); ++local)
    if (levels[local] != BreadthFirst::kNone)
      highest.add({levels[local], job.ownership().vertex(job.rank(), local)});
  return highest.take();
}

SearchAnswer search_answer(frontier::FrontierJob& job, const BfsOptions& asked, std::uint64_t top,
                           std::uint32_t source, const BreadthFirst& search) {
  SearchAnswer answer{job.rank() == 0 ? search.reached_edges() : 0, farthest(job, top, search.levels())};
  if (asked.target.vertex)
    answer.path = frontier::path_to(job, search.parents(), source, *asked.target.vertex);
  if (job.rank() > 0) answer.path.clear();
  return answer;
}

/// Runs from all sources at once, each a task. What a search finds stays where it ran until it is asked for.
class BfsApart {
 public:
  /// Whether each worker gets two sources or more, and memory suffices for the searches and their results.
  static bool pays(const BfsOptions& asked, const graph::GraphFile& graph, int processes, int workers) {
    const std::uint64_t sources = asked.sources.vertices.size();
    const std::uint64_t kept = sources / static_cast<std::uint64_t>(processes) + 1;
    const std::uint64_t bytes =
        static_cast<std::uint64_t>(workers) * kSearchBytes + kept * (needs_parents(asked) ? 8 : 4);
    return frontier::Searches::share_out(sources, processes, workers) &&
           graph.vertices() * bytes <= kMostSearchBytes;
  }

  BfsApart(frontier::FrontierJob& job, const BfsOptions& asked, const Tools& tools)
      : asked_(asked),
        wanted_(!job.bootstrap()
                     .allgather(tools.verify || tools.gather || tools.parts ? "wanted" : "")[0]
                     .empty()),
        top_(exchange::count_of_rank_0(job.bootstrap(), tools.top.value_or(0))),
        found_(asked.sources.vertices.size()),
        answers_(found_.size()),
        checksums_(found_.size()),
        searches_(job,
                  [this](frontier::FrontierJob& alone) { return std::make_unique<Searcher>(*this, alone); }) {
    give_ = searches_.registry().add("give", [this](tasks::Context& task) -> tasks::Task {
      const Found found = std::exchange(found_[task.argument<std::size_t>()], {});
      co_return launch::pack(found.levels) + launch::pack(found.parents);
    });
    bring_ = searches_.registry().add("bring", [this](tasks::Context& task) -> tasks::Task {
      co_return task.tail_spawn(give_, std::string(task.arguments()), {},
                                searches_.process_of(task.argument<std::size_t>()));
    });
    searches_.connect();
  }

  std::vector<std::vector<frontier::Superstep>> run() {
    return searches_.run(asked_.sources.vertices, false);
  }
  /// At rank 0 what the search of this number has found, once. Collective.
  Found bring(std::size_t number) {
    const std::string bytes = searches_.run_task(bring_, tasks::to_bytes(number));
    Found found{launch::unpack<std::uint32_t>(bytes, 0), {}};
    if (!needs_parents(asked_)) return found;
    const auto half = static_cast<std::ptrdiff_t>(found.levels.size() / 2);
    found.parents.assign(found.levels.begin() + half, found.levels.end());
    found.levels.erase(found.levels.begin() + half, found.levels.end());
    return found;
  }
  /// Empty unless this process has searched.
  const SearchAnswer& answer(std::size_t number) const { return answers_[number]; }
  /// 0 unless this process has searched.
  std::uint64_t checksum(std::size_t number) const { return checksums_[number]; }

 private:
  class Searcher final : public frontier::Searcher {
   public:
    Searcher(BfsApart& all, frontier::FrontierJob& alone)
        : all_(all), alone_(alone), search_(alone, asked_parents(all.asked_)) {}

    std::vector<frontier::Superstep> search(std::size_t number, std::uint32_t source) override {
      auto supersteps = search_.run(source);
      all_.answers_[number] = search_answer(alone_, all_.asked_, all_.top_, source, search_);
      all_.checksums_[number] = checksum_of_all(search_.levels());
      if (all_.wanted_) all_.found_[number] = {search_.levels(), search_.parents()};
      return supersteps;
    }

   private:
    BfsApart& all_;
    frontier::FrontierJob& alone_;
    BreadthFirst search_;
  };

  const BfsOptions& asked_;
  bool wanted_;                           ///< at rank 0: levels and parents
  std::uint64_t top_;                     ///< as rank 0 asks for
  std::vector<Found> found_;              ///< [number of the source]: of this process
  std::vector<SearchAnswer> answers_;     ///< likewise
  std::vector<std::uint64_t> checksums_;  ///< likewise
  frontier::Searches searches_;
  tasks::FunctionId give_, bring_;
};

class BfsKernel : public Kernel {
 public:
  explicit BfsKernel(const BfsOptions& asked) : asked_(asked) {}

  std::string describe() const override {
    return fmt::format("bfs from {}, parallel {}{}{}{}", digest(asked_.sources.vertices),
                       to_name(asked_.parallel), asked_.parents ? ", parents" : "",
                       asked_.target.vertex ? fmt::format(", target {}", *asked_.target.vertex) : "",
                       asked_.deterministic ? ", deterministic" : "");
  }
  std::vector<std::string> runs() const override { return asked_.sources.names; }
  bool choose_tasks(const graph::GraphFile& graph, int processes, int workers, bool on_disks) override {
    return apart_ =
               asked_.parallel == Parallel::sources || (asked_.parallel == Parallel::automatic && !on_disks &&
                                                        BfsApart::pays(asked_, graph, processes, workers));
  }
  void prepare(frontier::FrontierJob& job, const Tools& tools) override {
    if (apart_) searches_ = std::make_unique<BfsApart>(job, asked_, tools);
  }
  void choose(std::size_t run) override { run_ = run; }
  std::vector<frontier::Superstep> run(frontier::FrontierJob& job) override {
    if (!search_) search_ = std::make_unique<BreadthFirst>(job, asked_parents(asked_));
    return search_->run(source());
  }
  std::vector<std::vector<frontier::Superstep>> run_at_once(frontier::FrontierJob&) override {
    if (!apart_) return {};
    return searches_->run();
  }
  std::string phase(const frontier::Superstep& one) const override {
    return fmt::format("level {}, {}", one.step + 1, one.kind == BreadthFirst::kPull ? "pull" : "push");
  }
  /// Of the levels, also with parents: which parent a vertex has depends on timing.
  std::uint64_t checksum(const frontier::FrontierJob& job) const override {
    return apart_ ? searches_->checksum(run_) : runs::checksum(job, search_->levels());
  }
  report::Answer answer(const AnsweredRun& run) override;
  report::Answer answer_of_all() const override;
  void fill(report::RunReport& report) const override {
    report.kernel = "bfs";
    report.wire = "records";
    report.options = asked_.sources.asked;
    report.options.emplace_back("parents", asked_.parents);
    if (asked_.target.vertex) report.options.emplace_back("target", asked_.target.asked);
  }
  bool is_whole() const override { return apart_; }
  Values own() const override { return shown(asked_.parents ? search_->parents() : search_->levels()); }
  Values all() const override { return shown(asked_.parents ? found_.parents : found_.levels); }
  void gather(frontier::FrontierJob& job) override {
    if (apart_) {
      found_ = searches_->bring(run_);
      return;
    }
    found_.levels = frontier::gather_values(job, search_->levels());
    if (needs_parents(asked_)) found_.parents = frontier::gather_values(job, search_->parents());
  }
  std::string fault(const graph::GraphFile& graph) const override {
    return kernels::check_bfs(graph, source(), found_.levels, found_.parents);
  }
  std::string rules() const override {
    return "levels differ by at most 1 along each edge from a vertex that is reached, and an edge from the "
           "level before leads to each of them";
  }

 private:
  Values shown(const std::vector<std::uint32_t>& values) const {
    return {asked_.parents ? Values::Form::vertex : Values::Form::level,
            std::span<const std::uint32_t>(values)};
  }
  std::uint32_t source() const { return asked_.sources.vertices[run_]; }

  BfsOptions asked_;
  std::size_t run_ = 0;
  bool apart_ = false;
  std::uint64_t timed_ = 0;               ///< searches that had edges to follow
  double seconds_for_an_edge_ = 0;        ///< of all these, in sum
  std::unique_ptr<BreadthFirst> search_;  ///< one of these two
  std::unique_ptr<BfsApart> searches_;
  Found found_;  ///< at rank 0, of the run
};

report::Answer BfsKernel::answer(const AnsweredRun& run) {
  auto& job = run.job;
  auto& bootstrap = job.bootstrap();
  const std::uint64_t count = exchange::count_of_rank_0(bootstrap, run.top.value_or(0));
  const SearchAnswer mine =
      apart_ ? searches_->answer(run_) : search_answer(job, asked_, count, source(), *search_);
  struct Figures {
    std::uint64_t reached, edges;
    double seconds;
  };
  Figures all{0, mine.edges, run.seconds};
  for (const auto& step : run.supersteps) all.reached += step.frontier;
  const auto parts = launch::allgather(bootstrap, std::vector{all});
  const auto farthest = exchange::highest_of_all(bootstrap, count, mine.farthest);
  const auto paths = bootstrap.gather(launch::pack(mine.path));
  report::Answer answer;
  if (job.rank() > 0) return answer;
  all = {};
  for (const auto& one : parts) {
    all.reached += one[0].reached;
    all.edges += one[0].edges;
    all.seconds = std::max(all.seconds, one[0].seconds);
  }
  if (job.graph().symmetric()) all.edges /= 2;            // an input edge is stored both ways
  const std::uint64_t depth = run.supersteps.size() - 1;  // the last level leads to nothing new
  const double rate = all.seconds > 0 ? static_cast<double>(all.edges) / all.seconds : 0;
  if (all.edges > 0) {
    ++timed_;
    seconds_for_an_edge_ += all.seconds / static_cast<double>(all.edges);
  }
  answer.text = fmt::format("reached {} of {} vertices, depth {}, {:.6g} M traversed edges/s (TEPS)",
                            all.reached, job.graph().vertices(), depth, rate * 1e-6);
  answer.fields = {
      {"reached", all.reached}, {"depth", depth}, {"traversed_edges", all.edges}, {"teps", rate}};
  if (count > 0) set_top(answer, "farthest", farthest, run.names, true);
  if (!asked_.target.vertex) return answer;
  std::vector<std::uint32_t> path;
  for (std::size_t p = 0; p < paths.size(); ++p)
    if (!paths[p].empty()) path = launch::unpack<std::uint32_t>(paths[p], p);
  answer.path = named_path(run.names, path, source(), *asked_.target.vertex,
                           std::uint64_t{path.empty() ? 0 : path.size() - 1});
  return answer;
}

/// The harmonic mean, as Graph500 has it.
report::Answer BfsKernel::answer_of_all() const {
  report::Answer answer;
  const double mean = seconds_for_an_edge_ > 0 ? static_cast<double>(timed_) / seconds_for_an_edge_ : 0;
  answer.text = fmt::format("{} search{}, harmonic mean {:.6g} M traversed edges/s (TEPS)", runs().size(),
                            runs().size() == 1 ? "" : "es", mean * 1e-6);
  answer.fields = {{"searches", runs().size()}, {"harmonic_mean_teps", mean}};
  return answer;
}

}  // namespace

std::unique_ptr<Kernel> make_bfs(const BfsOptions& options) { return std::make_unique<BfsKernel>(options); }

}  // namespace edgewire::runs
