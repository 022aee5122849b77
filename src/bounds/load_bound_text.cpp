#include <fmt/core.h>

#include "base/units.h"
#include "bounds/load_bound.h"
#include "report/json_text.h"
#include "report/table.h"

namespace edgewire::bounds {

namespace {

using report::Json;

std::string with_limit(double seconds, LoadLimit limit) {
  return fmt::format("{} {}", readable_seconds(seconds), to_name(limit));
}

/// Adds the names of the columns of times to a header.
void add_lines(std::vector<std::string>& header, const LoadTask& task, const LoadRates& rates,
               const char* without) {
  if (!task.on_machines()) header.emplace_back(without);
  for (const auto& [name, bits] : rates.lines)
    if (task.on_machines()) header.push_back(name);
}

std::string simulated_text(const std::vector<LoadBound>& bounds, const LoadTask& task,
                           const LoadRates& rates) {
  report::Table table{{"processes", "largest"}, ""};
  add_lines(table.header, task, rates, "takes");
  for (const LoadBound& bound : bounds) {
    auto& line = table.rows.emplace_back(
        std::vector{std::to_string(bound.processes), fmt::format("{:.2f}", bound.largest_share)});
    for (const auto& at : bound.at) line.push_back(with_limit(at.simulated.seconds, at.simulated.limit));
  }
  return "\nSimulated, with what machines wait for:\n" + to_text(table) +
         "Largest: the records of the machine with most, as a multiple of the mean; all others wait for "
         "it.\n";
}

}  // namespace

std::string to_text(const std::vector<LoadBound>& bounds, const LoadTask& task, const LoadRates& rates) {
  std::string text = fmt::format(
      "{}: {} of input, {} records of {} bytes, {} of output; {} of memory and {} "
      "worker{} "
      "in each process, {}\n"
      "disk: reads {}/s, writes {}/s; a core: {} of input a second\n\n",
      task.sorts ? "sort" : "convert", readable_bytes(task.input_bytes), task.records, task.shape.bytes,
      readable_bytes(task.output_bytes), readable_bytes(task.memory_bytes), task.workers,
      task.workers == 1 ? "" : "s", task.on_machines() ? "a machine for each" : "all on one machine",
      readable_bytes(static_cast<std::uint64_t>(rates.disk_read_bytes_per_s)),
      readable_bytes(static_cast<std::uint64_t>(rates.disk_write_bytes_per_s)),
      readable_bytes(static_cast<std::uint64_t>(rates.core_bytes_per_s)));
  report::Table table{{"processes", "runs", "read", "written", "on wire", "disk", "cores"}, ""};
  add_lines(table.header, task, rates, "at least");
  for (const LoadBound& bound : bounds) {
    auto& line = table.rows.emplace_back(std::vector{
        std::to_string(bound.processes), std::to_string(bound.runs), readable_bytes(bound.disk_bytes_read),
        readable_bytes(bound.disk_bytes_written), readable_bytes(bound.wire_bytes),
        readable_seconds(bound.disk_s), readable_seconds(bound.cores_s)});
    for (const auto& at : bound.at) line.push_back(with_limit(at.seconds, at.limit));
  }
  return text + to_text(table) +
         "\nBytes are those of one machine. The last columns: the least time at these rates, and what the "
         "load "
         "waits for.\nNothing is kept in the page cache. A disk reads or writes, one at a time. Sending "
         "overlaps "
         "with reading, and with\nwriting runs.\n" +
         simulated_text(bounds, task, rates);
}

std::string to_json(const std::vector<LoadBound>& bounds, const LoadTask& task, const LoadRates& rates) {
  Json json{{"load", task.sorts ? "sort" : "convert"}};
  EDGEWIRE_ADD_FIELDS(json, task, parts, input_bytes, records);
  json["record_bytes"] = task.shape.bytes;
  EDGEWIRE_ADD_FIELDS(json, task, output_bytes, memory_bytes, workers);
  json.update({{"disk_read_bytes_per_second", rates.disk_read_bytes_per_s},
               {"disk_write_bytes_per_second", rates.disk_write_bytes_per_s},
               {"core_bytes_per_second", rates.core_bytes_per_s}});
  EDGEWIRE_ADD_FIELDS(json, rates, core_share_sending, cores);
  json.update({{"framing", plan::kFramings[rates.framing].name}, {"version", EDGEWIRE_VERSION}});
  auto& rows = json["rows"] = Json::array();
  for (const LoadBound& bound : bounds) {
    auto& row = rows.emplace_back();
    EDGEWIRE_ADD_FIELDS(row, bound, processes, machines, runs, bytes_spilled, bytes_sent, id_bytes_sent,
                        largest_share, disk_bytes_read, disk_bytes_written, wire_bytes);
    row.update({{"seconds_disk", bound.disk_s}, {"seconds_cores", bound.cores_s}, {"at", Json::array()}});
    for (std::size_t i = 0; i < bound.at.size(); ++i) {
      const auto& at = bound.at[i];
      auto& one = row["at"].emplace_back(Json::object());
      if (task.on_machines()) one["rate"] = rates.lines[i].first;
      one["seconds_wire"] = at.wire_s;
      one["seconds"] = at.seconds;
      one["limited_by"] = to_name(at.limit);
      auto& run = one["simulated"] = {{"seconds", at.simulated.seconds},
                                      {"seconds_sending", at.simulated.sending_s},
                                      {"limited_by", to_name(at.simulated.limit)}};
      EDGEWIRE_ADD_FIELDS(run, at.simulated, disk, wire, cores);
    }
  }
  return report::json_text(json, 1) + "\n";
}

}  // namespace edgewire::bounds
