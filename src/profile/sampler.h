// This file records how busy the machine is while a job runs: it reads gauges of the system at regular
// intervals.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace edgewire::profile {

/// A gauge over time, one value for each sample.
struct Series {
  std::string name;
  std::string unit;  ///< cores, MB, Gbit/s, MB/s, chunks, chunks/s, workers
  std::vector<float> values;
};

struct Samples {
  std::vector<std::uint64_t> at_ns;  ///< CLOCK_MONOTONIC, ends of the intervals
  std::vector<Series> series;
};

/// A value that is read again and again.
struct Gauge {
  std::string name;
  std::string unit;
  double scale = 1;              ///< factor from the value to the unit
  bool rate = false;             ///< `read` returns a count that grows: report its change per second
  std::function<double()> read;  ///< called by the sampler's thread; below 0: nothing to read
};

/// The name of one of system_gauges(): the cores of the machine that its hypervisor gave to others ("steal"
/// in proc(5)).
inline constexpr const char* kStolen = "stolen";

/// Returns gauges of the CPU of the system, kStolen, memory of this process, each network interface (in this
/// network namespace), RDMA port counters and disks. `root` stands before /proc and /sys.
std::vector<Gauge> system_gauges(const std::string& root = "");

/// Makes one of the last two samples, up to the end of the last. `share`: its part of their time.
void join_last(Samples& samples, double share);

/// Reads gauges in a separate thread until stop(), which reads them once more: so the shortest run has a
/// sample. Memory is bounded: whenever it is full, every second sample is dropped.
class Sampler {
 public:
  static constexpr std::size_t kMostSamples = 4096;

  Sampler(std::chrono::milliseconds interval, std::vector<Gauge> gauges);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  /// Ends the thread. Call it once.
  Samples stop();

 private:
  void sample(std::uint64_t now_ns, double seconds);
  void thin();

  std::chrono::milliseconds interval_;
  std::vector<Gauge> gauges_;
  std::vector<double> last_;  ///< [gauge]: what was read; below 0: nothing yet
  Samples samples_;
  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::jthread thread_;
};

}  // namespace edgewire::profile
