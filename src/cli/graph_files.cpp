#include "cli/graph_files.h"

#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>

#include "cli/stages.h"
#include "error.h"
#include "graph/output_file.h"
#include "graph/vertex_names.h"

namespace edgewire::cli {

void GraphOutput::add_to(CLI::App& command) {
  command.add_option("-o,--output", path, "the graph file to write (.ew)")->required();
  command.add_flag("--simple", simple, "drop duplicate edges (the one of least weight stays) and self loops");
  command.add_flag("--undirected", undirected, "store each edge both ways");
  command.add_option("-w,--workers", workers, "threads; one a core by default")->check(CLI::Range(1, 1024));
}

graph::Progress graph_progress() { return stages_on_terminal(""); }

void print_summary(const std::string& path, const graph::BuildSummary& summary,
                   std::chrono::steady_clock::time_point start) {
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const std::string dropped =
      summary.dropped == 0 ? "" : fmt::format(" ({} duplicates and self loops dropped)", summary.dropped);
  const char* weights =
      summary.third_is_weight ? "; third column taken as weight (--no-weights drops it)" : "";
  fmt::print("{}: {} vertices, {} edges{}, {:.1f} MB, {:.2f} s{}\n", path, summary.vertices, summary.edges,
             dropped, static_cast<double>(summary.bytes) / 1e6, seconds.count(), weights);
}

graph::GraphFile convert_aside(const std::string& input, const std::string& folder,
                               const graph::ConvertOptions& options, graph::BuildSummary& summary) {
  const std::string aside = graph::name_aside(folder + "/edgewire");
  summary = graph::convert(input, aside, options, graph_progress());
  auto graph = graph::GraphFile::open(aside, input);
  unlink(aside.c_str());
  unlink(graph::labels_path(aside).c_str());  // an input with names has such a table
  return graph;
}

graph::GraphFile open_graph(const std::string& path) {
  if (path != "-" && graph::is_ours(path)) return graph::GraphFile::open(path);
  const auto start = std::chrono::steady_clock::now();
  graph::BuildSummary summary;
  auto graph = [&] {
    try {
      return convert_aside(path, std::filesystem::temp_directory_path().string(), {}, summary);
    } catch (const Error& error) {
      const std::string text = error.what();
      if (text.find("--") == text.npos) throw;
      throw Error(text + " (options of `edgewire convert`)");
    }
  }();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  fmt::print(stderr,
             "edgewire: {}: converted for this run in {:.2f} s: {} vertices, {} edges{}; `edgewire convert` "
             "keeps what it makes\n",
             path, seconds.count(), summary.vertices, summary.edges,
             summary.third_is_weight ? "; third column taken as weight" : "");
  return graph;
}

}  // namespace edgewire::cli
