#include <fmt/format.h>

#include <atomic>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/random.h"
#include "graph/text_output.h"
#include "graph/writers.h"

namespace edgewire::graph {

namespace {

/// METIS counts with signed numbers of 32 bits unless it is built otherwise.
constexpr std::uint64_t kMostWeight = (std::uint64_t{1} << 31) - 1;

/// Whether METIS can take the graph as it is; throws Error if not.
void check_undirected(const Export& task, const RowBlocks& blocks, bool weighted) {
  const GraphFile& graph = task.graph;
  std::atomic<std::uint64_t> asymmetry{0};  // these are read after the workers have ended
  std::atomic<std::uint64_t> surplus{0};
  parallel_for(
      task.workers, blocks.count(),
      [&](int, std::uint64_t block) {
        std::uint64_t difference = 0;
        std::uint64_t loops_and_duplicates = 0;
        blocks.visit(
            block,
            [&](PlainId row, std::uint64_t index) {
              const PlainId target = graph.targets()[index];
              const Weight weight = weighted ? graph.weights().at(index) : Weight();
              difference += edge_hash(row, target, weight) - edge_hash(target, row, weight);
              const bool duplicate = index > graph.offsets()[row] && target == graph.targets()[index - 1];
              if (target == row || duplicate) ++loops_and_duplicates;
              if (weighted && !(weight.is_whole() && weight.bits() >= 1 && weight.bits() <= kMostWeight)) {
                throw Error(
                    fmt::format("{}: METIS takes weights that are whole numbers from 1 to 2147483647, but "
                                "the edge from vertex {} to {} weighs {}; --no-weights leaves weights out",
                                task.output, row + 1, target + std::uint64_t{1}, to_text(weight)));
              }
            },
            [](PlainId) {});
        asymmetry.fetch_add(difference, std::memory_order_relaxed);
        surplus.fetch_add(loops_and_duplicates, std::memory_order_relaxed);
      },
      "checking", task.progress);
  const char* wrong = nullptr;
  if (surplus.load(std::memory_order_relaxed) != 0) wrong = "has self loops or duplicate edges";
  if (asymmetry.load(std::memory_order_relaxed) != 0) wrong = "is directed";
  if (wrong == nullptr) return;
  throw Error(
      fmt::format("{}: METIS takes undirected graphs without self loops and duplicate edges, but this graph "
                  "{}; convert it with --undirected --simple",
                  task.output, wrong));
}

}  // namespace

WriteSummary write_metis(const Export& task) {
  const GraphFile& graph = task.graph;
  const bool weighted = task.weights && graph.weighted();
  const RowBlocks blocks(graph);
  TextOutput output(task.output);
  check_undirected(task, blocks, weighted);
  output.append(fmt::format("{} {}{}\n", graph.vertices(), graph.edges() / 2, weighted ? " 001" : ""));
  append_blocks(
      output, task.workers, blocks.count(),
      [&](std::uint64_t block, std::string& text) {
        blocks.visit(
            block,
            [&](PlainId row, std::uint64_t index) {
              if (index > graph.offsets()[row]) text += ' ';
              const fmt::format_int target(graph.targets()[index] + std::uint64_t{1});
              text.append(target.data(), target.size());
              if (!weighted) return;
              const fmt::format_int weight(graph.weights().at(index).bits());
              text.append(1, ' ').append(weight.data(), weight.size());
            },
            [&](PlainId) { text += '\n'; });
      },
      task.progress);
  refuse_changed_files();
  output.commit();
  return {graph.edges(), output.bytes(), 1, 0};
}

}  // namespace edgewire::graph
