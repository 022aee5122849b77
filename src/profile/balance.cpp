#include "profile/balance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/seconds.h"
#include "base/units.h"
#include "base/usage.h"
#include "launch/packing.h"
#include "profile/profile.h"
#include "report/json_text.h"

namespace edgewire::profile {

namespace {

constexpr std::chrono::milliseconds kSampleEvery{100};
constexpr std::size_t kMostIntervals = 100;

/// The series of the samples that a process takes.
enum SampledSeries : std::size_t { kDisk, kWire, kCores };

/// Adds the samples of a process to the intervals, where they are higher than those of the others.
void add_samples(const Samples& samples, Balance& balance) {
  const auto add = [&](SampledSeries series, double most, double Balance::Interval::*share) {
    std::vector<double> rates;
    for (const double rate : samples.series[series].values) rates.push_back(rate / most);
    const auto means = in_intervals(samples.at_ns, rates, 0, balance.interval_s, balance.intervals.size());
    for (std::size_t i = 0; i < means.size(); ++i)
      balance.intervals[i].*share = std::clamp(means[i], balance.intervals[i].*share, 1.0);
  };
  add(kDisk, 1, &Balance::Interval::disk);
  if (balance.has_wire()) add(kWire, balance.line_bits_per_s, &Balance::Interval::wire);
  add(kCores, 1, &Balance::Interval::cores);
}

/// Replaces each figure of `used` by join(that figure, the one of `other`).
template <class Join>
void join_figures(Balance::Used& used, const Balance::Used& other, const Join& join) {
  using Used = Balance::Used;
  const auto join_all = [&](const auto&... figures) {
    ((used.*figures = join(used.*figures, other.*figures)), ...);
  };
  join_all(&Used::seconds, &Used::disk_s, &Used::cores_s, &Used::disk_bytes_read, &Used::disk_bytes_written,
           &Used::wire_bytes);
}

double seconds_of(const Balance::Step& step, bounds::Limit resource) {
  return resource == bounds::Limit::disk   ? step.disk_s
         : resource == bounds::Limit::wire ? step.wire_s
                                           : step.cores_s;
}

}  // namespace

bounds::Limit Balance::busiest() const noexcept {
  bounds::Limit most = bounds::Limit::cores;
  for (const bounds::Limit one : {bounds::Limit::disk, bounds::Limit::wire})
    if (seconds_of(all, one) > seconds_of(all, most)) most = one;
  return most;
}

double Balance::times_busiest() const noexcept {
  return all.seconds / std::max(seconds_of(all, busiest()), 1e-9);
}

std::string Balance::to_line() const {
  const std::string disk = disk_known ? "disk busy " + readable_seconds(all.disk_s) : "disk not known";
  const std::string wire = has_wire() ? ", wire busy " + readable_seconds(all.wire_s) : "";
  return fmt::format("cores busy {}, {}{}: the run took {:.2f} x the time of its busiest resource ({})\n",
                     readable_seconds(all.cores_s), disk, wire, times_busiest(), to_name(busiest()));
}

std::string Balance::to_times() const {
  std::string text = fmt::format("busy over time, in tenths, {} times {}:\n", intervals.size(),
                                 readable_seconds(interval_s));
  const auto add = [&](const char* name, bool known, double Interval::*share) {
    if (!known) return;
    text += fmt::format("  {:<6}", name);
    for (const Interval& one : intervals) text += fmt::format("{}", std::min(9, int(10 * one.*share)));
    text += '\n';
  };
  add("disk", disk_known, &Interval::disk);
  add("wire", has_wire(), &Interval::wire);
  add("cores", true, &Interval::cores);
  return text;
}

report::Table Balance::to_table() const {
  report::Table table{{"step", "time", "disk", "wire", "cores", "read", "written", "on wire"}};
  const auto part = [](bool known, double busy_s, const Step& step) {
    return known && step.seconds > 0 ? fmt::format("{:.0f} %", 100 * std::min(1.0, busy_s / step.seconds))
                                     : "-";
  };
  for (const Step& step : steps)
    table.rows.push_back({step.name, readable_seconds(step.seconds), part(disk_known, step.disk_s, step),
                          part(has_wire(), step.wire_s, step), part(true, step.cores_s, step),
                          readable_bytes(step.disk_bytes_read), readable_bytes(step.disk_bytes_written),
                          readable_bytes(step.wire_bytes)});
  return table;
}

report::Json Balance::to_json() const {
  const auto add_busy = [this](report::Json& json, const Step& step) {
    json["seconds"] = step.seconds;
    if (disk_known) json["seconds_disk_busy"] = step.disk_s;
    if (has_wire()) json["seconds_wire_busy"] = step.wire_s;
    json["seconds_cores_busy"] = step.cores_s;
    if (disk_known) EDGEWIRE_ADD_FIELDS(json, step, disk_bytes_read, disk_bytes_written);
    if (has_wire()) json["wire_bytes"] = step.wire_bytes;
  };
  report::Json json{{"busiest", to_name(busiest())}, {"times_busiest", times_busiest()}};
  if (has_wire()) json["line_bits_per_second"] = line_bits_per_s;
  add_busy(json, all);
  json["steps"] = report::Json::array();
  for (const Step& step : steps)
    add_busy(json["steps"].emplace_back(report::Json{{"step", step.name}}), step);
  json["interval_seconds"] = interval_s;
  json["intervals"] = report::Json::array();
  for (const Interval& interval : intervals) {
    auto& one = json["intervals"].emplace_back(report::Json::object());
    if (disk_known) one["disk"] = interval.disk;
    if (has_wire()) one["wire"] = interval.wire;
    one["cores"] = interval.cores;
  }
  return json;
}

std::vector<double> in_intervals(const std::vector<std::uint64_t>& ends_ns, const std::vector<double>& rates,
                                 std::uint64_t began_ns, double interval_s, std::size_t count) {
  std::vector<double> means(count);
  double begin = 0;
  for (std::size_t s = 0; s < ends_ns.size(); ++s) {
    const double end = seconds(ends_ns[s] - began_ns);
    for (auto i = static_cast<std::size_t>(begin / interval_s); i < count; ++i) {
      const double from = interval_s * static_cast<double>(i), to = from + interval_s;
      if (from >= end) break;
      means[i] += rates[s] * std::max(0.0, std::min(to, end) - std::max(from, begin)) / interval_s;
    }
    begin = end;
  }
  return means;
}

BalanceWatch::BalanceWatch(launch::Bootstrap& bootstrap, process::LocalProcess& process,
                           const std::vector<std::string>& paths, double given_bits_per_s)
    : bootstrap_(bootstrap), process_(process), disks_(paths), cores_(cores_of(bootstrap, process.pool())) {
  const auto& link = process.link();
  if (bootstrap.size() > 1 && link.name() != "shm") {
    line_bits_per_s_ = given_bits_per_s != 0 ? given_bits_per_s : measure_line(bootstrap, process);
  }
  cpu_before_ = process_cpu_seconds();
  bytes_before_.resize(static_cast<std::size_t>(bootstrap.size()));
  for (int peer = 0; peer < bootstrap.size(); ++peer)
    bytes_before_[static_cast<std::size_t>(peer)] = wire_bytes_to(peer);
  bootstrap.allgather("");  // so that all begin at the same time
  began_ns_ = now_ns();
  sampler_.emplace(
      kSampleEvery,
      std::vector<Gauge>{{"disk", "", 1, true, [this] { return disks_.use().seconds; }},
                         {"wire", "bit/s", 8, true, [this] { return static_cast<double>(wire_bytes()); }},
                         {"cores", "", 1, true, [this] { return cores_s(); }}});
}

/// Returns the bytes that crossed the wire to this peer since the job began. Shared memory is no wire.
std::uint64_t BalanceWatch::wire_bytes_to(int peer) const {
  const auto& link = process_.link();
  const auto& nodes = bootstrap_.nodes();
  const auto p = static_cast<std::size_t>(peer);
  const bool same_host =
      link.name().starts_with("shm+") && nodes[p] == nodes[static_cast<std::size_t>(bootstrap_.rank())];
  if (peer == bootstrap_.rank() || same_host || line_bits_per_s_ == 0) return 0;
  return link.wire_bytes_of(link.frame_bytes_to(peer)) - bytes_before_[p];
}

std::uint64_t BalanceWatch::wire_bytes() const {
  std::uint64_t bytes = 0;
  for (int peer = 0; peer < bootstrap_.size(); ++peer) bytes += wire_bytes_to(peer);
  return bytes;
}

double BalanceWatch::cores_s() const { return (process_cpu_seconds() - cpu_before_) / cores_; }

Balance::Used BalanceWatch::used() const {
  const auto [disk_s, read, written] = disks_.use();
  return {seconds(now_ns() - began_ns_), disk_s, cores_s(), read, written, wire_bytes()};
}

void BalanceWatch::end_step(const std::string& name) {
  names_.push_back(name);
  steps_.push_back(used());
}

Balance BalanceWatch::gather() {
  Samples samples = sampler_->stop();
  for (std::uint64_t& at_ns : samples.at_ns) at_ns -= began_ns_;
  std::vector<std::uint64_t> bytes_to;
  for (int peer = 0; peer < bootstrap_.size(); ++peer) bytes_to.push_back(wire_bytes_to(peer));
  const auto all_steps = bootstrap_.gather(launch::pack(steps_));
  const auto all_bytes = bootstrap_.gather(launch::pack(bytes_to));
  const auto all_samples = gather_samples(bootstrap_, samples);
  const auto known = bootstrap_.gather(disks_.known() ? "known" : "");
  Balance balance;
  balance.line_bits_per_s = line_bits_per_s_;
  const auto wire_s = [this](std::uint64_t bytes) {
    return line_bits_per_s_ > 0 ? 8 * static_cast<double>(bytes) / line_bits_per_s_ : 0;
  };
  std::vector<std::uint64_t> received(all_bytes.size());
  double longest_s = 1e-9;
  for (std::size_t p = 0; p < all_steps.size(); ++p) {
    balance.disk_known = balance.disk_known || !known[p].empty();
    const auto to = launch::unpack<std::uint64_t>(all_bytes[p], p);
    for (std::size_t q = 0; q < to.size(); ++q) received[q] += to[q];
    Balance::Used before;
    const auto steps = launch::unpack<Balance::Used>(all_steps[p], p);
    balance.steps.resize(steps.size());
    const auto add = [&](const Balance::Used& from, Balance::Used now, Balance::Step& step) {
      join_figures(now, from, std::minus<>());
      join_figures(step, now, std::ranges::max);
      step.wire_s = wire_s(step.wire_bytes);
    };
    for (std::size_t s = 0; s < steps.size(); ++s) {
      balance.steps[s].name = names_[s];
      add(before, steps[s], balance.steps[s]);
      before = steps[s];
    }
    add({}, before, balance.all);
    const auto& at_ns = all_samples[p].at_ns;
    if (!at_ns.empty()) longest_s = std::max(longest_s, seconds(at_ns.back()));
  }
  for (const std::uint64_t bytes : received) balance.all.wire_s = std::max(balance.all.wire_s, wire_s(bytes));
  const double sampled = std::chrono::duration<double>(kSampleEvery).count();
  const double wanted = std::ceil(longest_s / sampled - 0.5);
  balance.intervals.resize(static_cast<std::size_t>(std::clamp(wanted, 1.0, double{kMostIntervals})));
  balance.interval_s = longest_s / static_cast<double>(balance.intervals.size());
  for (const auto& one : all_samples) add_samples(one, balance);
  return balance;
}

}  // namespace edgewire::profile
