#include "graph/export.h"

#include <fmt/core.h>

#include <filesystem>
#include <new>

#include "base/error.h"
#include "graph/compress.h"
#include "graph/writers.h"

namespace edgewire::graph {

bool is_text(Format format) {
  return has_names(format) || format == Format::matrix_market || format == Format::metis;
}

bool has_weights(Format format) { return format != Format::el && format != Format::sg; }

bool has_names(Format format) {
  return format == Format::el || format == Format::wel || format == Format::csv || format == Format::tsv;
}

void check_packing(const std::string& path, Format format) {
  if (is_text(format)) return check_packed_ending(path);
  if (const auto ending = packed_ending(path); !ending.empty())
    throw UsageError(fmt::format(
        "{}: output is not compressed; write to a name without {} and compress that file", path, ending));
}

Format format_of_output(const std::string& path) {
  const std::string plain = path.substr(0, path.size() - packed_ending(path).size());
  const std::string ending = std::filesystem::path(plain).extension().string();
  if (ending.empty() || ending == ".ew") return Format::ew;
  if (ending == ".el") return Format::el;
  if (ending == ".wel") return Format::wel;
  if (ending == ".csv") return Format::csv;
  if (ending == ".tsv") return Format::tsv;
  if (ending == ".mtx") return Format::matrix_market;
  if (ending == ".sg") return Format::sg;
  if (ending == ".wsg") return Format::wsg;
  if (ending == ".graph" || ending == ".metis") return Format::metis;
  throw UsageError(fmt::format(
      "{}: {} is not written; use a name that ends in .ew, .el, .wel, .csv, .tsv, .mtx, .sg, .wsg "
      "or .graph, or --to FORMAT",
      path, ending));
}

WriteSummary export_graph(const GraphFile& graph, const std::string& output, const ExportOptions& options,
                          const Progress& progress) {
  graph.expect_all_rows();
  std::error_code ignored;
  if (output != "-" && std::filesystem::equivalent(graph.path(), output, ignored))
    throw Error(fmt::format("{}: input and output are the same file", output));
  const bool needs_weights = options.format == Format::wel || options.format == Format::wsg;
  if (needs_weights && !(options.weights && graph.weighted())) {
    throw Error(fmt::format("{}: .wel and .wsg hold weights, but {}; write .el or .sg", output,
                            graph.weighted() ? "--no-weights drops them" : "the graph has none"));
  }
  const Export task = {graph,   output, options.weights, options.names, workers_or_default(options.workers),
                       progress};
  try {
    switch (options.format) {
      case Format::el:
      case Format::wel:
        return write_gap_text(task, needs_weights);
      case Format::csv:
      case Format::tsv:
        return write_table(task, options.format == Format::csv ? ',' : '\t');
      case Format::matrix_market:
        return write_matrix_market(task);
      case Format::metis:
        return write_metis(task);
      case Format::sg:
      case Format::wsg:
        return write_gap_binary(task, needs_weights);
      default:
        throw Error(fmt::format("{}: this format is not written", output));
    }
  } catch (const std::bad_alloc&) {
    throw Error(fmt::format("{}: not enough memory to write it{}", output, limit_to_raise(ENOMEM)));
  }
}

}  // namespace edgewire::graph
