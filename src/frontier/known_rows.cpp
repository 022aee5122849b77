#include "frontier/known_rows.h"

#include <algorithm>

namespace edgewire::frontier {

OwnKnownRows::OwnKnownRows(const Boundary& boundary, topology::WorkerPool& pool, const RowOf& row_of)
    : begins_(boundary.owned() + std::size_t{1}) {
  constexpr std::uint64_t kAtOnce = 1 << 12;
  const std::uint32_t owned = boundary.owned();
  for (LocalNumber local{}; local < owned; ++local)
    begins_[local + std::size_t{1}] = begins_[local] + row_of(local).size();
  memory_ = topology::NodeMemory(begins_.back() * sizeof(KnownNumber), -1, "rows of known vertices");
  entries_ = memory_.as<KnownNumber>().first(begins_.back());
  pool.for_each((owned + kAtOnce - 1) / kAtOnce, [&](int, std::uint64_t piece) {
    boundary.visit([&](const auto& known) {
      const auto last = static_cast<std::uint32_t>(std::min<std::uint64_t>(owned, (piece + 1) * kAtOnce));
      for (LocalNumber local(static_cast<std::uint32_t>(piece * kAtOnce)); local < last; ++local) {
        KnownNumber* out = entries_.data() + begins_[local];
        for (const VertexId v : row_of(local)) *out++ = known.number(v);
      }
    });
  });
}

}  // namespace edgewire::frontier
