#include "frontier/breadth_first.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/frontier_command.h"
#include "cli/sources.h"
#include "error.h"
#include "frontier/path.h"
#include "frontier/searches.h"
#include "kernels/verify.h"
#include "launch/packing.h"
#include "tasks/tasks.h"

namespace edgewire::cli {

namespace {

using frontier::BreadthFirst;

constexpr std::uint64_t kSearchBytes = 16;                          // of a vertex, for a worker
constexpr std::uint64_t kMostSearchBytes = std::uint64_t{4} << 30;  // of a process

struct BfsSettings {
  JobOptions job;
  Sources sources;
  Target target;
  bool parents = false;           ///< are written
  std::string parallel = "auto";  ///< or levels, sources

  /// Are looked for.
  bool needs_parents() const { return parents || target.vertex.has_value(); }
  BreadthFirst::Parents asked_parents() const {
    if (!needs_parents()) return BreadthFirst::Parents::none;
    return job.deterministic ? BreadthFirst::Parents::smallest : BreadthFirst::Parents::any;
  }
};

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

SearchAnswer search_answer(frontier::FrontierJob& job, const BfsSettings& settings, std::uint64_t top,
                           std::uint32_t source, const BreadthFirst& search) {
  SearchAnswer answer{job.rank() == 0 ? search.reached_edges() : 0, farthest(job, top, search.levels())};
  if (settings.target.vertex)
    answer.path = frontier::path_to(job, search.parents(), source, *settings.target.vertex);
  if (job.rank() > 0) answer.path.clear();
  return answer;
}

/// Runs from all sources at once, each a task. What a search finds stays where it ran until it is asked for.
class BfsApart {
 public:
  /// Whether each worker gets two sources or more, and memory suffices for the searches and their results.
  static bool pays(const BfsSettings& settings, const graph::GraphFile& graph, int processes, int workers) {
    const std::uint64_t sources = settings.sources.vertices.size();
    const std::uint64_t kept = sources / static_cast<std::uint64_t>(processes) + 1;
    const std::uint64_t bytes =
        static_cast<std::uint64_t>(workers) * kSearchBytes + kept * (settings.needs_parents() ? 8 : 4);
    return frontier::Searches::share_out(sources, processes, workers) &&
           graph.vertices() * bytes <= kMostSearchBytes;
  }

  BfsApart(frontier::FrontierJob& job, const BfsSettings& settings)
      : settings_(settings),
        wanted_(!job.bootstrap()
                     .allgather(settings.job.verify || !settings.job.output_path.empty() ? "wanted" : "")[0]
                     .empty()),
        top_(exchange::count_of_rank_0(job.bootstrap(), settings.job.top.value_or(0))),
        found_(settings.sources.vertices.size()),
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
    return searches_.run(settings_.sources.vertices, false);
  }
  /// At rank 0 what the search of this number has found, once. Collective.
  Found bring(std::size_t number) {
    const std::string bytes = searches_.run_task(bring_, tasks::to_bytes(number));
    Found found{launch::unpack<std::uint32_t>(bytes, 0), {}};
    if (!settings_.needs_parents()) return found;
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
        : all_(all), alone_(alone), search_(alone, all.settings_.asked_parents()) {}

    std::vector<frontier::Superstep> search(std::size_t number, std::uint32_t source) override {
      auto supersteps = search_.run(source);
      all_.answers_[number] = search_answer(alone_, all_.settings_, all_.top_, source, search_);
      all_.checksums_[number] = checksum_of_all(std::span(search_.levels()));
      if (all_.wanted_) all_.found_[number] = {search_.levels(), search_.parents()};
      return supersteps;
    }

   private:
    BfsApart& all_;
    frontier::FrontierJob& alone_;
    BreadthFirst search_;
  };

  const BfsSettings& settings_;
  bool wanted_;                           ///< at rank 0: levels and parents
  std::uint64_t top_;                     ///< as rank 0 asks for
  std::vector<Found> found_;              ///< [number of the source]: of this process
  std::vector<SearchAnswer> answers_;     ///< likewise
  std::vector<std::uint64_t> checksums_;  ///< likewise
  frontier::Searches searches_;
  tasks::FunctionId give_, bring_;
};

class BfsKernel : public FrontierKernel {
 public:
  explicit BfsKernel(const BfsSettings& settings) : settings_(settings) {}

