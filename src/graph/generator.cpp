#include "graph/generator.h"

#include <fmt/core.h>

#include <algorithm>
#include <new>

#include "base/control_group.h"
#include "base/error.h"
#include "base/random.h"
#include "graph/file/format.h"
#include "options/files.h"
#include "options/jobs.h"

namespace edgewire::graph {

namespace {

constexpr std::uint64_t kItemsPerTask = 1 << 16;
// Mark of the random numbers of weights, which differ from those of edges.
constexpr std::uint64_t kWeightStream = 0x77656967'68747300;

Weight weight_of_edge(std::uint64_t seed, std::uint64_t edge) {
  return static_cast<float>((IndexedRandom(seed ^ kWeightStream, edge).next() >> 40) + 1) * 0x1p-24F;
}

/// Calls make(worker, i, builder) for each item i, in parallel, and writes the graph.
template <class Make>
BuildSummary generate(const std::string& path, std::uint64_t vertices, std::uint64_t items,
                      std::uint64_t edges, const BuildOptions& options, std::uint32_t flags,
                      const Progress& progress, const Make& make) {
  const std::uint64_t bytes_per_edge = options.weighted ? 16 : 12;
  require_memory(path, edges * bytes_per_edge + vertices * 8);
  OutputFile output(path);
  try {
    Builder builder(vertices, edges, options);
    const std::uint64_t tasks = (items + kItemsPerTask - 1) / kItemsPerTask;
    parallel_for(options.workers, tasks, "making edges", progress, [&](int worker, std::uint64_t task) {
      const std::uint64_t end = std::min(items, (task + 1) * kItemsPerTask);
      for (std::uint64_t i = task * kItemsPerTask; i < end; ++i) make(worker, i, builder);
    });
    return builder.write(output, {}, flags, progress);
  } catch (const std::bad_alloc&) {
    throw Error(fmt::format("{}: not enough memory for {} vertices and {} edges{}", path, vertices, edges,
                            limit_to_raise(ENOMEM)));
  }
}

BuildOptions build_options(const GenerateOptions& options) {
  if (options.workers != 0) check_range(opt::workers, options.workers);
  return {options.weighted, options.simple, options.undirected, workers_or_default(options.workers)};
}

void check_size(const std::string& path, std::uint64_t vertices, std::uint64_t edges) {
  if (vertices > kMaxVertices)
    throw Error(fmt::format("{}: {} vertices are more than the {} that are supported{}", path, vertices,
                            kMaxVertices, kMoreVertices));
  if (edges > kMaxEdges / 2)
    throw Error(
        fmt::format("{}: {} edges are more than the {} that are supported", path, edges, kMaxEdges / 2));
}

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? ~std::uint64_t{0} : result;
}

struct Pair {
  std::uint64_t source = 0, target = 0;
};

/// Chooses a quadrant of the edge matrix `scale` times; two choices from one random number.
Pair kronecker_edge(int scale, IndexedRandom random) {
  constexpr double kTwo32 = 4294967296.0;
  constexpr auto kA = static_cast<std::uint32_t>(0.57 * kTwo32);
  constexpr auto kAB = static_cast<std::uint32_t>(0.76 * kTwo32);
  constexpr auto kABC = static_cast<std::uint32_t>(0.95 * kTwo32);
  Pair edge;
  std::uint64_t bits = 0;
  for (int level = 0; level < scale; ++level) {
    bits = level % 2 == 0 ? random.next() : bits >> 32;
    const auto choice = static_cast<std::uint32_t>(bits);
    const std::uint64_t down = choice >= kAB ? 1 : 0;
    const std::uint64_t right =
        ((choice >= kA ? 1U : 0U) ^ (choice >= kAB ? 1U : 0U)) | (choice >= kABC ? 1U : 0U);
    edge.source = edge.source << 1 | down;
    edge.target = edge.target << 1 | right;
  }
  return edge;
}

/// Makes edge_factor edges for each vertex, each by make_edge(its own random numbers).
template <class MakeEdge>
BuildSummary generate_edges(const std::string& path, std::uint64_t vertices, std::uint64_t edge_factor,
                            const GenerateOptions& options, const MakeEdge& make_edge) {
  const std::uint64_t edges = product(vertices, edge_factor);
  check_size(path, vertices, edges);
  return generate(path, vertices, edges, edges * (options.undirected ? 2 : 1), build_options(options), 0,
                  options.progress, [&](int worker, std::uint64_t i, Builder& builder) {
                    const Pair edge = make_edge(IndexedRandom(options.seed, i));
                    builder.add(worker, static_cast<PlainId>(edge.source), static_cast<PlainId>(edge.target),
                                options.weighted ? weight_of_edge(options.seed, i) : Weight());
                  });
}

}  // namespace

BuildSummary generate_kronecker(const std::string& path, int scale, std::uint64_t edge_factor,
                                const GenerateOptions& options) {
  check_range(opt::scale, scale, 0, kIds64 ? 47 : 31);
  const std::uint64_t vertices = std::uint64_t{1} << scale;
  const Permutation permute(vertices, options.seed);
  return generate_edges(path, vertices, edge_factor, options, [&](IndexedRandom random) {
    const Pair edge = kronecker_edge(scale, random);
    return Pair{permute(edge.source), permute(edge.target)};
  });
}

BuildSummary generate_uniform(const std::string& path, std::uint64_t vertices, std::uint64_t edge_factor,
                              const GenerateOptions& options) {
  return generate_edges(path, vertices, edge_factor, options, [&](IndexedRandom random) {
    const std::uint64_t source = random.below(vertices);
    return Pair{source, random.below(vertices)};
  });
}

BuildSummary generate_grid(const std::string& path, const GridShape& shape, const GenerateOptions& options) {
  const std::uint64_t vertices = product(shape.rows, shape.columns);
  check_size(path, vertices, product(vertices, 4));
  BuildOptions build = build_options(options);
  build.undirected = true;
  const Permutation permute(vertices, options.seed);
  const auto id = [&](std::uint64_t cell) {
    return static_cast<PlainId>(shape.keep_order ? cell : permute(cell));
  };
  const auto next = [&](std::uint64_t at, std::uint64_t size) {
    if (at + 1 < size) return at + 1;
    return shape.torus && size > 2 ? 0 : size;  // size: there is no neighbour
  };
  return generate(path, vertices, vertices, vertices * 4, build, kSimple, options.progress,
                  [&](int worker, std::uint64_t cell, Builder& builder) {
                    const std::uint64_t row = cell / shape.columns;
                    const std::uint64_t column = cell % shape.columns;
                    const std::uint64_t right = next(column, shape.columns);
                    const std::uint64_t below = next(row, shape.rows);
                    const auto join = [&](std::uint64_t other, std::uint64_t edge) {
                      builder.add(worker, id(cell), id(other),
                                  options.weighted ? weight_of_edge(options.seed, edge) : Weight());
                    };
                    if (right < shape.columns) join(row * shape.columns + right, 2 * cell);
                    if (below < shape.rows) join(below * shape.columns + column, 2 * cell + 1);
                  });
}

}  // namespace edgewire::graph
