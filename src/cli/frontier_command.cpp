#include "cli/frontier_command.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <bit>
#include <chrono>
#include <memory>
#include <numeric>
#include <optional>

#include "cli/common.h"
#include "cli/files.h"
#include "cli/frontier_report.h"
#include "cli/graph_files.h"
#include "cli/interrupt.h"
#include "disk/busy_devices.h"
#include "error.h"
#include "exchange/barrier.h"
#include "graph/mapped_file.h"
#include "graph/vertex_names.h"
#include "report/progress.h"
#include "seconds.h"

namespace edgewire::cli {

namespace {

using Clock = std::chrono::steady_clock;

frontier::Options frontier_options(const job::DenseOptions& resolved, const FrontierKernel& kernel) {
  frontier::Options options;
  options.seat = seat_of(resolved);
  options.ownership = resolved.ownership;
  options.record_bytes = kernel.record_bytes();
  options.kernel = kernel.describe();
  return options;
}

/// Where the result of run `run` goes: "{}" in the option stands for the name of the run, if it has one.
std::string output_path(const JobOptions& asked, const std::vector<std::string>& names, std::size_t run) {
  std::string path = asked.output_path;
  if (path.empty() || names.empty()) return path;
  const std::size_t place = path.find("{}");
  if (place == path.npos)
    throw UsageError(
        fmt::format("-o {}: each run writes a file: put {{}} into the name, which stands for the "
                    "source, as in -o values-{{}}.tsv",
                    path));
  if (names[run].find('/') != std::string::npos)
    throw Error(
        fmt::format("-o {}: the source {} has a / in its name and cannot name a file: choose it with "
                    "--source",
                    path, names[run]));
  return path.replace(place, 2, names[run]);
}

/// At rank 0: checks the result of a run and writes it. `names`: of all runs.
void conclude_run(const graph::GraphFile& graph, const JobOptions& asked, const FrontierKernel& kernel,
                  const std::vector<std::string>& names, std::size_t run) {
  if (asked.verify) {
    const std::string fault = kernel.fault(graph);
    const std::string name = names.empty() ? "" : fmt::format(" of run {}", names[run]);
    if (!fault.empty()) throw Error(fmt::format("the result{} is wrong: {}", name, fault));
  }
  if (asked.output_path.empty()) return;
  VertexLines lines(graph);
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) kernel.add_line(lines, v);
  write_whole(output_path(asked, names, run), lines.take());
}

void run_one(frontier::FrontierJob& job, FrontierKernel& kernel, FrontierRuns& runs) {
  exchange::barrier(job.bootstrap(), job.link());  // no run waits for the end of the one before
  const disk::BusyDevices devices(job.on_disks() ? job.pages()->files().paths() : std::vector<std::string>());
  const auto start = Clock::now();
  const auto supersteps = kernel.run(job);
  runs.add(supersteps, seconds_since(start));
  runs.seconds_kernel += runs.seconds.back();
  runs.seconds_busy += devices.seconds();
}

/// Runs the kernel as often as it asks for.
FrontierRuns run_all(frontier::FrontierJob& job, const JobOptions& asked,
                     const graph::VertexNames& vertex_names, FrontierKernel& kernel) {
  const bool first = job.rank() == 0, mine = asked.verify || !asked.output_path.empty();
  const bool wanted = !job.bootstrap().allgather(mine ? "wanted" : "")[0].empty();
  const auto names = kernel.runs();
  FrontierRuns runs;
  const auto start = Clock::now();
  const auto at_once = kernel.run_at_once(job);
  if (!at_once.empty()) runs.seconds_kernel = seconds_since(start);
  for (std::size_t r = 0; r < std::max<std::size_t>(1, names.size()); ++r) {
    kernel.choose(r);
    if (at_once.empty())
      run_one(job, kernel, runs);
    else
      runs.add(at_once[r], std::accumulate(at_once[r].begin(), at_once[r].end(), 0.0,
                                           [](double sum, const auto& step) { return sum + step.seconds; }));
    graph::refuse_changed_files();
    runs.checksum = runs.checksum * 31 + kernel.checksum(job);
    runs.answers.push_back(kernel.answer({job, runs.last(), runs.seconds.back(), asked.top, vertex_names}));
    if (wanted) kernel.gather(job);
    if (first) conclude_run(job.graph(), asked, kernel, names, r);
  }
  return runs;
}

/// At rank 0: writes the report.
void conclude(const JobOptions& asked, const FrontierKernel& kernel, report::RunReport& report) {
  if (asked.verify) report.checks.emplace_back(kernel.rules());
  if (!asked.json_path.empty()) write_whole(asked.json_path, report.to_json());
  if (asked.stdout_is_free()) write_whole("-", report.to_text());
}

/// One process of the job.
void run_process(launch::Bootstrap& bootstrap, const OpenGraph& opened, const graph::VertexNames& names,
                 const JobOptions& asked, FrontierKernel& kernel) {
  const graph::GraphFile& graph = opened.file;
  const auto start = Clock::now();
  auto options = frontier_options(asked.dense(bootstrap), kernel);
  options.disks = asked.edge_place.rows(kernel.weighted(), bootstrap, graph);
  options.for_tasks =
      kernel.choose_tasks(graph, bootstrap.size(), options.seat.workers, !options.disks.devices.empty());
  const bool first = bootstrap.rank() == 0;
  std::optional<InterruptLine> interrupt_line;
  if (first) {
    check_writable(output_path(asked, kernel.runs(), 0));
    check_writable(asked.json_path);
    interrupt_line.emplace(InterruptLine::Counts::supersteps);
  }
  std::optional<report::Progress> progress(std::in_place, "running", 0, "", first);
  options.listener = [&, done = std::uint64_t{0}](const frontier::Superstep& one) mutable {
    graph::refuse_changed_files();
    InterruptLine::note_supersteps(++done);
    progress->say(
        [&] { return fmt::format("superstep {}, {}, {} vertices", done, kernel.phase(one), one.frontier); });
  };
  frontier::FrontierJob job(bootstrap, graph, options);
  kernel.prepare(job);
  graph::refuse_changed_files();
  const double seconds_before = seconds_since(start);
  const auto runs = run_all(job, asked, names, kernel);
  progress.reset();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  FrontierSummary mine{job.seconds_load,
                       runs.seconds_kernel,
                       seconds_before + runs.seconds_kernel,
                       static_cast<std::uint64_t>(usage.ru_maxrss) * 1024,
                       runs.checksum,
                       {}};
  if (job.on_disks()) {
    mine.disk = job.measure_disks();
    mine.disk.seconds = runs.seconds_kernel;
    mine.disk.seconds_busy = runs.seconds_busy;
  }
  auto report = gather_report(job, kernel, runs, mine, options.seat.transport_reason);
  report.graph = asked.graph_path;
  report.seconds_convert = opened.seconds_convert;
  report.ownership = options.ownership;
  if (first) conclude(asked, kernel, report);
}

}  // namespace

