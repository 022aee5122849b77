#include <fmt/core.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "perf/compare.h"
#include "report/json_text.h"

namespace edgewire::perf {

namespace {

std::string milliseconds(double seconds) { return fmt::format("{:.2f}", seconds * 1e3); }

std::string quoted(const std::string& text) {  // RFC 4180
  std::string result = "\"";
  for (const char letter : text) result.append(letter == '"' ? 2 : 1, letter);
  return result + "\"";
}

}  // namespace

std::string to_text(const Comparison& comparison) {
  std::string text =
      fmt::format("{}: {} vertices, {} edges; {} iterations a run, medians of {} run{} [min to max]\n\n",
                  comparison.graph, comparison.vertices, comparison.edges, comparison.iterations,
                  comparison.rows.front().runs, comparison.rows.front().runs == 1 ? "" : "s");
  const auto out = std::back_inserter(text);
  fmt::format_to(out,
                 "{:>5} {:>5}  {:<10}{:<11}{:<9}{:<11}{:>9}{:>10} {:<20}{:>9}{:>12}{:>10}{:>13}{:>8}  {}\n",
                 "-p", "-w", "transport", "ownership", "strategy", "rate", "elapsed", "ms/iter", "",
                 "speed-up", "wire limit", "of limit", "predicted", "error", "limit");
  for (const CompareRow& row : comparison.rows) {
    const Cell& cell = row.cell;
    const auto& time = row.seconds_per_iteration;
    fmt::format_to(out, "{:>5} {:>5}  {:<10}{:<11}{:<9}{:<11}{:>7.2f} s{:>10} {:<20}", cell.processes,
                   cell.workers, cell.transport, cell.processes == 1 ? "none" : cell.ownership,
                   cell.strategy_name(),
                   cell.link.rate + (cell.link.interface.empty() ? "" : " " + cell.link.interface),
                   row.seconds_total.median, milliseconds(time.median),
                   fmt::format("[{} to {}]", milliseconds(time.min), milliseconds(time.max)));
    if (cell.processes == 1) {
      text += '\n';
      continue;
    }
    const CompareRow& first = comparison.first_link(row);
    fmt::format_to(
        out, "{:>9}{:>9} ms{:>8.0f} %{:>10} ms{:>+6.0f} %  {}\n",
        &first == &row ? std::string()
                       : fmt::format("{:.2f} x", first.seconds_per_iteration.median / time.median),
        milliseconds(row.bound_seconds), 100 * row.fraction_of_limit(), milliseconds(row.predicted_seconds),
        100 * row.prediction_error(),
        row.above_limit() ? "above the limit: the link was faster than its rate" : to_name(row.limited_by));
  }
  text += '\n';
  for (const auto& line : headlines(comparison)) text += line + "\n";
  fmt::format_to(out, "prediction error: {:.1f} % (median over rows, without signs)\n",
                 100 * comparison.median_prediction_error());
  for (const auto& note : comparison.notes) text += note + "\n";
  return text;
}

std::string to_json(const Comparison& comparison) {
  nlohmann::ordered_json json{{"schema_version", 1},  // src/report/schema
                              {"graph", comparison.graph},
                              {"vertices", comparison.vertices},
                              {"edges", comparison.edges},
                              {"cores", comparison.cores},
                              {"local_hosts", comparison.local_hosts},
                              {"iterations", comparison.iterations}};
  auto& rows = json["rows"] = nlohmann::ordered_json::array();
  for (const CompareRow& row : comparison.rows) {
    const Cell& cell = row.cell;
    nlohmann::ordered_json one{
        {"processes", cell.processes},      {"workers", cell.workers},
        {"transport", cell.transport},      {"ownership", cell.processes == 1 ? "none" : cell.ownership},
        {"strategy", cell.strategy_name()}, {"rate", cell.link.rate}};
    if (!cell.link.interface.empty()) one["interface"] = cell.link.interface;
    one["runs"] = row.runs;
    one["seconds_per_iteration"] = row.seconds_per_iteration.median;
    one["seconds_per_iteration_min"] = row.seconds_per_iteration.min;
    one["seconds_per_iteration_max"] = row.seconds_per_iteration.max;
    one["seconds_total"] = row.seconds_total.median;
    one["seconds_total_min"] = row.seconds_total.min;
    one["seconds_total_max"] = row.seconds_total.max;
    one["payload_bytes"] = row.payload_bytes;
    one["wire_bytes"] = row.wire_bytes;
    one["bound_seconds"] = row.bound_seconds;
    if (row.above_limit()) one["above_limit"] = true;
    one["predicted_seconds"] = row.predicted_seconds;
    one["prediction_error"] = row.prediction_error();
    one["limited_by"] = to_name(row.limited_by);
    if (std::isfinite(row.balanced_bits_per_s)) one["balanced_bits_per_s"] = row.balanced_bits_per_s;
    rows.push_back(std::move(one));
  }
  json["median_prediction_error"] = comparison.median_prediction_error();
  json["headlines"] = headlines(comparison);
  json["notes"] = comparison.notes;
  json["lost_cores"] = {{"to_hypervisor", comparison.lost.to_hypervisor},
                        {"to_programs", comparison.lost.to_programs}};
  json["version"] = EDGEWIRE_VERSION;
  return report::json_text(json, 1) + "\n";
}

std::string to_csv(const Comparison& comparison) {
  std::string text =
      "graph,processes,workers,transport,strategy,rate,interface,runs,seconds_per_iteration,"
      "seconds_per_iteration_min,seconds_per_iteration_max,seconds_total,payload_bytes,wire_bytes,bound_"
      "seconds,"
      "predicted_seconds,prediction_error,limited_by,ownership\n";
  for (const CompareRow& row : comparison.rows) {
    const Cell& cell = row.cell;
    const auto& time = row.seconds_per_iteration;
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                   quoted(comparison.graph), cell.processes, cell.workers, cell.transport,
                   cell.strategy_name(), cell.link.rate, quoted(cell.link.interface), row.runs, time.median,
                   time.min, time.max, row.seconds_total.median, row.payload_bytes, row.wire_bytes,
                   row.bound_seconds, row.predicted_seconds, row.prediction_error(), to_name(row.limited_by),
                   quoted(cell.processes == 1 ? "none" : cell.ownership));
  }
  return text;
}

}  // namespace edgewire::perf
