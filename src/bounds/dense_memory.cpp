#include "bounds/dense_memory.h"

#include <algorithm>

#include "edgewire/numbering.h"

namespace edgewire::bounds {

namespace {

// All constants of the prediction were fitted to the largest processes of jobs with 2 to 16 processes on
// Kronecker graphs of scale 18 to 22 and on a crawl of 3.2 M edges, for all ownerships and strategies.

using plan::Strategy;

/// The bytes that an id of edgewire-wide takes beyond the 4 bytes of these jobs.
constexpr double kWider = sizeof(VertexId) - 4;
/// The bytes of the program with one worker, before it has any part of a graph.
constexpr double kProgram = 3.7e6;
/// The most edges that are dealt to columns at a time, with their places there.
constexpr double kBandEdges = 1 << 20;
/// The bytes for an edge of such a band, for an edge in tiles, and for an owned vertex in the order of
/// computing.
constexpr double kBandEdge = 8.5, kTileEdge = 3.4, kVertex = 5.2 + 3 * kWider;
/// The bytes, during iterations, for an edge in tiles, and for an owned vertex without its values, of which
/// there are four.
constexpr double kEdgeAtRest = 2.95, kVertexAtRest = 8 + kWider, kValuesOfAVertex = 4;
/// The bytes of a value that is sent, while the tiles are built, by strategy.
constexpr double kSlotValue = 17.5, kEdgeValue = 16, kCoverValue = 56;
/// The bytes, while covers are made, for an edge that leaves the process, and for an owned vertex.
constexpr double kLeavingEdge = 6.65, kCoverVertex = 8;
/// The bytes for each byte of an edge's weight: one in tiles, and one where it is dealt to columns.
constexpr std::uint64_t kWeightByte = 2;
/// The bytes, where processes own edges, for the program, and for an edge of a band, an edge, a vertex, a
/// value.
constexpr double kBlockProgram = 4.6e6, kBlockBandEdge = 4.1, kBlockEdge = 8.2 + kWider,
                 kRoutedEdge = 14.5 + 2 * kWider, kBlockVertex = 27 + 3 * kWider, kBlockValue = 19;

double of_block(const DenseShare& share) {
  const auto edges = static_cast<double>(share.edges);
  const double each = share.strategy == Strategy::cover ? kRoutedEdge : kBlockEdge;
  return kBlockProgram + kBlockBandEdge * std::min(edges, kBandEdges) + each * edges +
         kBlockVertex * static_cast<double>(share.vertices) + kBlockValue * static_cast<double>(share.values);
}

/// Returns the memory while the tiles are built, with the plan.
double building(const DenseShare& share) {
  const auto edges = static_cast<double>(share.edges), values = static_cast<double>(share.values);
  const double all =
      kProgram + kBandEdge * std::min(edges, kBandEdges) + kVertex * static_cast<double>(share.vertices);
  if (share.strategy == Strategy::cover) return all + kTileEdge * edges + kCoverValue * values;
  if (share.strategy != Strategy::edge) return all + kTileEdge * edges + kSlotValue * values;
  return all + kTileEdge * (edges - std::min(edges, values)) +
         kEdgeValue * values;  // no tile has these edges
}

double making_covers(const DenseShare& share) {
  return kProgram + kCoverVertex * static_cast<double>(share.vertices) +
         kLeavingEdge * static_cast<double>(share.leaving);
}

double iterating(const DenseShare& share) {
  const auto edges = static_cast<double>(share.edges);
  const double in_tiles =
      share.strategy == Strategy::edge ? edges - std::min(edges, static_cast<double>(share.values)) : edges;
  return kProgram + kEdgeAtRest * in_tiles +
         (kVertexAtRest + kValuesOfAVertex * static_cast<double>(share.value_bytes)) *
             static_cast<double>(share.vertices);
}

}  // namespace

std::uint64_t dense_memory(const DenseShare& share) {
  double bytes = std::max(building(share), iterating(share));
  if (share.processes > 1 && share.edges_owned)
    bytes = std::max(iterating(share), of_block(share));
  else if (share.processes > 1 && share.strategy == Strategy::cover)
    bytes = std::max(bytes, making_covers(share));
  return static_cast<std::uint64_t>(bytes) + kWeightByte * share.weight_bytes * share.edges;
}

}  // namespace edgewire::bounds
