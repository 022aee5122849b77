// PageRank with profiling switched on and off, block by block of iterations, in one run: neighbours share the
// machine's mood, so that their ratio shows what profiling costs. Prints JSON for overhead.py.
#include <fmt/core.h>
#include <pthread.h>

#include <charconv>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <vector>

#include "base/seconds.h"
#include "dense/job/dense_job.h"
#include "edgewire/graph.h"
#include "kernels/runs.h"
#include "launch/packing.h"
#include "launch/start.h"
#include "profile/job_profile.h"
#include "report/json_text.h"

namespace {

using namespace edgewire;

double seconds(clockid_t clock) { return 1e-9 * static_cast<double>(clock_ns(clock)); }

/// Nanoseconds that a thread of this process has had a core.
double cpu_ns(const std::string& thread) {
  double ns = 0;
  std::ifstream("/proc/self/task/" + thread + "/schedstat") >> ns;
  return ns;
}

std::set<std::string> threads() {
  std::set<std::string> ids;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    ids.insert(entry.path().filename());
  return ids;
}

struct Moment {
  double wall_s = 0;
  double cpu_s = 0;      ///< of all workers
  double counted_s = 0;  ///< time in which counters were read
};

/// Tells the profiler what happens in every second block of iterations.
class Switched final : public topology::Observer {
 public:
  /// In each iteration that is told it burns `burnt_ns`, too.
  Switched(profile::Timeline& to, int workers, std::uint64_t block, std::uint64_t burnt_ns)
      : to_(to), block_(block), burnt_ns_(burnt_ns), workers_(static_cast<std::size_t>(workers)) {}

  void begin(int worker) noexcept override {
    pthread_getcpuclockid(pthread_self(), &of(worker).clock);
    to_.begin(worker);
  }
  void finish(int worker) noexcept override { to_.finish(worker); }
  void enter(int worker, topology::Phase phase, std::size_t item, int peer) noexcept override {
    of(worker).waits = phase == topology::Phase::wait;
    if (passes(worker)) to_.enter(worker, phase, item, peer);
  }
  void waits_for(int worker, int peer) noexcept override {
    if (on_) to_.waits_for(worker, peer);
  }
  void aside(int worker, topology::Phase phase, int peer, std::uint64_t ns) noexcept override {
    if (passes(worker)) to_.aside(worker, phase, peer, ns);
  }
  void arrived(int worker, int peer, std::uint64_t chunks) noexcept override {
    if (passes(worker)) to_.arrived(worker, peer, chunks);
  }
  void end_iteration(std::uint64_t iteration) noexcept override {
    if (on_) {
      to_.end_iteration(++told_);
      const std::uint64_t end_ns = now_ns() + burnt_ns_;
      while (now_ns() < end_ns) {
      }
    }
    if (iteration % block_ != 0) return;
    if (!on_) to_.end_iteration(told_);  // the time without it is none of the next iteration
    Moment now{seconds(CLOCK_MONOTONIC), 0, 0};
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      now.cpu_s += seconds(workers_[w].clock);
      for (const auto ns : to_.worker(static_cast<int>(w)).counted_ns)
        now.counted_s += 1e-9 * static_cast<double>(ns);
    }
    borders_.push_back(now);
    on_ = !on_;
  }

  /// After the first block, the second, ...; the first one is told.
  const std::vector<Moment>& borders() const noexcept { return borders_; }
  /// Calls that profiling would have had, where it is off, but for those of waiting workers.
  std::uint64_t calls() const noexcept {
    std::uint64_t sum = 0;
    for (const auto& worker : workers_) sum += worker.calls;
    return sum;
  }

 private:
  struct alignas(64) Worker {
    clockid_t clock{};
    bool waits = false;
    std::uint64_t calls = 0;
  };
  Worker& of(int worker) noexcept { return workers_[static_cast<std::size_t>(worker)]; }
  bool passes(int worker) noexcept {
    if (!on_ && !of(worker).waits) ++of(worker).calls;
    return on_;
  }

  profile::Timeline& to_;
  std::uint64_t block_;
  std::uint64_t burnt_ns_;
  std::vector<Worker> workers_;
  bool on_ = true;  ///< written while the workers rest
  std::uint64_t told_ = 0;
  std::vector<Moment> borders_;
};

