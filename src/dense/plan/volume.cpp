#include "dense/plan/volume.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"

namespace edgewire::plan {

namespace {

constexpr std::array<std::string_view, kStrategies.size()> kStrategyNames{"edge", "worker", "process",
                                                                          "slots", "cover"};
constexpr std::array<std::string_view, kEncodings.size()> kEncodingNames{"f32", "f64",   "bf16", "f16",
                                                                         "u16", "raw16", "bit"};

template <class Enum, std::size_t count>
Enum from_name(std::string_view name, const std::array<std::string_view, count>& names, const char* what) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw UsageError(fmt::format("there is no {} '{}' (known: {})", what, name, fmt::join(names, ", ")));
  return static_cast<Enum>(found - names.begin());
}

}  // namespace

std::string_view to_name(Strategy strategy) noexcept {
  return kStrategyNames[static_cast<std::size_t>(strategy)];
}
Strategy strategy_from(std::string_view name) {
  return from_name<Strategy>(name, kStrategyNames, "strategy");
}
Encoding encoding_from(std::string_view name) { return from_name<Encoding>(name, kEncodingNames, "wire"); }

std::uint64_t wire_bytes(const Framing& framing, std::uint64_t payload_bytes) noexcept {
  if (framing.stream && payload_bytes == 0) return 0;
  const std::uint64_t padded =
      (payload_bytes + framing.alignment - 1) / framing.alignment * framing.alignment;
  const std::uint64_t frames = std::max<std::uint64_t>(1, (padded + framing.payload - 1) / framing.payload);
  const std::uint64_t tail_payload = padded - (frames - 1) * framing.payload;
  const std::uint64_t tail =
      framing.overhead + tail_payload + framing.last + (frames == 1 ? framing.first : 0);
  const std::uint64_t before =
      frames == 1 ? 0 : (frames - 1) * (framing.payload + framing.overhead) + framing.first;
  return before + std::max<std::uint64_t>(tail, kSmallestFrameBytes);
}

std::uint64_t line_rate_bits(std::string_view text) {
  constexpr std::string_view kUnits = "KMGT";
  double number = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto unit = end + 1 == text.data() + text.size() ? kUnits.find(*end) : std::string_view::npos;
  if (bad == std::errc{} && unit != std::string_view::npos) {
    const double bits = number * std::pow(1000.0, static_cast<double>(unit + 1));
    if (bits >= 1000 && bits <= 1e15) return static_cast<std::uint64_t>(std::llround(bits));
  }
  throw UsageError(fmt::format("'{}' is not a line rate from 1K to 1000T (say 100M, 2.5G, 10G)", text));
}

std::vector<std::uint64_t> Traffic::sent(bool with_self) const {
  std::vector<std::uint64_t> sent(processes_);
  for (std::size_t from = 0; from < processes_; ++from)
    for (std::size_t to = 0; to < processes_; ++to)
      if (from != to || with_self) sent[from] += at(from, to);
  return sent;
}

Volume volume(const Traffic& traffic, ValueSize value, bool with_self) {
  Volume sum;
  const auto processes = static_cast<std::size_t>(traffic.processes());
  struct Wire {
    std::array<std::uint64_t, kFramings.size()> sent{}, received{};
  };
  std::vector<Wire> wires(processes);
  for (std::size_t from = 0; from < processes; ++from) {
    for (std::size_t to = 0; to < processes; ++to) {
      const std::uint64_t values = traffic.at(from, to);
      if (values == 0 || (from == to && !with_self)) continue;
      for (std::size_t f = 0; f < kFramings.size(); ++f) {
        const std::uint64_t bytes = wire_bytes(kFramings[f], value.bytes(values));
        wires[from].sent[f] += bytes;
        wires[to].received[f] += bytes;
      }
    }
  }
  for (const std::uint64_t sent : traffic.sent(with_self)) {
    sum.values_sent_total += sent;
    sum.values_sent_max = std::max(sum.values_sent_max, sent);
  }
  sum.payload_bytes_total = value.bytes(sum.values_sent_total);
  sum.payload_bytes_max = value.bytes(sum.values_sent_max);
  if (processes > 0)
    sum.values_sent_mean = static_cast<double>(sum.values_sent_total) / static_cast<double>(processes);
  for (const auto& wire : wires) {
    for (std::size_t f = 0; f < kFramings.size(); ++f) {
      sum.wire_bytes_total[f] += wire.sent[f];
      sum.wire_bytes_max[f] = std::max({sum.wire_bytes_max[f], wire.sent[f], wire.received[f]});
    }
  }
  return sum;
}

}  // namespace edgewire::plan

std::string_view edgewire::to_name(Wire wire) noexcept {
  return plan::kEncodingNames[static_cast<std::size_t>(wire)];
}
