#include <chrono>
#include <map>
#include <memory>

#include "cli/commands.h"
#include "cli/graph_files.h"
#include "error.h"
#include "graph/convert.h"

namespace edgewire::cli {

void add_convert(CLI::App& app) {
  using graph::Format;
  static const std::map<std::string, Format> kFormats = {
      {"auto", Format::automatic}, {"snap", Format::snap}, {"mtx", Format::matrix_market},
      {"el", Format::el},          {"wel", Format::wel},   {"sg", Format::sg},
      {"wsg", Format::wsg},        {"ew", Format::ew},     {"u32pairs", Format::u32_pairs}};
  struct Settings {
    std::string input;
    GraphOutput output;
    std::string format = "auto";
    bool no_weights = false;
    std::string vertices;
  };
  auto settings = std::make_shared<Settings>();
  CLI::App* command = app.add_subcommand("convert", "turn a graph in another format into a graph file (.ew)");
  command->add_option("input", settings->input, "the file to read, plain, .gz or .zst")->required();
  settings->output.add_to(*command);
  command
      ->add_option(
          "--format", settings->format,
          "auto (from the name), snap (edge list: SOURCE TARGET [WEIGHT]), mtx (Matrix Market), el, wel, sg, "
          "wsg (GAP), u32pairs (little endian), ew")
      ->check(CLI::IsMember(kFormats))
      ->capture_default_str();
  command->add_flag("--no-weights", settings->no_weights, "drop weights");
  command->add_option(
      "--vertices", settings->vertices,
      "edge lists: a file of ids, one a line, of vertices that exist even without edges (LDBC's .v)");
  command->callback([settings] {
    if (settings->input == "-") throw UsageError("convert: standard input cannot be read; give a file");
    const auto start = std::chrono::steady_clock::now();
    const graph::ConvertOptions options = {kFormats.at(settings->format), !settings->no_weights,
                                           settings->output.simple,       settings->output.undirected,
                                           settings->output.workers,      settings->vertices};
    print_summary(settings->output.path,
                  graph::convert(settings->input, settings->output.path, options, graph_progress()), start);
  });
}

}  // namespace edgewire::cli
