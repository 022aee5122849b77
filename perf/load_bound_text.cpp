#include <fmt/core.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "perf/load_bound.h"
#include "report/json_text.h"

namespace edgewire::perf {

namespace {

constexpr double kGiga = 1e9;

double giga(std::uint64_t bytes) { return static_cast<double>(bytes) / kGiga; }

/// Three digits at least.
std::string seconds_of_load(double seconds) {
  return seconds >= 100 ? fmt::format("{:.0f}", seconds)
         : seconds >= 1 ? fmt::format("{:.1f}", seconds)
                        : fmt::format("{:.3f}", seconds);
}

std::string with_limit(double seconds, LoadLimit limit) {
  return fmt::format("{} s {}", seconds_of_load(seconds), to_name(limit));
}

/// Names of the columns of times.
std::vector<std::string> line_names(const LoadTask& task, const LoadRates& rates, const char* without) {
  if (!task.on_machines()) return {without};
  std::vector<std::string> names;
  for (const auto& [name, bits] : rates.lines) names.push_back(name);
  return names;
}

std::string simulated_text(const std::vector<LoadBound>& bounds, const LoadTask& task,
                           const LoadRates& rates) {
  std::string text = "\nSimulated, with what machines wait for:\n";
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{:>9}{:>10}", "processes", "largest");
  for (const auto& name : line_names(task, rates, "takes")) fmt::format_to(out, "{:>16}", name);
  text += '\n';
  for (const LoadBound& bound : bounds) {
    fmt::format_to(out, "{:>9}{:>10.2f}", bound.processes, bound.largest_share);
    for (const auto& at : bound.at)
      fmt::format_to(out, "{:>16}", with_limit(at.simulated.seconds, at.simulated.limit));
    text += '\n';
  }
  return text +
         "Largest: the records of the machine with most, as a multiple of the mean; all others wait for "
         "it.\n";
}

}  // namespace

std::string to_text(const std::vector<LoadBound>& bounds, const LoadTask& task, const LoadRates& rates) {
  std::string text = fmt::format(
      "{}: {:.3f} GB of input, {} records of {} bytes, {:.3f} GB of output; {:.3f} GB of memory and {} "
      "worker{} "
      "in each process, {}\n"
      "disk: reads {:.3f} GB/s, writes {:.3f} GB/s; a core: {:.1f} MB of input a second\n\n",
      task.sorts ? "sort" : "convert", giga(task.input_bytes), task.records, task.shape.bytes,
      giga(task.output_bytes), giga(task.memory_bytes), task.workers, task.workers == 1 ? "" : "s",
      task.on_machines() ? "a machine for each" : "all on one machine", rates.disk_read_bytes_per_s / kGiga,
      rates.disk_write_bytes_per_s / kGiga, rates.core_bytes_per_s / 1e6);
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{:>9}{:>8}{:>12}{:>12}{:>12}{:>10}{:>10}", "processes", "runs", "GB read",
                 "GB written", "GB on wire", "disk s", "cores s");
  for (const auto& name : line_names(task, rates, "at least")) fmt::format_to(out, "{:>16}", name);
  text += '\n';
  for (const LoadBound& bound : bounds) {
    fmt::format_to(out, "{:>9}{:>8}{:>12.3f}{:>12.3f}{:>12.3f}{:>10}{:>10}", bound.processes, bound.runs,
                   giga(bound.disk_bytes_read), giga(bound.disk_bytes_written), giga(bound.wire_bytes),
                   seconds_of_load(bound.disk_s), seconds_of_load(bound.cores_s));
    for (const auto& at : bound.at) fmt::format_to(out, "{:>16}", with_limit(at.seconds, at.limit));
    text += '\n';
  }
  return text +
         "\nBytes are those of one machine. The last columns: the least time at these rates, and what the "
         "load "
         "waits for.\nNothing is kept in the page cache. A disk reads or writes, one at a time. Sending "
         "overlaps "
         "with reading, and with\nwriting runs.\n" +
         simulated_text(bounds, task, rates);
}

std::string to_json(const std::vector<LoadBound>& bounds, const LoadTask& task, const LoadRates& rates) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const LoadBound& bound : bounds) {
    nlohmann::ordered_json row{{"processes", bound.processes},
                               {"machines", bound.machines},
                               {"runs", bound.runs},
                               {"bytes_spilled", bound.bytes_spilled},
                               {"bytes_sent", bound.bytes_sent},
                               {"id_bytes_sent", bound.id_bytes_sent},
                               {"largest_share", bound.largest_share},
                               {"disk_bytes_read", bound.disk_bytes_read},
                               {"disk_bytes_written", bound.disk_bytes_written},
                               {"wire_bytes", bound.wire_bytes},
                               {"seconds_disk", bound.disk_s},
                               {"seconds_cores", bound.cores_s},
                               {"at", nlohmann::ordered_json::array()}};
    for (std::size_t i = 0; i < bound.at.size(); ++i) {
      const auto& at = bound.at[i];
      nlohmann::ordered_json one;
      if (task.on_machines()) one["rate"] = rates.lines[i].first;
      one["seconds_wire"] = at.wire_s;
      one["seconds"] = at.seconds;
      one["limited_by"] = to_name(at.limit);
      const auto& run = at.simulated;
      one["simulated"] = {{"seconds", run.seconds},
                          {"seconds_sending", run.sending_s},
                          {"limited_by", to_name(run.limit)},
                          {"disk", run.disk},
                          {"wire", run.wire},
                          {"cores", run.cores}};
      row["at"].push_back(std::move(one));
    }
    rows.push_back(std::move(row));
  }
  const nlohmann::ordered_json json{{"load", task.sorts ? "sort" : "convert"},
                                    {"parts", task.parts},
                                    {"input_bytes", task.input_bytes},
                                    {"records", task.records},
                                    {"record_bytes", task.shape.bytes},
                                    {"output_bytes", task.output_bytes},
                                    {"memory_bytes", task.memory_bytes},
                                    {"workers", task.workers},
                                    {"disk_read_bytes_per_second", rates.disk_read_bytes_per_s},
                                    {"disk_write_bytes_per_second", rates.disk_write_bytes_per_s},
                                    {"core_bytes_per_second", rates.core_bytes_per_s},
                                    {"core_share_sending", rates.core_share_sending},
                                    {"cores", rates.cores},
                                    {"framing", plan::kFramings[rates.framing].name},
                                    {"version", EDGEWIRE_VERSION},
                                    {"rows", rows}};
  return report::json_text(json, 1) + "\n";
}

}  // namespace edgewire::perf