  std::string describe() const override {
    return fmt::format("bfs from {}, parallel {}{}{}{}", digest(settings_.sources.vertices),
                       settings_.parallel, settings_.parents ? ", parents" : "",
                       settings_.target.vertex ? fmt::format(", target {}", *settings_.target.vertex) : "",
                       settings_.job.deterministic ? ", deterministic" : "");
  }
  std::vector<std::string> runs() const override { return settings_.sources.names; }
  bool choose_tasks(const graph::GraphFile& graph, int processes, int workers, bool on_disks) override {
    return apart_ = settings_.parallel == "sources" || (settings_.parallel == "auto" && !on_disks &&
                                                        BfsApart::pays(settings_, graph, processes, workers));
  }
  void prepare(frontier::FrontierJob& job) override {
    if (apart_) searches_ = std::make_unique<BfsApart>(job, settings_);
  }
  void choose(std::size_t run) override { run_ = run; }
  std::vector<frontier::Superstep> run(frontier::FrontierJob& job) override {
    if (!search_) search_ = std::make_unique<BreadthFirst>(job, settings_.asked_parents());
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
    return apart_ ? searches_->checksum(run_) : cli::checksum(job, search_->levels());
  }
  report::Answer answer(const AnsweredRun& run) override;
  report::Answer answer_of_all() const override;
  void fill(report::RunReport& report) const override {
    report.kernel = "bfs";
    report.wire = "records";
    report.options = settings_.sources.options();
    report.options.emplace_back("parents", settings_.parents);
    if (settings_.target.vertex) report.options.emplace_back("target", settings_.target.name);
  }
  void gather(frontier::FrontierJob& job) override {
    if (apart_) {
      found_ = searches_->bring(run_);
      return;
    }
    found_.levels = frontier::gather_values(job, search_->levels());
    if (settings_.needs_parents()) found_.parents = frontier::gather_values(job, search_->parents());
  }
  std::string fault(const graph::GraphFile& graph) const override {
    return kernels::check_bfs(graph, source(), found_.levels, found_.parents);
  }
  std::string rules() const override {
    return "levels differ by at most 1 along each edge from a vertex that is reached, and an edge from the "
           "level before leads to each of them";
  }
  void add_line(VertexLines& lines, std::uint32_t vertex) const override {
    if (settings_.parents)
      lines.add_vertex(vertex, found_.parents[vertex]);
    else
      lines.add_level(vertex, found_.levels[vertex]);
  }

 private:
  std::uint32_t source() const { return settings_.sources.vertices[run_]; }

  const BfsSettings& settings_;
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
      apart_ ? searches_->answer(run_) : search_answer(job, settings_, count, source(), *search_);
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
  if (!settings_.target.vertex) return answer;
  std::vector<std::uint32_t> path;
  for (std::size_t p = 0; p < paths.size(); ++p)
    if (!paths[p].empty()) path = launch::unpack<std::uint32_t>(paths[p], p);
  answer.path = named_path(run.names, path, source(), *settings_.target.vertex,
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

void add_bfs(CLI::App& app) {
  auto settings = std::make_shared<BfsSettings>();
  CLI::App* command =
      app.add_subcommand("bfs", "compute the level of every vertex by breadth-first search from a vertex");
  command->footer(
      "The level of a vertex is the number of edges of a shortest path from the source to it. Paths follow "
      "edges in their direction. In graphs that store every edge both ways (convert --undirected), a "
      "superstep pulls where that looks at fewer edges.");
  const auto own = [&] {
    settings->sources.add_to(*command);
    command->add_flag("--parents", settings->parents,
                      "write for each vertex the one before it on a shortest path, instead of its level");
    settings->target.add_to(*command);
    command
        ->add_option("--parallel", settings->parallel,
                     "levels: workers share the levels of each search, one search after the other; sources: "
                     "each worker searches from sources of its own, with 16 bytes for each vertex; auto: "
                     "sources, if each worker has two or more and a process needs at most 4 GiB for them and "
                     "their results")
        ->check(CLI::IsMember({"auto", "levels", "sources"}))
        ->capture_default_str();
    settings->job.edge_place.add_to(*command, settings->job.launch);
  };
  add_frontier_options(
      *command, settings->job, own,
      "write the levels to this file as lines of id, tab and value, 9223372036854775807 where no path leads "
      "(--parents: -1); - is stdout",
      "check levels and parents by the rules of Graph500, and exit with 1 when they are wrong",
      {"vertices that are farthest, of those that are reached"});
  command->callback([settings] {
    if (settings->job.edge_place.edges != "memory" && settings->parallel == "sources")
      throw UsageError(
          "--edges: a search from a source of its own reads rows of other processes from memory: leave out "
          "--parallel sources");
    expect_stdout_for("--target", !settings->target.name.empty(), settings->job);
    run_frontier(
        settings->job,
        [&](const graph::GraphFile& graph) {
          settings->sources.find(graph);
          settings->target.find(graph);
        },
        [&] { return std::make_unique<BfsKernel>(*settings); });
  });
}

}  // namespace edgewire::cli
