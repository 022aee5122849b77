#include "cli/graph_files.h"

#include <fmt/core.h>

#include "cli/stages.h"

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

}  // namespace edgewire::cli
