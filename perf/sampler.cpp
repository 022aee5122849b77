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

double busy_seconds() {
  const auto ticks = numbers_of("/proc/stat", "cpu");
  if (ticks.size() < 8) return -1;
  constexpr std::size_t kIdle = 3, kWaiting = 4;
  double busy = 0;
  for (std::size_t i = 0; i < 8; ++i) busy += i == kIdle || i == kWaiting ? 0 : ticks[i];
  return busy / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double resident_bytes() {
  double all = 0, resident = -1;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// Interfaces of this network namespace.
std::vector<std::string> interfaces() {
  std::ifstream file("/proc/self/net/dev");
  std::vector<std::string> names;
  std::string line;
  while (std::getline(file, line)) {
    const auto colon = line.find(':');
    const auto first = line.find_first_not_of(' ');
    if (colon != std::string::npos) names.push_back(line.substr(first, colon - first));
  }
  return names;
}

double interface_bytes(const std::string& name, std::size_t field) {
  const auto numbers = numbers_of("/proc/self/net/dev", name + ":");
  return numbers.size() > field ? numbers[field] : -1;
}

}  // namespace

Sampler::Sampler(std::chrono::milliseconds interval, int workers, const std::function<int(int)>& thread_of)
    : interval_(interval) {
  find_sources(workers, thread_of);
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

void Sampler::add(std::string name, std::string unit, double scale, bool rate, std::function<double()> read) {
  sources_.push_back({name, unit, scale, rate, -1, std::move(read)});
  samples_.series.push_back({std::move(name), std::move(unit), {}});
}

void Sampler::find_sources(int workers, const std::function<int(int)>& thread_of) {
  constexpr double kGigabits = 8e-9, kMegabytes = 1e-6;
  for (int w = 0; w < workers; ++w) {
    add(fmt::format("worker {}", w), "cores", 1e-9, true, [w, thread_of] {
      const int thread = thread_of(w);
      return thread == 0 ? -1 : read_number(fmt::format("/proc/self/task/{}/schedstat", thread));
    });
  }
  add("system", "cores", 1, true, busy_seconds);
  add("resident memory", "MB", kMegabytes, false, resident_bytes);
  for (const auto& name : interfaces()) {
    constexpr std::size_t kReceived = 0, kSent = 8;
    add(name + " received", "Gbit/s", kGigabits, true, [name] { return interface_bytes(name, kReceived); });
    add(name + " sent", "Gbit/s", kGigabits, true, [name] { return interface_bytes(name, kSent); });
  }
  const std::string cards = "/sys/class/infiniband/";
  for (const auto& card : names_in(cards)) {
    for (const auto& port : names_in(cards + card + "/ports")) {
      // Counted in words of 4 bytes.
      const std::string counters = fmt::format("{}{}/ports/{}/counters/port_", cards, card, port);
      const std::string name = fmt::format("{} port {}", card, port);
      add(name + " received", "Gbit/s", 4 * kGigabits, true,
          [=] { return read_number(counters + "rcv_data"); });
      add(name + " sent", "Gbit/s", 4 * kGigabits, true, [=] { return read_number(counters + "xmit_data"); });
    }
  }
  for (const auto& disk : names_in("/sys/block")) {
    if (disk.starts_with("loop") || disk.starts_with("ram") || disk.starts_with("zram")) continue;
    constexpr std::size_t kRead = 2, kWritten = 6;  // of /sys/block/NAME/stat, in sectors of 512 bytes
    const auto sectors = [disk](std::size_t field) {
      std::ifstream file("/sys/block/" + disk + "/stat");
      double number = -1;
      for (std::size_t i = 0; i <= field; ++i) file >> number;
      return file ? number : -1;
    };
    add(disk + " read", "MB/s", 512 * kMegabytes, true, [=] { return sectors(kRead); });
    add(disk + " written", "MB/s", 512 * kMegabytes, true, [=] { return sectors(kWritten); });
  }
}

/// `seconds` since the last one; 0: the first, which only counts.
void Sampler::sample(double seconds) {
  if (seconds > 0) samples_.at_ns.push_back(now_ns());
  for (std::size_t s = 0; s < sources_.size(); ++s) {
    auto& source = sources_[s];
    const double now = source.read();
    double value = std::max(now, 0.0);
    if (source.rate) value = source.last < 0 || now < source.last ? 0 : (now - source.last) / seconds;
    source.last = now;
    if (seconds > 0) samples_.series[s].values.push_back(static_cast<float>(value * source.scale));
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
