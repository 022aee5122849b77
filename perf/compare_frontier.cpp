// What bounds the rows of kernels that follow a frontier.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <exception>
#include <map>

#include "perf/compare.h"
#include "perf/frontier_bound.h"

namespace edgewire::perf {

namespace {

/// Options of kernels with which a run may send something else than is counted without them.
constexpr std::array kSendsOther{"--sources",       "--samples", "--parallel", "--weighted", "--precision",
                                 "--deterministic", "--parents", "--edges",    "--devices",  "--memory"};

/// The first such option; else empty.
std::string uncounted(const std::vector<std::string>& options) {
  for (const std::string& word : options) {
    std::string name = word.substr(0, word.find('='));
    if (std::ranges::find(kSendsOther, name) != kSendsOther.end()) return name;
  }
  return {};
}

constexpr std::uint64_t kBitsPerS = 1'000'000'000;  // of the line that times are counted for

FrontierBound bound_of(const Cell& cell, const graph::GraphFile& graph, const kernels::FrontierCount& count) {
  BoundOptions options;
  options.processes = {cell.processes};
  options.ownerships = {cell.ownership};
  options.strategies = {plan::Strategy::slots};  // which nothing depends on
  options.memory_bytes = 1;                      // likewise
  options.rates = {{"1G", kBitsPerS}};
  return frontier_bound(graph, count, options).front();
}

void count_rows(Comparison& comparison, const graph::GraphFile& graph, const std::string& source) {
  const auto count =
      kernels::count_of({comparison.kernel, source, static_cast<std::uint64_t>(comparison.iterations)}, graph);
  std::map<std::pair<int, std::string>, FrontierBound> bounds;
  for (CompareRow& row : comparison.rows) {
    if (row.cell.processes == 1) continue;
    const std::pair key(row.cell.processes, row.cell.ownership);
    auto found = bounds.find(key);
    if (found == bounds.end()) found = bounds.emplace(key, bound_of(row.cell, graph, *count)).first;
    const FrontierBound& bound = found->second;
    row.bound_record_bytes = bound.record_bytes;
    row.exactness = bound.exactness;
    row.bound_seconds =
        bound.seconds_at[0] * static_cast<double>(kBitsPerS) / static_cast<double>(row.cell.link.bits_per_s);
  }
}

}  // namespace

void add_frontier_bounds(Comparison& comparison, const graph::GraphFile& graph, const std::string& source) {
  const std::string other = uncounted(comparison.kernel_options);
  comparison.has_bounds = other.empty() && (source.empty() != kernels::has_source(comparison.kernel));
  if (!comparison.has_bounds) {
    comparison.notes.push_back(fmt::format("no wire limit: edgewire bound counts what {} sends without {}",
                                           comparison.kernel, other.empty() ? "several sources" : other));
    return;
  }
  try {
    count_rows(comparison, graph, source);
  } catch (const std::exception& error) {  // the measured figures are printed without a limit
    comparison.has_bounds = false;
    comparison.notes.push_back(fmt::format("no wire limit: {}", error.what()));
  }
}

}  // namespace edgewire::perf
