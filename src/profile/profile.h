// The profile folder says where the time of a run went. Engine, workers and record streams tell an observer
// what they do; the folder adds what processors, disks, links and the system count, says what limited the
// run, and draws it. This file has the records of all processes, gathered, and what they mean.
//
// A command that can be profiled makes a Profiler, puts a ProfiledRun around what runs, and calls end_step()
// after each step. It has add_profile_options() (cli/job_options.h), its kind in cli/commands.cpp, and the
// section in its schema.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
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

/// What is known of a process beside its times. Seconds and bytes are those of a step, like all figures that
/// name no other span. The profiler knows what belongs to the machine, from `host` on, workers and cores.
struct ProcessFacts : ProcessWork {
  std::uint64_t working_set_bytes = 0;  ///< what its job needs again and again
  std::uint64_t host = 0;               ///< equal on one running system
  std::uint64_t cache_bytes = 0;        ///< size of the last level
  double memory_bytes_per_s = 0;        ///< measured rate of all its workers; 0: unknown
};

struct ProcessProfile {
  ProcessFacts facts;
  std::vector<IterationTimes> iterations;  ///< the latest steps
  std::vector<WorkerTimes> workers;
  std::vector<std::uint64_t> waited_ns;      ///< [peer], summed over workers and iterations
  std::vector<std::uint64_t> wire_bytes_to;  ///< [peer], over all iterations
  std::vector<std::vector<Span>> spans;      ///< [worker]; the latest
  std::vector<std::vector<Arrival>> arrivals;
  Samples samples;  ///< samples of the iterations
};

/// A job that is profiled. All outlive the Profiler.
struct ProfiledJob {
  launch::Bootstrap& bootstrap;
  topology::WorkerPool& pool;
  const transport::Transport& link;
  /// Measures a link like this one and returns bytes per second. Collective.
  std::function<double()> measure_link;
};
ProfiledJob profiled(launch::Bootstrap& bootstrap, process::LocalProcess& process);

/// Returns the cores that the workers of a process have: one for each, or its share of those of the host
/// where these are fewer.
int cores_of(const launch::Bootstrap& bootstrap, const topology::WorkerPool& pool);

struct ProfileOptions {
  int iterations = Timeline::kKeptIterations;  ///< the most that come, or that are kept
  std::chrono::milliseconds sample_interval{100};
  double given_bits_per_s = 0;  ///< see Profile
  /// What a step of the job and its items are called. The step "iteration" is that of the engine: its loop
  /// tells the observer of iterations and chunks itself, and the first iteration warms up. All other jobs
  /// run between begin_run() and end_run(), and tell of their steps by end_step().
  Words words{};
};

struct Profile : report::Section {
  Words words{};
  std::string transport;
  std::uint64_t iterations = 0;  ///< steps that were done, with those that are not kept
  double line_bits_per_s = 0;    ///< measured before the run; 0: no link
  double given_bits_per_s = 0;   ///< line rate that the user gave to the link; 0: none
  std::vector<ProcessProfile> processes;
  std::vector<std::string> names;  ///< what each of the kept steps did; empty: all do the same
  std::string missing_counters;    ///< why there are no hardware counters; empty when there are
  RunLoad load;
  Verdict verdict;
  std::optional<Balance> balance;  ///< balance of a sort or a load

  /// Returns whether its steps are iterations of the engine.
  bool of_engine() const { return words.step == Words().step; }

  /// Says in a line what the counters tell of computing and which of them are missing, or why there are
  /// none.
  std::string counters_line() const;
  /// Returns a table and the verdict as lines, ending with a newline.
  std::string to_text() const override;
  /// Returns the run report's section `profile`.
  nlohmann::ordered_json to_json() const override;
  /// Returns a page with charts that needs nothing beside it. The title and the subtitle are for its head.
  std::string to_html(const std::string& title, const std::string& subtitle) const;
};

/// One process's part in profiling a job. It is made when the job is ready to iterate. It measures the link
/// and the memory first, which takes some tenths of a second. Collective; throws Error.
class Profiler {
 public:
  Profiler(const ProfiledJob& job, const ProfileOptions& options);
  topology::Observer* observer() noexcept { return &timeline_; }

  // The thread that runs the job calls these, while its workers rest. A job may run several times.
  /// Lets the pool tell the observer from now on what its workers do.
  void begin_run();
  /// Ends a step. `name`: what it did.
  void end_step(std::string name);
  /// Lets the pool tell nobody from now on.
  void end_run();

  /// Returns the whole profile at rank 0, and nothing elsewhere. Call it after the last step. `mine`: what
  /// the job knows. Collective.
  Profile gather(ProcessFacts mine);

 private:
  void complete(ProcessFacts& facts) const;
  std::vector<Gauge> gauges() const;
  double writes_in_flight() const;
  void count_frames();

  ProfiledJob job_;
  ProfileOptions options_;
  Timeline timeline_;
  std::optional<Sampler> sampler_;
  double line_bits_per_s_ = 0;
  double memory_bytes_per_s_ = 0;
  std::deque<std::string> names_;         ///< names of the latest iterations
  std::vector<std::uint64_t> frames_to_;  ///< [peer]: bytes of frames already counted, or of no iteration
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

/// Returns the seconds of a phase in an iteration: the mean of the workers and of the kept iterations.
double mean_seconds(const ProcessProfile& process, std::size_t phase);

/// Returns the samples of all processes at rank 0, and nothing elsewhere. Collective.
std::vector<Samples> gather_samples(launch::Bootstrap& bootstrap, const Samples& mine);

/// Returns what judge() needs, from the records: means of the kept iterations, but the first where that
/// warms up.
RunLoad load_of(const Profile& profile);

/// Returns the bytes per second that the workers of the pool read together, from a working set that fits no
/// cache (up to 256 MiB). It takes some tenths of a second.
double measure_memory_rate(topology::WorkerPool& pool);

}  // namespace edgewire::profile
