#include "perf/netbench/netbench.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/median.h"
#include "base/seconds.h"
#include "base/usage.h"
#include "launch/agreement.h"
#include "launch/packing.h"
#include "options/jobs.h"
#include "options/measures.h"
#include "process/barrier.h"
#include "report/json_text.h"
#include "transport/transport.h"

namespace edgewire::perf {

namespace {

constexpr std::uint64_t kMaxOutstanding = 128;  ///< writes, as perftest's
constexpr std::size_t kOutstandingBytes = 4 << 20;
constexpr std::uint64_t kBatch = 64;  ///< writes for each doorbell
constexpr std::chrono::milliseconds kWait{10};
constexpr double kUntimedShare = 0.1;  ///< part of a measurement, before it; windows open, caches warm

/// The signals of a lane.
enum SignalKind : int {
  kTold,   ///< messages announced one by one
  kPing,   ///< round trips
  kEnd,    ///< measurements whose messages have all been written
  kAck,    ///< measurements whose messages have all arrived
  kKinds,  ///< the number of kinds
};

/// This says when a lane has sent enough.
struct Limit {
  double seconds = 0;
  std::uint64_t count = 0;

  Limit untimed() const {
    return {seconds * kUntimedShare, count == 0 ? 0 : std::max<std::uint64_t>(count / 10, 1)};
  }
  bool reached(Clock::time_point start, std::uint64_t messages) const {
    return count != 0 ? messages >= count : messages > 0 && seconds_since(start) >= seconds;
  }
};

/// What a process saw of one measurement.
struct Share {
  double seconds = 0, cpu_s = 0;
  std::uint64_t writes = 0, payload_bytes = 0, frame_bytes = 0, zero_copy_sends = 0, retransmitted_bytes = 0;
};

class Bench {
 public:
  Bench(launch::Bootstrap& bootstrap, const NetbenchOptions& options);
  NetbenchRow measure(NetbenchTest test, std::size_t bytes);

 private:
  struct alignas(64) Lane {
    std::uint64_t written = 0;  ///< messages written so far
    std::uint64_t told = 0;     ///< messages told so far
    double seconds = 0;         ///< time of the last measurement, as its sender saw it
  };

  std::vector<Share> gather(const Share& mine);
  Share run(NetbenchTest test, std::size_t bytes, const Limit& limit);
  void stream(int lane, std::size_t bytes, const Limit& limit, bool each_told);
  bool send_batch(int lane, std::size_t bytes, std::uint64_t most, bool each_told);
  void ping_pong(std::size_t bytes, const Limit& limit);
  /// Returns a byte that differs from one measurement to the next.
  std::byte mark() const { return static_cast<std::byte>(measurements_ % 255 + 1); }
  Lane& lane_of(int lane) { return lanes_[static_cast<std::size_t>(lane)]; }
  std::size_t place(int lane) const { return static_cast<std::size_t>(lane) * lane_bytes_; }
  std::span<const std::byte> source(int lane, std::size_t bytes) const {
    return source_.subspan(place(lane), bytes);
  }
  std::uint64_t signalled(int lane, SignalKind kind) const {
    return link_.signalled(peer_, lane * kKinds + kind);
  }
  bool signal(int lane, SignalKind kind, std::uint64_t count) {
    return link_.signal(lane, peer_, lane * kKinds + kind, count);
  }
  /// Makes progress; sleeps when there was nothing to do.
  void step(bool was_idle) {
    if (!(was_idle && !options_.busy_poll ? link_.wait(kWait) : link_.poll()) || bootstrap_.health().failed())
      throw Error(bootstrap_.health().message());
  }

