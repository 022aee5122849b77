// The perf/netbench folder measures what a transport carries between two processes, as perftest and iperf3
// do. With it, users can tell the cost of the link from the cost of the kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "edgewire/progress.h"
#include "launch/bootstrap.h"
#include "process/local_process.h"

namespace edgewire::perf {

enum class NetbenchTest {
  bandwidth,  ///< a stream of writes, of which only the last is announced
  rate,       ///< a stream of writes, each announced by a signal of its own
  latency     ///< one write and its signal, answered by the same
};

const char* to_name(NetbenchTest test);

constexpr std::size_t kMaxNetbenchBytes = std::size_t{1} << 30;  ///< the most bytes of a message, times lanes
constexpr int kMaxLanes = 64;

struct NetbenchOptions {
  /// Each worker is a lane: a sending thread. netbench() itself takes no transport "auto".
  process::ProcessOptions process{.transport = "auto"};
  std::vector<NetbenchTest> tests;
  std::vector<std::size_t> sizes;  ///< payload bytes of a message
  double seconds = 0.25;           ///< time of each measurement
  std::uint64_t count = 0;         ///< messages (round trips) of a measurement, in each lane; 0: by `seconds`
  bool bidirectional = false;      ///< streams go both ways at once
  bool busy_poll = false;          ///< wait by polling, not sleeping
  Progress progress{};             ///< told, at rank 0, of each measurement before it begins

  /// Throws UsageError that names the option.
  void check() const;
};

/// One measurement. Counts and bytes are sums over lanes and directions, as the transport counted them.
struct NetbenchRow {
  NetbenchTest test = NetbenchTest::bandwidth;
  std::size_t message_bytes = 0;
  std::uint64_t messages = 0;  ///< latency: round trips
  std::uint64_t payload_bytes = 0, frame_bytes = 0, wire_bytes = 0;
  std::uint64_t zero_copy_sends = 0;      ///< see transport::Counters; none where the system copies anyway
  std::uint64_t retransmitted_bytes = 0;  ///< not in the bytes above
  double seconds = 0;                     ///< time until the receiver has said that all have arrived
  double sender_cores = 0;  ///< CPU seconds a second of rank 0, which sends (latency: which begins)
  double receiver_cores = 0;
  struct Latency {
    double min_s = 0, median_s = 0, p99_s = 0, max_s = 0;
  } latency;  ///< half a round trip

  double bits_per_s() const { return static_cast<double>(payload_bytes) * 8 / seconds; }
  double messages_per_s() const { return static_cast<double>(messages) / seconds; }
  /// Returns the cores that the busier process needs for 10 Gbit/s of payload, sent and received together.
  double cores_per_10g() const;
};

/// Throws UsageError unless there are two processes. Call it before anything else is done with `bootstrap`,
/// so that all processes end in the same way.
void check_two_processes(const launch::Bootstrap& bootstrap);

/// Measures every test with every size between the two processes of the job: rank 0 sends, rank 1 receives.
/// All messages of a lane go from the same memory to the same place, as with perftest. Rank 0 alone gets the
/// rows, and calls `on_row` for each as soon as it is measured. Collective. Throws UsageError unless there
/// are two processes, and Error when the job fails or when bytes arrive changed.
std::vector<NetbenchRow> netbench(launch::Bootstrap& bootstrap, const NetbenchOptions& options,
                                  const std::function<void(const NetbenchRow&)>& on_row);

/// Returns the lines above the rows of a test: what is measured, and the names of the columns.
std::string to_title(NetbenchTest test, const NetbenchOptions& options);
std::string to_heading(NetbenchTest test);
std::string to_text(const NetbenchRow& row);
std::string to_json(const std::vector<NetbenchRow>& rows, const NetbenchOptions& options);

}  // namespace edgewire::perf
