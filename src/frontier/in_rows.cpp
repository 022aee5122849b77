#include "frontier/in_rows.h"

#include <algorithm>
#include <utility>

#include "graph/row.h"

namespace edgewire::frontier {

namespace {

constexpr std::uint64_t kSourcesAtOnce = 1 << 12;

/// Calls take(u, local) for all edges from any u to an owned vertex, in all workers.
template <class Take>
void each_in_edge(FrontierJob& job, const Take& take) {
  const std::uint64_t vertices = job.graph().vertices();
  job.pool().for_each((vertices + kSourcesAtOnce - 1) / kSourcesAtOnce, [&](int, std::uint64_t piece) {
    const std::uint64_t last = std::min(vertices, (piece + 1) * kSourcesAtOnce);
    job.graph().verify_rows(piece * kSourcesAtOnce, last);
    job.ownership().visit([&](const auto& scheme) {
      for (VertexId u(static_cast<std::uint32_t>(piece * kSourcesAtOnce)); u < last; ++u) {
        for (const VertexId v : graph::Row{job.graph(), u}.targets()) {
          const plan::Place place = scheme.place(v);
          if (place.owner == job.rank()) take(u, place.local);
        }
      }
    });
  });
}

}  // namespace

InRows::InRows(FrontierJob& job) : ends_(job.owned()) {
  const auto count = [this](LocalNumber local) {
    return std::atomic_ref(ends_[local]).fetch_add(1, std::memory_order_relaxed);
  };
  each_in_edge(job, [&](VertexId, LocalNumber local) { count(local); });
  std::uint64_t sum = 0;
  for (std::uint64_t& end : ends_) end = std::exchange(sum, sum + end);
  sources_.resize(sum);
  // Each end is the start of its row now, and moves on with each edge.
  each_in_edge(job, [&](VertexId u, LocalNumber local) { sources_[count(local)] = u; });
}

}  // namespace edgewire::frontier
