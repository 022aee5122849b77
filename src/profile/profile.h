// The profile folder finds where the time of a run went. Engine, workers and record streams tell an observer
// of their work; the folder adds the counts of processors, disks, links and the system, says what limited the
// run, and draws it. This file has the gathered records of all processes, and their meaning.
//
// A command that can be profiled makes a Profiler, puts a ProfiledRun around what runs, and calls end_step()
// after each step. It has add_profile_options(), its kind in cli/commands.cpp, and the section in its schema.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "launch/bootstrap.h"
#include "process/local_process.h"
#include "profile/balance.h"
#include "profile/sampler.h"
#include "profile/timeline.h"
#include "profile/verdict.h"
#include "report/job_report.h"
#include "report/section.h"

namespace edgewire::profile {

inline double seconds(std::uint64_t ns) noexcept { return static_cast<double>(ns) * 1e-9; }

/// The facts of a process beside its times. Seconds and bytes are those of a step, like all figures that name
/// no other span. The profiler sets the facts of the machine: those from `host` on, workers and cores.
struct ProcessFacts : ProcessWork {
  std::uint64_t working_set_bytes = 0;  ///< bytes that its job needs again and again
  std::uint64_t host = 0;               ///< number of the host, equal on one running system
  std::uint64_t cache_bytes = 0;        ///< size of the last-level cache
  double memory_bytes_per_s = 0;        ///< measured rate of all its workers; 0: unknown
};

struct ProcessProfile {
  ProcessFacts facts;
  std::vector<IterationTimes> iterations;  ///< times of the latest steps
  std::vector<WorkerTimes> workers;
  /// Time of waiting for each peer, [peer], summed over workers and iterations.
  std::vector<std::uint64_t> waited_ns;
  std::vector<std::uint64_t> wire_bytes_to;  ///< bytes on the wire to each peer, [peer], over all iterations
  std::vector<std::vector<Span>> spans;      ///< latest spans, [worker]
  std::vector<std::vector<Arrival>> arrivals;
  Samples samples;  ///< samples of the iterations
};

/// Returns the bits per second of a link like that of `process`, with all headers, as measured. Collective.
double measure_line(launch::Bootstrap& bootstrap, process::LocalProcess& process);

/// Returns the cores of a process's workers: one for each, or its share of the host's where these are fewer.
int cores_of(const launch::Bootstrap& bootstrap, const topology::WorkerPool& pool);

struct ProfileOptions {
  int iterations = Timeline::kKeptIterations;  ///< most iterations that come, or that are kept
  std::chrono::milliseconds sample_interval{100};
  double given_bits_per_s = 0;  ///< line rate, see Profile
  /// The names of a step of the job and of its items. The step "iteration" is that of the engine: its loop
  /// tells the observer of iterations and chunks itself, and the first iteration warms the caches. All other
  /// jobs run between begin_run() and end_run(), and report their steps by end_step().
  Words words{};
};

struct Profile : report::Section {
  Words words{};
  std::string transport;
  std::uint64_t iterations = 0;  ///< number of steps that were done, with those that are not kept
  double line_bits_per_s = 0;    ///< line rate measured before the run; 0: no link
  double given_bits_per_s = 0;   ///< line rate that the user gave to the link; 0: none
  std::vector<ProcessProfile> processes;
  std::vector<std::string> names;  ///< names of the kept steps; empty: all do the same
  std::string missing_counters;    ///< reason why there are no hardware counters; empty when there are
  RunLoad load;
  Verdict verdict;
  std::optional<Balance> balance;  ///< balance of a sort or a load

  /// Returns whether its steps are iterations of the engine.
  bool of_engine() const { return words.step == Words().step; }

  /// Returns a line on what the counters tell of computing, and which are missing, or why there are none.
  std::string counters_line() const;
  /// Returns a table and the verdict as lines, ending with a newline.
  std::string to_text() const override;
  /// Returns the run report's section `profile`.
  nlohmann::ordered_json to_json() const override;
  /// Returns a page with charts that needs nothing beside it. The title and the subtitle are for its head.
  std::string to_html(const std::string& title, const std::string& subtitle) const;
};

/// One process's part in profiling a job, which is ready to iterate and outlives it. It measures the link and
/// the memory first, which takes some tenths of a second. Collective; throws Error.
class Profiler {
 public:
  Profiler(launch::Bootstrap& bootstrap, process::LocalProcess& process, const ProfileOptions& options);
  topology::Observer* observer() noexcept { return &timeline_; }

  // The thread that runs the job calls these, while its workers rest. A job may run several times.
  /// Begins to observe the workers of the pool.
  void begin_run();
  /// Ends a step. `name`: its name.
  void end_step(std::string name);
  /// Ends the observation of the workers.
  void end_run();

  /// Returns the whole profile at rank 0, after the last step. `mine`: the facts of the job. Collective.
  Profile gather(ProcessFacts mine);

 private:
  void complete(ProcessFacts& facts) const;
  std::vector<Gauge> gauges() const;
  double writes_in_flight() const;
  void count_frames();

  launch::Bootstrap& bootstrap_;
  process::LocalProcess& process_;
  ProfileOptions options_;
  Timeline timeline_;
  std::optional<Sampler> sampler_;
  double line_bits_per_s_ = 0;
  double memory_bytes_per_s_ = 0;
  std::deque<std::string> names_;  ///< names of the latest iterations
  /// Bytes of frames to each peer that are counted, or belong to no iteration, [peer].
  std::vector<std::uint64_t> frames_to_;
  std::vector<std::uint64_t> wire_bytes_to_;
};

/// Calls begin_run() and, in the end, end_run(), if the run is profiled.
class ProfiledRun {
 public:
  /// Begins the run. `profiler` outlives it, or is null.
  explicit ProfiledRun(Profiler* profiler) : profiler_(profiler) {
    if (profiler_ != nullptr) profiler_->begin_run();
  }
  ~ProfiledRun() {
    if (profiler_ != nullptr) profiler_->end_run();
  }
  ProfiledRun(const ProfiledRun&) = delete;
  ProfiledRun& operator=(const ProfiledRun&) = delete;

 private:
  Profiler* profiler_;
};

/// Adds the profile to the report of its run, in words and as a whole.
void add_to(report::JobReport& report, Profile profile);

/// Returns the kept spans of all workers, each chunk's life (ready, in flight, arrived) and the samples in
/// the Trace Event Format (Google, 2016) of chrome://tracing and ui.perfetto.dev. Times are microseconds from
/// the earliest one. Processes of other machines are moved so that their last iterations end together.
std::string to_trace(const Profile& profile);

/// Draws all samples of one unit of a process over time, as a `<figure>` for report::Page.
std::string samples_figure(const Profile& profile, std::size_t rank, const std::string& unit,
                           const std::string& title);

/// Returns the seconds of a phase in an iteration: the mean of the workers and of the kept iterations.
double mean_seconds(const ProcessProfile& process, std::size_t phase);

/// Returns the samples of all processes at rank 0, and nothing elsewhere. Collective.
std::vector<Samples> gather_samples(launch::Bootstrap& bootstrap, const Samples& mine);

/// Returns the input of judge(): means of the kept iterations, without one that only warms the caches.
RunLoad load_of(const Profile& profile);

/// Returns the bytes per second that the workers of the pool read together, from a working set that fits no
/// cache (up to 256 MiB). It takes some tenths of a second.
double measure_memory_rate(topology::WorkerPool& pool);

}  // namespace edgewire::profile
