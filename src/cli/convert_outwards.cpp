// Graphs in formats of others.
#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/output_file.h"
#include "base/output_folder.h"
#include "cli/convert_settings.h"
#include "graph/convert.h"
#include "graph/vertex_names.h"
#include "report/progress.h"

namespace edgewire::cli {

using graph::Format;

namespace {

/// A graph to be written in another format.
struct Source {
  graph::GraphFile graph;
  std::unique_ptr<OutputFile> names{};  ///< of its vertices, where they are not beside it
};

/// The input as a graph file that nobody else sees and that is gone with the result. `names`: what is written
/// has the names of the vertices.
Source read_aside(const ConvertSettings& settings, Format input_format, bool is_ours, bool names) {
  const std::string& output = settings.output.path;
  const std::string folder =
      output == "-" ? temporary_folder() : std::filesystem::absolute(output).parent_path().string();
  graph::BuildSummary read;
  const auto nameless = OutputFile::nameless(folder);
  auto table = names ? OutputFile::nameless(folder) : nullptr;
  auto reading = settings.reading(input_format);
  reading.table = table.get();
  if (is_ours) reading.labels = false;  // it has its names
  auto graph = convert_aside(settings.input, *nameless, reading, read);
  if (table) graph.set_table(table->path_for_others());
  if (read.third_is_weight && !read.doubtful)
    note(fmt::format("{}: third column taken as weight (--no-weights drops it)", settings.input));
  if (read.compacted)
    note(fmt::format("{}: ids are sparse: only vertices with edges are kept (--keep-ids keeps all)",
                     settings.input));
  return {std::move(graph), std::move(table)};
}

}  // namespace

void write_other(const ConvertSettings& settings, Format input_format, Format format,
                 Clock::time_point start) {
  const std::string& output = settings.output.path;
  if (output != "-") check_writable(output);
  const bool automatic = input_format == Format::automatic;
  const bool is_ours =
      automatic ? graph::format_of_name(settings.input) == Format::ew || graph::is_folder(settings.input)
                : input_format == Format::ew;
  const bool as_it_is = is_ours && settings.inputs.size() == 1 && !settings.output.simple &&
                        !settings.output.undirected && settings.vertices.empty();
  const bool names = graph::has_names(format);
  const Source source = as_it_is ? Source{graph::GraphFile::open(settings.input)}
                                 : read_aside(settings, input_format, is_ours, names);
  const auto& graph = source.graph;
  if (settings.how.labels && !graph.labelled())
    throw UsageError(fmt::format("{}: its vertices have no names: leave out --labels", settings.input));
  if (as_it_is) {
    graph::BuildOptions options;
    if (!settings.allow_empty) options.must_hold_edges = settings.input;
    graph::require_edges(options, graph.edges());
  }
  if (graph.weights_doubtful() && !settings.no_weights && graph::has_weights(format))
    note(fmt::format("{}: the third column looks like a time, not like a weight: --no-weights leaves it out",
                     graph.path()));
  const auto written = graph::export_graph(
      graph, output, {format, !settings.no_weights, settings.output.workers, settings.how.labels},
      report::progress_on_terminal());
  const double seconds = seconds_since(start);
  const std::string called =
      written.first_id
          ? fmt::format("vertices are numbered from {} in the order of the graph", *written.first_id)
          : "vertices are called as in results";
  const std::string summary =
      fmt::format("{}: {} vertices, {} edges, {:.1f} MB, {:.2f} s; {}\n", output == "-" ? "stdout" : output,
                  graph.vertices(), written.edges, static_cast<double>(written.bytes) / 1e6, seconds, called);
  if (output == "-")
    say(summary);
  else
    write_whole("-", summary);
  if (graph.weighted() && !settings.no_weights && !graph::has_weights(format))
    note(fmt::format("warning: {}: weights are left out; .wel, .csv, .mtx and .wsg hold them", output));
  if (written.lost_vertices > 0)
    note(
        fmt::format("warning: {}: {}{} vertices have no edges, and edge lists and tables cannot hold them; "
                    ".mtx and .sg can",
                    output, written.first_id ? "the last " : "", written.lost_vertices));
}

}  // namespace edgewire::cli
