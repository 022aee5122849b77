#include <fmt/core.h>

#include <algorithm>

#include "perf/netbench/netbench.h"
#include "report/json_text.h"

namespace edgewire::perf {

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
