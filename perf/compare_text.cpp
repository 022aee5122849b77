#include <fmt/core.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "perf/compare.h"
#include "perf/compare_matrix.h"
#include "report/json_text.h"

namespace edgewire::perf {

namespace {

std::string milliseconds(double seconds) { return fmt::format("{:.2f}", seconds * 1e3); }

std::string quoted(const std::string& text) {  // RFC 4180
  std::string result = "\"";
  for (const char letter : text) result.append(letter == '"' ? 2 : 1, letter);
  return result + "\"";
}

std::string link_words(const Matrix::Link& link) {
  return link.rate + (link.interface.empty() ? "" : " " + link.interface);
}

std::string dense_text(const Comparison& comparison) {
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out,
                 "{:>5} {:>5}  {:<10}{:<11}{:<9}{:<11}{:>9}{:>10} {:<20}{:>9}{:>12}{:>10}{:>13}{:>8}  {}\n",
                 "-p", "-w", "transport", "ownership", "strategy", "rate", "elapsed", "ms/iter", "",
                 "speed-up", "wire limit", "of limit", "predicted", "error", "limit");
  for (const CompareRow& row : comparison.rows) {
    const Cell& cell = row.cell;
    const auto& time = row.seconds;
    fmt::format_to(out, "{:>5} {:>5}  {:<10}{:<11}{:<9}{:<11}{:>7.2f} s{:>10} {:<20}", cell.processes,
                   cell.workers, cell.transport, cell.processes == 1 ? "none" : cell.ownership,
                   cell.strategy_name(), link_words(cell.link), row.seconds_total.median,
                   milliseconds(time.median),
                   fmt::format("[{} to {}]", milliseconds(time.min), milliseconds(time.max)));
    if (cell.processes == 1) {
      text += '\n';
      continue;
    }
    fmt::format_to(
        out, "{:>9}{:>9} ms{:>8.0f} %{:>10} ms{:>+6.0f} %  {}\n", comparison.speed_up(row),
        milliseconds(row.bound_seconds), 100 * row.fraction_of_limit(), milliseconds(row.predicted_seconds),
        100 * row.prediction_error(),
        row.above_limit() ? "above the limit: the link was faster than its rate" : to_name(row.limited_by));
  }
  return text;
}

std::string frontier_text(const Comparison& comparison) {
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{:>5} {:>5}  {:<10}{:<11}{:<11}{:>9}{:>10} {:<20}{:>9}{:>16}", "-p", "-w", "transport",
                 "ownership", "rate", "elapsed", "ms/run", "", "speed-up", "record bytes");
  if (comparison.has_bounds)
    fmt::format_to(out, "{:>16}{:>12}{:>10}  {}", "must be", "wire limit", "of limit", "count");
  text += '\n';
  for (const CompareRow& row : comparison.rows) {
    const Cell& cell = row.cell;
    const auto& time = row.seconds;
    fmt::format_to(out, "{:>5} {:>5}  {:<10}{:<11}{:<11}{:>7.2f} s{:>10} {:<20}", cell.processes,
                   cell.workers, cell.transport, cell.processes == 1 ? "none" : cell.ownership,
                   link_words(cell.link), row.seconds_total.median, milliseconds(time.median),
                   fmt::format("[{} to {}]", milliseconds(time.min), milliseconds(time.max)));
    if (cell.processes > 1) {
      fmt::format_to(out, "{:>9}{:>16}", comparison.speed_up(row), row.record_bytes);
      if (comparison.has_bounds)
        fmt::format_to(out, "{:>16}{:>9} ms{:>8.0f} %  {}{}", row.bound_record_bytes,
                       milliseconds(row.bound_seconds), 100 * row.fraction_of_limit(), to_name(row.exactness),
                       row.above_limit() ? "; above the limit: much of it passes in bursts" : "");
    }
    text += '\n';
  }
  return text;
}

/// Adds the median, the minimum and the maximum of measured seconds, under names that end with `unit`.
void add_seconds(nlohmann::ordered_json& one, const std::string& unit, const Spread& spread) {
  one["seconds_" + unit] = spread.median;
  one["seconds_" + unit + "_min"] = spread.min;
  one["seconds_" + unit + "_max"] = spread.max;
}

void add_prediction(nlohmann::ordered_json& one, const CompareRow& row) {
  one["bound_seconds"] = row.bound_seconds;
  if (row.above_limit()) one["above_limit"] = true;
  one["predicted_seconds"] = row.predicted_seconds;
  one["prediction_error"] = row.prediction_error();
  one["limited_by"] = to_name(row.limited_by);
  if (std::isfinite(row.balanced_bits_per_s)) one["balanced_bits_per_s"] = row.balanced_bits_per_s;
}

