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
#include "cli/sources.h"
#include "frontier/betweenness.h"
#include "frontier/betweenness_apart.h"
#include "frontier/betweenness_scale.h"
#include "kernels/verify.h"

namespace edgewire::cli {

namespace {

constexpr int kDigits = 15;

struct BcSettings {
  JobOptions job;
  NamedSources named;
  std::uint64_t samples = 0, seed = 1;
  std::string parallel = "auto";  ///< or levels, sources
  bool weighted = false, endpoints = false, normalized = false;
  std::vector<std::uint32_t> sources;
};

/// What is wrong is said here once, not by each process.
void choose_sources(BcSettings& settings, const graph::GraphFile& graph) {
  if (settings.weighted) graph::expect_weights(graph, "leave out --weighted");
  if (settings.named.given()) {
    settings.sources = settings.named.find(graph);
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
    return fmt::format("bc, sources {}, parallel {}{}{}{}{}", digest(settings_.sources), settings_.parallel,
                       settings_.job.deterministic ? ", deterministic" : "",
                       settings_.weighted ? ", weighted" : "", settings_.endpoints ? ", endpoints" : "",
                       settings_.normalized ? ", normalized" : "");
  }
  bool weighted() const override { return settings_.weighted; }
  std::size_t record_bytes() const override { return sizeof(frontier::WideRecord); }
  bool choose_tasks(const graph::GraphFile& graph, int processes, int workers, bool on_disks) override {
    apart_ =
        settings_.parallel == "sources" || settings_.job.deterministic || settings_.weighted ||
        (settings_.parallel == "auto" && !on_disks &&
         frontier::BetweennessApart::pays(graph.vertices(), settings_.sources.size(), processes, workers));
    return apart_;
  }
  void prepare(frontier::FrontierJob& job) override {
    if (apart_)
      searches_ = std::make_unique<frontier::BetweennessApart>(
          job, frontier::ApartOptions{settings_.job.deterministic, settings_.weighted, settings_.endpoints});
  }
  std::vector<frontier::Superstep> run(frontier::FrontierJob& job) override {
    std::vector<frontier::Superstep> supersteps;
    if (apart_) {
      supersteps = searches_->run(settings_.sources);
      mine_ = searches_->scores();
    } else {
      frontier::Betweenness levels(job, settings_.endpoints);
      supersteps = levels.run(settings_.sources);
      mine_ = levels.scores();
    }
    if (settings_.normalized) normalize(job);
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
    const std::span<const double> scores(mine_);
    return apart_ ? cli::checksum_of_all(scores) : cli::checksum(job, scores);
  }
  report::Answer answer(const AnsweredRun& run) override {
    report::Answer answer;
    set_highest(answer, run, mine_, kTop, apart_);
    return answer;
  }
  void fill(report::RunReport& report) const override {
    report.kernel = "bc";
    report.wire = "records";
    report.options = settings_.named.options();
    if (settings_.samples > 0)
      report.options = {{"samples", static_cast<std::int64_t>(settings_.samples)},
                        {"seed", static_cast<std::int64_t>(settings_.seed)}};
    report.options.insert(report.options.end(), {{"weighted", settings_.weighted},
                                                 {"endpoints", settings_.endpoints},
                                                 {"normalized", settings_.normalized}});
  }
  void gather(frontier::FrontierJob& job) override {
    all_ = apart_ ? mine_ : frontier::gather_values(job, mine_);
  }
  std::string fault(const graph::GraphFile& graph) const override {
    return kernels::check_bc(
        graph, settings_.sources, all_,
        {settings_.weighted, settings_.endpoints, settings_.normalized, settings_.samples});
  }
  std::string rules() const override {
    return fmt::format("scores differ from those of a sequential search by at most {} of their value",
                       kernels::kScoreTolerance);
  }
  void add_line(VertexLines& lines, std::uint32_t vertex) const override {
    lines.add(vertex, all_[vertex], kDigits);
  }

 private:
  void normalize(const frontier::FrontierJob& job) {
    const auto scale =
        frontier::normalized_scale(job.graph().vertices(), settings_.endpoints, settings_.samples);
    for (std::uint32_t i = 0; i < mine_.size(); ++i) {
      const std::uint32_t v = apart_ ? i : job.ownership().vertex(job.rank(), i);
      mine_[i] *= std::ranges::binary_search(settings_.sources, v) ? scale.sources : scale.others;
    }
  }

  const BcSettings& settings_;
  bool apart_ = false;
  std::unique_ptr<frontier::BetweennessApart> searches_;
  std::vector<double> mine_;  ///< by local number; where searches are apart, at rank 0 of all vertices
  std::vector<double> all_;   ///< of all vertices
};

/// Throws UsageError.
void check(const BcSettings& settings) {
  std::string apart;  // what makes each worker search from sources of its own
  if (settings.parallel == "sources") apart = "--parallel sources";
  if (settings.job.deterministic) apart = "--deterministic";
  if (settings.weighted) apart = "--weighted";
  if (settings.parallel == "levels" && !apart.empty())
    throw UsageError(fmt::format("{}: {}: leave it out", apart,
                                 settings.weighted
                                     ? "--parallel levels counts edges, not weights"
                                     : "with --parallel levels the order of sums depends on timing"));
  if (settings.job.edge_place.edges != "memory" && !apart.empty())
    throw UsageError(
        fmt::format("--edges: a search from a source of its own reads rows of other processes from memory: "
                    "leave out {}",
                    apart));
  if (settings.normalized && settings.samples == 1 && !settings.endpoints)
    throw UsageError(
        "--normalized: --samples 1 says nothing of the sampled vertex itself: draw more, or add --endpoints");
}

}  // namespace

void add_bc(CLI::App& app) {
  auto settings = std::make_shared<BcSettings>();
  CLI::App* command =
      app.add_subcommand("bc", "compute betweenness centrality: how many shortest paths lead over a vertex");
  command->footer(
      "The score of v is the sum over all sources s and all vertices t, neither of them v, of the share of "
      "the shortest paths from s to t that lead over v. Paths follow edges in their direction; an edge that "
      "occurs several times is several paths. Sums are over ordered pairs: in a graph that stores every edge "
      "both ways, halve the score to compare with NetworkX, or say --normalized, after which nothing is left "
      "to halve. For an estimate from K samples without --normalized, multiply the score by the number of "
      "vertices divided by K.");
  const auto own = [&] {
    const auto [one, list] = settings->named.add_to(*command, "by default at all");
    auto* samples =
        command->add_option("--samples", settings->samples, "start at so many vertices, drawn by --seed")
            ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32))
            ->excludes(one)
            ->excludes(list);
    command
        ->add_option(
            "--parallel", settings->parallel,
            "levels: workers share the levels of each search; sources: each worker searches from "
            "sources of its own, with 40 bytes for each vertex, 64 where more than 1e300 paths lead "
            "to one; auto: sources, if each worker has two or more and a process needs at most 4 GiB "
            "for them at 40 bytes")
        ->check(CLI::IsMember({"auto", "levels", "sources"}))
        ->capture_default_str();
    command->add_option("--seed", settings->seed, "the same seed draws the same samples")
        ->capture_default_str()
        ->needs(samples);
    command->add_flag(
        "--weighted", settings->weighted,
        "let shortest paths be those of the least sum of weights, all of which are above 0; each "
        "worker searches from sources of its own");
    command->add_flag("--endpoints", settings->endpoints,
                      "let a path lead over its first and last vertex, too: s or t may be v");
    command->add_flag("--normalized", settings->normalized,
                      "divide by the number of pairs s, t of vertices other than v, as NetworkX does; with "
                      "--endpoints, of all vertices; with --samples s is a sampled one, with --sources any");
    settings->job.edge_place.add_to(*command, settings->job.launch);
  };
  add_frontier_options(
      *command, settings->job, own,
      "write the scores to this file as lines of id, tab and score; - is stdout",
      "compare with a sequential search from all sources, and exit with 1 when a score differs by more than "
      "1e-9 of its value",
      {"vertices of the highest scores", kTop});
  command->callback([settings] {
    check(*settings);
    run_frontier(
        settings->job, [&](const graph::GraphFile& graph) { choose_sources(*settings, graph); },
        [&] { return std::make_unique<BcKernel>(*settings); });
  });
}

}  // namespace edgewire::cli
