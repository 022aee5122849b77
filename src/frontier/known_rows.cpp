#include "frontier/known_rows.h"

#include <algorithm>
#include <utility>

namespace edgewire::frontier {

namespace {

constexpr std::uint64_t kNumberedAtOnce = 1 << 12;

/// Calls work(known, first, last) for ranges of owned vertices, by all workers.
template <class Work>
void for_each_rows(const Boundary& boundary, topology::WorkerPool& pool, const Work& work) {
  const std::uint32_t owned = boundary.owned();
  pool.for_each((owned + kNumberedAtOnce - 1) / kNumberedAtOnce, [&](int, std::uint64_t piece) {
    const auto last =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(owned, (piece + 1) * kNumberedAtOnce));
    boundary.visit([&](const auto& known) {
      work(known, LocalNumber(static_cast<std::uint32_t>(piece * kNumberedAtOnce)), LocalNumber(last));
    });
  });
}

}  // namespace

OwnKnownRows::OwnKnownRows(const Boundary& boundary, topology::WorkerPool& pool, const RowOf& row_of) {
  auto& begins = memory_.begins;
  begins.resize(boundary.owned() + std::size_t{1});
  for (LocalNumber local{}; local < boundary.owned(); ++local)
    begins[local + std::size_t{1}] = begins[local] + row_of(local).size();
  memory_.entries = topology::NodeMemory(begins.back() * sizeof(KnownNumber), -1, "rows of known vertices");
  const auto entries = memory_.entries.as<KnownNumber>();
  for_each_rows(boundary, pool, [&](const auto& known, LocalNumber first, LocalNumber last) {
    for (LocalNumber local = first; local < last; ++local) {
      KnownNumber* out = entries.data() + begins[local];
      for (const VertexId v : row_of(local)) *out++ = known.number(v);
    }
  });
}

OwnKnownRows::OwnKnownRows(RowMemory ids, const Boundary* boundary, topology::WorkerPool& pool)
    : memory_(std::move(ids)) {
  if (boundary == nullptr) return;
  const auto entries = memory_.entries.as<std::uint32_t>();
  for_each_rows(*boundary, pool, [&](const auto& known, LocalNumber first, LocalNumber last) {
    for (std::uint64_t e = memory_.begins[first]; e < memory_.begins[last]; ++e)
      entries[e] = known.number(VertexId(entries[e]));
  });
}

}  // namespace edgewire::frontier
