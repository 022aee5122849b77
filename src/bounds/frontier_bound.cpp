#include "bounds/frontier_bound.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/units.h"
#include "bounds/memory.h"
#include "options/jobs.h"
#include "partition/ownership.h"
#include "report/json_text.h"
#include "report/table.h"

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

constexpr std::size_t kSuperstepsShown = 20;

/// Returns the supersteps of all rows side by side: all rows have the same supersteps.
std::string superstep_table(const std::vector<FrontierBound>& bounds) {
  report::Table table{{"bytes in a superstep", "frontier"}, "<"};
  for (const auto& bound : bounds)
    table.header.push_back(fmt::format("{} {}", bound.processes, bound.ownership.substr(0, 12)));
  const auto& steps = bounds.front().supersteps;
  for (std::size_t i = 0; i < std::min(steps.size(), kSuperstepsShown); ++i) {
    auto& line = table.rows.emplace_back(std::vector{steps[i].phase, std::to_string(steps[i].frontier)});
    for (const auto& bound : bounds) line.push_back(std::to_string(bound.supersteps[i].record_bytes));
  }
  std::string text = to_text(table);
  if (steps.size() > kSuperstepsShown)
    text += fmt::format("and {} more; {} has them all\n", steps.size() - kSuperstepsShown, opt::json);
  return text;
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

EDGEWIRE_JSON_OF(FrontierBound::Superstep, phase, frontier, record_bytes, record_bytes_max)

std::string to_text(const std::vector<FrontierBound>& bounds, const BoundOptions& options) {
  std::string text = fmt::format(
      "Records that all processes send, in bytes, and at the line rates given the time of the most loaded "
      "one, superstep by superstep ({}); memory that the largest process will hold\n",
      plan::kFramings[options.framing].name);
  report::Table table{{"processes", "ownership", "", "bytes", "memory"}, "><"};
  for (const auto& [name, bits] : options.rates) table.header.push_back(name);
  for (const auto& bound : bounds) {
    auto& line = table.rows.emplace_back(
        std::vector<std::string>{std::to_string(bound.processes), bound.ownership, to_name(bound.exactness),
                                 std::to_string(bound.record_bytes), readable_bytes(bound.memory_bytes)});
    for (const double seconds : bound.seconds_at) line.push_back(readable_seconds(seconds));
  }
  text += to_text(table);
  return bounds.empty() ? text : text + "\n" + superstep_table(bounds);
}

std::string to_json(const std::vector<FrontierBound>& bounds, const BoundOptions& options) {
  report::Json json{{"seconds_framing", plan::kFramings[options.framing].name},
                    {"version", EDGEWIRE_VERSION},
                    {"rows", report::Json::array()}};
  for (const auto& bound : bounds) {
    auto& row = json["rows"].emplace_back();
    EDGEWIRE_ADD_FIELDS(row, bound, processes, ownership, exactness, record_bytes, memory_bytes);
    row["seconds_at"] = report::Json::object();
    for (std::size_t r = 0; r < options.rates.size(); ++r)
      row["seconds_at"][options.rates[r].first] = bound.seconds_at[r];
    row["supersteps"] = bound.supersteps;
  }
  return report::json_text(json, 1) + "\n";
}

}  // namespace edgewire::bounds