void add_records(nlohmann::ordered_json& one, const CompareRow& row, bool has_bounds) {
  one["record_bytes"] = row.record_bytes;
  if (!has_bounds) return;
  one["bound_record_bytes"] = row.bound_record_bytes;
  one["exactness"] = to_name(row.exactness);
  one["bound_seconds"] = row.bound_seconds;
  if (row.above_limit()) one["above_limit"] = true;
}

}  // namespace

std::string to_text(const Comparison& comparison) {
  const int runs = comparison.rows.front().runs;
  const auto medians = fmt::format("medians of {} run{} [min to max]", runs, runs == 1 ? "" : "s");
  std::string text;
  if (comparison.kernel != "pagerank") text += comparison.kernel_words() + ", ";
  text += fmt::format("{}: {} vertices, {} edges; ", comparison.graph, comparison.vertices, comparison.edges);
  if (comparison.iterations > 0) text += fmt::format("{} iterations a run, ", comparison.iterations);
  text += medians + "\n\n" + (comparison.dense() ? dense_text(comparison) : frontier_text(comparison)) + "\n";
  if (const auto tables = side_by_side(comparison); !tables.empty()) {
    text += fmt::format("{}\n\n", kCellsSay);
    for (const Beside& one : tables) text += to_text(one);
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
  nlohmann::ordered_json json{{"schema_version", 1},  // src/report/schema
                              {"kernel", comparison.kernel},
                              {"kernel_options", comparison.kernel_options},
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
    add_seconds(one, comparison.dense() ? "per_iteration" : "kernel", row.seconds);
    add_seconds(one, "total", row.seconds_total);
    one["payload_bytes"] = row.payload_bytes;
    one["wire_bytes"] = row.wire_bytes;
    if (comparison.dense())
      add_prediction(one, row);
    else
      add_records(one, row, comparison.has_bounds);
    rows.push_back(std::move(one));
  }
  if (comparison.dense()) json["median_prediction_error"] = comparison.median_prediction_error();
  json["headlines"] = headlines(comparison);
  json["notes"] = comparison.notes;
  json["lost_cores"] = {{"to_hypervisor", comparison.lost.to_hypervisor},
                        {"to_programs", comparison.lost.to_programs}};
  json["version"] = EDGEWIRE_VERSION;
  return report::json_text(json, 1) + "\n";
}

std::string to_csv(const Comparison& comparison) {
  std::string text =
      comparison.dense()
          ? "graph,processes,workers,transport,strategy,rate,interface,runs,seconds_per_iteration,"
            "seconds_per_iteration_min,seconds_per_iteration_max,seconds_total,payload_bytes,wire_bytes,"
            "bound_"
            "seconds,predicted_seconds,prediction_error,limited_by,ownership\n"
          : "graph,processes,workers,transport,strategy,rate,interface,runs,seconds_kernel,"
            "seconds_kernel_min,seconds_kernel_max,seconds_total,payload_bytes,wire_bytes,record_bytes,bound_"
            "record_bytes,"
            "exactness,bound_seconds,ownership\n";
  const auto out = std::back_inserter(text);
  for (const CompareRow& row : comparison.rows) {
    const Cell& cell = row.cell;
    const auto& time = row.seconds;
    fmt::format_to(out, "{},{},{},{},{},{},{},{},{},{},{},{},{},{},", quoted(comparison.graph),
                   cell.processes, cell.workers, cell.transport, cell.strategy_name(), cell.link.rate,
                   quoted(cell.link.interface), row.runs, time.median, time.min, time.max,
                   row.seconds_total.median, row.payload_bytes, row.wire_bytes);
    if (comparison.dense())
      fmt::format_to(out, "{},{},{},{}", row.bound_seconds, row.predicted_seconds, row.prediction_error(),
                     to_name(row.limited_by));
    else if (comparison.has_bounds)
      fmt::format_to(out, "{},{},{},{}", row.record_bytes, row.bound_record_bytes, to_name(row.exactness),
                     row.bound_seconds);
    else
      fmt::format_to(out, "{},,,", row.record_bytes);
    fmt::format_to(out, ",{}\n", quoted(cell.processes == 1 ? "none" : cell.ownership));
  }
  return text;
}

}  // namespace edgewire::perf
