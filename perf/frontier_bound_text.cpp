#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "perf/frontier_bound.h"
#include "report/json_text.h"

namespace edgewire::perf {

namespace {

constexpr std::size_t kSuperstepsShown = 20;

std::string seconds_text(double seconds) {
  return seconds >= 1 ? fmt::format("{:.2f} s", seconds) : fmt::format("{:.3f} ms", seconds * 1e3);
}

/// The supersteps of all rows side by side: all rows have the same ones.
std::string superstep_table(const std::vector<FrontierBound>& bounds) {
  std::string text = fmt::format("{:<24}{:>14}", "bytes in a superstep", "frontier");
  const auto out = std::back_inserter(text);
  for (const auto& bound : bounds)
    fmt::format_to(out, "{:>18}", fmt::format("{} {}", bound.processes, bound.ownership.substr(0, 12)));
  text += '\n';
  const auto& steps = bounds.front().supersteps;
  for (std::size_t i = 0; i < std::min(steps.size(), kSuperstepsShown); ++i) {
    fmt::format_to(out, "{:<24}{:>14}", steps[i].phase, steps[i].frontier);
    for (const auto& bound : bounds) fmt::format_to(out, "{:>18}", bound.supersteps[i].record_bytes);
    text += '\n';
  }
  if (steps.size() > kSuperstepsShown)
    fmt::format_to(out, "and {} more; --json has them all\n", steps.size() - kSuperstepsShown);
  return text;
}

}  // namespace

std::string to_text(const std::vector<FrontierBound>& bounds, const BoundOptions& options) {
  std::string text = fmt::format(
      "Records that all processes send, in bytes, and at the line rates given the time of the most loaded "
      "one, superstep by superstep ({}); memory that the largest process will hold\n",
      plan::kFramings[options.framing].name);
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{:>9}  {:<20}{:>10}{:>16}{:>14}", "processes", "ownership", "", "bytes", "memory MB");
  for (const auto& [name, bits] : options.rates) fmt::format_to(out, "{:>13}", name);
  text += '\n';
  for (const auto& bound : bounds) {
    fmt::format_to(out, "{:>9}  {:<20}{:>10}{:>16}{:>14.1f}", bound.processes, bound.ownership,
                   to_name(bound.exactness), bound.record_bytes,
                   static_cast<double>(bound.memory_bytes) * 1e-6);
    for (const double seconds : bound.seconds_at) fmt::format_to(out, "{:>13}", seconds_text(seconds));
    text += '\n';
  }
  return bounds.empty() ? text : text + "\n" + superstep_table(bounds);
}

std::string to_json(const std::vector<FrontierBound>& bounds, const BoundOptions& options) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& bound : bounds) {
    nlohmann::ordered_json row{{"processes", bound.processes},
                               {"ownership", bound.ownership},
                               {"exactness", to_name(bound.exactness)},
                               {"record_bytes", bound.record_bytes},
                               {"memory_bytes", bound.memory_bytes},
                               {"seconds_at", nlohmann::ordered_json::object()},
                               {"supersteps", nlohmann::ordered_json::array()}};
    for (std::size_t r = 0; r < options.rates.size(); ++r)
      row["seconds_at"][options.rates[r].first] = bound.seconds_at[r];
    for (const auto& step : bound.supersteps) {
      row["supersteps"].push_back({{"phase", step.phase},
                                   {"frontier", step.frontier},
                                   {"record_bytes", step.record_bytes},
                                   {"record_bytes_max", step.record_bytes_max}});
    }
    rows.push_back(std::move(row));
  }
  const nlohmann::ordered_json json{{"seconds_framing", plan::kFramings[options.framing].name},
                                    {"version", EDGEWIRE_VERSION},
                                    {"rows", rows}};
  return report::json_text(json, 1) + "\n";
}

}  // namespace edgewire::perf
