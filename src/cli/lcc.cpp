#include <fmt/format.h>

#include <array>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>

#include "cli/commands.h"
#include "cli/frontier_command.h"
#include "frontier/local_clustering.h"
#include "kernels/verify.h"
#include "launch/packing.h"

namespace edgewire::cli {

namespace {

class LccKernel : public FrontierKernel {
 public:
  std::string describe() const override { return "lcc"; }
  std::vector<frontier::Superstep> run(frontier::FrontierJob& job) override {
    frontier::LocalClustering clustering(job);
    auto supersteps = clustering.run();
    mine_ = clustering.coefficients();
    triangles_ = clustering.triangles();
    pairs_ = clustering.pairs_of_neighbours();
    return supersteps;
  }
  std::string phase(const frontier::Superstep& one) const override {
    constexpr std::array kPhases{"order vertices by degree, keep each edge once", "intersect rows",
                                 "send credits to owners"};
    return kPhases.at(one.kind);
  }
  std::uint64_t checksum(const frontier::FrontierJob& job) const override {
    return cli::checksum(job, mine_);
  }
  report::Answer answer(const AnsweredRun& run) override {
    report::Answer answer;
    const double sum = launch::allreduce(run.job.bootstrap(),
                                         std::accumulate(mine_.begin(), mine_.end(), 0.0), std::plus<>());
    const double pairs = launch::allreduce(run.job.bootstrap(), pairs_, std::plus<>());
    const auto vertices = static_cast<double>(run.job.graph().vertices());
    const double mean = vertices == 0 ? 0 : sum / vertices;
    const double transitivity = pairs == 0 ? 0 : 3 * static_cast<double>(triangles_) / pairs;
    answer.text = fmt::format("mean coefficient {:.6g}, {} triangle{}, transitivity {:.6g}", mean, triangles_,
                              triangles_ == 1 ? "" : "s", transitivity);
    answer.fields = {{"mean", mean}, {"triangles", triangles_}, {"transitivity", transitivity}};
    set_highest(answer, run, mine_, 0);
    return answer;
  }
  void fill(report::RunReport& report) const override {
    report.kernel = "lcc";
    report.wire = "records";
    report.triangles = triangles_;
  }
  void gather(frontier::FrontierJob& job) override { all_ = frontier::gather_values(job, mine_); }
  std::string fault(const graph::GraphFile& graph) const override {
    return kernels::check_lcc(graph, all_, triangles_);
  }
  std::string rules() const override {
    return "the edges between the neighbours of each vertex, and the triangles, were counted again";
  }
  void add_line(VertexLines& lines, std::uint32_t vertex) const override {
    lines.add(vertex, all_[vertex], 17);
  }

 private:
  std::vector<double> mine_, all_;  ///< by local number; of all vertices
  std::uint64_t triangles_ = 0;
  double pairs_ = 0;  ///< of neighbours of a vertex of this process
};

}  // namespace

void add_lcc(CLI::App& app) {
  auto options = std::make_shared<JobOptions>();
  CLI::App* command =
      app.add_subcommand("lcc", "compute the local clustering coefficient of every vertex, count triangles");
  command->footer(
      "The neighbours of a vertex are all others with an edge to or from it. Its coefficient is the number "
      "of edges that lead from one neighbour to another, divided by d (d - 1), the most that there can be "
      "between d neighbours; it is 0 where d is less than 2. An edge that occurs several times counts once, "
      "self loops do not count. A triangle is three vertices that are neighbours of one another.");
  add_frontier_options(
      *command, *options, [] {},
      "write the coefficients to this file as lines of id, tab and coefficient; - is stdout",
      "count the edges between the neighbours of each vertex again, one vertex after another, and exit with "
      "1 when a coefficient is wrong",
      {"vertices of the highest coefficients"});
  command->callback([options] {
    run_frontier(
        *options, [](const graph::GraphFile&) {}, [] { return std::make_unique<LccKernel>(); });
  });
}

}  // namespace edgewire::cli
