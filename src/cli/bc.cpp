#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/files.h"
#include "cli/frontier_command.h"
#include "cli/named_vertices.h"
#include "cli/sources.h"
#include "frontier/betweenness.h"
#include "frontier/betweenness_apart.h"
#include "kernels/verify.h"

namespace edgewire::cli {

namespace {

constexpr int kDigits = 15;

struct BcSettings {
  JobOptions job;
  std::string list;
  std::uint64_t samples = 0, seed = 1;
  std::string parallel = "auto";  ///< or levels, sources
  std::vector<std::uint32_t> sources;
};

void choose_sources(BcSettings& settings, const graph::GraphFile& graph) {
  if (!settings.list.empty()) {
    settings.sources = named_vertices(graph, settings.list, "--sources");
    return;
  }
  if (settings.samples > graph.vertices())
    throw Error(
        fmt::format("--samples {}: {} has {} vertices", settings.samples, graph.path(), graph.vertices()));
  settings.sources = sample(graph.vertices(), settings.samples > 0 ? settings.samples : graph.vertices(),
                            settings.seed, [](std::uint32_t) { return true; });
}

class BcKernel : public FrontierKernel {
 public:
  explicit BcKernel(const BcSettings& settings) : settings_(settings) {}

  std::string describe() const override {
    return fmt::format("bc, sources {}, parallel {}{}", digest(settings_.sources), settings_.parallel,
                       settings_.job.deterministic ? ", deterministic" : "");
  }
  std::size_t record_bytes() const override { return sizeof(frontier::WideRecord); }
  bool choose_tasks(const graph::GraphFile& graph, int processes, int workers, bool on_disks) override {
    apart_ =
        settings_.parallel == "sources" || settings_.job.deterministic ||
        (settings_.parallel == "auto" && !on_disks &&
         frontier::BetweennessApart::pays(graph.vertices(), settings_.sources.size(), processes, workers));
    return apart_;
  }
  void prepare(frontier::FrontierJob& job) override {
    if (apart_) searches_ = std::make_unique<frontier::BetweennessApart>(job, settings_.job.deterministic);
  }
  std::vector<frontier::Superstep> run(frontier::FrontierJob& job) override {
    if (apart_) return searches_->run(settings_.sources);
    frontier::Betweenness levels(job);
    auto supersteps = levels.run(settings_.sources);
    mine_ = levels.scores();
    return supersteps;
  }
  std::string phase(const frontier::Superstep& one) const override {
    if (one.kind == frontier::BetweennessApart::kSearches)
      return fmt::format("searches from {} sources", settings_.sources.size());
    if (one.kind == frontier::BetweennessApart::kSums) return "sums to owners";
    return fmt::format("level {}, {}", one.step + 1,
                       one.kind == frontier::Betweenness::kForward ? "paths" : "shares of them");
  }
  std::uint64_t checksum(const frontier::FrontierJob& job) const override {
    return apart_ ? cli::checksum_of_all(std::span(searches_->scores()))
                  : cli::checksum(job, std::span<const double>(mine_));
  }
  void fill(report::RunReport& report) const override {
    report.kernel = "bc";
    report.wire = "records";
    if (!settings_.list.empty())
      report.options = {{"sources", settings_.list}};
    else if (settings_.samples > 0)
      report.options = {{"samples", static_cast<std::int64_t>(settings_.samples)},
                        {"seed", static_cast<std::int64_t>(settings_.seed)}};
  }
  void gather(frontier::FrontierJob& job) override {
    all_ = apart_ ? searches_->scores() : frontier::gather_values(job, mine_);
  }
  std::string fault(const graph::GraphFile& graph) const override {
    return kernels::check_bc(graph, settings_.sources, all_);
  }
  std::string rules() const override {
    return fmt::format("scores differ from those of a sequential search by at most {} of their value",
                       kernels::kScoreTolerance);
  }
  void add_line(VertexLines& lines, std::uint32_t vertex) const override {
    lines.add(vertex, all_[vertex], kDigits);
  }

 private:
  const BcSettings& settings_;
  bool apart_ = false;
  std::unique_ptr<frontier::BetweennessApart> searches_;
  std::vector<double> mine_, all_;  ///< by local number; of all vertices
};

}  // namespace

void add_bc(CLI::App& app) {
  auto settings = std::make_shared<BcSettings>();
  CLI::App* command =
      app.add_subcommand("bc", "compute betweenness centrality: how many shortest paths lead over a vertex");
  command->footer(
      "The score of v is the sum over all sources s and all vertices t, neither of them v, of the share of "
      "the shortest paths from s to t that lead over v. Paths follow edges in their direction; weights are "
      "ignored; an edge that occurs several times is several paths. Nothing is normalized: in a graph that "
      "stores every edge both ways, each pair counts in both directions, so halve the score to compare with "
      "NetworkX. For an estimate from K samples, multiply by the number of vertices divided by K.");
  const auto own = [&] {
    auto* list = command
                     ->add_option("--sources", settings->list,
                                  "paths start at these vertices, named as in results: ID,ID,... or @FILE "
                                  "with one on each line; by default at all")
                     ->type_name("ID[,ID...]|@FILE");
    reads(list, listed_in);
    auto* samples =
        command
            ->add_option("--samples", settings->samples, "paths start at so many vertices, drawn by --seed")
            ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32))
            ->excludes(list);
    command
        ->add_option("--parallel", settings->parallel,
                     "levels: workers share the levels of each search; sources: each worker searches from "
                     "sources of its own, with 40 bytes for each vertex; auto: sources, if each worker has "
                     "two or more and a process needs at most 4 GiB for them")
        ->check(CLI::IsMember({"auto", "levels", "sources"}))
        ->capture_default_str();
    command->add_option("--seed", settings->seed, "the same seed draws the same samples")
        ->capture_default_str()
        ->needs(samples);
    settings->job.edge_place.add_to(*command, settings->job.launch);
  };
  add_frontier_options(
      *command, settings->job, own,
      "write the scores to this file as lines of id, tab and score; - is stdout",
      "compare with a sequential search from all sources, and exit with 1 when a score differs");
  command->callback([settings] {
    if (settings->job.deterministic && settings->parallel == "levels")
      throw UsageError(
          "--deterministic: with --parallel levels the order of sums depends on timing: leave it out");
    if (settings->job.edge_place.edges != "memory" &&
        (settings->job.deterministic || settings->parallel == "sources"))
      throw UsageError(
          "--edges: a search from a source of its own reads rows of other processes from memory: leave out "
          "--deterministic and --parallel sources");
    run_frontier(
        settings->job, [&](const graph::GraphFile& graph) { choose_sources(*settings, graph); },
        [&] { return std::make_unique<BcKernel>(*settings); });
  });
}

}  // namespace edgewire::cli