  launch::Bootstrap& bootstrap_;
  const NetbenchOptions& options_;
  int peer_;
  std::size_t lane_bytes_;
  process::LocalProcess process_;
  transport::Transport& link_ = process_.link();
  std::span<std::byte> region_, source_;
  std::vector<Lane> lanes_;
  std::uint64_t measurements_ = 0, rounds_ = 0;  ///< numbers so far
  std::vector<double> samples_;                  ///< round trips of the last measurement, at rank 0
};

Bench::Bench(launch::Bootstrap& bootstrap, const NetbenchOptions& options)
    : bootstrap_(bootstrap),
      options_(options),
      peer_(1 - bootstrap.rank()),
      lane_bytes_(std::ranges::max(options.sizes)),
      process_(bootstrap, options.process, options.process.workers * kKinds),
      lanes_(static_cast<std::size_t>(options.process.workers)) {
  const std::size_t bytes = lane_bytes_ * lanes_.size();
  std::vector<transport::Transport::Part> parts(2);
  parts[static_cast<std::size_t>(peer_)] = {0, bytes};
  region_ = link_.expose(bytes, parts);
  link_.connect(bootstrap.allgather(link_.blob()));
  source_ = link_.send_memory(bytes);
}

/// Returns both processes' shares. Meanwhile one may still need the other's transport.
std::vector<Share> Bench::gather(const Share& mine) {
  const process::LinkProgress progress(link_);
  std::vector<Share> shares;
  for (const auto& one : launch::allgather(bootstrap_, std::vector{mine})) shares.push_back(one[0]);
  return shares;
}

/// Queues what there is room for. Returns false when there is none.
bool Bench::send_batch(int lane, std::size_t bytes, std::uint64_t most, bool each_told) {
  Lane& mine = lane_of(lane);
  const std::uint64_t room = std::clamp<std::uint64_t>(kOutstandingBytes / bytes, 2, kMaxOutstanding);
  const std::uint64_t last =
      std::min(mine.written + std::min(most, kBatch), link_.completed(lane, peer_) + room);
  const std::uint64_t first = mine.written;
  const auto told = [&] {
    if (each_told && mine.told < mine.written && signal(lane, kTold, mine.written)) mine.told = mine.written;
    return !each_told || mine.told == mine.written;
  };
  while (told() && mine.written < last && link_.write(lane, peer_, place(lane), source(lane, bytes)))
    ++mine.written;
  return mine.written > first;
}

/// Does one lane's part of a measurement: it sends until the limit, says so, and waits for the answer; and
/// it answers the other side. When streams go both ways, each process does both.
void Bench::stream(int lane, std::size_t bytes, const Limit& limit, bool each_told) {
  const bool sends = bootstrap_.rank() == 0 || options_.bidirectional;
  const bool receives = bootstrap_.rank() == 1 || options_.bidirectional;
  Lane& mine = lane_of(lane);
  const std::uint64_t first = mine.written;
  const auto start = Clock::now();
  bool ended = !sends, heard = !sends, answered = !receives;
  while (!heard || !answered) {
    bool idle = true;
    if (!ended && limit.reached(start, mine.written - first)) {
      ended = signal(lane, kEnd, measurements_);
      idle = false;
    } else if (!ended) {
      const std::uint64_t left = limit.count == 0 ? kBatch : limit.count - (mine.written - first);
      idle = !send_batch(lane, bytes, left, each_told);
    }
    if (!answered && signalled(lane, kEnd) >= measurements_) answered = signal(lane, kAck, measurements_);
    link_.ring_doorbell(lane);
    if (ended && !heard && signalled(lane, kAck) >= measurements_) heard = true;
    if (!heard || !answered) step(idle);
  }
  mine.seconds = seconds_since(start);
}

/// Measures round trips: rank 0 begins, and rank 1 answers until it hears the end.
void Bench::ping_pong(std::size_t bytes, const Limit& limit) {
  constexpr int kLane = 0;
  Lane& mine = lane_of(kLane);
  const auto announce = [&](SignalKind kind, std::uint64_t count) {
    while (!signal(kLane, kind, count)) step(true);
    link_.ring_doorbell(kLane);
  };
  const auto send = [&] {
    while (!link_.write(kLane, peer_, 0, source(kLane, bytes))) step(true);
    ++mine.written;
    announce(kPing, ++rounds_);
  };
  const auto start = Clock::now();
  samples_.clear();
  if (bootstrap_.rank() == 0) {
    while (!limit.reached(start, samples_.size())) {
      const auto begin = Clock::now();
      send();
      while (signalled(kLane, kPing) < rounds_) step(true);
      samples_.push_back(seconds_since(begin));
    }
    mine.seconds = seconds_since(start);
    announce(kEnd, measurements_);
    while (signalled(kLane, kAck) < measurements_) step(true);
    return;
  }
  while (signalled(kLane, kEnd) < measurements_) {
    if (signalled(kLane, kPing) > rounds_)
      send();
    else
      step(true);
  }
  mine.seconds = seconds_since(start);
  announce(kAck, measurements_);
}

Share Bench::run(NetbenchTest test, std::size_t bytes, const Limit& limit) {
  const bool is_latency = test == NetbenchTest::latency;
  const int lanes = is_latency ? 1 : options_.process.workers;
  const bool receives = is_latency || options_.bidirectional || bootstrap_.rank() == 1;
  ++measurements_;
  for (int lane = 0; lane < lanes; ++lane) std::ranges::fill(source_.subspan(place(lane), bytes), mark());
  const auto before = link_.counters();
  const double cpu_before = process_cpu_seconds();
  if (is_latency)
    ping_pong(bytes, limit);
  else
    process_.pool().run([&](int lane) { stream(lane, bytes, limit, test == NetbenchTest::rate); });
  const double cpu_s = process_cpu_seconds() - cpu_before;
  const auto after = link_.counters();
  for (int lane = 0; receives && lane < lanes; ++lane)
    if (!std::ranges::all_of(region_.subspan(place(lane), bytes), [&](std::byte b) { return b == mark(); }))
      throw Error(fmt::format("a message of {} bytes from rank {} has arrived changed", bytes, peer_));
  Share share{0,
              cpu_s,
              after.writes - before.writes,
              after.payload_bytes - before.payload_bytes,
              after.frame_bytes - before.frame_bytes,
              after.zero_copy_sends - before.zero_copy_sends,
              after.retransmitted_bytes - before.retransmitted_bytes};
  for (int lane = 0; lane < lanes; ++lane) share.seconds = std::max(share.seconds, lane_of(lane).seconds);
  return share;
}

NetbenchRow Bench::measure(NetbenchTest test, std::size_t bytes) {
  const Limit limit{options_.seconds, options_.count};
  gather(run(test, bytes, limit.untimed()));
  const auto shares = gather(run(test, bytes, limit));
  NetbenchRow row;
  row.test = test;
  row.message_bytes = bytes;
  row.seconds = options_.bidirectional ? std::max(shares[0].seconds, shares[1].seconds) : shares[0].seconds;
  for (const Share& share : shares) {
    row.messages += share.writes;
    row.payload_bytes += share.payload_bytes;
    row.frame_bytes += share.frame_bytes;
    row.zero_copy_sends += share.zero_copy_sends;
    row.retransmitted_bytes += share.retransmitted_bytes;
    row.wire_bytes += link_.wire_bytes_of(share.frame_bytes);
  }
  row.sender_cores = shares[0].cpu_s / row.seconds;
  row.receiver_cores = shares[1].cpu_s / row.seconds;
  if (test != NetbenchTest::latency || samples_.empty()) return row;
  row.messages = samples_.size();
  std::ranges::sort(samples_);
  const auto half = [&](std::size_t i) { return samples_[std::min(i, samples_.size() - 1)] / 2; };
  row.latency = {half(0), median_of_sorted(samples_) / 2, half(samples_.size() * 99 / 100),
                 half(samples_.size())};
  return row;
}

}  // namespace

void NetbenchOptions::check() const {
  const auto refuse = [](const std::string& cause) { throw UsageError(cause); };
  if (tests.empty()) refuse(fmt::format("{}: there is none", opt::test));
  if (sizes.empty()) refuse(fmt::format("{}: there are none", opt::sizes));
  const int lanes = process.workers;
  if (lanes < 1 || lanes > kMaxLanes)
    refuse(fmt::format("{} is outside the range 1 to {}", opt::lanes(lanes), kMaxLanes));
  for (const std::size_t bytes : sizes) {
    if (bytes < 1) refuse(fmt::format("{}: 0 bytes cannot be measured", opt::sizes));
    if (bytes > kMaxNetbenchBytes / static_cast<std::size_t>(lanes))
      refuse(fmt::format("{}: {} bytes in each of {} lanes are more than {}", opt::sizes, bytes, lanes,
                         kMaxNetbenchBytes));
  }
  if (count == 0 && !(seconds > 0)) refuse(fmt::format("{} must be more than 0", opt::seconds));
}

void check_two_processes(const launch::Bootstrap& bootstrap) {
  if (bootstrap.size() != 2)
    throw UsageError(
        fmt::format("{}: netbench measures between 2 processes, not {}", opt::processes, bootstrap.size()));
}

std::vector<NetbenchRow> netbench(launch::Bootstrap& bootstrap, const NetbenchOptions& options,
                                  const std::function<void(const NetbenchRow&)>& on_row) {
  options.check();
  check_two_processes(bootstrap);
  launch::check_agreement(bootstrap, {{"the number of lanes", std::to_string(options.process.workers)},
                                      {"the check of integrity", options.process.integrity ? "yes" : "no"}});
  Bench bench(bootstrap, options);
  std::vector<NetbenchRow> rows;
  const std::size_t all = options.tests.size() * options.sizes.size();
  for (const NetbenchTest test : options.tests)
    for (const std::size_t bytes : options.sizes) {
      if (options.progress) options.progress({"measuring", rows.size(), all, "measurements"});
      const auto row = bench.measure(test, bytes);
      if (bootstrap.rank() != 0) continue;
      rows.push_back(row);
      if (on_row) on_row(row);
    }
  return rows;
}

const char* to_name(NetbenchTest test) {
  constexpr const char* kNames[] = {"bandwidth", "rate", "latency"};
  return kNames[static_cast<std::size_t>(test)];
}

double NetbenchRow::cores_per_10g() const {
  return std::max(sender_cores, receiver_cores) / bits_per_s() * 1e10;
}

std::string to_title(NetbenchTest test, const NetbenchOptions& options) {
  if (test == NetbenchTest::latency)
    return fmt::format("latency (half a round trip), {}; cores of both sides", options.process.transport);
  return fmt::format("{}, {}, {} lane{}{}; cores of sender and receiver",
                     test == NetbenchTest::rate ? "rate (every message announced)" : "bandwidth",
                     options.process.transport, options.process.workers,
                     options.process.workers == 1 ? "" : "s",
                     options.bidirectional ? ", both directions" : "");
}

std::string to_heading(NetbenchTest test) {
  if (test == NetbenchTest::latency)
    return fmt::format("{:>10} {:>11} {:>10} {:>10} {:>10} {:>10} {:>8} {:>9}", "bytes", "round trips",
                       "min us", "median us", "99 % us", "max us", "sender", "receiver");
  return fmt::format("{:>10} {:>11} {:>10} {:>10} {:>10} {:>10} {:>8} {:>9}", "bytes", "messages", "Gbit/s",
                     "MB/s", "M msg/s", "cores/10G", "sender", "receiver");
}

std::string to_text(const NetbenchRow& row) {
  const auto line = [&](double a, double b, double c, double d, int digits) {
    return fmt::format("{:>10} {:>11} {:>10.{}f} {:>10.1f} {:>10.{}f} {:>10.2f} {:>8.2f} {:>9.2f}",
                       row.message_bytes, row.messages, a, digits, b, c, digits, d, row.sender_cores,
                       row.receiver_cores);
  };
  if (row.test == NetbenchTest::latency) {
    const auto& l = row.latency;
    return line(l.min_s * 1e6, l.median_s * 1e6, l.p99_s * 1e6, l.max_s * 1e6, 1);
  }
  return line(row.bits_per_s() * 1e-9, row.bits_per_s() / 8e6, row.messages_per_s() * 1e-6,
              row.cores_per_10g(), 3);
}

std::string to_json(const std::vector<NetbenchRow>& rows, const NetbenchOptions& options) {
  report::Json json{{"version", EDGEWIRE_VERSION},
                    {"transport", options.process.transport},
                    {"processes", 2},
                    {"lanes", options.process.workers}};
  EDGEWIRE_ADD_FIELDS(json, options, bidirectional, busy_poll);
  json["rows"] = report::Json::array();
  for (const NetbenchRow& row : rows) {
    auto& one = json["rows"].emplace_back();
    EDGEWIRE_ADD_FIELDS(one, row, test, message_bytes, messages, seconds, payload_bytes, frame_bytes,
                        wire_bytes, zero_copy_sends, retransmitted_bytes);
    one["cores"] = {{"sender", row.sender_cores}, {"receiver", row.receiver_cores}};
    if (row.test == NetbenchTest::latency)
      one["latency_seconds"] = {{"min", row.latency.min_s},
                                {"median", row.latency.median_s},
                                {"p99", row.latency.p99_s},
                                {"max", row.latency.max_s}};
    else
      one.update({{"bits_per_second", row.bits_per_s()},
                  {"bytes_per_second", row.bits_per_s() / 8},
                  {"messages_per_second", row.messages_per_s()},
                  {"cores_per_10_gbit", row.cores_per_10g()}});
  }
  return report::json_text(json, 2) + "\n";
}

}  // namespace edgewire::perf