namespace {

std::uint64_t mixture(std::uint32_t vertex, std::uint64_t bits) {
  std::uint64_t mixed = bits + (std::uint64_t{vertex} + 1) * 0x9E3779B97F4A7C15;
  mixed = (mixed ^ (mixed >> 31)) * 0xBF58476D1CE4E5B9;
  return mixed ^ (mixed >> 29);
}

template <class Value>
std::uint64_t bits_of(Value value) {
  if constexpr (sizeof value == sizeof(std::uint32_t))
    return std::bit_cast<std::uint32_t>(value);
  else
    return std::bit_cast<std::uint64_t>(value);
}

template <class Value>
std::uint64_t sum_of_mixtures(const frontier::FrontierJob& job, std::span<const Value> values) {
  std::uint64_t sum = 0;
  for (std::uint32_t local = 0; local < job.owned(); ++local)
    sum += mixture(job.ownership().vertex(job.rank(), local), bits_of(values[local]));
  return sum;
}

}  // namespace

std::uint64_t checksum(const frontier::FrontierJob& job, std::span<const std::uint32_t> values) {
  return sum_of_mixtures(job, values);
}
std::uint64_t checksum(const frontier::FrontierJob& job, std::span<const std::uint64_t> values) {
  return sum_of_mixtures(job, values);
}
std::uint64_t checksum(const frontier::FrontierJob& job, std::span<const float> values) {
  return sum_of_mixtures(job, values);
}
std::uint64_t checksum(const frontier::FrontierJob& job, std::span<const double> values) {
  return sum_of_mixtures(job, values);
}

