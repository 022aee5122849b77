#include "bounds/frontier_bound.h"

#include <algorithm>

#include "bounds/bound.h"
#include "bounds/frontier_memory.h"
#include "partition/ownership.h"

namespace edgewire::bounds {

namespace {

FrontierBound::Superstep superstep(const kernels::CountedStep& step, std::uint64_t record_bytes) {
  FrontierBound::Superstep found{step.phase, step.frontier, 0, 0};
  for (std::size_t p = 0; p < step.load.sent.size(); ++p) {
    found.record_bytes += step.load.sent[p] * record_bytes;
    found.record_bytes_max = std::max(
        {found.record_bytes_max, step.load.sent[p] * record_bytes, step.load.received[p] * record_bytes});
  }
  return found;
}

}  // namespace

std::vector<FrontierBound> frontier_bound(const Graph& graph, const kernels::FrontierCount& count,
                                          const BoundOptions& options, const Progress& progress) {
  check(options);
  check_partition_files(options.ownerships, options.processes, graph.vertices());
  std::vector<FrontierBound> bounds;
  for (const int processes : options.processes) {
    for (const auto& how : options.ownerships) {
      auto& bound = bounds.emplace_back();
      bound.processes = processes;
      bound.ownership = how;
      bound.exactness = count.exactness;
      bound.seconds_at.resize(options.rates.size());
      const auto ownership =
          partition::Ownership::create(partition_path(how, processes), graph.offsets(), processes);
      bound.memory_bytes = frontier_memory(count.kernel, count_shares(graph, ownership));
      for (const auto& counted : count.count(ownership)) {
        const auto& step = bound.supersteps.emplace_back(superstep(counted, count.record_bytes));
        bound.record_bytes += step.record_bytes;
        const auto wire = plan::wire_bytes(plan::kFramings[options.framing], step.record_bytes_max);
        for (std::size_t r = 0; r < options.rates.size(); ++r)
          bound.seconds_at[r] += plan::seconds_at(wire, options.rates[r].second);
      }
      if (progress)
        progress({"counting", bounds.size(), options.processes.size() * options.ownerships.size(), "counts"});
    }
  }
  return bounds;
}

}  // namespace edgewire::bounds
