#include "profile/profile.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <numeric>
#include <sstream>
#include <utility>

#include "base/rooms.h"
#include "base/seconds.h"
#include "edgewire/detail/memory.h"
#include "launch/packing.h"
#include "topology/machine.h"

namespace edgewire::profile {

using launch::pack;
using launch::unpack;
using topology::Phase;

namespace {

std::uint64_t work_ns(const PhaseTimes& times) {
  return std::accumulate(times.begin(), times.end(), std::uint64_t{0}) -
         times[static_cast<std::size_t>(Phase::wait)];
}

/// Returns the part of the time in which workers had a core, of the time in which they had work.
double cpu_share(const ProcessProfile& process) {
  double cpu_ns = 0, all_ns = 0;
  for (const auto& worker : process.workers)
    for (const auto phase : {Phase::compute, Phase::send, Phase::apply}) {
      const auto p = static_cast<std::size_t>(phase);
      cpu_ns += worker.counts[p].count(Event::task_clock_ns);
      all_ns += static_cast<double>(worker.counted_ns[p]);
    }
  return all_ns > 0 ? std::min(1.0, cpu_ns / all_ns) : 1;
}

/// Returns the part of the whole run in which workers were ready to run and had no core.
double core_wait_share(const ProcessProfile& process) {
  double wait_ns = 0, all_ns = 0;
  for (const auto& worker : process.workers) {
    wait_ns += worker.whole.count(Event::core_wait_ns);
    all_ns += static_cast<double>(worker.whole_ns);
  }
  return all_ns > 0 ? std::min(1.0, wait_ns / all_ns) : 0;
}

/// Returns whether the working sets of this host's processes stay in its cache.
bool in_cache(const Profile& profile, const ProcessFacts& facts) {
  std::uint64_t bytes = 0;
  for (const auto& other : profile.processes)
    if (other.facts.host == facts.host) bytes += other.facts.working_set_bytes;
  return bytes <= facts.cache_bytes;
}

/// Returns the seconds that a worker waited for peers, on average.
double waited_s(const ProcessProfile& process, const IterationTimes& times) {
  return seconds(times.phases[static_cast<std::size_t>(Phase::wait)] - times.own_wait_ns) /
         process.facts.workers;
}

/// Returns the first iteration that counts: the first iteration of the engine warms the caches.
std::size_t first_of(const Profile& profile) { return profile.of_engine() ? 1 : 0; }

/// Sets for each process the least time that any other waited, by iterations: it may be late in few of them.
void set_awaited(const Profile& profile, RunLoad& load) {
  const std::size_t first = first_of(profile);
  std::size_t count = SIZE_MAX;
  for (const auto& process : profile.processes) count = std::min(count, process.iterations.size());
  if (profile.processes.size() < 2) return;
  for (std::size_t i = first; i < count; ++i) {
    double least_s = HUGE_VAL, second_s = HUGE_VAL;
    std::size_t least = 0;
    for (std::size_t p = 0; p < profile.processes.size(); ++p) {
      const auto& process = profile.processes[p];
      const double one_s = waited_s(process, process.iterations[i]);
      if (one_s < least_s) {
        second_s = std::exchange(least_s, one_s);
        least = p;
      } else {
        second_s = std::min(second_s, one_s);
      }
    }
    for (std::size_t p = 0; p < load.processes.size(); ++p)
      load.processes[p].awaited_s += (p == least ? second_s : least_s) / static_cast<double>(count - first);
  }
}

template <class T>
std::vector<std::vector<T>> gather(launch::Bootstrap& bootstrap, const std::vector<T>& mine) {
  const auto messages = bootstrap.gather(pack(mine));
  std::vector<std::vector<T>> all;
  for (std::size_t p = 0; p < messages.size(); ++p) all.push_back(unpack<T>(messages[p], p));
  return all;
}

}  // namespace

double mean_seconds(const ProcessProfile& process, std::size_t phase) {
  double sum = 0;
  for (const auto& one : process.iterations) sum += seconds(one.phases[phase]);
  return sum / process.facts.workers /
         static_cast<double>(std::max<std::size_t>(process.iterations.size(), 1));
}

std::vector<Samples> gather_samples(launch::Bootstrap& bootstrap, const Samples& mine) {
  std::string names;
  std::vector<float> values;
  for (const auto& series : mine.series) {
    names += series.name + "\t" + series.unit + "\n";
    values.insert(values.end(), series.values.begin(), series.values.end());
  }
  const auto all_names = bootstrap.gather(names);
  const auto all_times = gather(bootstrap, mine.at_ns);
  const auto all_values = gather(bootstrap, values);
  std::vector<Samples> all(all_times.size());
  for (std::size_t p = 0; p < all.size(); ++p) {
    all[p].at_ns = all_times[p];
    std::istringstream lines(all_names[p]);
    auto at = all_values[p].begin();
    for (std::string name, unit; std::getline(lines, name, '\t') && std::getline(lines, unit);) {
      const auto end = at + static_cast<std::ptrdiff_t>(all_times[p].size());
      all[p].series.push_back({name, unit, {at, end}});
      at = end;
    }
  }
  return all;
}

void add_to(report::JobReport& report, Profile profile) {
  report.profile = std::make_shared<const Profile>(std::move(profile));
  report.profile_section = report.profile;
}

double measure_memory_rate(topology::WorkerPool& pool) {
  constexpr std::size_t kMost = std::size_t{64} << 20, kAll = std::size_t{256} << 20;
  constexpr int kSweeps = 3;
  const std::size_t bytes = std::min(kMost, kAll / static_cast<std::size_t>(pool.workers()));
  std::vector<double> took(static_cast<std::size_t>(pool.workers()));
  std::atomic<std::uint64_t> kept{0};  // keeps sweeps from being optimized away; pairs with nothing
  pool.run([&](int worker) {
    const topology::NodeMemory memory(bytes, -1, "measuring memory");
    const auto words = memory.as<std::uint64_t>();
    std::ranges::fill(words, 1);
    pool.barrier();
    const std::uint64_t start = now_ns();
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      std::uint64_t sums[4] = {};
      for (std::size_t i = 0; i + 4 <= words.size(); i += 4)
        for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += words[i + lane];
      kept.fetch_add(sums[0] + sums[1] + sums[2] + sums[3], std::memory_order_relaxed);
    }
    took[static_cast<std::size_t>(worker)] = seconds(now_ns() - start);
  });
  return static_cast<double>(bytes) * kSweeps * pool.workers() / std::ranges::max(took);
}