std::uint64_t checksum_of_all(std::span<const std::uint32_t> values) {
  std::uint64_t sum = 0;
  for (std::uint32_t v = 0; v < values.size(); ++v) sum += mixture(v, values[v]);
  return sum;
}

std::uint64_t checksum_of_all(std::span<const double> values) {
  std::uint64_t sum = 0;
  for (std::uint32_t v = 0; v < values.size(); ++v) sum += mixture(v, bits_of(values[v]));
  return sum;
}

namespace {

/// Says what is wrong with options of kernels that sweep tiles, where others are asked for the same.
void refuse_tile_options(CLI::App& command) {
  for (const std::string option : {"--order", "--layout", "--strategy", "--wire"}) {
    const auto refuse = [option, kernel = command.get_name()](const std::string&) {
      throw UsageError(
          fmt::format("{} is of pagerank, ppr and spmv, which have tiles; {} follows the edges of a "
                      "frontier: leave it out",
                      option, kernel));
    };
    command.add_option_function<std::string>(option, refuse)->group("");
  }
}

}  // namespace

void add_frontier_options(CLI::App& command, JobOptions& options, const std::function<void()>& own,
                          const std::string& output_help, const std::string& verify_help,
                          const FrontierTop& top) {
  options.owner = &command;
  add_rule_of_weights(command);
  add_graph_input(command, options.graph_path, options.reading);
  command.option_defaults()->group("Kernel");
  own();
  add_launch_options(command, options.launch);
  add_workers_option(command, options.workers);
  add_transport_option(command, options.transport);
  add_integrity_option(command, options.integrity);
  add_verbs_options(command, options.verbs);
  add_dpdk_options(command, options.dpdk);
  command.option_defaults()->group("What is sent");
  reads(command
            .add_option("--ownership", options.ownership,
                        "who owns a vertex: hash, ranges, or a partition file with a part for each line")
            ->capture_default_str(),
        partition_files);
  command.add_flag("--deterministic", options.deterministic,
                   "give bit-identical results from run to run: bfs --parents takes the smallest of several "
                   "parents, bc adds up in a fixed order; the other kernels always do");
  refuse_tile_options(command);
  command.option_defaults()->group("Output");
  writes(
      command.add_option("-o,--output", options.output_path, output_help + "; .gz and .zst are compressed"),
      Form::text);
  writes(command.add_option("--json", options.json_path,
                            "write the run report to this file as JSON; - is stdout"),
         Form::text);
  add_top_option(command, options, top.what, top.by_default);
  command.add_flag("--verify", options.verify, verify_help);
}

void run_frontier(const JobOptions& options, const std::function<void(const graph::GraphFile&)>& check,
                  const std::function<std::unique_ptr<FrontierKernel>()>& make) {
  if (options.ownership.starts_with("auto") && (options.ownership.size() == 4 || options.ownership[4] == ','))
    throw UsageError(
        "--ownership auto counts what pagerank would send: name hash, ranges or a partition file");
  expect_stdout_for("--top", options.top.value_or(0) > 0, options);
  options.edge_place.check();
  const auto opened = open_graph(options.graph_path, options.reading,
                                 options.edge_place.memory_bytes);  // processes inherit the mapping
  const graph::GraphFile& graph = opened.file;
  const graph::VertexNames vertex_names(graph);  // inherited, too
  frontier::Options known;
  known.ownership = options.ownership;
  frontier::check(known, graph);
  check(graph);
  const auto names = make()->runs();
  std::vector<std::string> paths;
  for (std::size_t r = 0; r < names.size(); ++r) paths.push_back(output_path(options, names, r));
  if (!options.output_path.empty() && !paths.empty()) check_files(*options.owner, "-o", paths);
  const int status = run_job(options.launch, [&](launch::Bootstrap& bootstrap) {
    run_process(bootstrap, opened, vertex_names, options, *make());
  });
  if (status != 0) throw CLI::RuntimeError(status);
}

}  // namespace edgewire::cli
