// Betweenness centrality over paths of the least sum of weights, by one thread: Dijkstra's order of the
// vertices (Numerische Mathematik 1, 1959), then Brandes's sums along it, as in bc.h.
#pragma once

#include <memory>

#include "kernels/bc/bc.h"
#include "kernels/scaled.h"

namespace edgewire::kernels {

/// Throws Error when the graph has no weights, or an edge of this process has one that is not above 0: around
/// a circle of weight 0 there would be no end of shortest paths.
void expect_positive_weights(frontier::Job& job);

/// Makes a search that counts paths in a Number, double or Scaled. Distances are whole where weights are, so
/// that ties are exact; else doubles, which round once an edge. Memory: 28 bytes for each vertex, 44 where
/// Number is Scaled, and 16 for each vertex or edge in the queue. All weights are above 0. `alone`: a job of
/// one thread, which outlives the search. Throws Error when the graph has no weights; add() also when the
/// least distance of a vertex is too large, or may end with an edge for whose weight it has no digits left.
template <class Number>
std::unique_ptr<BcSearch> weighted_search(frontier::Job& alone, bool endpoints);

extern template std::unique_ptr<BcSearch> weighted_search<double>(frontier::Job&, bool);
extern template std::unique_ptr<BcSearch> weighted_search<Scaled>(frontier::Job&, bool);

}  // namespace edgewire::kernels
