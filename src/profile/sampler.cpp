#include "profile/sampler.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>
#include <utility>

#include "base/file_calls.h"
#include "base/seconds.h"

namespace edgewire::profile {

namespace {

namespace fs = std::filesystem;

/// A file of the system that is kept open. Gauges that are read one after the other share its text.
class SystemFile {
 public:
  explicit SystemFile(const std::string& path) : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

  /// Returns number `index` (from 0) behind `word`, which begins a line. Without a word, it takes the number
  /// from the first line. A result below 0 means that there is none.
  double number(std::string_view word, std::size_t index) {
    refresh();
    const char* at = text_.c_str();
    while (!word.empty()) {
      while (*at == ' ') ++at;
      if (std::string_view(at).starts_with(word)) break;
      at = std::strchr(at, '\n');
      if (at == nullptr || *++at == '\0') return -1;
    }
    at += word.size();
    double number = -1;
    for (std::size_t i = 0; i <= index; ++i) {
      char* end = nullptr;
      number = std::strtod(at, &end);
      if (end == at) return -1;
      at = end;
    }
    return number;
  }

 private:
  void refresh() {
    constexpr std::uint64_t kTogether_ns = 1'000'000;
    if (now_ns() - read_at_ns_ < kTogether_ns) return;
    text_.clear();
    std::array<char, 8192> piece{};
    for (ssize_t got = 1; got > 0;
         text_.append(piece.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))))
      got = pread(file_.descriptor(), piece.data(), piece.size(), static_cast<off_t>(text_.size()));
    read_at_ns_ = now_ns();
  }

  OpenFile file_;
  std::string text_;
  std::uint64_t read_at_ns_ = 0;
};