double measure_line(launch::Bootstrap& bootstrap, process::LocalProcess& process) {
  constexpr std::uint64_t kPiece = 1 << 18;
  return process.measure_link(bootstrap) * 8 * static_cast<double>(process.link().wire_bytes_of(kPiece)) /
         static_cast<double>(kPiece);
}

int cores_of(const launch::Bootstrap& bootstrap, const topology::WorkerPool& pool) {
  if (!pool.placement().oversubscribed) return pool.workers();
  return std::max(1, topology::usable_cores(topology::discover()) / bootstrap.local_size());
}

Profiler::Profiler(launch::Bootstrap& bootstrap, process::LocalProcess& process,
                   const ProfileOptions& options)
    : bootstrap_(bootstrap),
      process_(process),
      options_(options),
      timeline_({.rank = bootstrap.rank(),
                 .processes = bootstrap.size(),
                 .workers = process.pool().workers(),
                 .iterations = options.iterations}) {
  const auto& link = process_.link();
  if (bootstrap_.size() > 1 && link.name() != "shm") {
    constexpr int kTries = 3;  // number of tries: other programs can only make it slower
    for (int i = 0; i < kTries; ++i)
      line_bits_per_s_ = std::max(line_bits_per_s_, measure_line(bootstrap_, process_));
  } else {
    options_.given_bits_per_s = 0;
  }
  bootstrap_.allgather("");  // all measure at once, since the processes of a host share its memory
  memory_bytes_per_s_ = measure_memory_rate(process_.pool());
  for (int p = 0; p < bootstrap_.size(); ++p) frames_to_.push_back(link.frame_bytes_to(p));
  wire_bytes_to_.resize(frames_to_.size());
  sampler_.emplace(options.sample_interval, gauges());
}

