#include "cli/frontier_command.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <bit>
#include <chrono>
#include <memory>
#include <optional>

#include "cli/common.h"
#include "cli/interrupt.h"
#include "error.h"
#include "graph/vertex_names.h"
#include "launch/packing.h"

namespace edgewire::cli {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

frontier::Options frontier_options(const job::DenseOptions& resolved, const FrontierKernel& kernel) {
  frontier::Options options;
  options.workers = resolved.workers;
  options.transport = resolved.transport;
  options.ownership = resolved.ownership;
  options.peer_timeout_s = resolved.peer_timeout_s;
  options.verbs = resolved.verbs;
  options.dpdk = resolved.dpdk;
  options.integrity = resolved.integrity;
  options.record_bytes = kernel.record_bytes();
  options.kernel = kernel.describe();
  return options;
}

/// Figures of a process that are not of a superstep.
struct Summary {
  double seconds_load, seconds_kernel, seconds_total;
  std::uint64_t peak_rss_bytes, checksum;
};

/// At rank 0 the report of all processes. Collective.
report::RunReport gather_report(frontier::FrontierJob& job, const FrontierKernel& kernel,
                                const std::vector<frontier::Superstep>& supersteps, const Summary& mine) {
  report::RunReport report;
  report.vertices = job.graph().vertices();
  report.edges = job.graph().edges();
  report.processes = job.bootstrap().size();
  report.workers = job.pool().workers();
  report.transport = job.link().name();
  report.strategy = "records";
  report.layout = "given";
  report.has_supersteps = true;
  for (const auto& one : supersteps) report.supersteps.emplace_back().phase = kernel.phase(one);
  const auto steps = job.bootstrap().gather(launch::pack(supersteps));
  const auto summaries = job.bootstrap().gather(launch::pack(std::vector{mine}));
  for (auto& place : job.bootstrap().gather(job.place())) report.placement.push_back(std::move(place));
  for (std::size_t p = 0; p < summaries.size(); ++p) {
    const auto theirs = launch::unpack<frontier::Superstep>(steps[p], p, supersteps.size());
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      report.supersteps[i].frontier += theirs[i].frontier;
      report.supersteps[i].edges += theirs[i].edges;
      report.supersteps[i].record_bytes += theirs[i].sent.record_bytes;
      report.supersteps[i].payload_bytes_sent += theirs[i].sent.payload_bytes;
      report.supersteps[i].wire_bytes_sent += theirs[i].sent.wire_bytes;
      report.supersteps[i].seconds = std::max(report.supersteps[i].seconds, theirs[i].seconds);
    }
    const auto one = launch::unpack<Summary>(summaries[p], p, 1)[0];
    report.seconds_load = std::max(report.seconds_load, one.seconds_load);
    report.seconds_kernel = std::max(report.seconds_kernel, one.seconds_kernel);
    report.seconds_total = std::max(report.seconds_total, one.seconds_total);
    report.peak_rss_bytes = std::max(report.peak_rss_bytes, one.peak_rss_bytes);
    report.checksum += one.checksum;
  }
  kernel.fill(report);
  return report;
}

/// At rank 0: checks the result and writes output and report.
void conclude(const graph::GraphFile& graph, const JobOptions& asked, const FrontierKernel& kernel,
              report::RunReport& report) {
  if (asked.verify) {
    const std::string fault = kernel.fault(graph);
    if (!fault.empty()) throw Error("the result is wrong: " + fault);
    report.checks.emplace_back(kernel.rules());
  }
  if (!asked.json_path.empty()) write_whole(asked.json_path, report.to_json());
  if (!asked.output_path.empty()) {
    VertexLines lines(graph);
    for (std::uint32_t v = 0; v < graph.vertices(); ++v) kernel.add_line(lines, v);
    write_whole(asked.output_path, lines.take());
  }
  if (asked.output_path != "-" && asked.json_path != "-") write_whole("-", report.to_text());
}