/// Returns a function that reads the first number of a file.
std::function<double()> number_in(const std::string& path) {
  return [file = std::make_shared<SystemFile>(path)] { return file->number("", 0); };
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

constexpr std::size_t kIdle = 3, kWaiting = 4, kSteal = 7;  // places in /proc/stat

double busy_ticks(SystemFile& stat) {
  double busy = 0;
  for (std::size_t i = 0; i < kSteal; ++i) busy += i == kIdle || i == kWaiting ? 0 : stat.number("cpu", i);
  return busy;
}

using Gauges = std::vector<Gauge>;
constexpr double kGigabits = 8e-9, kMegabytes = 1e-6;

/// Adds the interfaces of this network namespace.
void add_interfaces(const std::string& root, Gauges& gauges) {
  const std::string path = root + "/proc/self/net/dev";
  constexpr std::size_t kReceived = 0, kSent = 8;
  const auto shared = std::make_shared<SystemFile>(path);
  std::ifstream names(path);
  for (std::string line; std::getline(names, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto first = line.find_first_not_of(' ');
    const std::string name = line.substr(first, colon - first);
    const auto bytes = [&](std::size_t field) {
      return [shared, word = name + ":", field] { return shared->number(word, field); };
    };
    gauges.push_back({name + " received", "Gbit/s", kGigabits, true, bytes(kReceived)});
    gauges.push_back({name + " sent", "Gbit/s", kGigabits, true, bytes(kSent)});
  }
}

void add_rdma_ports(const std::string& root, Gauges& gauges) {
  const std::string cards = root + "/sys/class/infiniband/";
  for (const auto& card : names_in(cards))
    for (const auto& port : names_in(cards + card + "/ports")) {
      const std::string counters = fmt::format("{}{}/ports/{}/", cards, card, port);
      const std::string name = fmt::format("{} port {}", card, port);
      // These counters count words of 4 bytes. Soft-RoCE has only packets.
      const auto add = [&](const char* way, const char* data, const char* packets) {
        if (fs::exists(counters + data))
          gauges.push_back({name + way, "Gbit/s", 4 * kGigabits, true, number_in(counters + data)});
        else if (fs::exists(counters + packets))
          gauges.push_back({name + way, "packets/s", 1, true, number_in(counters + packets)});
      };
      add(" received", "counters/port_rcv_data", "hw_counters/rcvd_pkts");
      add(" sent", "counters/port_xmit_data", "hw_counters/sent_pkts");
    }
}

void add_disks(const std::string& root, Gauges& gauges) {
  constexpr std::size_t kRead = 2, kWritten = 6;  // places in /sys/block/NAME/stat, in sectors of 512 bytes
  for (const auto& disk : names_in(root + "/sys/block")) {
    if (disk.starts_with("loop") || disk.starts_with("ram") || disk.starts_with("zram")) continue;
    const auto stat = std::make_shared<SystemFile>(fmt::format("{}/sys/block/{}/stat", root, disk));
    const auto sectors = [&](std::size_t field) { return [stat, field] { return stat->number("", field); }; };
    gauges.push_back({disk + " read", "MB/s", 512 * kMegabytes, true, sectors(kRead)});
    gauges.push_back({disk + " written", "MB/s", 512 * kMegabytes, true, sectors(kWritten)});
  }
}

}  // namespace

std::vector<Gauge> system_gauges(const std::string& root) {
  const auto stat = std::make_shared<SystemFile>(root + "/proc/stat");
  const auto statm = std::make_shared<SystemFile>(root + "/proc/self/statm");
  const auto page_bytes = static_cast<double>(sysconf(_SC_PAGESIZE));
  const double tick_s = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  Gauges gauges{
      {"system", "cores", tick_s, true, [stat] { return busy_ticks(*stat); }},
      {kStolen, "cores", tick_s, true, [stat] { return stat->number("cpu", kSteal); }},
      {"resident memory", "MB", kMegabytes * page_bytes, false, [statm] { return statm->number("", 1); }},
  };
  add_interfaces(root, gauges);
  add_rdma_ports(root, gauges);
  add_disks(root, gauges);
  return gauges;
}

void join_last(Samples& samples, double share) {
  for (auto& [name, unit, values] : samples.series) {
    const float last = values.back();
    values.pop_back();
    values.back() += static_cast<float>(share) * (last - values.back());
  }
  const auto at_ns = samples.at_ns.back();
  samples.at_ns.pop_back();
  samples.at_ns.back() = at_ns;
}

Sampler::Sampler(std::chrono::milliseconds interval, std::vector<Gauge> gauges)
    : interval_(interval), gauges_(std::move(gauges)), last_(gauges_.size(), -1) {
  for (const auto& gauge : gauges_) samples_.series.push_back({gauge.name, gauge.unit, {}});
  thread_ = std::jthread([this](const std::stop_token& stop) {
    auto last = now_ns();
    double took_s = 0;
    sample(last, 0);
    std::unique_lock lock(mutex_);
    for (bool stopped = false; !stopped;) {
      woken_.wait_for(lock, stop, interval_, [] { return false; });
      stopped = stop.stop_requested();
      const auto now = now_ns();
      const double before_s = std::exchange(took_s, static_cast<double>(now - last) * 1e-9);
      last = now;
      sample(now, took_s);
      // The last interval may be short, and then counts of the kernel's ticks make no rate.
      if (stopped && samples_.at_ns.size() > 1 && took_s < before_s / 2)
        join_last(samples_, took_s / (before_s + took_s));
      if (samples_.at_ns.size() == kMostSamples) thin();
    }
  });
}

Samples Sampler::stop() {
  thread_.request_stop();
  thread_.join();
  return std::move(samples_);
}

/// Takes a sample, `seconds` since the last one; 0: the first one, which only reads the counts.
void Sampler::sample(std::uint64_t now_ns, double seconds) {
  if (seconds > 0) samples_.at_ns.push_back(now_ns);
  for (std::size_t f = 0; f < gauges_.size(); ++f) {
    const auto& gauge = gauges_[f];
    const double now = gauge.read();
    double value = std::max(now, 0.0);
    if (gauge.rate) value = last_[f] < 0 || now < last_[f] ? 0 : (now - last_[f]) / seconds;
    last_[f] = now;
    if (seconds > 0) samples_.series[f].values.push_back(static_cast<float>(value * gauge.scale));
  }
}

/// Halves the number of samples, each for twice the time.
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

}  // namespace edgewire::profile
