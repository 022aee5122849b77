// Where the time of a run went: the records of all processes, gathered, and what they mean.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launch/bootstrap.h"
#include "perf/balance.h"
#include "perf/sampler.h"
#include "perf/timeline.h"
#include "perf/verdict.h"
#include "process/local_process.h"
#include "report/job_report.h"

namespace edgewire::perf {

inline double seconds(std::uint64_t ns) noexcept { return static_cast<double>(ns) * 1e-9; }

/// What is known of a process beside its times. Seconds and bytes are those of a step, as all figures that
/// name no other span.
struct ProcessFacts {
  // Of its job:
  double items = 0;                     ///< that it worked on: edges, or what Words calls them
  std::uint64_t memory_bytes = 0;       ///< that an iteration reads and writes
  std::uint64_t working_set_bytes = 0;  ///< what it needs again and again
  std::uint64_t disk_bytes = 0;         ///< read and written
  double disk_s = 0;                    ///< the busiest of its disks had something to do
  // Of the machine; the profiler knows them:
  std::uint64_t host = 0;  ///< equal on one running system
  int workers = 1;
  int cores = 1;
  std::uint64_t cache_bytes = 0;  ///< of the last level
  double memory_bytes_per_s = 0;  ///< measured, of all its workers; 0: unknown
};

struct ProcessProfile {
  ProcessFacts facts;
  std::vector<IterationTimes> iterations;  ///< the latest steps
  std::vector<WorkerTimes> workers;
  std::vector<std::uint64_t> waited_ns;      ///< [peer], summed over workers and iterations
  std::vector<std::uint64_t> wire_bytes_to;  ///< [peer], of all iterations
  std::vector<std::vector<Span>> spans;      ///< [worker]; the latest
  std::vector<std::vector<Arrival>> arrivals;
  Samples samples;  ///< of the iterations
};

/// A job that is profiled. All outlive the Profiler.
struct ProfiledJob {
  launch::Bootstrap& bootstrap;
  topology::WorkerPool& pool;
  const transport::Transport& link;
  /// Measures a link like this one: bytes per second. Collective.
  std::function<double()> measure_link;
};
ProfiledJob profiled(launch::Bootstrap& bootstrap, process::LocalProcess& process);

/// Cores that the workers of a process have: one for each, or its share of those of the host where these are
/// fewer.
int cores_of(const launch::Bootstrap& bootstrap, const topology::WorkerPool& pool);

struct ProfileOptions {
  int iterations = Timeline::kKeptIterations;  ///< the most that come, or that are kept
  std::chrono::milliseconds sample_interval{100};
  double given_bits_per_s = 0;  ///< see Profile
  /// What a step of the job and its items are called. The step "iteration" is that of the engine: its loop
  /// tells the observer of iterations and chunks itself, and the first iteration warms up. All other jobs run
  /// between begin_run() and end_run(), and tell of their steps by end_step().
  Words words{};
};

struct Profile {
  Words words{};
  std::string transport;
  std::uint64_t iterations = 0;  ///< steps that were done, also those that are not kept
  double line_bits_per_s = 0;    ///< measured before the run; 0: no link
  double given_bits_per_s = 0;   ///< line rate that the user gave to the link; 0: none
  std::vector<ProcessProfile> processes;
  std::vector<std::string> names;  ///< what each of the kept steps did; empty: all do the same
  std::string missing_counters;    ///< why there are no hardware counters; empty when there are
  RunLoad load;
  Verdict verdict;
  std::optional<Balance> balance;  ///< of a sort or a load

  /// Its steps are iterations of the engine.
  bool of_engine() const { return words.step == Words().step; }

  /// What the counters say of computing and which of them are not there, or why none are: a line.
  std::string counters_line() const;
  /// A table and the verdict: lines, ending with a newline.
  std::string to_text() const;
  /// The run report's section `profile`.
  std::string to_json() const;
  /// A page with charts that needs nothing beside it. Both are for its head.
  std::string to_html(const std::string& title, const std::string& subtitle) const;
};

/// One process's part in profiling a job. Made when the job is ready to iterate; measures the link and the
/// memory first, which takes some tenths of a second. Collective; throws Error.
class Profiler {
 public:
  Profiler(const ProfiledJob& job, const ProfileOptions& options);
  topology::Observer* observer() noexcept { return &timeline_; }

  // By the thread that runs the job, while its workers rest. A job may run several times.
  /// From here on the pool tells the observer what its workers do.
  void begin_run();
  /// A step has ended. `name`: what it did.
  void end_step(std::string name);
  /// From here on the pool tells nobody.
  void end_run();

  /// After the last step. At rank 0 the whole profile, elsewhere nothing. `mine`: what the job knows.
  /// Collective.
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
  std::deque<std::string> names_;         ///< of the latest iterations
  std::vector<std::uint64_t> frames_to_;  ///< [peer]: frame bytes that were counted, or are of no iteration
  std::vector<std::uint64_t> wire_bytes_to_;
};

/// Calls begin_run() and, in the end, end_run(), if the run is profiled.
class ProfiledRun {
 public:
  /// `profiler` outlives it, or is null.
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

/// What judge() needs, from the records: means of the kept iterations, but the first where that warms up.
RunLoad load_of(const Profile& profile);

/// Bytes per second that the workers of the pool read together, from a working set that fits no cache (up to
/// 256 MiB). Takes some tenths of a second.
double measure_memory_rate(topology::WorkerPool& pool);

}  // namespace edgewire::perf
