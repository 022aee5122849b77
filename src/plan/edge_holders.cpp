#include "plan/edge_holders.h"

#include <algorithm>

#include "graph/parallel.h"

namespace edgewire::plan {

namespace {

constexpr std::uint64_t kBlockRows = 4096;
constexpr std::uint64_t kNobody = ~std::uint64_t{0};

/// The holders of the vertices [first, last).
struct Holders {
  Holders(std::uint64_t first_vertex, std::uint64_t last_vertex, std::uint64_t set_width)
      : first(first_vertex),
        last(last_vertex),
        width(set_width),
        out((last - first) * width),
        in((last - first) * width) {}
  bool contains(std::uint64_t vertex) const noexcept { return vertex - first < last - first; }
  std::uint64_t bit(std::uint64_t vertex, std::uint64_t process) const noexcept {
    return (vertex - first) * width + process;
  }
  std::uint64_t first, last, width;
  Bits out, in;
};

void mark_holders(const Rows& rows, const EdgePartition& partition, int threads, Holders& holders,
                  std::vector<std::uint64_t>* computed) {
  const auto processes = static_cast<std::size_t>(partition.processes());
  std::vector<std::vector<std::uint64_t>> edges(static_cast<std::size_t>(threads),
                                                std::vector<std::uint64_t>(processes));
  graph::parallel_for(threads, (rows.vertices() + kBlockRows - 1) / kBlockRows,
                      [&](int thread, std::uint64_t block) {
                        auto& mine = edges[static_cast<std::size_t>(thread)];
                        const std::uint64_t end = std::min(rows.vertices(), (block + 1) * kBlockRows);
                        for (std::uint64_t source = block * kBlockRows; source < end; ++source) {
                          const std::uint16_t* const row = partition.row(static_cast<std::uint32_t>(source));
                          const bool marks_source = holders.contains(source);
                          for (std::uint64_t e = rows.offsets[source]; e < rows.offsets[source + 1]; ++e) {
                            const std::uint32_t target = rows.targets[e];
                            const std::uint16_t holder = row[target >> partition.shift()];
                            ++mine[holder];
                            if (marks_source) holders.out.set(holders.bit(source, holder));
                            if (holders.contains(target)) holders.in.set(holders.bit(target, holder));
                          }
                        }
                      });
  if (computed == nullptr) return;
  for (const auto& mine : edges) {
    for (std::size_t p = 0; p < processes; ++p) (*computed)[p] += mine[p];
  }
}

std::uint64_t choose_owner(const ProcessSet& out, const ProcessSet& in,
                           const std::vector<std::uint64_t>& owned) {
  std::uint64_t best = kNobody, best_of_any = kNobody;
  const auto consider = [&owned](std::uint64_t& one, std::uint64_t process) {
    if (one == kNobody || owned[process] < owned[one]) one = process;
  };
  out.for_each([&](std::uint64_t p) {
    if (in.has(p)) consider(best, p);
    consider(best_of_any, p);
  });
  if (best != kNobody) return best;
  in.for_each([&](std::uint64_t p) { consider(best_of_any, p); });
  if (best_of_any != kNobody) return best_of_any;
  return static_cast<std::uint64_t>(std::ranges::min_element(owned) - owned.begin());
}

/// Bits of a ProcessSet.
std::uint64_t set_width(std::uint64_t processes) {
  return processes <= 64 ? std::bit_ceil(processes) : (processes + 63) / 64 * 64;
}

}  // namespace

HoldersCost visit_holders(const Rows& rows, const EdgePartition& partition, const CountOptions& options,
                          const VisitHolders& visit) {
  const auto processes = static_cast<std::uint64_t>(partition.processes());
  HoldersCost cost{.computed_edges = std::vector<std::uint64_t>(processes)};
  std::vector<std::uint64_t> owned(processes);
  const std::uint64_t bits = set_width(processes);
  const std::uint64_t affordable = options.memory_bytes / (bits * 2) * 8 / 64 * 64;
  const std::uint64_t range = std::min(rows.vertices(), std::max<std::uint64_t>(64, affordable));
  for (std::uint64_t first = 0; first < rows.vertices(); first += range) {
    Holders holders(first, std::min(rows.vertices(), first + range), bits);
    mark_holders(rows, partition, options.threads, holders, first == 0 ? &cost.computed_edges : nullptr);
    for (std::uint64_t vertex = first; vertex < holders.last; ++vertex) {
      const ProcessSet out(holders.out, holders.bit(vertex, 0), bits);
      const ProcessSet in(holders.in, holders.bit(vertex, 0), bits);
      const std::uint64_t owner = choose_owner(out, in, owned);
      ++owned[owner];
      visit(VertexId(static_cast<std::uint32_t>(vertex)), owner, out, in);
    }
    cost.memory_bytes = std::max(cost.memory_bytes, holders.out.bytes() + holders.in.bytes());
    ++cost.passes;
  }
  return cost;
}

}  // namespace edgewire::plan
