// How busy the machine is while a job runs: figures of the system, read every now and then.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace edgewire::perf {

/// A figure over time, one value for each sample.
struct Series {
  std::string name;
  std::string unit;  ///< cores, MB, Gbit/s, MB/s
  std::vector<float> values;
};

struct Samples {
  std::vector<std::uint64_t> at_ns;  ///< CLOCK_MONOTONIC, ends of the intervals
  std::vector<Series> series;
};

/// Reads, in a thread of its own, until stop(): CPU of each worker and of the system, resident memory, each
/// network interface (of this network namespace), RDMA port counters, disks. Memory is bounded: of a long run
/// every second sample is dropped, again and again.
class Sampler {
 public:
  static constexpr std::size_t kMostSamples = 4096;

  /// `thread_of(worker)`: its thread id, 0 when it has not started; from any thread.
  Sampler(std::chrono::milliseconds interval, int workers, const std::function<int(int worker)>& thread_of);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  /// Ends the thread. Once.
  Samples stop();

 private:
  struct Source {
    std::string name, unit;
    double scale;                  ///< to the unit
    bool rate;                     ///< of a count that grows: its change a second
    double last = -1;              ///< count; below 0: none yet
    std::function<double()> read;  ///< below 0: nothing to read
  };
  void find_sources(int workers, const std::function<int(int)>& thread_of);
  void add(std::string name, std::string unit, double scale, bool rate, std::function<double()> read);
  void sample(double seconds);
  void thin();

  std::chrono::milliseconds interval_;
  std::vector<Source> sources_;
  Samples samples_;
  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::jthread thread_;
};

}  // namespace edgewire::perf