void Profiler::begin_run() {
  for (std::size_t p = 0; p < frames_to_.size(); ++p)
    frames_to_[p] = process_.link().frame_bytes_to(static_cast<int>(p));
  process_.pool().run([this](int worker) { timeline_.begin(worker); });
  timeline_.begin_run();
  process_.pool().observe(&timeline_, bootstrap_.rank());
  timeline_.enter(0, Phase::compute, 0, -1);
}

void Profiler::end_step(std::string name) {
  timeline_.end_iteration(timeline_.iterations_done() + 1);
  names_.push_back(std::move(name));
  if (names_.size() > Timeline::kKeptIterations) names_.pop_front();
}

void Profiler::end_run() {
  process_.pool().observe(nullptr);
  timeline_.end_run();
  process_.pool().run([this](int worker) { timeline_.finish(worker); });
  count_frames();
}

void Profiler::count_frames() {
  for (std::size_t p = 0; p < frames_to_.size(); ++p) {
    const std::uint64_t frames = process_.link().frame_bytes_to(static_cast<int>(p));
    wire_bytes_to_[p] += process_.link().wire_bytes_of(frames - std::exchange(frames_to_[p], frames));
  }
}

std::vector<Gauge> Profiler::gauges() const {
  std::vector<Gauge> all;
  const auto number = [](std::uint64_t count) { return static_cast<double>(count); };
  const auto add = [&](std::string name, const char* unit, double scale, std::function<double()> read) {
    all.push_back({std::move(name), unit, scale, true, std::move(read)});
  };
  for (int w = 0; w < process_.pool().workers(); ++w)
    add(fmt::format("worker {}", w), "cores", 1e-9, [=, this] { return number(timeline_.cpu_ns(w)); });
  for (auto& gauge : system_gauges()) all.push_back(std::move(gauge));
  if (bootstrap_.size() == 1) return all;
  if (options_.words.step == Words().step) {
    add("ready", "chunks/s", 1, [=, this] { return number(timeline_.chunks().ready); });
    add("arrived", "chunks/s", 1, [=, this] { return number(timeline_.chunks().arrived); });
  }
  all.push_back({"in flight", "chunks", 1, false, [this] { return writes_in_flight(); }});
  const auto& link = process_.link();
  for (int p = 0; p < bootstrap_.size(); ++p) {
    if (p != bootstrap_.rank())
      add(fmt::format("to rank {}", p), "Gbit/s", 8e-9,
          [=, &link] { return number(link.frame_bytes_to(p)); });
    add(p == bootstrap_.rank() ? "for own workers" : fmt::format("for rank {}", p), "workers waiting", 1e-9,
        [=, this] { return number(timeline_.waited_ns(p)); });
  }
  return all;
}

/// Returns the number of chunks that the link has taken and not completed.
double Profiler::writes_in_flight() const {
  const auto& link = process_.link();
  std::uint64_t completed = 0;
  for (int p = 0; p < bootstrap_.size(); ++p)
    for (int lane = 0; p != bootstrap_.rank() && lane < process_.pool().workers(); ++lane)
      completed += link.completed(lane, p);
  const std::uint64_t taken = link.counters().writes;  // read later, so that it is not less
  return static_cast<double>(taken - std::min(taken, completed));
}

/// Adds the facts of the machine.
void Profiler::complete(ProcessFacts& facts) const {
  const auto machine = topology::discover();
  std::string host;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> host;
  facts.host = std::hash<std::string>{}(host);
  facts.workers = process_.pool().workers();
  facts.cores = cores_of(bootstrap_, process_.pool());
  facts.cache_bytes = machine.l3_bytes > 0 ? machine.l3_bytes : machine.l2_bytes;
  facts.memory_bytes_per_s = memory_bytes_per_s_;
}

