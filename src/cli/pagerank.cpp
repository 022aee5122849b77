#include "kernels/pagerank.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/interrupt.h"
#include "cli/job_options.h"
#include "cli/output_parts.h"
#include "cli/stages.h"
#include "cli/top.h"
#include "error.h"
#include "graph/vertex_names.h"
#include "kernels/gather.h"
#include "kernels/reference.h"
#include "perf/job_report.h"
#include "perf/profile.h"
#include "perf/trace.h"

namespace edgewire::cli {

namespace {

constexpr double kErrorLimit = 1e-6;

struct Settings {
  JobOptions job;
  kernels::PageRankOptions pagerank;
  std::string checkpoint;
  std::string resume;
  int every = 10;
  std::uint64_t top = 0;  ///< vertices to print

  std::string describe() const {
    return fmt::format("pagerank{}, {} iterations, damping {}, tolerance {}",
                       pagerank.form_2015 ? " 2015" : "", pagerank.iterations, pagerank.damping,
                       pagerank.tolerance);
  }

  /// All that the ranks after so many iterations depend on.
  std::string state(const graph::GraphFile& graph, const kernels::DenseOptions& options) const {
    return fmt::format("pagerank{}, damping {}, wire {}, graph {:016x} with {} vertices and {} edges",
                       pagerank.form_2015 ? " 2015" : "", pagerank.damping, plan::to_name(options.encoding),
                       graph.checksum(), graph.vertices(), graph.edges());
  }
};

report::RunReport::Verification verify(const graph::GraphFile& graph, kernels::PageRankOptions options,
                                       int iterations, std::span<const float> ranks,
                                       double wire_error_bound) {
  options.iterations = iterations;
  const auto expected = kernels::reference_pagerank(graph, options);
  report::RunReport::Verification result;
  double differences = 0, sum = 0;
  for (std::size_t v = 0; v < expected.size(); ++v) {
    const double difference = std::fabs(ranks[v] - expected[v]);
    const double error = expected[v] == 0 ? difference : difference / std::fabs(expected[v]);
    if (!(error <= result.max_relative_error)) result.max_relative_error = error;  // keeps NaN
    differences += difference;
    sum += expected[v];
  }
  result.sum_error = sum == 0 ? differences : differences / sum;
  result.limit = wire_error_bound > 0 ? wire_error_bound : kErrorLimit;
  result.passed = (wire_error_bound > 0 ? result.sum_error : result.max_relative_error) <= result.limit;
  return result;
}

void add_line(fmt::memory_buffer& text, const graph::VertexNames& names, std::uint32_t vertex, float rank) {
  names.append(text, vertex);
  fmt::format_to(std::back_inserter(text), "\t{:.9g}\n", rank);
}

std::string to_lines(const graph::GraphFile& graph, std::span<const float> ranks) {
  const graph::VertexNames names(graph);
  fmt::memory_buffer text;
  for (std::uint32_t v = 0; v < ranks.size(); ++v) add_line(text, names, v, ranks[v]);
  return fmt::to_string(text);
}

/// Of the owned vertices, `ranks` by index.
std::string owned_lines(const kernels::DenseJob& job, std::span<const float> ranks) {
  const graph::VertexNames names(job.graph());
  fmt::memory_buffer text;
  for (const std::uint32_t index : job.owned().indexes())
    add_line(text, names, job.owned().ids()[index], ranks[index]);
  return fmt::to_string(text);
}

/// At rank 0: checks the result and writes the report and, where it is one file, the output.
void conclude(const graph::GraphFile& graph, const Settings& settings, int taken_up,
              std::span<const float> ranks, report::RunReport& report) {
  const JobOptions& job_options = settings.job;
  if (job_options.verify) {
    report.verification.push_back(verify(graph, settings.pagerank,
                                         taken_up + static_cast<int>(report.iterations.size()), ranks,
                                         report.wire_error_bound));
  }
  const bool right = !job_options.verify || report.verification[0].passed;
  if (!job_options.json_path.empty()) write_whole(job_options.json_path, report.to_json());
  if (right && !job_options.output_path.empty() && !job_options.output_parts)
    write_whole(job_options.output_path, to_lines(graph, ranks));
  if (right) return;
  if (job_options.output_path != "-" && job_options.json_path != "-") write_whole("-", report.to_text());
  const auto& check = report.verification[0];
  throw Error(fmt::format("the result differs from the reference by {:.2g}, more than {:.2g}",
                          report.wire_error_bound > 0 ? check.sum_error : check.max_relative_error,
                          check.limit));
}

/// What the checkpoint holds; rank 0 says how far that is. Throws UsageError when the run would end before.
kernels::ResumedState take_up(launch::Bootstrap& bootstrap, const Settings& settings, const std::string& what,
                              const kernels::DenseJob& job) {
  auto state = kernels::resume(bootstrap, settings.resume, what, job);
  const auto iterations = static_cast<std::uint64_t>(settings.pagerank.iterations);
  if (state.iteration > iterations) {
    throw UsageError(fmt::format(
        "--iterations {}: the checkpoint in {} is from after iteration {}, say --iterations {} or more",
        iterations, settings.resume, state.iteration, state.iteration));
  }
  if (bootstrap.rank() == 0 && settings.job.output_path != "-" && settings.job.json_path != "-")
    write_whole("-", fmt::format("continues after iteration {} from the checkpoint in {}\n", state.iteration,
                                 settings.resume));
  return state;
}

/// One process of the job.
void run(launch::Bootstrap& bootstrap, const Settings& settings) {
  const auto start = std::chrono::steady_clock::now();
  const JobOptions& job_options = settings.job;
  auto options = job_options.dense(bootstrap);
  options.kernel = settings.describe() + (job_options.profiled() ? ", profiled" : "") +
                   (job_options.output_parts ? ", output in parts" : "");
  const bool parts = job_options.output_parts && !job_options.output_path.empty();
  if (parts) check_writable(part_path(job_options.output_path, bootstrap.rank(), bootstrap.size()));
  if (bootstrap.rank() == 0) {
    if (!parts) check_writable(job_options.output_path);
    check_writable(job_options.json_path);
    check_writable(job_options.profile_path);
    check_writable(job_options.trace_path);
  }
  const auto graph = graph::GraphFile::open(job_options.graph_path);
  options.progress = stages_on_terminal("", bootstrap.rank() == 0);
  if (bootstrap.rank() == 0) options.progress = tell_when_interrupted(options.progress);
  kernels::DenseJob job(bootstrap, graph, options);
  if (bootstrap.rank() == 0 && !job.plan_cache_note().empty())
    fmt::print(stderr, "edgewire: warning: {}\n", job.plan_cache_note());
  kernels::PageRank pagerank(job, settings.pagerank);
  std::unique_ptr<kernels::Checkpoint> checkpoint;
  const std::string what = settings.state(graph, options);
  if (!settings.resume.empty()) pagerank.take_up(take_up(bootstrap, settings, what, job));
  if (!settings.checkpoint.empty()) {
    checkpoint =
        std::make_unique<kernels::Checkpoint>(bootstrap, job, settings.checkpoint, what, settings.resume);
    pagerank.keep(*checkpoint, settings.every);
  }
  std::optional<perf::Profiler> profiler;
  if (job_options.profiled()) {
    const std::chrono::duration<double> interval(job_options.sample_interval_s);
    profiler.emplace(bootstrap, job, options,
                     perf::ProfileOptions{settings.pagerank.iterations,
                                          std::chrono::duration_cast<std::chrono::milliseconds>(interval)});
  }
  perf::ProcessFigures figures;
  const auto iterations = static_cast<std::uint64_t>(settings.pagerank.iterations);
  figures.iterations = pagerank.run(
      [&](int done) { options.progress("iterate", static_cast<std::uint64_t>(done), iterations); },
      profiler ? profiler->observer() : nullptr);
  options.progress = {};  // takes the bar away
  figures.seconds_total = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  figures.checksum = kernels::checksum(job, pagerank.ranks());
  auto report = perf::gather_report(bootstrap, job, options, "pagerank", figures);
  if (bootstrap.size() > 1)
    report.wire_error_bound = kernels::rounding_bound(settings.pagerank, options.encoding);
  report.resumed_from = static_cast<std::uint64_t>(pagerank.taken_up());
  report.top =
      top_vertices(bootstrap, job, settings.top, [&](std::uint32_t i) { return pagerank.ranks()[i]; });
  if (profiler) {
    const auto profile = profiler->gather();
    if (bootstrap.rank() == 0) {
      report.profile_json = profile.to_json();
      report.profile_text = profile.to_text();
      if (!job_options.profile_path.empty()) {
        write_whole(
            job_options.profile_path,
            profile.to_html(fmt::format("{} of {}", settings.describe(), job_options.graph_path),
                            fmt::format("processes {}, workers of each {}, {}, strategy {}", report.processes,
                                        report.workers, report.transport, report.strategy)));
      }
      if (!job_options.trace_path.empty())
        write_whole(job_options.trace_path, perf::trace_for(job_options.trace_path, profile));
    }
  }
  std::vector<float> ranks;
  const bool wanted = job_options.verify || !(job_options.output_path.empty() || parts);
  if (!bootstrap.allgather(wanted ? "wanted" : "")[0].empty())
    ranks = kernels::gather_values(bootstrap, job, pagerank.ranks());
  if (bootstrap.rank() == 0) conclude(graph, settings, pagerank.taken_up(), ranks, report);
  if (parts) write_part(bootstrap, job_options.output_path, owned_lines(job, pagerank.ranks()));
  if (bootstrap.rank() == 0 && job_options.output_path != "-" && job_options.json_path != "-")
    write_whole("-", report.to_text());
}
}  // namespace

void add_pagerank(CLI::App& app) {
  auto settings = std::make_shared<Settings>();
  CLI::App* command = app.add_subcommand("pagerank", "the rank of every vertex by power iteration");
  settings->job.add_to(*command);
  command->add_option("--iterations", settings->pagerank.iterations, "at most so many")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  command->add_option("--damping", settings->pagerank.damping, "share of rank that follows edges")
      ->check(between(0, 1))
      ->capture_default_str();
  command
      ->add_option("--tolerance", settings->pagerank.tolerance, "stop when the ranks change by less in sum")
      ->check(between(0, 1e9))
      ->capture_default_str();
  command->add_flag("--pagerank-2015", settings->pagerank.form_2015,
                    "the unnormalised form: start 0, 1 - d + d * sum, dangling mass dropped");
  command->add_option("--checkpoint", settings->checkpoint,
                      "folder, seen by all hosts, to write the ranks to, whole or not at all");
  command->add_option("--every", settings->every, "iterations from one checkpoint to the next")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--resume", settings->resume,
                      "continue from the checkpoint in this folder, also with another number of processes");
  command->add_option("--top", settings->top, "print the K vertices of highest rank, highest first")
      ->type_name("K")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32));
  command->callback([settings] {
    if (settings->top > 0 && settings->job.output_path == "-")
      throw UsageError("--top and -o -: only one of them can have stdout");
    if (settings->job.encoding != "f32" && !(settings->checkpoint + settings->resume).empty())
      throw UsageError("--checkpoint and --resume need --wire f32: others carry rounding errors along");
    if (settings->job.output_parts && (settings->job.output_path.empty() || settings->job.output_path == "-"))
      throw UsageError("--output-parts needs -o with the name that the parts begin with");
    if (settings->job.output_path == "-" && settings->job.json_path == "-")
      throw UsageError("-o - and --json -: only one of them can have stdout");
    // One message instead of one from each process.
    const auto graph = graph::GraphFile::open(settings->job.graph_path);
    if (!settings->job.output_path.empty()) const graph::VertexNames names(graph);
    const int status =
        launch::run(settings->job.launch, [&](launch::Bootstrap& bootstrap) { run(bootstrap, *settings); });
    if (status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace edgewire::cli
