#include "frontier/breadth_first.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/frontier_command.h"
#include "cli/sources.h"
#include "kernels/verify.h"

namespace edgewire::cli {

namespace {

struct BfsSettings {
  JobOptions job;
  Sources sources;
  bool parents = false;
};

class BfsKernel : public FrontierKernel {
 public:
  explicit BfsKernel(const BfsSettings& settings) : settings_(settings) {}

  std::string describe() const override {
    return fmt::format("bfs from {}{}", digest(settings_.sources.vertices),
                       settings_.parents ? ", parents" : "");
  }
  std::vector<std::string> runs() const override { return settings_.sources.names; }
  void choose(std::size_t run) override { source_ = settings_.sources.vertices[run]; }
  std::vector<frontier::Superstep> run(frontier::FrontierJob& job) override {
    if (!search_) search_ = std::make_unique<frontier::BreadthFirst>(job, settings_.parents);
    return search_->run(source_);
  }
  std::string phase(const frontier::Superstep& one) const override {
    return fmt::format("level {}, {}", one.step + 1,
                       one.kind == frontier::BreadthFirst::kPull ? "pull" : "push");
  }
  /// Of the levels, also with parents: which parent a vertex has depends on timing.
  std::uint64_t checksum(const frontier::FrontierJob& job) const override {
    return cli::checksum(job, search_->levels());
  }
  void fill(report::RunReport& report) const override {
    report.kernel = "bfs";
    report.wire = "records";
    report.options = {settings_.sources.option(), {"parents", settings_.parents}};
  }
  void gather(frontier::FrontierJob& job) override {
    levels_ = frontier::gather_values(job, search_->levels());
    if (settings_.parents) parents_ = frontier::gather_values(job, search_->parents());
  }
  std::string fault(const graph::GraphFile& graph) const override {
    return kernels::check_bfs(graph, source_, levels_, parents_);
  }
  std::string rules() const override {
    return "levels differ by at most 1 along each edge from a vertex that is reached, and an edge from the "
           "level before leads to each of them";
  }
  void add_line(VertexLines& lines, std::uint32_t vertex) const override {
    if (settings_.parents)
      lines.add_vertex(vertex, parents_[vertex]);
    else
      lines.add_level(vertex, levels_[vertex]);
  }

 private:
  const BfsSettings& settings_;
  std::uint32_t source_ = 0;
  std::unique_ptr<frontier::BreadthFirst> search_;
  std::vector<std::uint32_t> levels_, parents_;  ///< of all vertices
};

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
  };
  add_frontier_options(
      *command, settings->job, own,
      "write the levels to this file as lines of id, tab and value, 9223372036854775807 where no path leads "
      "(--parents: -1); - is stdout",
      "check levels and parents by the rules of Graph500, and exit with 1 when they are wrong");
  command->callback([settings] {
    run_frontier(
        settings->job, [&](const graph::GraphFile& graph) { settings->sources.find(graph); },
        [&] { return std::make_unique<BfsKernel>(*settings); });
  });
}

}  // namespace edgewire::cli
