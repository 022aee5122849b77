#include "kernels/count/count.h"

namespace edgewire::kernels {

void RecordLoad::add(const RecordLoad& other) {
  for (std::size_t p = 0; p < sent.size(); ++p) {
    sent[p] += other.sent[p];
    received[p] += other.received[p];
  }
}

RecordLoad bits_of_known(const Graph& graph, const partition::Ownership& ownership) {
  constexpr std::uint64_t kVerticesARecord = 64;
  const auto processes = static_cast<std::uint32_t>(ownership.processes());
  RecordLoad bits(processes);
  Names names(graph, ownership);
  for (std::uint32_t p = 0; p < processes; ++p) {
    std::vector<std::uint64_t> known(processes);  // number of known vertices, [owner]
    for (LocalNumber local{}; local < ownership.count(p); ++local)
      for (const VertexId v : graph::Row{graph, ownership.vertex(p, local)}.targets())
        if (names.add(p, v)) ++known[names.owner(v)];
    for (std::uint32_t owner = 0; owner < processes; ++owner)
      bits.add(owner, p, (known[owner] + kVerticesARecord - 1) / kVerticesARecord);
  }
  return bits;
}

Names::Names(const Graph& graph, const partition::Ownership& ownership)
    : owners_(graph.vertices()), namers_(graph.vertices(), kNobody) {
  for (VertexId v{}; v < owners_.size(); ++v) owners_[v] = ownership.home(v).owner;
}

}  // namespace edgewire::kernels
