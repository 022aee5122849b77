#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/frontier_command.h"
#include "cli/sources.h"
#include "error.h"
#include "frontier/breadth_first.h"
#include "frontier/breadth_first_answer.h"
#include "frontier/breadth_first_apart.h"
#include "kernels/verify.h"
#include "launch/packing.h"

namespace edgewire::cli {

namespace {

using frontier::BreadthFirst;

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
    return apart_ = frontier::BreadthFirstApart::chosen(
               {apart_asked(settings_.parallel), graph.vertices(), settings_.sources.vertices.size(),
                processes, workers, on_disks},
               settings_.asked_parents());
  }
  void prepare(frontier::FrontierJob& job) override {
    if (!apart_) return;
    const bool keep = settings_.job.verify || !settings_.job.output_path.empty();
    searches_ = std::make_unique<frontier::BreadthFirstApart>(
        job, frontier::BreadthFirstApartOptions{
                 settings_.asked_parents(),
                 {settings_.job.top.value_or(0), settings_.target.vertex},
                 keep,
                 [](std::span<const std::uint32_t> levels) { return checksum_of_all(levels); }});
  }
  void choose(std::size_t run) override { run_ = run; }
  std::vector<frontier::Superstep> run(frontier::FrontierJob& job) override {
    if (!search_) search_ = std::make_unique<BreadthFirst>(job, settings_.asked_parents());
    return search_->run(source());
  }
  std::vector<std::vector<frontier::Superstep>> run_at_once(frontier::FrontierJob&) override {
    if (!apart_) return {};
    return searches_->run(settings_.sources.vertices);
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
  std::unique_ptr<frontier::BreadthFirstApart> searches_;
  frontier::BreadthFirstFound found_;  ///< at rank 0, of the run
};

report::Answer BfsKernel::answer(const AnsweredRun& run) {
  auto& job = run.job;
  auto& bootstrap = job.bootstrap();
  const std::uint64_t count = exchange::count_of_rank_0(bootstrap, run.top.value_or(0));
  const auto found = frontier::join_answers(
      bootstrap,
      apart_ ? searches_->answer(run_)
             : frontier::answer_of(job, *search_, source(), {count, settings_.target.vertex}),
      count);
  std::uint64_t reached = 0;
  for (const auto& step : run.supersteps) reached += step.frontier;
  reached = launch::allreduce(bootstrap, reached, std::plus<>());
  const double seconds = launch::allreduce(bootstrap, run.seconds, std::ranges::max);
  report::Answer answer;
  if (job.rank() > 0) return answer;
  const std::uint64_t edges =
      found.edges / (job.graph().symmetric() ? 2 : 1);    // input edges, stored both ways
  const std::uint64_t depth = run.supersteps.size() - 1;  // the last level leads to nothing new
  const double rate = seconds > 0 ? static_cast<double>(edges) / seconds : 0;
  if (edges > 0) {
    ++timed_;
    seconds_for_an_edge_ += seconds / static_cast<double>(edges);
  }
  answer.text = fmt::format("reached {} of {} vertices, depth {}, {:.6g} M traversed edges/s (TEPS)", reached,
                            job.graph().vertices(), depth, rate * 1e-6);
  answer.fields = {{"reached", reached}, {"depth", depth}, {"traversed_edges", edges}, {"teps", rate}};
  if (count > 0) set_top(answer, "farthest", found.farthest, run.names, true);
  if (!settings_.target.vertex) return answer;
  answer.path = named_path(run.names, found.path, source(), *settings_.target.vertex,
                           std::uint64_t{found.path.empty() ? 0 : found.path.size() - 1});
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