Profile Profiler::gather(ProcessFacts mine) {
  const auto samples = gather_samples(bootstrap_, sampler_->stop());
  const int workers = process_.pool().workers();
  if (options_.words.step == Words().step) count_frames();
  complete(mine);
  std::vector<WorkerTimes> times;
  for (int w = 0; w < workers; ++w) times.push_back(timeline_.worker(w));
  const auto all_facts = profile::gather(bootstrap_, std::vector{mine});
  auto all_iterations = profile::gather(bootstrap_, timeline_.iterations());
  auto all_workers = profile::gather(bootstrap_, times);
  auto all_waits = profile::gather(bootstrap_, timeline_.waited_ns());
  auto all_bytes = profile::gather(bootstrap_, wire_bytes_to_);
  Profile profile;
  profile.words = options_.words;
  profile.names.assign(names_.begin(), names_.end());
  profile.transport = process_.link().name();
  profile.iterations = timeline_.iterations_done();
  profile.line_bits_per_s = line_bits_per_s_;
  profile.given_bits_per_s = options_.given_bits_per_s;
  for (std::size_t p = 0; p < all_facts.size(); ++p) {
    auto& one = profile.processes.emplace_back();
    one.facts = all_facts[p].at(0);
    one.iterations = std::move(all_iterations[p]);
    one.workers = std::move(all_workers[p]);
    one.waited_ns = std::move(all_waits[p]);
    one.samples = samples[p];
    one.wire_bytes_to = std::move(all_bytes[p]);
  }
  for (int w = 0; w < workers; ++w) {
    auto spans = profile::gather(bootstrap_, timeline_.spans(w));
    auto arrivals = profile::gather(bootstrap_, timeline_.arrivals(w));
    for (std::size_t p = 0; p < spans.size(); ++p) {
      profile.processes[p].spans.push_back(std::move(spans[p]));
      profile.processes[p].arrivals.push_back(std::move(arrivals[p]));
    }
  }
  if (profile.processes.empty()) return profile;
  for (const auto& process : profile.processes)
    for (const auto& worker : process.workers)
      if (worker.counter_error != 0)
        profile.missing_counters = explain_missing_counters(worker.counter_error);
  profile.load = load_of(profile);
  profile.verdict = judge(profile.load);
  return profile;
}

RunLoad load_of(const Profile& profile) {
  RunLoad load;
  load.words = profile.words;
  load.line_bits_per_s = profile.line_bits_per_s;
  load.given_bits_per_s = profile.given_bits_per_s;
  const bool mixed = profile.transport.starts_with("shm+");  // inside a host nothing crosses a link
  const auto done = std::max<std::uint64_t>(profile.iterations, 1);
  for (std::size_t p = 0; p < profile.processes.size(); ++p) {
    const auto& process = profile.processes[p];
    const auto& facts = process.facts;
    ProcessLoad one{facts};
    one.cpu_share = cpu_share(process);
    if (in_cache(profile, facts)) one.memory_bytes = 0;
    double length_s = 0;
    const std::size_t first = process.iterations.size() > 1 ? first_of(profile) : 0;
    const double count = static_cast<double>(std::max<std::size_t>(process.iterations.size() - first, 1));
    const double workers = facts.workers;
    for (std::size_t i = first; i < process.iterations.size(); ++i) {
      const auto& times = process.iterations[i];
      length_s += seconds(times.end_ns - times.begin_ns) / count;
      one.work_s += seconds(work_ns(times.phases)) / workers / count;
      one.slowest_worker_s += seconds(times.slowest_work_ns) / count;
      one.waited_s += waited_s(process, times) / count;
    }
    one.core_wait_s = core_wait_share(process) * length_s;
    one.lost_s = std::clamp(one.core_wait_s - (1 - one.cpu_share) * one.work_s, 0.0,
                            std::max(0.0, length_s - one.work_s));
    load.seconds = std::max(load.seconds, length_s);
    for (std::size_t q = 0; q < profile.processes.size(); ++q) {
      if (mixed && profile.processes[q].facts.host == facts.host) continue;
      one.wire_bytes_sent += process.wire_bytes_to[q] / done;
      one.wire_bytes_received += profile.processes[q].wire_bytes_to[p] / done;
    }
    if (load.memory_bytes_per_s == 0 || facts.memory_bytes_per_s < load.memory_bytes_per_s)
      load.memory_bytes_per_s = facts.memory_bytes_per_s;
    load.processes.push_back(one);
  }
  set_awaited(profile, load);
  return load;
}

}  // namespace edgewire::profile
