#include "kernels/runs.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdint>
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
#include "job/gather.h"
#include "perf/job_report.h"
#include "perf/profile.h"
#include "perf/trace.h"

namespace edgewire::cli {

namespace {

struct Settings {
  JobOptions job;
  kernels::PageRankOptions pagerank;
  std::string checkpoint;
  std::string resume;
  int every = 10;
  std::uint64_t top = 0;  ///< vertices to print

  std::string describe() const {
    return fmt::format("pagerank{}{}, {} iterations, damping {}, tolerance {}, precision {}",
                       pagerank.form_2015 ? " 2015" : "", pagerank.weighted ? " weighted" : "",
                       pagerank.iterations, pagerank.damping, pagerank.tolerance, job.precision);
  }

  /// All that the ranks after so many iterations depend on.
  std::string state(const graph::GraphFile& graph, const job::DenseOptions& options) const {
    return fmt::format("pagerank{}{}, damping {}, wire {}, graph {:016x} with {} vertices and {} edges",
                       pagerank.form_2015 ? " 2015" : "", pagerank.weighted ? " weighted" : "",
                       pagerank.damping, plan::to_name(options.encoding), graph.checksum(), graph.vertices(),
                       graph.edges());
  }
};

report::RunReport::Verification verify(const graph::GraphFile& graph, kernels::PageRankOptions options,
                                       int iterations, std::span<const double> ranks,
                                       const kernels::ErrorBound& limits) {
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
  result.limit = limits.in_sum;
  result.vertex_limit = limits.vertex;
  result.passed = result.sum_error <= result.limit && result.max_relative_error <= result.vertex_limit;
  return result;
}

void add_line(fmt::memory_buffer& text, const graph::VertexNames& names, std::uint32_t vertex, double rank,
              int digits) {
  names.append(text, vertex);
  fmt::format_to(std::back_inserter(text), "\t{:.{}g}\n", rank, digits);
}

/// Digits that tell any two values of the precision apart.
int digits(const Settings& settings) { return settings.job.precision == "f64" ? 17 : 9; }

std::string to_lines(const graph::GraphFile& graph, std::span<const double> ranks, int digits) {
  const graph::VertexNames names(graph);
  fmt::memory_buffer text;
  for (std::uint32_t v = 0; v < ranks.size(); ++v) add_line(text, names, v, ranks[v], digits);
  return fmt::to_string(text);
}

/// Of the owned vertices, `ranks` by index.
std::string owned_lines(const job::DenseJob& job, std::span<const double> ranks, int digits) {
  const graph::VertexNames names(job.graph());
  fmt::memory_buffer text;
  for (const std::uint32_t index : job.owned().indexes())
    add_line(text, names, job.owned().ids()[index], ranks[index], digits);
  return fmt::to_string(text);
}

/// What the checkpoint holds; rank 0 says how far that is. Throws UsageError when the run would end before.
job::ResumedState take_up(launch::Bootstrap& bootstrap, const Settings& settings, const std::string& what,
                          const job::DenseJob& job) {
  auto state = job::resume(bootstrap, settings.resume, what, job);
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

/// What the iterations of one process gave.
struct Outcome {
  topology::NodeMemory memory;    ///< of the ranks
  std::span<const double> ranks;  ///< by index of the owned vertices
  std::vector<engine::IterationRecord> iterations;
  int taken_up = 0;  ///< iterations done before, see --resume
  double change = 0;
  kernels::Ending ending = kernels::Ending::iterations;
};

template <class Message>
Outcome iterate(launch::Bootstrap& bootstrap, const Settings& settings, job::DenseJob& job,
                const job::DenseOptions& options, engine::Observer* observer) {
  kernels::PageRank<Message> program(settings.pagerank, job.graph().vertices());
  job::DenseRun run(job, program);
  const std::string what = settings.state(job.graph(), options);
  if (!settings.resume.empty()) run.take_up(take_up(bootstrap, settings, what, job));
  std::optional<job::Checkpoint> checkpoint;
  if (!settings.checkpoint.empty())
    checkpoint.emplace(bootstrap, job, settings.checkpoint, what, settings.resume);
  const auto iterations = static_cast<std::uint64_t>(settings.pagerank.iterations);
  Outcome outcome;
  outcome.iterations = run.iterate(
      {settings.pagerank.iterations, settings.pagerank.tolerance > 0,
       [&](int done) { options.progress("iterate", static_cast<std::uint64_t>(done), iterations); }, observer,
       checkpoint ? &*checkpoint : nullptr, settings.every});
  outcome.ranks = run.values();
  outcome.memory = run.take_values();
  outcome.taken_up = run.taken_up();
  outcome.change = run.totals().change;
  outcome.ending = program.convergence.ending();
  return outcome;
}

/// How near the ranks are to those that iterations without end would give.
report::RunReport::Convergence convergence(const Settings& settings, const Outcome& outcome) {
  const auto& asked = settings.pagerank;
  report::RunReport::Convergence result{outcome.change, outcome.ending == kernels::Ending::tolerance, {}};
  const auto done = outcome.iterations.size();
  if (done == 0) {
    result.text = "no iteration was computed\n";
    return result;
  }
  result.text = fmt::format("the last iteration changed the ranks by {:.3g} in sum; ", outcome.change);
  if (asked.tolerance == 0)
    result.text += "no --tolerance was asked for\n";
  else if (outcome.ending == kernels::Ending::tolerance)
    result.text += fmt::format("tolerance {:g} reached after {} iterations\n", asked.tolerance, done);
  else if (outcome.ending == kernels::Ending::stalled)
    result.text += fmt::format(
        "tolerance {:g} NOT reached: stopped after {} iterations, since the change no longer falls{}\n",
        asked.tolerance, done, settings.job.precision == "f64" ? "" : " (--precision f64 rounds less)");
  else
    result.text += fmt::format("tolerance {:g} NOT reached in {} iterations\n", asked.tolerance, done);
  if (asked.damping < 1) {
    // An iteration brings any two sets of ranks nearer to each other by the factor `damping`, in sum.
    result.text += fmt::format(
        "more iterations would change the ranks by at most {:.3g} in sum; single ranks may change by a "
        "larger part of their value\n",
        outcome.change * asked.damping / (1 - asked.damping));
  }
  return result;
}

void set_asked(report::RunReport& report, const Settings& settings) {
  const auto& asked = settings.pagerank;
  report.graph = settings.job.graph_path;
  report.options = {{"iterations", std::int64_t{asked.iterations}},
                    {"damping", asked.damping},
                    {"tolerance", asked.tolerance},
                    {"precision", settings.job.precision},
                    {"weighted", asked.weighted},
                    {"pagerank_2015", asked.form_2015}};
}

/// At rank 0: checks the result and writes the report and, where it is one file, the output.
void conclude(const graph::GraphFile& graph, const Settings& settings, const kernels::ErrorBound& limits,
              int iterations, std::span<const double> ranks, report::RunReport& report) {
  const JobOptions& job_options = settings.job;
  if (job_options.verify)
    report.verification.push_back(verify(graph, settings.pagerank, iterations, ranks, limits));
  const bool right = !job_options.verify || report.verification[0].passed;
  if (!job_options.json_path.empty()) write_whole(job_options.json_path, report.to_json());
  if (right && !job_options.output_path.empty() && !job_options.output_parts)
    write_whole(job_options.output_path, to_lines(graph, ranks, digits(settings)));
  if (right) return;
  if (job_options.output_path != "-" && job_options.json_path != "-") write_whole("-", report.to_text());
  const auto& check = report.verification[0];
  throw Error(
      fmt::format("the result differs from the reference: in sum by {:.2g} (limit {:.2g}), a single rank by "
                  "{:.2g} (limit {:.2g})",
                  check.sum_error, check.limit, check.max_relative_error, check.vertex_limit));
}

/// At rank 0: page and trace.
void write_profile(const perf::Profile& profile, const Settings& settings, report::RunReport& report) {
  const JobOptions& job_options = settings.job;
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

/// One process of the job.
void run(launch::Bootstrap& bootstrap, const Settings& settings) {
  const auto start = std::chrono::steady_clock::now();
  const JobOptions& job_options = settings.job;
  auto options = job_options.dense(bootstrap);
  options.kernel = settings.describe() + (job_options.profiled() ? ", profiled" : "") +
                   (job_options.output_parts ? ", output in parts" : "");
  const bool parts = job_options.output_parts && !job_options.output_path.empty();
  const bool first = bootstrap.rank() == 0;
  if (parts) check_part_writable(bootstrap, job_options.output_path);
  if (first) {
    if (!parts) check_writable(job_options.output_path);
    check_writable(job_options.json_path);
    check_writable(job_options.profile_path);
    check_writable(job_options.trace_path);
  }
  const auto graph = graph::GraphFile::open(job_options.graph_path);
  if (first && graph.weighted() && !options.weighted)
    fmt::print(stderr, "edgewire: {} has weights, which are ignored: --weighted uses them\n", graph.path());
  options.progress = stages_on_terminal("", first);
  std::optional<InterruptLine> interrupt_line;
  if (first) {
    interrupt_line.emplace();
    options.progress = InterruptLine::listen(options.progress);
  }
  job::DenseJob job(bootstrap, graph, options);
  if (first && !job.plan_cache_note().empty())
    fmt::print(stderr, "edgewire: warning: {}\n", job.plan_cache_note());
  std::optional<perf::Profiler> profiler;
  if (job_options.profiled()) {
    const std::chrono::duration<double> interval(job_options.sample_interval_s);
    profiler.emplace(bootstrap, job, options,
                     perf::ProfileOptions{settings.pagerank.iterations,
                                          std::chrono::duration_cast<std::chrono::milliseconds>(interval)});
  }
  const auto iterate_all = options.encoding == plan::Encoding::f64 ? iterate<double> : iterate<float>;
  const Outcome outcome =
      iterate_all(bootstrap, settings, job, options, profiler ? profiler->observer() : nullptr);
  options.progress = {};  // takes the bar away
  const std::chrono::duration<double> total = std::chrono::steady_clock::now() - start;
  auto report = perf::gather_report(bootstrap, job, options, "pagerank",
                                    {outcome.iterations, total.count(), job::checksum(job, outcome.ranks)});
  const int iterations = outcome.taken_up + static_cast<int>(outcome.iterations.size());
  const auto limits = kernels::error_bound(settings.pagerank, iterations, options.encoding, bootstrap.size());
  report.resumed_from = static_cast<std::uint64_t>(outcome.taken_up);
  report.top = top_vertices(bootstrap, job, settings.top, [&](std::uint32_t i) { return outcome.ranks[i]; });
  report.rounding_bound = limits.in_sum;
  if (std::isinf(limits.vertex)) report.wire_error_bound = limits.in_sum;
  report.convergence.push_back(convergence(settings, outcome));
  set_asked(report, settings);
  if (profiler) {
    const auto profile = profiler->gather();
    if (first) write_profile(profile, settings, report);
  }
  std::vector<double> ranks;
  const bool wanted = job_options.verify || !(job_options.output_path.empty() || parts);
  if (!bootstrap.allgather(wanted ? "wanted" : "")[0].empty())
    ranks = job::gather_values(bootstrap, job, outcome.ranks);
  if (first) conclude(graph, settings, limits, iterations, ranks, report);
  if (parts)
    write_part(bootstrap, job_options.output_path, owned_lines(job, outcome.ranks, digits(settings)));
  if (first && job_options.output_path != "-" && job_options.json_path != "-")
    write_whole("-", report.to_text());
}

}  // namespace

void add_pagerank(CLI::App& app) {
  auto settings = std::make_shared<Settings>();
  CLI::App* command = app.add_subcommand("pagerank", "compute the rank of every vertex by power iteration");
  command->footer(
      "What PageRank means here: all ranks start at 1/n and always sum to 1. In each iteration a vertex "
      "gives "
      "the share --damping of its rank to the targets of its edges, and the rest goes to all vertices "
      "evenly. "
      "An edge that occurs several times counts as often as it occurs. A vertex without out-edges gives its "
      "rank to all vertices evenly. Weights are ignored, unless --weighted shares out in proportion to "
      "them.");
  command->option_defaults()->group("Kernel");
  command->add_option("--iterations", settings->pagerank.iterations, "stop after this many iterations")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  command->add_option("--damping", settings->pagerank.damping, "let this share of a rank follow the edges")
      ->check(between(0, 1))
      ->capture_default_str();
  command
      ->add_option("--tolerance", settings->pagerank.tolerance,
                   "stop when all changes of an iteration sum to less than this; 0: never")
      ->check(between(0, 1e9))
      ->capture_default_str();
  command->add_flag(
      "--pagerank-2015", settings->pagerank.form_2015,
      "compute the form of 2015 instead: ranks start at 0, a new one is 1 - d + d * sum, and what vertices "
      "without out-edges have is dropped");
  settings->job.add_to(*command);
  command->option_defaults()->group("Output");
  command->add_option("--top", settings->top, "print the K vertices of highest rank, highest first")
      ->type_name("K")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32));
  command->option_defaults()->group("Checkpoints");
  command->add_option("--checkpoint", settings->checkpoint,
                      "keep the ranks in this folder, which all hosts see, whole or not at all");
  command->add_option("--every", settings->every, "write a checkpoint every so many iterations")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--resume", settings->resume,
                      "go on from the checkpoint in this folder, also with another number of processes");
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
    if (!settings->job.output_path.empty() || settings->top > 0) const graph::VertexNames names(graph);
    settings->pagerank.weighted = settings->job.weighted;
    if (settings->job.weighted && !graph.weighted()) {
      throw Error(
          fmt::format("{}: --weighted, but the graph has no weights: convert it from a file with weights",
                      settings->job.graph_path));
    }
    const int status =
        launch::run(settings->job.launch, [&](launch::Bootstrap& bootstrap) { run(bootstrap, *settings); });
    if (status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace edgewire::cli
