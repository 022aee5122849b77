#include "perf/load_bound.h"

#include <algorithm>

#include "shuffle/load_job.h"
#include "shuffle/memory_plan.h"
#include "shuffle/sort_job.h"

namespace edgewire::perf {

namespace {

std::uint64_t divided(std::uint64_t number, std::uint64_t by) { return (number + by - 1) / by; }

shuffle::MemoryPlan memory_plan(const LoadTask& task, int processes) {
  if (!task.sorts)
    return shuffle::plan_memory(
        shuffle::load_needs(task.shape, task.workers, processes, task.memory_bytes, true), task.memory_bytes);
  const auto lanes = static_cast<std::uint32_t>(processes * task.workers);
  return shuffle::plan_memory(
      shuffle::sort_needs(task.shape, task.workers, processes, task.partitions > 0 ? task.partitions : lanes,
                          task.records),
      task.memory_bytes);
}

/// Seconds in which the disk of a machine moves its part of the bytes of all.
double disk_seconds(const LoadBound& bound, const LoadRates& rates, std::uint64_t read,
                    std::uint64_t written) {
  return (static_cast<double>(read) / rates.disk_read_bytes_per_s +
          static_cast<double>(written) / rates.disk_write_bytes_per_s) /
         bound.machines;
}

LoadBound::AtLine at_line(const LoadBound& bound, double wire_s, double disk_while_sending) {
  LoadBound::AtLine at;
  at.wire_s = wire_s;
  const bool wire_is_slower = wire_s > disk_while_sending;
  at.seconds = bound.disk_s + (wire_is_slower ? wire_s - disk_while_sending : 0);
  at.limit = wire_is_slower ? LoadLimit::wire : LoadLimit::disk;
  if (bound.cores_s > at.seconds) {
    at.seconds = bound.cores_s;
    at.limit = LoadLimit::cores;
  }
  return at;
}

}  // namespace

const char* to_name(LoadLimit limit) noexcept {
  return limit == LoadLimit::disk ? "disk" : limit == LoadLimit::wire ? "wire" : "cores";
}

LoadBound load_bound(const LoadTask& task, const LoadRates& rates, int processes) {
  LoadBound bound;
  bound.processes = processes;
  bound.machines = task.sorts ? processes : 1;
  const auto count = static_cast<std::uint64_t>(processes);
  const std::uint64_t lanes = count * static_cast<std::uint64_t>(task.workers);
  const auto spill = shuffle::plan_spill(memory_plan(task, processes), task.workers, task.records / lanes);
  // Each record is written to a run once. Records that are merged to longer runs are written again.
  bound.runs = spill.runs * lanes;
  if (spill.runs > 0) bound.bytes_spilled = (task.records + spill.records_again * lanes) * task.shape.bytes;
  bound.bytes_sent = task.records / count * (count - 1) * task.shape.stride();

  const std::uint64_t machines = static_cast<std::uint64_t>(bound.machines);
  bound.disk_bytes_read = divided(task.input_bytes + bound.bytes_spilled, machines);
  bound.disk_bytes_written = divided(task.output_bytes + bound.bytes_spilled, machines);
  const std::uint64_t first_runs = spill.runs > 0 ? task.records * task.shape.bytes : 0;
  const double while_sending = disk_seconds(bound, rates, task.input_bytes, first_runs);
  bound.disk_s = disk_seconds(bound, rates, task.input_bytes + bound.bytes_spilled,
                              task.output_bytes + bound.bytes_spilled);
  bound.cores_s =
      static_cast<double>(task.input_bytes) /
      (rates.core_bytes_per_s * static_cast<double>(rates.cores) * static_cast<double>(processes));
  if (!task.sorts) {
    bound.at.push_back(at_line(bound, 0, while_sending));
    return bound;
  }
  if (processes > 1)
    bound.wire_bytes = plan::wire_bytes(plan::kFramings[rates.framing], divided(bound.bytes_sent, machines));
  for (const auto& [name, bits] : rates.lines)
    bound.at.push_back(at_line(bound, plan::seconds_at(bound.wire_bytes, bits), while_sending));
  return bound;
}

}  // namespace edgewire::perf
