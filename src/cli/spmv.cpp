#include <limits>
#include <memory>
#include <vector>

#include "cli/commands.h"
#include "cli/dense_command.h"
#include "cli/files.h"
#include "cli/named_vertices.h"

namespace edgewire::cli {

namespace {

struct SpmvSettings : DenseSettings {
  runs::SpmvOptions asked;
};

/// --x, or nothing.
std::vector<double> vector_of(const SpmvSettings& settings, const graph::GraphFile& graph) {
  const std::string& path = settings.asked.x_path;
  if (path.empty()) return {};
  return settings.doubles() ? named_values(graph, path, std::numeric_limits<double>::max(), "")
                            : named_values(graph, path, double{std::numeric_limits<float>::max()},
                                           "--precision f64 takes it");
}

}  // namespace

void add_spmv(CLI::App& app) {
  auto settings = std::make_shared<SpmvSettings>();
  CLI::App* command =
      app.add_subcommand("spmv", "multiply the matrix of the graph by a vector, once or more");
  command->footer(
      "What y = A x means here: y[v] is the sum of w(u,v) * x[u] over all edges (u,v) into v. So row v of A "
      "holds the edges into v. w is the weight of the edge, or 1 where the graph has no weights. An edge "
      "that "
      "occurs several times counts as often as it occurs. With --direction in, row v holds the edges out of "
      "v: "
      "y = A^T x.");
  command->option_defaults()->group("Kernel");
  command->add_option("--iterations", settings->asked.iterations, "multiply so often: x becomes y, and again")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  reads(command->add_option("--x", settings->asked.x_path,
                            "read x from this file: lines of vertex and value, others 0; by default x is 1 "
                            "everywhere"));
  add_dense_options(*command, *settings, "value", "vertices of the largest absolute values");
  for (const char* name : {"--wire", "--weighted"}) command->remove_option(command->get_option(name));
  command->callback([settings] {
    run_dense(*settings, [&](const graph::GraphFile& graph) {
      settings->weighted = graph.weighted();
      settings->asked.weighted = graph.weighted();
      settings->asked.x = vector_of(*settings, graph);
      return [&] { return runs::make_spmv(settings->asked, settings->doubles()); };
    });
  });
}

}  // namespace edgewire::cli
