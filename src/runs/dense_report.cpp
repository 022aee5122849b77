#include "runs/dense_report.h"

#include <algorithm>
#include <array>
#include <map>

#include "dense/plan/volume.h"
#include "launch/packing.h"
#include "report/json_text.h"
#include "runs/job_report.h"

namespace edgewire::runs {

namespace {

constexpr std::array kRates{"1G", "10G", "25G", "100G"};

/// The figures of a process that only dense kernels have.
struct DenseFigures {
  std::uint64_t tile_bytes, matching, setup_messages;
};

/// Returns the traffic without what processes of one host exchange.
plan::Traffic between_hosts(plan::Traffic traffic, const std::vector<int>& nodes) {
  for (std::size_t p = 0; p < nodes.size(); ++p)
    for (std::size_t q = 0; q < nodes.size(); ++q)
      if (nodes[p] == nodes[q]) traffic.at(p, q) = 0;
  return traffic;
}

/// Sets the frames of verbs and dpdk: packets are as long as the path allows, which only the connected
/// transport knows.
void set_own_frames(plan::Volume& volume, const job::DenseJob& job, const plan::Traffic& traffic,
                    plan::ValueSize value) {
  const auto processes = static_cast<std::size_t>(traffic.processes());
  volume.wire_bytes_total[0] = volume.wire_bytes_max[0] = 0;
  for (std::size_t p = 0; p < processes; ++p) {
    std::uint64_t sent = 0, received = 0;
    for (std::size_t q = 0; q < processes; ++q) {
      if (p == q) continue;
      sent += job.link().wire_bytes_of(value.bytes(traffic.at(p, q)));
      received += job.link().wire_bytes_of(value.bytes(traffic.at(q, p)));
    }
    volume.wire_bytes_total[0] += sent;
    volume.wire_bytes_max[0] = std::max({volume.wire_bytes_max[0], sent, received});
  }
}

void set_bound(report::RunReport& report, const job::DenseJob& job, plan::Strategy strategy,
               plan::Encoding encoding, const std::vector<int>& nodes) {
  const auto value = plan::value_size(strategy, encoding);
  auto volume = plan::volume(job.traffic(), value);
  report.bound.values = volume.values_sent_total;
  report.bound.payload_bytes = volume.payload_bytes_total;
  const bool mixed = report.link.transport.starts_with("shm+");
  const plan::Traffic traffic = mixed ? between_hosts(job.traffic(), nodes) : job.traffic();
  if (mixed) volume = plan::volume(traffic, value);
  if (report.link.transport.ends_with("verbs") || report.link.transport == "dpdk")
    set_own_frames(volume, job, traffic, value);
  report.bound.wire_bytes =
      report.link.transport == "shm" ? volume.payload_bytes_total : volume.wire_bytes_total[0];
  for (const char* rate : kRates) {
    report.bound.seconds_at.emplace_back(
        rate, plan::seconds_at(volume.wire_bytes_max[0], plan::line_rate_bits(rate)));
  }
}

void add_memory(launch::Bootstrap& bootstrap, const job::DenseJob& job, report::RunReport& report) {
  using Figures = job::MemoryFigures;
  report::Json mine{{"several_nodes", job.memory_figures().several_nodes},
                    {"refusal", topology::policy_refusal()}};
  for (const auto& kind : job.memory_figures().kinds)
    mine["kinds"].push_back({{"bytes", kind.bytes}, {"elsewhere", kind.elsewhere}, {"pages", kind.pages}});
  report.page_bytes = topology::page_bytes();
  for (const char* name : Figures::kKinds) report.memory.emplace_back().name = name;
  for (const auto& text : bootstrap.gather(report::json_text(mine))) {
    const auto one = report::Json::parse(text);
    if (one["several_nodes"]) report.several_nodes = true;
    if (report.policy_refusal.empty()) report.policy_refusal = one["refusal"];
    for (std::size_t k = 0; k < report.memory.size(); ++k) {
      const auto& kind = one["kinds"].at(k);
      report.memory[k].bytes += kind["bytes"].get<std::uint64_t>();
      report.memory[k].elsewhere += kind["elsewhere"].get<std::uint64_t>();
      for (const auto& [node, pages] : kind["pages"].get<std::map<int, std::uint64_t>>())
        report.memory[k].pages[node] += pages;
    }
  }
}

void set_choices(report::RunReport& report, const job::DenseJob& job, const job::DenseOptions& options) {
  report.strategy = plan::to_name(job.strategy());
  const job::Choices& choices = job.choices();
  report.strategy_reason = choices.strategy_reason;
  report.ownership = choices.ownership;
  report.ownership_table = choices.ownership_table;
  report.plan_cache = job::to_name(job.cache_use().source);
  report.plan_cache_note = job.cache_use().note;
  report.layout = choices.layout == plan::Layout::given ? "given" : "degree";
  report.layout_reason = choices.layout_reason;
  report.order = to_name(choices.order);
  report.order_reason = choices.order_reason;
  report.wire = plan::to_name(options.encoding);
}

}  // namespace

report::RunReport gather_report(const job::DenseJob& job, const job::DenseOptions& options,
                                const std::vector<engine::IterationRecord>& mine, double seconds_total,
                                std::uint64_t checksum) {
  auto& bootstrap = job.bootstrap();
  report::RunReport report;
  static_cast<report::JobReport&>(report) =
      gather_job(bootstrap, job.process(), options.process.transport_reason,
                 {job.seconds_load(), job.seconds_plan(), seconds_total, checksum});
  set_choices(report, job, options);
  report.vertices = job.graph().vertices();
  report.edges = job.graph().edges();
  report.iterations.resize(mine.size());
  set_bound(report, job, job.strategy(), options.encoding, bootstrap.nodes());
  const auto records = bootstrap.gather(launch::pack(mine));
  const auto summaries = bootstrap.gather(
      launch::pack(std::vector{DenseFigures{job.sweep_bytes(), job.matching(), job.setup_messages()}}));
  add_memory(bootstrap, job, report);
  for (std::size_t p = 0; p < summaries.size(); ++p) {
    const auto iterations = launch::unpack<engine::IterationRecord>(records[p], p, report.iterations.size());
    for (std::size_t i = 0; i < iterations.size(); ++i) {
      report.iterations[i].seconds = std::max(report.iterations[i].seconds, iterations[i].seconds);
      report.iterations[i].payload_bytes_sent += iterations[i].payload_bytes;
      report.iterations[i].wire_bytes_sent += iterations[i].wire_bytes;
    }
    const auto one = launch::unpack<DenseFigures>(summaries[p], p, 1)[0];
    report.setup_messages = std::max(report.setup_messages, one.setup_messages);
    report.tile_bytes += one.tile_bytes;
    report.bound.matching += one.matching;
  }
  return report;
}

}  // namespace edgewire::runs
