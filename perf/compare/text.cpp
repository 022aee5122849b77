#include <fmt/format.h>

#include <cmath>

#include "base/units.h"
#include "perf/compare/compare.h"
#include "perf/compare/matrix.h"
#include "report/json_text.h"

namespace edgewire::perf {

namespace {

using report::Json;

std::string percent(double part) { return fmt::format("{:.0f} %", part * 100); }

/// Adds the last cells of a row of a dense kernel.
void add_predicted_cells(std::vector<std::string>& line, const CompareRow& row) {
  line.insert(line.end(), {readable_seconds(row.bound_seconds), percent(row.fraction_of_limit()),
                           readable_seconds(row.prediction.seconds),
                           fmt::format("{:+.0f} %", row.prediction_error() * 100),
                           row.above_limit() ? "above the limit: the link was faster than its rate"
                                             : std::string(to_name(row.prediction.limit))});
}

/// Adds the last cells of a row of a kernel that follows a frontier.
void add_record_cells(std::vector<std::string>& line, const CompareRow& row, bool has_bounds) {
  line.push_back(std::to_string(row.record_bytes));
  if (!has_bounds) return;
  const char* above = row.above_limit() ? "; above the limit: much of it passes in bursts" : "";
  line.insert(line.end(), {std::to_string(row.bound_record_bytes), readable_seconds(row.bound_seconds),
                           percent(row.fraction_of_limit()), std::string(to_name(row.exactness)) + above});
}

/// Adds the median, the minimum and the maximum of measured seconds, under names that end with `unit`.
void add_seconds(Json& one, const std::string& unit, const Spread& spread) {
  one["seconds_" + unit] = spread.median;
  one["seconds_" + unit + "_min"] = spread.min;
  one["seconds_" + unit + "_max"] = spread.max;
}

Json json_of(const Comparison& comparison, const CompareRow& row) {
  const Cell& cell = row.cell;
  const bool dense = comparison.dense();
  Json one;
  EDGEWIRE_ADD_FIELDS(one, cell, processes, workers, transport);
  one["ownership"] = cell.processes == 1 ? "none" : cell.ownership;
  one["strategy"] = cell.strategy_name();
  one["rate"] = cell.link.rate;
  if (!cell.link.interface.empty()) one["interface"] = cell.link.interface;
  one["runs"] = row.runs;
  add_seconds(one, dense ? "per_iteration" : "kernel", row.seconds);
  add_seconds(one, "total", row.seconds_total);
  EDGEWIRE_ADD_FIELDS(one, row, payload_bytes, wire_bytes);
  if (!dense) one["record_bytes"] = row.record_bytes;
  if (!comparison.has_bounds) return one;
  if (!dense) EDGEWIRE_ADD_FIELDS(one, row, bound_record_bytes, exactness);
  one["bound_seconds"] = row.bound_seconds;
  if (row.above_limit()) one["above_limit"] = true;
  if (!dense) return one;
  one["predicted_seconds"] = row.prediction.seconds;
  one["prediction_error"] = row.prediction_error();
  one["limited_by"] = to_name(row.prediction.limit);
  if (std::isfinite(row.prediction.balanced_bits_per_s))
    one["balanced_bits_per_s"] = row.prediction.balanced_bits_per_s;
  return one;
}

}  // namespace

report::Table to_table(const Comparison& comparison) {
  const bool dense = comparison.dense();
  report::Table table{{"-p", "-w", "transport", "ownership"}, ">><<<"};
  auto& header = table.header;
  if (dense) {
    header.insert(header.end(), {"strategy", "rate", "elapsed", "an iteration", "speed-up", "wire limit",
                                 "of limit", "predicted", "error", "limit"});
    table.alignment = ">><<<<>>>>>>><";
  } else {
    header.insert(header.end(), {"rate", "elapsed", "a run", "speed-up", "record bytes"});
    if (comparison.has_bounds) header.insert(header.end(), {"must be", "wire limit", "of limit", "count"});
    if (comparison.has_bounds) table.alignment = ">><<<>>>>>>><";
  }
  for (const CompareRow& row : comparison.rows) {
    const Cell& cell = row.cell;
    const auto& time = row.seconds;
    auto& line =
        table.rows.emplace_back(std::vector{std::to_string(cell.processes), std::to_string(cell.workers),
                                            cell.transport, cell.processes == 1 ? "none" : cell.ownership});
    if (dense) line.push_back(cell.strategy_name());
    line.insert(line.end(), {cell.link.name(), readable_seconds(row.seconds_total.median),
                             fmt::format("{} [{} to {}]", readable_seconds(time.median),
                                         readable_seconds(time.min), readable_seconds(time.max))});
    if (cell.processes > 1) line.push_back(comparison.speed_up(row));
    if (cell.processes > 1 && dense) add_predicted_cells(line, row);
    if (cell.processes > 1 && !dense) add_record_cells(line, row, comparison.has_bounds);
    line.resize(header.size());
  }
  return table;
}

std::string summary(const Comparison& comparison) {
  const int runs = comparison.rows.front().runs;
  return fmt::format(
      "{}: {} vertices, {} edges; {}medians of {} run{}", comparison.graph, comparison.vertices,
      comparison.edges,
      comparison.iterations > 0 ? fmt::format("{} iterations a run, ", comparison.iterations) : "", runs,
      runs == 1 ? "" : "s");
}

std::string to_text(const Comparison& comparison) {
  std::string text = comparison.kernel == "pagerank" ? "" : comparison.kernel_words() + ", ";
  text += fmt::format("{} [min to max]\n\n{}\n", summary(comparison), report::to_text(to_table(comparison)));
  if (const auto tables = side_by_side(comparison); !tables.empty()) {
    text += fmt::format("{}\n\n", kCellsSay);
    for (const Beside& one : tables) text += fmt::format("{}\n{}\n", one.name(), report::to_text(one.table));
  }
  for (const auto& line : headlines(comparison)) text += line + "\n";
  if (comparison.dense())
    text += fmt::format("prediction error: {:.1f} % (median over rows, without signs)\n",
                        100 * comparison.median_prediction_error());
  else
    text += std::string(kNoPrediction) + "\n";
  for (const auto& note : comparison.notes) text += note + "\n";
  return text;
}

std::string to_json(const Comparison& comparison) {
  Json json{{"schema_version", 1}};  // src/report/schema
  EDGEWIRE_ADD_FIELDS(json, comparison, kernel, kernel_options, graph, vertices, edges, cores, local_hosts,
                      iterations);
  auto& rows = json["rows"] = Json::array();
  for (const CompareRow& row : comparison.rows) rows.push_back(json_of(comparison, row));
  if (comparison.dense()) json["median_prediction_error"] = comparison.median_prediction_error();
  json["headlines"] = headlines(comparison);
  json["notes"] = comparison.notes;
  auto& lost = json["lost_cores"];
  EDGEWIRE_ADD_FIELDS(lost, comparison.lost, to_hypervisor, to_programs);
  json["version"] = EDGEWIRE_VERSION;
  return report::json_text(json, 1) + "\n";
}

std::string to_csv(const Comparison& comparison) {
  const std::string time = comparison.dense() ? "seconds_per_iteration" : "seconds_kernel";
  std::vector<std::string> columns{
      "graph", "processes", "workers",     "transport",   "strategy",      "rate",          "interface",
      "runs",  time,        time + "_min", time + "_max", "seconds_total", "payload_bytes", "wire_bytes"};
  if (comparison.dense())
    columns.insert(columns.end(), {"bound_seconds", "predicted_seconds", "prediction_error", "limited_by"});
  else
    columns.insert(columns.end(), {"record_bytes", "bound_record_bytes", "exactness", "bound_seconds"});
  columns.emplace_back("ownership");
  std::string text = fmt::format("{}\n", fmt::join(columns, ","));
  for (const CompareRow& row : comparison.rows) {
    Json one = json_of(comparison, row);
    one["graph"] = comparison.graph;
    one["interface"] = row.cell.link.interface;
    for (const std::string& column : columns) {
      const bool any_text = column == "graph" || column == "interface" || column == "ownership";
      const Json& value = one[column];  // null where nobody counts
      if (value.is_string())
        text += any_text ? report::csv_quoted(value.get<std::string>()) : value.get<std::string>();
      if (value.is_number_float()) text += fmt::format("{}", value.get<double>());
      if (value.is_number_integer()) text += value.dump();
      text += column == columns.back() ? '\n' : ',';
    }
  }
  return text;
}

}  // namespace edgewire::perf
