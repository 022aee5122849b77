#include "profile/timeline.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/seconds.h"

namespace edgewire::profile {

using topology::Phase;

/// The parts of a worker's timeline.
namespace timeline {

/// The latest values of a sequence.
template <class T>
class Ring {
 public:
  explicit Ring(std::size_t size) : values_(size) {}
  void push(const T& value) noexcept { values_[count_++ % values_.size()] = value; }
  std::vector<T> in_order() const {
    const std::size_t kept = std::min(count_, values_.size());
    std::vector<T> result;
    for (std::size_t i = count_ - kept; i < count_; ++i) result.push_back(values_[i % values_.size()]);
    return result;
  }

 private:
  std::vector<T> values_;
  std::size_t count_ = 0;
};

/// A sum to which its worker adds and which the sampler reads; it pairs with nothing.
struct Sum {
  std::atomic<std::uint64_t> value{0};
  void add(std::uint64_t more) noexcept { value.store(get() + more, std::memory_order_relaxed); }
  std::uint64_t get() const noexcept { return value.load(std::memory_order_relaxed); }
};

}  // namespace timeline

namespace {

constexpr std::uint64_t kShareOfReading = 200;  // inverse of the largest share of time for reading
constexpr std::uint64_t kInterrupted = 8;       // factor of the fastest reading: a slower one was interrupted

std::size_t index(Phase phase) { return static_cast<std::size_t>(phase); }

}  // namespace

/// The records of a worker. Its thread writes them, or while it rests the worker that ends an iteration.
struct alignas(64) Timeline::Worker {
  Worker(const TimelineOptions& options)
      : spans(options.spans),
        arrivals(options.spans),
        seen(static_cast<std::size_t>(options.processes)),
        waited_ns(static_cast<std::size_t>(options.processes)) {}

  std::uint64_t began_cpu_ns = 0;
  std::atomic<int> thread{0};  ///< id of the thread; release after began_cpu_ns, acquire in cpu_ns()
  Phase phase = Phase::wait;
  int peer = -1;
  std::uint32_t item = 0;
  std::uint64_t since_ns = 0;
  PhaseTimes aside{};                               ///< phases of the time since `since_ns`
  std::array<int, topology::kPhases> aside_peer{};  ///< last peer of each phase
  std::uint64_t began_ns = 0;
  PhaseTimes iteration{};         ///< phases of this iteration
  std::uint64_t own_wait_ns = 0;  ///< own wait in this iteration
  WorkerTimes times;
  std::unique_ptr<ThreadCounters> counters;
  CounterValues start, last;
  std::uint64_t counted_since_ns = 0;
  bool counted = false;           ///< whether `last` was read when this phase began
  std::uint64_t read_ns = ~0ULL;  ///< time of the fastest reading
  std::uint64_t reading_ns = 0;   ///< time of reading in this iteration
  timeline::Ring<Span> spans;
  timeline::Ring<Arrival> arrivals;
  std::vector<std::uint64_t> seen;       ///< chunks seen, [peer]
  std::vector<timeline::Sum> waited_ns;  ///< time of waiting, [peer]
  timeline::Sum ready, arrived;          ///< numbers of chunks

