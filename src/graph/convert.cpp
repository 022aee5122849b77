#include "graph/convert.h"

#include <fmt/core.h>

#include <array>
#include <filesystem>
#include <new>
#include <optional>
#include <string_view>
#include <vector>

#include "error.h"
#include "graph/format.h"
#include "graph/graph_file.h"
#include "graph/readers.h"

namespace edgewire::graph {

namespace {

struct NamedFormat {
  std::string_view ending;
  Format format;
};

constexpr std::array<NamedFormat, 14> kNames = {{{".txt", Format::snap},
                                                 {".tsv", Format::snap},
                                                 {".csv", Format::snap},
                                                 {".e", Format::snap},
                                                 {".edges", Format::snap},
                                                 {".mtx", Format::matrix_market},
                                                 {".el", Format::el},
                                                 {".wel", Format::wel},
                                                 {".sg", Format::sg},
                                                 {".wsg", Format::wsg},
                                                 {".u32", Format::u32_pairs},
                                                 {".bin", Format::u32_pairs},
                                                 {".u32pairs", Format::u32_pairs},
                                                 {".ew", Format::ew}}};

/// Our own format again: to make a graph simple or undirected, or to drop its weights.
BuildSummary copy_graph(const GraphFile& graph, OutputFile& output, BuildOptions options,
                        const Progress& progress) {
  options.weighted = options.weighted && graph.weighted();
  options.undirected = options.undirected && !graph.symmetric();
  options.simple = options.simple && (!graph.simple() || options.undirected);
  Builder builder(graph.vertices(), graph.edges() * (options.undirected ? 2 : 1), options);
  constexpr std::uint64_t kRows = 1 << 14;
  parallel_for(
      options.workers, (graph.vertices() + kRows - 1) / kRows,
      [&](int worker, std::uint64_t task) {
        const std::uint64_t end = std::min(graph.vertices(), (task + 1) * kRows);
        graph.verify_rows(task * kRows, end);
        for (std::uint64_t row = task * kRows; row < end; ++row) {
          for (std::uint64_t edge = graph.offsets()[row]; edge < graph.offsets()[row + 1]; ++edge) {
            builder.add(worker, static_cast<std::uint32_t>(row), graph.targets()[edge],
                        options.weighted ? graph.weights()[edge] : 0.0F);
          }
        }
      },
      "reading", progress);
  std::vector<std::uint64_t> original_ids;
  if (graph.has_original_ids()) {
    for (std::uint64_t v = 0; v < graph.vertices(); ++v) {
      original_ids.push_back(graph.original_id(static_cast<std::uint32_t>(v)));
    }
  }
  // Simple stays simple unless edges are added; symmetric stays symmetric.
  const std::uint32_t flags = (graph.simple() && !options.undirected ? std::uint32_t{kSimple} : 0U) |
                              (graph.symmetric() ? std::uint32_t{kSymmetric} : 0U);
  return builder.write(output, original_ids, flags, progress);
}

BuildSummary read(Format format, const std::string& path, const std::string& vertices, OutputFile& output,
                  const BuildOptions& options, const Progress& progress) {
  if (format == Format::ew) return copy_graph(GraphFile::open(path), output, options, progress);
  Input input(path);
  std::optional<Input> lone;
  if (!vertices.empty()) lone.emplace(vertices);
  const Conversion conversion = {input, lone ? &*lone : nullptr, output, options, progress};
  switch (format) {
    case Format::matrix_market:
      return read_matrix_market(conversion);
    case Format::el:
    case Format::wel:
      return read_gap_text(conversion, format == Format::wel);
    case Format::sg:
    case Format::wsg:
      return read_gap_binary(conversion, format == Format::wsg);
    case Format::u32_pairs:
      return read_u32_pairs(conversion);
    default:
      return read_snap(conversion);
  }
}

}  // namespace

Format format_of_name(const std::string& path) {
  std::string_view name = path;
  for (const std::string_view compressed : {".gz", ".zst", ".xz", ".bz2"}) {
    if (name.ends_with(compressed)) name.remove_suffix(compressed.size());
  }
  for (const NamedFormat& known : kNames) {
    if (name.ends_with(known.ending)) return known.format;
  }
  throw UsageError(fmt::format("{}: its name does not tell its format; use --format", path));
}

BuildSummary convert(const std::string& input, const std::string& output, const ConvertOptions& options,
                     const Progress& progress) {
  const Format format = options.format == Format::automatic ? format_of_name(input) : options.format;
  if (!options.vertices.empty() && format != Format::snap) {
    throw UsageError("--vertices: only edge lists (snap) leave vertices without edges out");
  }
  std::error_code ignored;
  if (std::filesystem::equivalent(input, output, ignored)) {
    throw Error(fmt::format("{}: input and output are the same file", input));
  }
  OutputFile file(output);
  try {
    return read(format, input, options.vertices, file,
                {options.weights, options.simple, options.undirected, workers_or_default(options.workers)},
                progress);
  } catch (const std::bad_alloc&) {
    throw Error(fmt::format("{}: not enough memory to convert it", input));
  }
}

}  // namespace edgewire::graph
