#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/frontier_command.h"
#include "cli/named_vertices.h"
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

/// So many vertices, each as likely as any other; none twice (Knuth, TAOCP volume 2, 3.4.2, algorithm S).
std::vector<std::uint32_t> sample(std::uint64_t vertices, std::uint64_t count, std::uint64_t seed) {
  std::vector<std::uint32_t> chosen;
  std::mt19937_64 random(seed);
  for (std::uint32_t v = 0; v < vertices && chosen.size() < count; ++v)
    if (random() % (vertices - v) < count - chosen.size()) chosen.push_back(v);
  return chosen;
}

void choose_sources(BcSettings& settings, const graph::GraphFile& graph) {
  if (!settings.list.empty()) {
    settings.sources = named_vertices(graph, settings.list, "--sources");
    return;
  }
  if (settings.samples > graph.vertices())
    throw Error(
        fmt::format("--samples {}: {} has {} vertices", settings.samples, graph.path(), graph.vertices()));
  settings.sources =
      sample(graph.vertices(), settings.samples > 0 ? settings.samples : graph.vertices(), settings.seed);
}

class BcKernel : public FrontierKernel {
 public:
  explicit BcKernel(const BcSettings& settings) : settings_(settings) {}

  std::string describe() const override {
    return fmt::format("bc, sources {}, parallel {}", digest(settings_.sources), settings_.parallel);
  }
  std::size_t record_bytes() const override { return sizeof(frontier::WideRecord); }
  std::vector<frontier::Superstep> run(frontier::FrontierJob& job) override {
    if (settings_.parallel == "sources" ||
        (settings_.parallel == "auto" && frontier::BetweennessApart::pays(job, settings_.sources.size())))
      return run(frontier::BetweennessApart(job));
    return run(frontier::Betweenness(job));
  }
  std::string phase(const frontier::Superstep& one) const override {
    if (one.kind == frontier::BetweennessApart::kSearches)
      return fmt::format("searches from {} sources", settings_.sources.size());
    if (one.kind == frontier::BetweennessApart::kSums) return "sums to owners";
    return fmt::format("level {}, {}", one.step + 1,
                       one.kind == frontier::Betweenness::kForward ? "paths" : "shares of them");
  }
  std::uint64_t checksum(const frontier::FrontierJob& job) const override {
    return cli::checksum(job, std::span<const double>(mine_));
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
  void gather(frontier::FrontierJob& job) override { all_ = frontier::gather_values(job, mine_); }
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
  template <class Method>
  std::vector<frontier::Superstep> run(Method&& method) {
    auto supersteps = method.run(settings_.sources);
    mine_ = method.scores();
    return supersteps;
  }

  const BcSettings& settings_;
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
    auto* samples =
        command
            ->add_option("--samples", settings->samples, "paths start at so many vertices, drawn by --seed")
            ->check(CLI::PositiveNumber)
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
  };
  add_frontier_options(
      *command, settings->job, own,
      "write the scores to this file as lines of id, tab and score; - is stdout",
      "compare with a sequential search from all sources, and exit with 1 when a score differs");
  command->callback([settings] {
    run_frontier(
        settings->job, [&](const graph::GraphFile& graph) { choose_sources(*settings, graph); },
        [&] { return std::make_unique<BcKernel>(*settings); });
  });
}

}  // namespace edgewire::cli
