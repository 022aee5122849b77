#include "perf/sampler.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "perf/timeline.h"

namespace edgewire::perf {

namespace {

namespace fs = std::filesystem;

double read_number(const std::string& path) {
  double number = -1;
  std::ifstream(path) >> number;
  return number;
}

/// The words of the line of a file that begins with the word `name`, without it.
std::vector<double> numbers_of(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word != name) continue;
    std::vector<double> numbers;
    for (double number = 0; words >> number;) numbers.push_back(number);
    return numbers;
  }
  return {};
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

double busy_seconds(const std::string& root) {
  const auto ticks = numbers_of(root + "/proc/stat", "cpu");
  if (ticks.size() < 8) return -1;
  constexpr std::size_t kIdle = 3, kWaiting = 4;
  double busy = 0;
  for (std::size_t i = 0; i < 8; ++i) busy += i == kIdle || i == kWaiting ? 0 : ticks[i];
  return busy / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double resident_bytes(const std::string& root) {
  double all = 0, resident = -1;
  std::ifstream(root + "/proc/self/statm") >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

using Gauges = std::vector<Gauge>;
constexpr double kGigabits = 8e-9, kMegabytes = 1e-6;

/// Interfaces of this network namespace.
void add_interfaces(const std::string& root, Gauges& gauges) {
  const std::string path = root + "/proc/self/net/dev";
  constexpr std::size_t kReceived = 0, kSent = 8;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto first = line.find_first_not_of(' ');
    const std::string name = line.substr(first, colon - first);
    const auto bytes = [path, name](std::size_t field) {
      const auto numbers = numbers_of(path, name + ":");
      return numbers.size() > field ? numbers[field] : -1;
    };
    gauges.push_back({name + " received", "Gbit/s", kGigabits, true, [=] { return bytes(kReceived); }});
    gauges.push_back({name + " sent", "Gbit/s", kGigabits, true, [=] { return bytes(kSent); }});
  }
}

void add_rdma_ports(const std::string& root, Gauges& gauges) {
  const std::string cards = root + "/sys/class/infiniband/";
  for (const auto& card : names_in(cards)) {
    for (const auto& port : names_in(cards + card + "/ports")) {
      const std::string counters = fmt::format("{}{}/ports/{}/", cards, card, port);
      const std::string name = fmt::format("{} port {}", card, port);
      // Counted in words of 4 bytes. Soft-RoCE has only packets.
      const auto add = [&](const char* way, const char* data, const char* packets) {
        if (fs::exists(counters + data)) {
          gauges.push_back({name + way, "Gbit/s", 4 * kGigabits, true,
                            [file = counters + data] { return read_number(file); }});
        } else if (fs::exists(counters + packets)) {
          gauges.push_back(
              {name + way, "packets/s", 1, true, [file = counters + packets] { return read_number(file); }});
        }
      };
      add(" received", "counters/port_rcv_data", "hw_counters/rcvd_pkts");
      add(" sent", "counters/port_xmit_data", "hw_counters/sent_pkts");
    }
  }
}

void add_disks(const std::string& root, Gauges& gauges) {
  constexpr std::size_t kRead = 2, kWritten = 6;  // of /sys/block/NAME/stat, in sectors of 512 bytes
  for (const auto& disk : names_in(root + "/sys/block")) {
    if (disk.starts_with("loop") || disk.starts_with("ram") || disk.starts_with("zram")) continue;
    const auto sectors = [path = root + "/sys/block/" + disk + "/stat"](std::size_t field) {
      std::ifstream file(path);
      double number = -1;
      for (std::size_t i = 0; i <= field; ++i) file >> number;
      return file ? number : -1;
    };
    gauges.push_back({disk + " read", "MB/s", 512 * kMegabytes, true, [=] { return sectors(kRead); }});
    gauges.push_back({disk + " written", "MB/s", 512 * kMegabytes, true, [=] { return sectors(kWritten); }});
  }
}

}  // namespace

std::vector<Gauge> system_gauges(const std::string& root) {
  Gauges gauges{
      {"system", "cores", 1, true, [root] { return busy_seconds(root); }},
      {"resident memory", "MB", kMegabytes, false, [root] { return resident_bytes(root); }},
  };
  add_interfaces(root, gauges);
  add_rdma_ports(root, gauges);
  add_disks(root, gauges);
  return gauges;
}

Gauge thread_gauge(std::string name, const std::function<int()>& thread) {
  return {std::move(name), "cores", 1e-9, true, [thread] {
            const int id = thread();
            return id == 0 ? -1 : read_number(fmt::format("/proc/self/task/{}/schedstat", id));
          }};
}

Sampler::Sampler(std::chrono::milliseconds interval, std::vector<Gauge> gauges)
    : interval_(interval), gauges_(std::move(gauges)), last_(gauges_.size(), -1) {
  for (const auto& gauge : gauges_) samples_.series.push_back({gauge.name, gauge.unit, {}});
  thread_ = std::jthread([this](const std::stop_token& stop) {
    auto last = now_ns();
    sample(0);
    std::unique_lock lock(mutex_);
    while (!woken_.wait_for(lock, stop, interval_, [] { return false; }) && !stop.stop_requested()) {
      const auto now = now_ns();
      sample(static_cast<double>(now - last) * 1e-9);
      last = now;
      if (samples_.at_ns.size() == kMostSamples) thin();
    }
  });
}

Sampler::~Sampler() = default;

Samples Sampler::stop() {
  thread_.request_stop();
  thread_.join();
  return std::move(samples_);
}

/// `seconds` since the last one; 0: the first, which only counts.
void Sampler::sample(double seconds) {
  if (seconds > 0) samples_.at_ns.push_back(now_ns());
  for (std::size_t f = 0; f < gauges_.size(); ++f) {
    const auto& gauge = gauges_[f];
    const double now = gauge.read();
    double value = std::max(now, 0.0);
    if (gauge.rate) value = last_[f] < 0 || now < last_[f] ? 0 : (now - last_[f]) / seconds;
    last_[f] = now;
    if (seconds > 0) samples_.series[f].values.push_back(static_cast<float>(value * gauge.scale));
  }
}

/// Half as many samples, each for twice the time.
void Sampler::thin() {
  const std::size_t half = samples_.at_ns.size() / 2;
  for (std::size_t i = 0; i < half; ++i) samples_.at_ns[i] = samples_.at_ns[2 * i + 1];
  samples_.at_ns.resize(half);
  for (auto& series : samples_.series) {
    for (std::size_t i = 0; i < half; ++i)
      series.values[i] = (series.values[2 * i] + series.values[2 * i + 1]) / 2;
    series.values.resize(half);
  }
  interval_ *= 2;
}

}  // namespace edgewire::perf