  CounterValues read() {
    const std::uint64_t start_ns = now_ns();
    const CounterValues counts = counters->read();
    const std::uint64_t took_ns = now_ns() - start_ns;
    read_ns = std::min(read_ns, took_ns);
    reading_ns += std::min(took_ns, kInterrupted * read_ns);
    return counts;
  }
};

Timeline::Timeline(const TimelineOptions& options)
    : options_(options),
      iterations_(std::min<std::size_t>(kKeptIterations, static_cast<std::size_t>(options.iterations))) {
  for (int w = 0; w < options.workers; ++w) workers_.push_back(std::make_unique<Worker>(options));
}

Timeline::~Timeline() = default;

void Timeline::begin(int worker) noexcept {
  Worker& own = *workers_[static_cast<std::size_t>(worker)];
  own.counters = std::make_unique<ThreadCounters>();
  own.times.counter_error = own.counters->error();
  own.start = own.last = own.read();
  own.counted = true;
  own.phase = Phase::wait;
  own.peer = options_.rank;
  if (own.thread.load(std::memory_order_relaxed) == 0) {
    own.began_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    own.thread.store(gettid(), std::memory_order_release);
  }
  own.began_ns = own.since_ns = own.counted_since_ns = now_ns();
}

void Timeline::finish(int worker) noexcept {
  Worker& own = *workers_[static_cast<std::size_t>(worker)];
  own.times.whole += own.counters->read() - own.start;
  own.times.whole_ns += own.since_ns - own.began_ns;  // leaves out the time after the last iteration
  own.counters.reset();
}

void Timeline::begin_run() noexcept {
  began_ns_ = now_ns();
  done_before_run_ = done_;
  for (auto& one : workers_) {
    one->began_ns = one->since_ns = one->counted_since_ns = began_ns_;
    one->iteration = {};
    one->own_wait_ns = 0;
  }
}

void Timeline::end_run() noexcept {
  if (done_ > done_before_run_) return add_all_to(iterations_[(done_ - 1) % iterations_.size()], now_ns());
  for (auto& one : workers_) one->began_ns = one->since_ns;
}

/// Ends the current interval; the phase goes on.
void Timeline::close(Worker& own, std::uint64_t now) noexcept {
  const auto add = [&](Phase phase, int peer, std::uint64_t begin, std::uint64_t end) {
    if (begin == end) return;
    own.iteration[index(phase)] += end - begin;
    if (phase == Phase::wait && peer == options_.rank) own.own_wait_ns += end - begin;
    own.spans.push({begin, end, done_ + 1, own.item, static_cast<std::int16_t>(peer), phase});
  };
  // Work aside is shown at the end of the phase.
  std::uint64_t left = now - own.since_ns;
  for (auto& ns : own.aside) left -= ns = std::min(ns, left);
  std::uint64_t at = own.since_ns + left;
  if (own.phase == Phase::wait && own.peer >= 0) own.waited_ns[static_cast<std::size_t>(own.peer)].add(left);
  add(own.phase, own.peer, own.since_ns, at);
  for (std::size_t p = 0; p < topology::kPhases; ++p) {
    const std::uint64_t begin = at;
    add(static_cast<Phase>(p), own.aside_peer[p], begin, at += own.aside[p]);
  }
  own.aside = {};
  own.since_ns = now;
}

void Timeline::enter(int worker, Phase phase, std::size_t item, int peer) noexcept {
  Worker& own = *workers_[static_cast<std::size_t>(worker)];
  const std::uint64_t now = now_ns();
  if (counting_) {
    const CounterValues counts = own.read();
    if (own.counted) {
      own.times.counts[index(own.phase)] += counts - own.last;
      own.times.counted_ns[index(own.phase)] += now - own.counted_since_ns;
    }
    own.last = counts;
    own.counted_since_ns = now;
  }
  own.counted = counting_;
  close(own, now);
  if (phase == Phase::send && peer >= 0) own.ready.add(1);
  own.phase = phase;
  own.item = static_cast<std::uint32_t>(item);
  own.peer = peer;
}

void Timeline::waits_for(int worker, int peer) noexcept {
  Worker& own = *workers_[static_cast<std::size_t>(worker)];
  if (peer >= 0) own.peer = peer;
}

void Timeline::aside(int worker, Phase phase, int peer, std::uint64_t ns) noexcept {
  Worker& own = *workers_[static_cast<std::size_t>(worker)];
  own.aside[index(phase)] += ns;
  own.aside_peer[index(phase)] = peer;
  if (phase == Phase::wait && peer >= 0) own.waited_ns[static_cast<std::size_t>(peer)].add(ns);
}

void Timeline::arrived(int worker, int peer, std::uint64_t chunks) noexcept {
  Worker& own = *workers_[static_cast<std::size_t>(worker)];
  auto& seen = own.seen[static_cast<std::size_t>(peer)];
  if (chunks == seen) return;
  own.arrivals.push({now_ns(), seen, chunks, peer});
  own.arrived.add(chunks - seen);
  seen = chunks;
}

/// Adds the phases of the workers since the last call.
void Timeline::add_all_to(IterationTimes& times, std::uint64_t now) noexcept {
  times.end_ns = now;
  for (auto& one : workers_) {
    Worker& own = *one;
    close(own, now);
    std::uint64_t work_ns = 0;
    for (std::size_t p = 0; p < topology::kPhases; ++p) {
      times.phases[p] += own.iteration[p];
      own.times.phases[p] += own.iteration[p];
      if (p != index(Phase::wait)) work_ns += own.iteration[p];
    }
    times.slowest_work_ns = std::max(times.slowest_work_ns, work_ns);
    times.own_wait_ns += own.own_wait_ns;
    own.iteration = {};
    own.own_wait_ns = 0;
  }
}

void Timeline::end_iteration(std::uint64_t iteration) noexcept {
  const std::uint64_t now = now_ns();
  IterationTimes times;
  times.begin_ns = began_ns_;
  std::uint64_t reading_ns = 0;
  for (auto& one : workers_) {
    if (began_ns_ == 0) times.begin_ns = one->began_ns;
    reading_ns = std::max(reading_ns, std::exchange(one->reading_ns, 0));
  }
  add_all_to(times, now);
  iterations_[done_ % iterations_.size()] = times;
  done_ = iteration;
  began_ns_ = now;
  if (reading_ns > 0) {
    const std::uint64_t spent_ns = std::max<std::uint64_t>(times.end_ns - times.begin_ns, 1);
    counted_every_ = 1 + kShareOfReading * reading_ns / spent_ns;
  }
  counting_ = iteration % counted_every_ == 0;
}

std::vector<IterationTimes> Timeline::iterations() const {
  std::vector<IterationTimes> result;
  const auto kept = std::min<std::uint64_t>(done_, iterations_.size());
  for (std::uint64_t i = done_ - kept; i < done_; ++i) result.push_back(iterations_[i % iterations_.size()]);
  return result;
}

std::vector<Span> Timeline::spans(int worker) const {
  return workers_[static_cast<std::size_t>(worker)]->spans.in_order();
}

std::vector<Arrival> Timeline::arrivals(int worker) const {
  return workers_[static_cast<std::size_t>(worker)]->arrivals.in_order();
}

WorkerTimes Timeline::worker(int worker) const { return workers_[static_cast<std::size_t>(worker)]->times; }

std::uint64_t Timeline::cpu_ns(int worker) const noexcept {
  const Worker& own = *workers_[static_cast<std::size_t>(worker)];
  const int thread = own.thread.load(std::memory_order_acquire);
  if (thread == 0) return 0;
  // This makes the clock of a thread from its id, as pthread_getcpuclockid() makes it. It is exact at any
  // moment; the time in /proc moves on with the kernel's ticks.
  constexpr clockid_t kOfThread = 4, kScheduled = 2;
  const std::uint64_t now = clock_ns((~thread << 3) | kOfThread | kScheduled);
  return std::max(now, own.began_cpu_ns) - own.began_cpu_ns;
}

std::vector<std::uint64_t> Timeline::waited_ns() const {
  std::vector<std::uint64_t> all;
  for (int p = 0; p < options_.processes; ++p) all.push_back(waited_ns(p));
  return all;
}

std::uint64_t Timeline::waited_ns(int peer) const noexcept {
  std::uint64_t sum = 0;
  for (const auto& one : workers_) sum += one->waited_ns[static_cast<std::size_t>(peer)].get();
  return sum;
}

Timeline::Chunks Timeline::chunks() const noexcept {
  Chunks sum;
  for (const auto& one : workers_) {
    sum.ready += one->ready.get();
    sum.arrived += one->arrived.get();
  }
  return sum;
}

}  // namespace edgewire::profile
