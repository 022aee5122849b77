#include "kernels/sssp.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/interrupt.h"
#include "cli/job_options.h"
#include "cli/vertex_lines.h"
#include "error.h"
#include "frontier/settle.h"
#include "graph/vertex_names.h"
#include "kernels/verify.h"
#include "launch/packing.h"
#include "report/run_report.h"

namespace edgewire::cli {

namespace {

struct Settings {
  JobOptions job;
  std::string source_name;
  std::uint32_t source = 0;
  double delta = 0;  ///< 0: the usual one
  bool unit_weights = false;
};

frontier::Options frontier_options(const job::DenseOptions& resolved, const Settings& settings) {
  frontier::Options options;
  options.workers = resolved.workers;
  options.transport = resolved.transport;
  options.ownership = resolved.ownership;
  options.peer_timeout_s = resolved.peer_timeout_s;
  options.verbs = resolved.verbs;
  options.dpdk = resolved.dpdk;
  options.kernel = fmt::format("sssp from {}, delta {}{}", settings.source, settings.delta,
                               settings.unit_weights ? ", unit weights" : "");
  return options;
}

/// Sum of the weights of this process's edges. Throws Error when one is negative.
double weight_sum(frontier::FrontierJob& job) {
  std::vector<double> sums(static_cast<std::size_t>((job.owned() >> 14) + 1));  // a range each, so that the
  job.for_each_range([&](int, std::uint32_t first, std::uint32_t last) {        // order of adding is given
    double sum = 0;
    for (std::uint32_t local = first; local < last; ++local) {
      const graph::Row row{job.graph(), job.ownership().vertex(job.rank(), local)};
      const auto weights = row.weights();
      for (std::size_t e = 0; e < weights.size(); ++e) {
        sum += static_cast<double>(weights[e]);
        if (weights[e] >= 0) continue;
        const graph::VertexNames names(job.graph());
        throw Error(fmt::format("{}: edge {} -> {} has weight {:g}; sssp needs weights that are not negative",
                                job.graph().path(), names(row.vertex), names(row.targets()[e]), weights[e]));
      }
    }
    sums[first >> 14] = sum;
  });
  double sum = 0;
  for (const double one : sums) sum += one;
  return sum;
}

kernels::Sssp make_program(frontier::FrontierJob& job, const Settings& settings) {
  kernels::Sssp program;
  program.unit_weights = settings.unit_weights;
  double sum = static_cast<double>(job.graph().edges());
  if (!settings.unit_weights) {
    sum = 0;
    for (const auto& one : launch::allgather(job.bootstrap(), std::vector{weight_sum(job)})) sum += one[0];
  }
  program.delta = settings.delta > 0 ? settings.delta
                                     : kernels::usual_delta(sum, job.graph().edges(), job.graph().vertices());
  return program;
}

std::uint64_t checksum(frontier::FrontierJob& job, std::span<const float> distances) {
  std::uint64_t sum = 0;
  for (std::uint32_t local = 0; local < distances.size(); ++local) {
    std::uint64_t mixed = std::bit_cast<std::uint32_t>(distances[local]) +
                          (std::uint64_t{job.ownership().vertex(job.rank(), local)} + 1) * 0x9E3779B97F4A7C15;
    mixed = (mixed ^ (mixed >> 31)) * 0xBF58476D1CE4E5B9;
    sum += mixed ^ (mixed >> 29);
  }
  return sum;
}

/// Figures of a process that are not of a superstep.
struct Summary {
  double seconds_load, seconds_kernel, seconds_total;
  std::uint64_t peak_rss_bytes, checksum;
};

/// At rank 0 the report of all processes. Collective.
report::RunReport gather_report(frontier::FrontierJob& job,
                                const std::vector<frontier::Superstep>& supersteps, const Summary& mine,
                                const kernels::Sssp& program) {
  report::RunReport report;
  report.kernel = "sssp";
  report.vertices = job.graph().vertices();
  report.edges = job.graph().edges();
  report.processes = job.bootstrap().size();
  report.workers = job.pool().workers();
  report.transport = job.link().name();
  report.strategy = "records";
  report.wire = "f32";
  report.layout = "given";
  report.has_supersteps = true;
  for (const auto& one : supersteps) {
    const double from = static_cast<double>(one.bucket) * program.delta;
    report.supersteps.push_back({fmt::format("distances from {:.6g}", from), 0, 0, 0, 0, 0});
  }
  const auto steps = job.bootstrap().gather(launch::pack(supersteps));
  const auto summaries = job.bootstrap().gather(launch::pack(std::vector{mine}));
  for (auto& place : job.bootstrap().gather(job.place())) report.placement.push_back(std::move(place));
  for (std::size_t p = 0; p < summaries.size(); ++p) {
    const auto theirs = launch::unpack<frontier::Superstep>(steps[p], p, supersteps.size());
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      report.supersteps[i].frontier += theirs[i].frontier;
      report.supersteps[i].edges += theirs[i].edges;
      report.supersteps[i].payload_bytes_sent += theirs[i].payload_bytes;
      report.supersteps[i].wire_bytes_sent += theirs[i].wire_bytes;
      report.supersteps[i].seconds = std::max(report.supersteps[i].seconds, theirs[i].seconds);
    }
    const auto one = launch::unpack<Summary>(summaries[p], p, 1)[0];
    report.seconds_load = std::max(report.seconds_load, one.seconds_load);
    report.seconds_kernel = std::max(report.seconds_kernel, one.seconds_kernel);
    report.seconds_total = std::max(report.seconds_total, one.seconds_total);
    report.peak_rss_bytes = std::max(report.peak_rss_bytes, one.peak_rss_bytes);
    report.checksum += one.checksum;
  }
  return report;
}

/// At rank 0: checks the result and writes output and report.
void conclude(const graph::GraphFile& graph, const Settings& settings, std::span<const float> distances,
              report::RunReport& report) {
  const JobOptions& asked = settings.job;
  if (asked.verify) {
    const std::string fault = kernels::check_sssp(graph, settings.source, distances, settings.unit_weights);
    if (!fault.empty()) throw Error("the result is wrong: " + fault);
    report.checks.emplace_back(
        "no edge is shorter than the distances at its ends allow, and a path of edges as "
        "long as its distance leads to each vertex that is reached");
  }
  if (!asked.json_path.empty()) write_whole(asked.json_path, report.to_json());
  if (!asked.output_path.empty()) {
    VertexLines lines(graph);
    for (std::uint32_t v = 0; v < distances.size(); ++v) lines.add_distance(v, distances[v]);
    write_whole(asked.output_path, lines.take());
  }
  if (asked.output_path != "-" && asked.json_path != "-") write_whole("-", report.to_text());
}

/// One process of the job.
void run(launch::Bootstrap& bootstrap, const Settings& settings) {
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [](auto since) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
  };
  const JobOptions& asked = settings.job;
  const auto options = frontier_options(asked.dense(bootstrap), settings);
  const bool first = bootstrap.rank() == 0;
  std::optional<InterruptLine> interrupt_line;
  if (first) {
    check_writable(asked.output_path);
    check_writable(asked.json_path);
    interrupt_line.emplace();
  }
  const auto graph = graph::GraphFile::open(asked.graph_path);
  frontier::FrontierJob job(bootstrap, graph, options);
  const auto program = make_program(job, settings);
  const auto kernel_start = std::chrono::steady_clock::now();
  frontier::Settling settling(job, program);
  const auto supersteps = settling.run(settings.source, 0);
  const double seconds_kernel = seconds(kernel_start);
  const auto mine = settling.values();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  auto report = gather_report(job, supersteps,
                              {job.seconds_load, seconds_kernel, seconds(start),
                               static_cast<std::uint64_t>(usage.ru_maxrss) * 1024, checksum(job, mine)},
                              program);
  report.graph = asked.graph_path;
  report.ownership = options.ownership;
  report.options = {
      {"source", settings.source_name}, {"delta", program.delta}, {"unit_weights", settings.unit_weights}};
  std::vector<float> distances;
  const bool wanted = asked.verify || !asked.output_path.empty();
  if (!bootstrap.allgather(wanted ? "wanted" : "")[0].empty()) distances = frontier::gather_values(job, mine);
  if (first) conclude(graph, settings, distances, report);
}