/// One process of the job.
void run_process(launch::Bootstrap& bootstrap, const JobOptions& asked, FrontierKernel& kernel) {
  const auto start = Clock::now();
  const auto options = frontier_options(asked.dense(bootstrap), kernel);
  const bool first = bootstrap.rank() == 0;
  std::optional<InterruptLine> interrupt_line;
  if (first) {
    check_writable(asked.output_path);
    check_writable(asked.json_path);
    interrupt_line.emplace(false);
  }
  const auto graph = graph::GraphFile::open(asked.graph_path);
  frontier::FrontierJob job(bootstrap, graph, options);
  kernel.prepare(job);
  const auto kernel_start = Clock::now();
  const auto supersteps = kernel.run(job);
  const double seconds_kernel = seconds_since(kernel_start);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  auto report = gather_report(job, kernel, supersteps,
                              {job.seconds_load, seconds_kernel, seconds_since(start),
                               static_cast<std::uint64_t>(usage.ru_maxrss) * 1024, kernel.checksum(job)});
  report.graph = asked.graph_path;
  report.ownership = options.ownership;
  const bool wanted = asked.verify || !asked.output_path.empty();
  if (!bootstrap.allgather(wanted ? "wanted" : "")[0].empty()) kernel.gather(job);
  if (first) conclude(graph, asked, kernel, report);
}

}  // namespace

namespace {

/// bits_of(local): of the value.
template <class BitsOf>
std::uint64_t sum_of_mixtures(const frontier::FrontierJob& job, const BitsOf& bits_of) {
  std::uint64_t sum = 0;
  for (std::uint32_t local = 0; local < job.owned(); ++local) {
    std::uint64_t mixed =
        bits_of(local) + (std::uint64_t{job.ownership().vertex(job.rank(), local)} + 1) * 0x9E3779B97F4A7C15;
    mixed = (mixed ^ (mixed >> 31)) * 0xBF58476D1CE4E5B9;
    sum += mixed ^ (mixed >> 29);
  }
  return sum;
}

}  // namespace

std::uint64_t checksum(const frontier::FrontierJob& job, std::span<const std::uint32_t> values) {
  return sum_of_mixtures(job, [&](std::uint32_t local) { return std::uint64_t{values[local]}; });
}

std::uint64_t checksum(const frontier::FrontierJob& job, std::span<const double> values) {
  return sum_of_mixtures(job,
                         [&](std::uint32_t local) { return std::bit_cast<std::uint64_t>(values[local]); });
}

void add_frontier_options(CLI::App& command, JobOptions& options, const std::function<void()>& own,
                          const std::string& output_help, const std::string& verify_help) {
  command.add_option("graph", options.graph_path, "a graph file (.ew), as convert and generate write it")
      ->required();
  command.option_defaults()->group("Kernel");
  own();
  add_launch_options(command, options.launch);
  command
      .add_option("-w,--workers", options.workers,
                  "start this many workers (threads) in each process; by default one for each core, shared "
                  "out among the processes of a host")
      ->check(CLI::Range(1, 1024));
  add_transport_option(command, options.transport);
  add_integrity_option(command, options.integrity);
  add_verbs_options(command, options.verbs);
  add_dpdk_options(command, options.dpdk);
  command
      .add_option("--ownership", options.ownership,
                  "who owns a vertex: hash, ranges, or a partition file with a part for each line")
      ->capture_default_str();
  command.option_defaults()->group("Output");
  command.add_option("-o,--output", options.output_path, output_help);
  command.add_option("--json", options.json_path, "write the run report to this file as JSON; - is stdout");
  command.add_flag("--verify", options.verify, verify_help);
}

std::uint32_t find_source(const graph::GraphFile& graph, const std::string& name) {
  const auto source = graph::VertexNames(graph).find(name);
  if (!source) throw Error(fmt::format("--source {}: {} has no such vertex", name, graph.path()));
  return *source;
}

void run_frontier(const JobOptions& options, const std::function<void(const graph::GraphFile&)>& check,
                  const std::function<std::unique_ptr<FrontierKernel>()>& make) {
  if (options.output_path == "-" && options.json_path == "-")
    throw UsageError("-o - and --json -: only one of them can have stdout");
  if (options.ownership.starts_with("auto") && (options.ownership.size() == 4 || options.ownership[4] == ','))
    throw UsageError(
        "--ownership auto counts what pagerank would send: name hash, ranges or a partition file");
  const auto graph = graph::GraphFile::open(options.graph_path);
  if (!options.output_path.empty()) const graph::VertexNames names(graph);
  check(graph);
  const int status = launch::run(
      options.launch, [&](launch::Bootstrap& bootstrap) { run_process(bootstrap, options, *make()); });
  if (status != 0) throw CLI::RuntimeError(status);
}

}  // namespace edgewire::cli
