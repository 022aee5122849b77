// This file writes a profile as a table for people and as JSON for programs.
#include <fmt/core.h>

#include <numeric>
#include <set>
#include <utility>

#include "base/units.h"
#include "profile/profile.h"
#include "report/json_text.h"

namespace edgewire::profile {

using report::Json;

EDGEWIRE_JSON_OF(Limiter, cause, seconds, share, rank, why)

namespace {

constexpr int kSchemaVersion = 1;
constexpr double kWaitShown = 0.001;  ///< share of a step's time below which waits are left out

CounterValues of_workers(const ProcessProfile& process, std::size_t phase) {
  CounterValues sum;
  for (const auto& worker : process.workers) sum += worker.counts[phase];
  return sum;
}

/// Returns the bytes that an item takes from memory while computing; 0 where misses are not counted.
double memory_bytes_per_item(const ProcessProfile& process, std::uint64_t iterations_done) {
  const auto counts = of_workers(process, static_cast<std::size_t>(topology::Phase::compute));
  std::uint64_t counted = 0, all = 0;
  for (const auto& worker : process.workers) {
    counted += worker.counted_ns[0];
    all += worker.phases[0];
  }
  if (!counts.has(Event::llc_misses) || counted == 0 || process.facts.items == 0) return 0;
  // Edges are counted in some iterations only: their share of the time is their share of the edges.
  const double iterations =
      static_cast<double>(iterations_done) * static_cast<double>(counted) / static_cast<double>(all);
  return bytes_from_memory(counts) / iterations / process.facts.items;
}

Json json_of(const PhaseTimes& times) {
  Json json = Json::object();
  for (std::size_t p = 0; p < topology::kPhases; ++p) json[topology::kPhaseNames[p]] = seconds(times[p]);
  return json;
}

Json json_of(const CounterValues& counts) {
  Json json = Json::object();
  for (std::size_t e = 0; e < kEvents; ++e) {
    const auto event = static_cast<Event>(e);
    if (!counts.has(event)) continue;
    json[kEventNames[e]] = counts.count(event);
    if (e < kHardwareEvents) json[fmt::format("{}_share_of_time", kEventNames[e])] = counts.share(event);
  }
  const auto derived = [&](const char* name, double value) {
    if (value > 0) json[name] = value;
  };
  derived("cycles_per_instruction", cycles_per_instruction(counts));
  derived("stalled_cycles_per_instruction", stalled_cycles_per_instruction(counts));
  derived("instructions_per_llc_miss", instructions_per_llc_miss(counts));
  return json;
}

Json json_of(const WorkerTimes& worker) {
  Json json{{"seconds", json_of(worker.phases)}, {"all", json_of(worker.whole)}};
  for (std::size_t p = 0; p < topology::kPhases; ++p) {
    auto counted = json_of(worker.counts[p]);
    counted["seconds"] = seconds(worker.counted_ns[p]);
    json["counted"][topology::kPhaseNames[p]] = std::move(counted);
  }
  return json;
}

/// Returns the mean of the samples.
double stolen_cores(const ProcessProfile& process) {
  for (const auto& series : process.samples.series) {
    if (series.name != kStolen || series.values.empty()) continue;
    return std::accumulate(series.values.begin(), series.values.end(), 0.0) /
           static_cast<double>(series.values.size());
  }
  return 0;
}

/// Returns a line for each machine whose hypervisor took much of it.
std::string stolen_lines(const std::vector<ProcessProfile>& processes) {
  constexpr double kMuch = 0.01;  // part of a core for each worker
  std::string lines;
  std::set<std::uint64_t> hosts;
  for (std::size_t p = 0; p < processes.size(); ++p) {
    const auto& facts = processes[p].facts;
    const double cores = stolen_cores(processes[p]);
    if (!hosts.insert(facts.host).second || cores < kMuch * facts.workers) continue;
    lines += fmt::format("rank {}: the hypervisor took {:.2f} cores from its machine (steal)\n", p, cores);
  }
  return lines;
}

Json json_of(const Profile& profile, std::size_t rank) {
  const auto& process = profile.processes[rank];
  const auto& load = profile.load.processes[rank];
  const auto& words = profile.words;
  Json json{{"workers", process.facts.workers},
            {"cores", process.facts.cores},
            {words.items + "_computed", process.facts.items},
            {"work_seconds", load.work_s},
            {"slowest_worker_seconds", load.slowest_worker_s},
            {"waited_for_peers_seconds", load.waited_s},
            {"waited_for_core_seconds", load.core_wait_s},
            {"cpu_share", load.cpu_share},
            {"stolen_cores", stolen_cores(process)},
            {"memory_bytes", process.facts.memory_bytes},
            {"in_cache", load.memory_bytes == 0},
            {"disk_bytes", process.facts.disk_bytes},
            {"disk_busy_seconds", process.facts.disk_s},
            {"wire_bytes_to", process.wire_bytes_to}};
  json["waited_for"] = Json::array();
  for (const auto ns : process.waited_ns) json["waited_for"].push_back(seconds(ns));
  if (const double bytes = memory_bytes_per_item(process, profile.iterations); bytes > 0)
    json[fmt::format("bytes_from_memory_per_{}", words.item())] = bytes;
  json["worker"] = Json::array();
  for (const auto& worker : process.workers) json["worker"].push_back(json_of(worker));
  json["iterations"] = Json::array();
  for (std::size_t i = 0; i < process.iterations.size(); ++i) {
    const auto& one = process.iterations[i];
    auto phases = json_of(one.phases);
    Json iteration{{"seconds", seconds(one.end_ns - one.begin_ns)},
                   {"phases", std::move(phases)},
                   {"slowest_worker", seconds(one.slowest_work_ns)},
                   {"wait_for_own_workers", seconds(one.own_wait_ns)}};
    if (i < profile.names.size()) iteration["what"] = profile.names[i];
    json["iterations"].push_back(std::move(iteration));
  }
  return json;
}

Json json_of(const Verdict& verdict) {
  return {{"limit", to_name(verdict.limiters.front().cause)},
          {"seconds_per_iteration", verdict.seconds},
          {"seconds_with_10x_link", verdict.seconds_10x},
          {"limiters", verdict.limiters}};
}

}  // namespace

Json Profile::to_json() const {
  Json json{{"schema_version", kSchemaVersion},
            {"step", words.step},
            {"items", words.items},
            {"iterations", iterations},
            {"line_bits_per_second", line_bits_per_s},
            {"memory_bytes_per_second", load.memory_bytes_per_s}};
  if (!missing_counters.empty()) json["missing_counters"] = missing_counters;
  json["verdict"] = json_of(verdict);
  for (std::size_t p = 0; p < processes.size(); ++p) json["processes"].push_back(json_of(*this, p));
  return json;
}

std::string Profile::counters_line() const {
  if (!missing_counters.empty()) return missing_counters;
  CounterValues counts;
  for (const auto& process : processes)
    counts += of_workers(process, static_cast<std::size_t>(topology::Phase::compute));
  double bytes = 0;
  for (const auto& process : processes)
    bytes += memory_bytes_per_item(process, iterations) / static_cast<double>(processes.size());
  std::string line = "compute:";
  const auto add = [&](double figure, int digits, const std::string& what) {
    if (figure > 0)
      line += fmt::format("{} {:.{}f} {}", line.ends_with(':') ? "" : ",", figure, digits, what);
  };
  add(cycles_per_instruction(counts), 2, "cycles an instruction");
  add(stalled_cycles_per_instruction(counts), 2, "of them stalled");
  add(instructions_per_llc_miss(counts), 0, "instructions a last-level miss");
  add(bytes, 1, fmt::format("bytes from memory {} {}", words.items == "edges" ? "an" : "a", words.item()));
  const char* before = "; not counted on this machine: ";
  for (std::size_t e = 0; e < kHardwareEvents; ++e) {
    if (counts.has(static_cast<Event>(e))) continue;
    line += std::exchange(before, ", ");
    line += kEventNames[e];
  }
  return line;
}

std::string Profile::to_text() const {
  std::string text = fmt::format("\n{:>4} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}  {}\n", "rank", "compute",
                                 "send", "wait", "apply", "slowest", "CPU", "waited for");
  for (std::size_t p = 0; p < processes.size(); ++p) {
    const auto& process = processes[p];
    text += fmt::format("{:>4}", p);
    for (std::size_t phase = 0; phase < topology::kPhases; ++phase)
      text += fmt::format(" {:>10}", readable_seconds(mean_seconds(process, phase)));
    text += fmt::format(" {:>10} {:>8.0f} %", readable_seconds(load.processes[p].slowest_worker_s),
                        100 * load.processes[p].cpu_share);
    for (std::size_t q = 0; q < processes.size(); ++q) {
      const double waited_s = seconds(process.waited_ns[q]) / process.facts.workers /
                              static_cast<double>(std::max<std::uint64_t>(iterations, 1));
      if (waited_s >= kWaitShown * load.seconds && waited_s > 0)
        text += fmt::format("  {} {}", q == p ? "own workers" : fmt::format("rank {}", q),
                            readable_seconds(waited_s));
    }
    text += "\n";
  }
  text += fmt::format("(of {} and worker; slowest: the work of the worker with most)\n", words.a_step());
  return text + stolen_lines(processes) + counters_line() + "\n" + verdict.to_text() +
         (balance ? fmt::format("\n{}({})\n", report::to_text(balance->to_table()), Balance::kTableSays)
                  : "");
}

}  // namespace edgewire::profile
