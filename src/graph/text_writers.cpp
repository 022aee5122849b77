#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "graph/mapped_file.h"
#include "graph/text_output.h"
#include "graph/writers.h"

namespace edgewire::graph {

namespace {

void append_number(std::string& text, std::uint64_t number) {
  const fmt::format_int digits(number);
  text.append(digits.data(), digits.size());
}

/// A line for each edge, vertices counted from `first_id`. Returns the number of vertices up to the last one
/// that has an edge.
std::uint64_t append_edges(TextOutput& output, const Export& task, bool weighted, std::uint64_t first_id) {
  const GraphFile& graph = task.graph;
  const RowBlocks blocks(graph);
  std::atomic<std::uint64_t> used{0};  // read after the workers have ended
  append_blocks(
      output, task.workers, blocks.count(),
      [&](std::uint64_t block, std::string& text) {
        std::string source_text;
        std::uint64_t source = graph.vertices();
        std::uint64_t used_here = 0;
        blocks.visit(
            block,
            [&](PlainId row, std::uint64_t index) {
              if (row != source) {
                source = row;
                source_text.clear();
                append_number(source_text, source + first_id);
                source_text += ' ';
              }
              const std::uint64_t target = graph.targets()[index];
              used_here = std::max({used_here, source + 1, target + 1});
              text += source_text;
              append_number(text, target + first_id);
              if (weighted) append_text(text += ' ', graph.weights().at(index));
              text += '\n';
            },
            [](PlainId) {});
        std::uint64_t known = used.load(std::memory_order_relaxed);
        while (known < used_here &&
               !used.compare_exchange_weak(known, used_here, std::memory_order_relaxed)) {
        }
      },
      task.progress);
  return used.load(std::memory_order_relaxed);
}

}  // namespace

WriteSummary write_gap_text(const Export& task, bool weighted) {
  TextOutput output(task.output);
  const std::uint64_t used = append_edges(output, task, weighted, 0);
  refuse_changed_files();
  output.commit();
  return {task.graph.edges(), output.bytes(), 0, task.graph.vertices() - used};
}

WriteSummary write_matrix_market(const Export& task) {
  const bool weighted = task.weights && task.graph.weighted();
  const std::uint64_t vertices = task.graph.vertices();
  TextOutput output(task.output);
  output.append(fmt::format("%%MatrixMarket matrix coordinate {} general\n{} {} {}\n",
                            !weighted                               ? "pattern"
                            : is_whole(task.graph.weights().type()) ? "integer"
                                                                    : "real",
                            vertices, vertices, task.graph.edges()));
  append_edges(output, task, weighted, 1);
  refuse_changed_files();
  output.commit();
  return {task.graph.edges(), output.bytes(), 1, 0};
}

}  // namespace edgewire::graph
