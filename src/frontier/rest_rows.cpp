#include "frontier/rest_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <limits>

#include "error.h"
#include "graph/row.h"

namespace edgewire::frontier {

namespace {

constexpr std::uint64_t kRestAtOnce = 1 << 12;  // vertices

}  // namespace

/// Calls out(local, v) for all edges from an owned vertex that are kept, and in(u, local) for those to one,
/// in all workers. Several may do so for the same vertex.
template <class Out, class In>
void RestRows::each_edge(FrontierJob& job, std::span<const std::uint32_t> colours, const Out& out,
                         const In& in) const {
  const std::uint64_t vertices = job.graph().vertices(), rank = job.rank();
  const auto one_with = [&](VertexId v) { return colours[v] == kMerged ? merged_ : v; };
  job.pool().for_each((vertices + kRestAtOnce - 1) / kRestAtOnce, [&](int, std::uint64_t piece) {
    job.ownership().visit([&](const auto& scheme) {
      const std::uint64_t last = std::min(vertices, (piece + 1) * kRestAtOnce);
      for (VertexId at(static_cast<std::uint32_t>(piece * kRestAtOnce)); at < last; ++at) {
        const graph::Row row{job.graph(), at};
        if (colours[at] == kGone || row.degree() == 0) continue;
        if (scheme.place(row.vertex).owner != rank) job.graph().verify_rows(at, at + std::uint64_t{1});
        const VertexId u = one_with(row.vertex);
        const std::uint32_t colour = colours[u];
        const plan::Place from = scheme.place(u);
        for (const VertexId target : row.targets()) {
          const VertexId v = one_with(target);
          if (colours[v] != colour || v == u) continue;
          const plan::Place to = scheme.place(v);
          if (from.owner == rank) out(from.local, v);
          if (to.owner == rank) in(u, to.local);
        }
      }
    });
  });
}

/// Of the counted lengths, which are 0 afterwards.
void RestRows::Rows::make_room() {
  std::uint64_t sum = 0;
  for (std::size_t local = 0; local < lengths.size(); ++local) {
    begins[local] = sum;
    sum += lengths[local];
    lengths[local] = 0;
  }
  ends.resize(sum);
}

RestRows::RestRows(FrontierJob& job, std::span<const std::uint32_t> colours, VertexId merged)
    : merged_(merged) {
  for (Rows* rows : {&out_, &in_}) {
    rows->begins.resize(job.owned());
    rows->lengths.resize(job.owned());
  }
  const auto count = [&job](Rows& rows, LocalNumber local) {
    const std::uint32_t before = std::atomic_ref(rows.lengths[local]).fetch_add(1, std::memory_order_relaxed);
    if (before == std::numeric_limits<std::uint32_t>::max())
      throw Error(
          fmt::format("{}: more than 4294967295 edges lead to or from one vertex or component, which "
                      "is more than scc can count",
                      job.graph().path()));
    return before;
  };
  const auto add = [&](Rows& rows, LocalNumber local, VertexId end) {
    rows.ends[rows.begins[local] + count(rows, local)] = end;
  };
  each_edge(
      job, colours, [&](LocalNumber local, VertexId) { count(out_, local); },
      [&](VertexId, LocalNumber local) { count(in_, local); });
  out_.make_room();
  in_.make_room();
  each_edge(
      job, colours, [&](LocalNumber local, VertexId v) { add(out_, local, v); },
      [&](VertexId u, LocalNumber local) { add(in_, local, u); });
}

void RestRows::Rows::leave_out(LocalNumber local, std::uint32_t colour,
                               std::span<const std::uint32_t> colours) {
  std::uint32_t kept = 0;
  const std::span row(ends.data() + begins[local], lengths[local]);
  if (colour != kGone)
    for (const VertexId other : row)
      if (colours[other] == colour) row[kept++] = other;
  lengths[local] = kept;
}

}  // namespace edgewire::frontier
