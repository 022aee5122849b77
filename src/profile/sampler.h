// This file reads gauges of the system at regular intervals while a job runs.
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
  std::string unit;  ///< unit: cores, MB, Gbit/s, MB/s, chunks, chunks/s, workers
  std::vector<float> values;
};

struct Samples {
  std::vector<std::uint64_t> at_ns;  ///< ends of the intervals, by CLOCK_MONOTONIC
  std::vector<Series> series;
};

/// A value that is read again and again.
struct Gauge {
  std::string name;
  std::string unit;
  double scale = 1;   ///< factor from the value to the unit
  bool rate = false;  ///< whether `read` returns a count that grows, whose change per second is reported
  std::function<double()> read;  ///< reads the value, on the sampler's thread; below 0: nothing to read
};

/// The name of the gauge of the cores of the machine that its hypervisor gave to others ("steal" in proc(5)).
inline constexpr const char* kStolen = "stolen";

/// Returns gauges of the CPU of the system, kStolen, memory of this process, each network interface (in this
/// network namespace), RDMA port counters and disks. `root` stands before /proc and /sys.
std::vector<Gauge> system_gauges(const std::string& root = "");

/// Joins the last two samples to one. `share`: the last one's part of their time.
void join_last(Samples& samples, double share);

/// A thread that reads gauges until stop(), which reads them once more: so the shortest run has a sample.
/// Memory is bounded: whenever it is full, samples are joined in pairs.
class Sampler {
 public:
  static constexpr std::size_t kMostSamples = 4096;

  Sampler(std::chrono::milliseconds interval, std::vector<Gauge> gauges);
  /// Ends the thread. Call it once.
  Samples stop();

 private:
  void sample(std::uint64_t now_ns, double seconds);
  void thin();

  std::chrono::milliseconds interval_;
  std::vector<Gauge> gauges_;
  std::vector<double> last_;  ///< last values, [gauge]; below 0: nothing yet
  Samples samples_;
  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::jthread thread_;
};

}  // namespace edgewire::profile