struct Arguments {
  const char* graph;
  int processes;
  int workers;
  std::string transport;
  std::uint64_t block;  ///< iterations
  std::uint64_t blocks;
  std::uint64_t burnt_ns;
};

/// What a process saw.
struct Figures {
  double run_s = 0, sampler_s = 0, gather_s = 0;
  double calls = 0;
};

void run(launch::Bootstrap& bootstrap, const Arguments& arguments) {
  const auto graph = Graph::open(arguments.graph);
  job::DenseOptions options;
  options.process.workers = arguments.workers;
  options.process.transport = arguments.transport;
  DenseJob job(bootstrap, graph, options);
  const auto iterations = static_cast<int>(arguments.block * arguments.blocks);
  kernels::PageRank<float> program({.iterations = iterations}, graph.vertices());
  DenseRun pagerank(job, program);
  const auto before = threads();
  profile::Profiler profiler(bootstrap, job.process(), {.iterations = iterations});
  std::string sampler;
  for (const auto& id : threads())
    if (!before.contains(id)) sampler = id;  // the one thread that it makes
  Switched switched(dynamic_cast<profile::Timeline&>(*profiler.observer()), options.process.workers,
                    arguments.block, arguments.burnt_ns);
  const double start_ns = cpu_ns(sampler), start_s = seconds(CLOCK_MONOTONIC);
  job.show(&switched);
  pagerank.iterate({.iterations = iterations});
  Figures mine;
  mine.run_s = seconds(CLOCK_MONOTONIC) - start_s;
  mine.sampler_s = 1e-9 * (cpu_ns(sampler) - start_ns);
  const std::uint64_t silent = arguments.block * (arguments.blocks / 2);  // iterations
  mine.calls = static_cast<double>(switched.calls()) / static_cast<double>(silent) / options.process.workers;
  const double gather_from_s = seconds(CLOCK_MONOTONIC);
  const auto profile = profiler.gather(profile::facts_of(bootstrap, job, {}, 1));
  if (bootstrap.rank() == 0) (void)(report::json_text(profile.to_json()) + profile.to_text());
  mine.gather_s = seconds(CLOCK_MONOTONIC) - gather_from_s;

  const auto all_borders = bootstrap.gather(launch::pack(switched.borders()));
  const auto all_figures = bootstrap.gather(launch::pack(std::vector{mine}));
  if (bootstrap.rank() != 0) return;
  nlohmann::ordered_json json{{"edges", graph.edges()}, {"iterations_of_block", arguments.block}};
  for (std::size_t p = 0; p < all_borders.size(); ++p) {
    const auto figures = launch::unpack<Figures>(all_figures[p], p, 1)[0];
    auto& one =
        json["processes"].emplace_back(nlohmann::ordered_json{{"run_seconds", figures.run_s},
                                                              {"sampler_cpu_seconds", figures.sampler_s},
                                                              {"gather_seconds", figures.gather_s},
                                                              {"calls_of_worker", figures.calls}});
    for (const auto& border : launch::unpack<Moment>(all_borders[p], p)) {
      one["wall"].push_back(border.wall_s);
      one["cpu"].push_back(border.cpu_s);
      one["counted"].push_back(border.counted_s);
    }
  }
  fmt::print("{}\n", report::json_text(json));
}

template <class Number>
bool parse(std::string_view text, Number& number, Number least = 1) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= least;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments{};
  if (argc != 8 || !parse(argv[2], arguments.processes) || !parse(argv[3], arguments.workers) ||
      !parse(argv[5], arguments.block) || !parse(argv[6], arguments.blocks) ||
      !parse(argv[7], arguments.burnt_ns, std::uint64_t{0})) {
    fmt::print(stderr,
               "usage: profiling GRAPH PROCESSES WORKERS TRANSPORT ITERATIONS_OF_BLOCK BLOCKS BURNT_NS\n");
    return 2;
  }
  arguments.graph = argv[1];
  arguments.transport = argv[4];
  try {
    launch::StartOptions job;
    job.processes = arguments.processes;
    return launch::start(job, [&](launch::Bootstrap& bootstrap) { run(bootstrap, arguments); });
  } catch (const std::exception& error) {
    fmt::print(stderr, "profiling: {}\n", error.what());
    return 1;
  }
}
