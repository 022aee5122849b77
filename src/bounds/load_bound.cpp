#include "bounds/load_bound.h"

#include <algorithm>
#include <cmath>

#include "shuffle/load_job.h"
#include "shuffle/memory_plan.h"
#include "shuffle/sort_job.h"

namespace edgewire::bounds {

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

/// Returns the seconds in which the disk of a machine moves its part of the bytes of all.
double disk_seconds(const LoadBound& bound, const LoadRates& rates, std::uint64_t read,
                    std::uint64_t written) {
  return (static_cast<double>(read) / rates.disk_read_bytes_per_s +
          static_cast<double>(written) / rates.disk_write_bytes_per_s) /
         bound.machines;
}

/// Returns the bytes with which each process tells all others which ids occur in its part of the input, 32
/// of them in a record.
std::uint64_t id_bytes(const LoadTask& task, std::uint64_t processes) {
  constexpr std::uint64_t kTogether = 32;
  if (!task.parts || !task.renumbers || task.vertices == 0) return 0;
  const double words = static_cast<double>(divided(task.vertices, kTogether));
  const double ends = 2.0 * static_cast<double>(task.edges) / static_cast<double>(processes);
  const double met = words * -std::expm1(-ends / words);
  return static_cast<std::uint64_t>(met) * task.shape.stride() * processes * (processes - 1);
}

/// Returns the work of one machine, for the simulation. `first_runs`: the bytes of all records where these
/// are spilled, else 0.
SimulatedMachine to_simulate(const LoadBound& bound, const LoadTask& task, const LoadRates& rates,
                             std::uint64_t first_runs) {
  constexpr double kHalf = 0.5;  // of the time before merging: parsing or hashing, and sorting
  SimulatedMachine machine;
  const std::uint64_t again = bound.bytes_spilled - first_runs;
  machine.disk_read_s = disk_seconds(bound, rates, task.input_bytes, 0);
  machine.disk_spill_s = disk_seconds(bound, rates, 0, first_runs);
  machine.disk_again_s = disk_seconds(bound, rates, again, again);
  machine.disk_fetch_s = disk_seconds(bound, rates, first_runs, 0);
  machine.disk_write_s = disk_seconds(bound, rates, 0, task.output_bytes);
  const double sending_s = bound.cores_s * rates.core_share_sending;
  machine.cores_parse_s = machine.cores_sort_s = kHalf * sending_s;
  machine.cores_merge_s = bound.cores_s - sending_s;
  machine.runs = static_cast<double>(bound.runs) / bound.machines;
  machine.buffers = task.workers * bound.processes / bound.machines;
  return machine;
}

std::vector<double> shares_of(const LoadTask& task, int machines) {
  if (machines == 1) return {1.0};
  if (task.largest_share > 0)
    return shares_with_largest(std::min<double>(task.largest_share, machines), machines);
  return shares_of_sources(task.places, machines);
}

LoadBound::AtLine at_line(const LoadBound& bound, double wire_s, double ids_s, double disk_while_sending) {
  LoadBound::AtLine at;
  at.wire_s = wire_s + ids_s;
  const bool wire_is_slower = wire_s > disk_while_sending;
  at.seconds = bound.disk_s + (wire_is_slower ? wire_s - disk_while_sending : 0) + ids_s;
  at.limit = wire_is_slower || at.wire_s > bound.disk_s ? LoadLimit::wire : LoadLimit::disk;
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
  bound.machines = task.on_machines() ? processes : 1;
  const auto count = static_cast<std::uint64_t>(processes);
  const std::uint64_t lanes = count * static_cast<std::uint64_t>(task.workers);
  const auto spill = shuffle::plan_spill(memory_plan(task, processes), task.workers, task.records / lanes);
  // Each record is written to a run once. Records that are merged to longer runs are written again.
  bound.runs = spill.runs * lanes;
  if (spill.runs > 0) bound.bytes_spilled = (task.records + spill.records_again * lanes) * task.shape.bytes;
  bound.bytes_sent = task.records / count * (count - 1) * task.shape.stride();
  bound.id_bytes_sent = id_bytes(task, count);

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
  const auto shares = shares_of(task, bound.machines);
  bound.largest_share = *std::ranges::max_element(shares);
  SimulatedMachine machine = to_simulate(bound, task, rates, first_runs);
  if (!task.on_machines()) {
    bound.at.push_back(at_line(bound, 0, 0, while_sending));
    bound.at.back().simulated = simulate(machine, shares);
    return bound;
  }
  const auto& framing = plan::kFramings[rates.framing];
  const auto on_wire = [&](std::uint64_t bytes) {
    return processes > 1 ? plan::wire_bytes(framing, divided(bytes, machines)) : 0;
  };
  const std::uint64_t records = on_wire(bound.bytes_sent), ids = on_wire(bound.id_bytes_sent);
  bound.wire_bytes = records + ids;
  for (const auto& [name, bits] : rates.lines) {
    machine.wire_s = plan::seconds_at(records, bits);
    machine.wire_ids_s = plan::seconds_at(ids, bits);
    bound.at.push_back(at_line(bound, machine.wire_s, machine.wire_ids_s, while_sending));
    bound.at.back().simulated = simulate(machine, shares);
  }
  return bound;
}

}  // namespace edgewire::bounds
