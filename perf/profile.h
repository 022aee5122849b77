// Where the time of a run went: the records of all processes, gathered, and what they mean.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "job/dense_job.h"
#include "launch/bootstrap.h"
#include "perf/sampler.h"
#include "perf/timeline.h"
#include "perf/verdict.h"

namespace edgewire::perf {

inline double seconds(std::uint64_t ns) noexcept { return static_cast<double>(ns) * 1e-9; }

/// What is known of a process beside its times. Seconds and bytes are those of an iteration.
struct ProcessFacts {
  std::uint64_t host = 0;  ///< equal on one running system
  int workers = 1;
  int cores = 1;
  double edges = 0;                     ///< computed here
  std::uint64_t memory_bytes = 0;       ///< that an iteration reads and writes
  std::uint64_t working_set_bytes = 0;  ///< what it needs again and again
  std::uint64_t cache_bytes = 0;        ///< of the last level
  double memory_bytes_per_s = 0;        ///< measured, of all its workers; 0: unknown
};

struct ProcessProfile {
  ProcessFacts facts;
  std::vector<IterationTimes> iterations;  ///< the latest
  std::vector<WorkerTimes> workers;
  std::vector<std::uint64_t> waited_ns;      ///< [peer], summed over workers and iterations
  std::vector<std::uint64_t> wire_bytes_to;  ///< [peer], of all iterations
  std::vector<std::vector<Span>> spans;      ///< [worker]; the latest
  std::vector<std::vector<Arrival>> arrivals;
  Samples samples;  ///< of the iterations
};

struct ProfileOptions {
  int iterations = 1;
  std::chrono::milliseconds sample_interval{100};
};

struct Profile {
  std::string transport;
  std::uint64_t iterations = 0;  ///< all
  double line_bits_per_s = 0;    ///< measured before the run; 0: no link
  double given_bits_per_s = 0;   ///< line rate that the user gave to the link; 0: none
  std::vector<ProcessProfile> processes;
  std::string missing_counters;  ///< why there are no hardware counters; empty when there are
  RunLoad load;
  Verdict verdict;

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
  Profiler(launch::Bootstrap& bootstrap, job::DenseJob& job, const job::DenseOptions& options,
           const ProfileOptions& profile);
  engine::Observer* observer() noexcept { return &timeline_; }
  /// After the last iteration. At rank 0 the whole profile, elsewhere nothing. Collective.
  Profile gather();

 private:
  ProcessFacts facts() const;
  std::vector<Gauge> gauges() const;
  double writes_in_flight() const;

  launch::Bootstrap& bootstrap_;
  job::DenseJob& job_;
  Timeline timeline_;
  std::optional<Sampler> sampler_;
  double line_bits_per_s_ = 0;
  double given_bits_per_s_ = 0;
  double memory_bytes_per_s_ = 0;
  std::vector<std::uint64_t> frames_to_;  ///< [peer]: frame bytes before the first iteration
};

/// What judge() needs, from the records: means of the kept iterations but the first.
RunLoad load_of(const Profile& profile);

/// Bytes per second that the workers of the pool read together, from a working set that fits no cache (up to
/// 256 MiB). Takes some tenths of a second.
double measure_memory_rate(topology::WorkerPool& pool);

}  // namespace edgewire::perf
