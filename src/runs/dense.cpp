#include "runs/dense_kernel.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/error.h"
#include "base/mapped_file.h"
#include "dense/plan/block_plan.h"
#include "dense/plan/volume.h"
#include "launch/packing.h"
#include "options/kernels.h"
#include "profile/balance.h"
#include "profile/job_profile.h"
#include "report/json_text.h"
#include "runs/digest.h"
#include "runs/job_report.h"

namespace edgewire::runs {

namespace {

constexpr std::array kRates{"1G", "10G", "25G", "100G"};

/// The figures of a process that only dense kernels have.
struct DenseFigures {
  std::uint64_t tile_bytes, matching, setup_messages;
};

/// Returns the traffic without that between processes of one host.
plan::Traffic between_hosts(plan::Traffic traffic, const std::vector<int>& nodes) {
  for (std::size_t p = 0; p < nodes.size(); ++p)
    for (std::size_t q = 0; q < nodes.size(); ++q)
      if (nodes[p] == nodes[q]) traffic.at(p, q) = 0;
  return traffic;
}

/// Sets the frames of verbs and dpdk: only the connected transport knows how long its packets are.
void set_own_frames(plan::Volume& volume, const DenseJob& job, const plan::Traffic& traffic,
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

void set_bound(report::RunReport& report, const DenseJob& job, plan::Strategy strategy,
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
  for (const char* rate : kRates)
    report.bound.seconds_at.emplace_back(
        rate, plan::seconds_at(volume.wire_bytes_max[0], plan::line_rate_bits(rate)));
}

void add_memory(launch::Bootstrap& bootstrap, const DenseJob& job, report::RunReport& report) {
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

void set_choices(report::RunReport& report, const DenseJob& job, const job::DenseOptions& options) {
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

/// Returns the report of all processes at rank 0, without the kernel's own parts; elsewhere the report of
/// this process only. `seconds_total`, `checksum`: those of this process. Collective.
report::RunReport gather_report(const DenseJob& job, const job::DenseOptions& options,
                                const std::vector<IterationRecord>& mine, double seconds_total,
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
    const auto iterations = launch::unpack<IterationRecord>(records[p], p, report.iterations.size());
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

/// Returns the fault of a result that differs from the reference, or of which nothing can be said.
std::string fault_of(const DenseKernel& kernel, const report::RunReport::Verification& check,
                     const std::string& tolerance, double wire_error_bound) {
  if (!(check.limit_share <= 1))
    return fmt::format(
        "the result differs from the reference: the {} of vertex {} by {:.3g} times {}; in sum by {:.2g} "
        "(limit {:.2g})",
        kernel.value(), check.vertex, check.limit_share,
        tolerance.empty() ? "the most that rounding can do" : "the tolerance", check.sum_error, check.limit);
  return fmt::format(
      "{} can say nothing of this result: rounding may change it by {:.2g} times its values in sum; {}",
      opt::verify, check.limit,
      wire_error_bound > 0 ? fmt::format("{} rounds less", opt::wire("f32"))
      : kernel.doubles()   ? fmt::format("fewer {} or larger values are needed", opt::iterations)
                           : fmt::format("{} rounds less", opt::precision("f64")));
}

/// Verifies values and answer at rank 0. Throws Error where the answer is wrong.
void verify(report::RunReport& report, const DenseKernel& kernel, const Asked& asked,
            const kernels::Rounding& rounding, int iterations, std::span<const double> values) {
  const auto fault = answer_fault(report.answer, kernel.expected_answer(asked, values));
  if (!fault.empty()) throw Error("the answer is wrong: " + fault);
  const auto expected = kernel.reference(asked.graph, iterations, rounding);
  const auto found = kernels::compare(expected, values, rounding);
  const std::string limits =
      expected.tolerance.empty()
          ? fmt::format("sums of up to {} doubles", std::max<std::uint64_t>(expected.longest_sum, 1))
          : "a tolerance of " + expected.tolerance;
  const std::string wire = !plan::is_rounded(rounding.wire)
                               ? ""
                               : fmt::format(", {} between processes", plan::to_name(rounding.wire));
  auto& check = report.verification.emplace_back(report::RunReport::Verification{
      .max_relative_error = found.largest_error,
      .sum_error = found.sum_error,
      .limit = found.sum_limit,
      .vertex_limit = found.largest_limit,
      .limit_share = found.limit_share,
      .vertex = values.empty() ? "" : asked.names(found.farthest),
      .rules =
          fmt::format("{} iterations, messages of {}{}, {}", iterations, kernel.precision(), wire, limits),
      .passed = found.passed(),
      .conclusive = found.conclusive,
      .unchecked = found.unchecked});
  if (!check.passed) check.fault = fault_of(kernel, check, expected.tolerance, report.wire_error_bound);
}

/// Returns the sum over the values of the owned vertices.
std::uint64_t checksum(const DenseJob& job, std::span<const double> values) {
  std::uint64_t sum = 0;
  const auto ids = job.owned().ids();
  for (OwnedIndex i{}; i < values.size(); ++i) sum += runs::checksum_of(ids[i], values[i]);
  return sum;
}

/// Adds the kernel's own parts to the report. Collective.
void add_kernel(report::RunReport& report, const DenseKernel& kernel, const DenseStage& stage,
                const DenseOutcome& outcome, const kernels::Rounding& rounding,
                const graph::VertexNames& names) {
  report.kernel = kernel.name();
  report.graph = stage.job.graph().path();
  report.resumed_from = static_cast<std::uint64_t>(outcome.resumed_at);
  report.answer = kernel.answer(stage, outcome, names);
  report.rounding_bound = kernel.message_bound(stage.job.graph(), outcome.done(), rounding);
  if (plan::is_rounded(rounding.wire)) report.wire_error_bound = report.rounding_bound;
  kernel.add_to(report, outcome);
}

std::optional<profile::Profiler> make_profiler(launch::Bootstrap& bootstrap, DenseJob& job,
                                               const DenseKernel& kernel, const RunOptions& options) {
  if (!options.tools.profile) return {};
  auto asked = *options.tools.profile;
  asked.iterations = kernel.iterations();
  return std::optional<profile::Profiler>(std::in_place, bootstrap, job.process(), asked);
}

Checkpoints checkpoints_of(DenseJob& job, const DenseKernel& kernel, const RunOptions& options) {
  return {{job.bootstrap(), job.pool(), job.graph(), job.owned().ids(), sizeof(double),
           fmt::format("{}, wire {}", kernel.state(), plan::to_name(options.job.encoding))},
          options.checkpoints,
          kernel.iterations()};
}

/// Returns the options of the kernel's iterations. The arguments outlive the result.
IterateOptions run_options(const DenseKernel& kernel, const RunOptions& options) {
  const int total = kernel.has_goal() ? 0 : kernel.iterations();  // it is not known when a goal is reached
  const auto tell = [&progress = options.tools.progress, total](int done) {
    if (progress)
      progress(
          {"iterate", static_cast<std::uint64_t>(done), static_cast<std::uint64_t>(total), "iterations"});
  };
  return {kernel.iterations(), kernel.has_goal(), tell};
}

/// Verifies the values and hands them over, where that is wanted. Collective.
void conclude(report::RunReport& report, const DenseKernel& kernel, const DenseStage& stage,
              const DenseOutcome& outcome, const kernels::Rounding& rounding, const graph::VertexNames& names,
              const RunOptions& options) {
  auto& [bootstrap, job, tools] = stage;
  std::vector<double> all;
  bool right = true;  // whether the result is right, as far as it is checked
  if (!bootstrap.allgather(tools.verify || tools.gather ? "wanted" : "")[0].empty()) {
    all = gather_values(job, outcome.values);
    if (bootstrap.rank() == 0 && tools.verify)
      verify(report, kernel, {job.graph(), names, tools.top}, rounding, outcome.done(), all);
    right = bootstrap.allgather(report.is_right() ? "" : "wrong")[0].empty();
  }
  if (!right || !options.finished) return;
  const auto shown = [&](std::span<const double> values) {
    return Values{Values::Form::number, values, kernel.digits(), kernel.value()};
  };
  const auto text_of_owned = [&](TextForm form) {
    std::vector<VertexId> ids;
    std::vector<double> values;
    for (const OwnedIndex index : stage.job.owned().indexes()) {
      ids.push_back(stage.job.owned().ids()[index]);
      values.push_back(outcome.values[index]);
    }
    return text_of(stage.job.graph(), ids, shown(values), form);
  };
  options.finished({0, shown(all), text_of_owned, &all});
}

}  // namespace

report::Answer DenseKernel::answer(const DenseStage& stage, const DenseOutcome& outcome,
                                   const graph::VertexNames& names) const {
  report::Answer answer;
  set_top(answer, "highest", process::Order::value, stage, outcome, names);
  return answer;
}

void DenseKernel::set_top(report::Answer& answer, const char* word, process::Order order,
                          const DenseStage& stage, const DenseOutcome& outcome,
                          const graph::VertexNames& names) {
  const std::uint64_t count = process::count_of_rank_0(stage.bootstrap, stage.tools.top.value_or(kTop));
  const auto ids = stage.job.owned().ids();
  const auto top = first_of_all(
      stage.bootstrap, count, ids.size(),
      [&](std::uint64_t i) {
        const OwnedIndex index(static_cast<std::uint32_t>(i));
        return std::optional(process::Candidate<double>{outcome.values[index], ids[index]});
      },
      order);
  if (stage.bootstrap.rank() == 0 && count > 0)
    runs::set_top(answer, word, top, names, stage.tools.top.has_value());
}

report::RunReport DenseKernel::run(launch::Bootstrap& bootstrap, const Graph& graph,
                                   const graph::VertexNames& names, const RunOptions& options) {
  const Tools& tools = options.tools;
  const auto asked = job_options(options);
  DenseJob job(bootstrap, graph, asked);
  refuse_changed_files();
  if (const std::string& note = job.cache_use().note; !note.empty() && asked.process.warn)
    asked.process.warn(note);
  auto profiler = make_profiler(bootstrap, job, *this, options);
  std::optional<profile::BalanceWatch> watch;
  if (const auto* const disks = job.disk_tiles())
    watch.emplace(bootstrap, job.process(), disks->files().paths(),
                  static_cast<double>(asked.link_bits_per_s));
  DenseOutcome outcome;
  {  // The next steps do not need the memory of checkpoints and loops.
    Checkpoints checkpoints = checkpoints_of(job, *this, options);
    const auto run = start(job);
    if (const auto from = checkpoints.take_resumed())
      run->resume(from->iteration, from->values<double>(), from->has_totals ? &from->totals : nullptr);
    if (profiler) job.show(profiler->observer());
    job.keep(checkpoints.written(), options.checkpoints.every);
    outcome.iterations = run->iterate(run_options(*this, options));
    outcome.values = run->values();
    outcome.memory = run->take_values();
    outcome.resumed_at = run->resumed_at();
  }
  refuse_changed_files();
  if (watch) watch->end_step("iterations");
  const double busy_s = watch ? watch->disk_s() : 0;
  if (tools.progress) tools.progress({});
  const double seconds_total = seconds_since(tools.start);
  disk::ReadFigures disk;
  if (watch) {
    disk = job.measure_disks();
    for (const auto& one : outcome.iterations) disk.seconds += one.seconds;
    disk.seconds_busy = std::min(busy_s, disk.seconds);  // the disk may have been busy before
  }
  auto report = gather_report(job, asked, outcome.iterations, seconds_total, checksum(job, outcome.values));
  if (watch) report.disk = gather_disk(bootstrap, job.disk_tiles()->files(), disk, *watch);
  const kernels::Rounding rounding{doubles(), bootstrap.size() > 1 ? asked.encoding : plan::Encoding::f32,
                                   partition::owns_edges(job.choices().ownership) ? 2 : 1};
  const DenseStage stage{bootstrap, job, tools};
  add_kernel(report, *this, stage, outcome, rounding, names);
  if (profiler) {
    auto profile = profiler->gather(profile::facts_of(bootstrap, job, disk, outcome.iterations.size()));
    if (bootstrap.rank() == 0) profile::add_to(report, std::move(profile));
  }
  conclude(report, *this, stage, outcome, rounding, names, options);
  return report;
}

}  // namespace edgewire::runs
