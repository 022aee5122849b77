#include "bounds/model.h"

#include <algorithm>
#include <array>
#include <limits>

namespace edgewire::bounds {

std::string_view to_name(Limit limit) noexcept {
  constexpr std::array<std::string_view, 4> kNames{"cores", "memory", "wire", "disk"};
  return kNames[static_cast<std::size_t>(limit)];
}

Prediction predict(const Demand& demand, const Rates& rates) {
  const double wire_bits = static_cast<double>(demand.wire_bytes) * 8;
  Prediction prediction;
  prediction.processes = demand.processes;
  prediction.cores_s = demand.edges / (rates.edges_per_core_s * rates.cores);
  if (rates.memory_bytes_per_s > 0)
    prediction.memory_s = static_cast<double>(demand.memory_bytes) / rates.memory_bytes_per_s;
  prediction.latency_s = static_cast<double>(demand.messages) * rates.latency_s;
  prediction.wire_s = prediction.latency_s + wire_bits / rates.line_bits_per_s;
  const double rest = std::max(prediction.cores_s, prediction.memory_s);
  prediction.seconds =
      std::max(rest, prediction.wire_s) + (1 - rates.turn) / 2 * std::min(rest, prediction.wire_s);
  if (prediction.wire_s > rest)
    prediction.limit = Limit::wire;
  else if (prediction.memory_s > prediction.cores_s)
    prediction.limit = Limit::memory;
  if (demand.wire_bytes > 0)
    prediction.balanced_bits_per_s = rest > prediction.latency_s ? wire_bits / (rest - prediction.latency_s)
                                                                 : std::numeric_limits<double>::infinity();
  return prediction;
}

std::uint64_t memory_bytes(double edges, double vertices, std::uint64_t values,
                           std::uint64_t value_bytes) noexcept {
  return static_cast<std::uint64_t>(4 * edges + 8 * vertices) + 2 * value_bytes * values;
}

std::size_t change_of_limit(std::span<const Prediction> by_processes) noexcept {
  std::size_t same = 0;
  while (same < by_processes.size() && by_processes[same].limit == by_processes[0].limit) ++same;
  return same;
}

}  // namespace edgewire::bounds
