#include "runs/least_records.h"

#include <algorithm>
#include <set>
#include <span>

#include "runs/kernel.h"

namespace edgewire::runs {

namespace {

using Supersteps = std::span<report::RunReport::Superstep>;

/// Returns the sum. Each superstep has its part where the count has the same ones.
std::uint64_t add_to(Supersteps supersteps, const LeastRecords& least) {
  std::set<std::string> phases;
  for (const auto& one : supersteps) phases.insert(one.phase);
  if (phases.size() == supersteps.size() &&
      std::ranges::equal(phases, least.bytes, {}, {}, [](const auto& one) { return one.first; }))
    for (auto& one : supersteps) one.least_record_bytes = least.bytes.at(one.phase);
  std::uint64_t sum = 0;
  for (const auto& [phase, bytes] : least.bytes) sum += bytes;
  return sum;
}

}  // namespace

std::optional<LeastRecords> count_records(const Kernel& kernel, const graph::GraphFile& graph,
                                          const partition::Ownership& ownership) {
  const auto counts = kernel.counts(graph);
  if (counts.empty()) return {};
  LeastRecords least;
  least.exactness = counts.front()->exactness();
  for (const auto& count : counts)
    for (const auto& step : count->count(ownership))
      least.bytes[step.phase] += step.load.records() * count->record_bytes();
  return least;
}

void add_least(report::RunReport& report, const std::vector<std::size_t>& ends,
               const std::vector<std::optional<LeastRecords>>& runs) {
  const bool all = std::ranges::all_of(runs, [](const auto& least) { return least.has_value(); });
  report.least = report::RunReport::Least{};
  if (runs.empty() || !all) return;
  report.least->count = kernels::to_name(runs.front()->exactness);
  std::size_t begin = 0;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const auto bytes = add_to(Supersteps(report.supersteps).subspan(begin, ends[r] - begin), *runs[r]);
    if (!report.runs.empty()) report.runs[r].least_record_bytes = bytes;
    report.least->record_bytes += bytes;
    begin = ends[r];
  }
}

}  // namespace edgewire::runs