void add_options(CLI::App& command, Settings& settings) {
  JobOptions& job = settings.job;
  command.add_option("graph", job.graph_path, "a graph file (.ew), as convert and generate write it")
      ->required();
  command.option_defaults()->group("Kernel");
  command
      .add_option("--source", settings.source_name, "the vertex where all paths start, by its id or label")
      ->required();
  command
      .add_option(
          "--delta", settings.delta,
          "the width of a bucket of distances; by default a quarter of average weight / average degree")
      ->check(between(1e-300, 1e300));
  command.add_flag("--unit-weights", settings.unit_weights, "let each edge have weight 1");
  add_launch_options(command, job.launch);
  command
      .add_option("-w,--workers", job.workers,
                  "start this many workers (threads) in each process; by default one for each core, shared "
                  "out among the processes of a host")
      ->check(CLI::Range(1, 1024));
  add_transport_option(command, job.transport);
  add_verbs_options(command, job.verbs);
  add_dpdk_options(command, job.dpdk);
  command
      .add_option("--ownership", job.ownership,
                  "who owns a vertex: hash, ranges, or a partition file with a part for each line")
      ->capture_default_str();
  command.option_defaults()->group("Output");
  command.add_option(
      "-o,--output", job.output_path,
      "write the distances to this file as lines of id, tab and value, `infinity` where no path "
      "leads; - is stdout");
  command.add_option("--json", job.json_path, "write the run report to this file as JSON; - is stdout");
  command.add_flag("--verify", job.verify,
                   "check that the distances are those of shortest paths, and exit with 1 when they are not");
}

/// What is wrong is said here once, not by each process.
void check(Settings& settings) {
  const JobOptions& job = settings.job;
  if (job.output_path == "-" && job.json_path == "-")
    throw UsageError("-o - and --json -: only one of them can have stdout");
  const auto graph = graph::GraphFile::open(job.graph_path);
  const auto source = graph::VertexNames(graph).find(settings.source_name);
  if (!source)
    throw Error(fmt::format("--source {}: {} has no such vertex", settings.source_name, job.graph_path));
  settings.source = *source;
  if (!settings.unit_weights && !graph.weighted()) {
    throw Error(
        fmt::format("{}: the graph has no weights: convert it from a file with weights, or say "
                    "--unit-weights",
                    job.graph_path));
  }
}

}  // namespace

void add_sssp(CLI::App& app) {
  auto settings = std::make_shared<Settings>();
  CLI::App* command =
      app.add_subcommand("sssp", "compute the lengths of the shortest paths from a vertex by delta stepping");
  command->footer(
      "The length of a path is the sum of its edges' weights, none of which is negative. Paths follow edges "
      "in "
      "their direction. Sums are floats, and the same in every run.");
  add_options(*command, *settings);
  command->callback([settings] {
    check(*settings);
    const int status =
        launch::run(settings->job.launch, [&](launch::Bootstrap& bootstrap) { run(bootstrap, *settings); });
    if (status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace edgewire::cli
