#include "report/link_report.h"

#include <fmt/core.h>

#include <array>
#include <nlohmann/json.hpp>

namespace edgewire::report {

LinkReport::Losses& LinkReport::Losses::operator+=(const Losses& other) {
  retransmitted_bytes += other.retransmitted_bytes;
  duplicate_frames += other.duplicate_frames;
  reordered_frames += other.reordered_frames;
  corrupt_frames += other.corrupt_frames;
  foreign_frames += other.foreign_frames;
  missed_frames += other.missed_frames;
  return *this;
}

void LinkReport::add_to(nlohmann::ordered_json& json) const {
  if (!transport_reason.empty()) json["transport_reason"] = transport_reason;
  json["refused_connections"] = refused_connections;
  json["refused_frames"] = refused_frames;
  if (sending.empty()) return;
  json["link"] = {{"sending", sending},
                  {"path", path},
                  {"queue_frames", queue_frames},
                  {"retransmitted_bytes", losses.retransmitted_bytes},
                  {"duplicate_frames", losses.duplicate_frames},
                  {"reordered_frames", losses.reordered_frames},
                  {"corrupt_frames", losses.corrupt_frames},
                  {"foreign_frames", losses.foreign_frames},
                  {"missed_frames", losses.missed_frames}};
}

std::string LinkReport::to_text() const {
  std::string text;
  if (!transport_reason.empty()) text += fmt::format("transport {}: {}\n", transport, transport_reason);
  if (!sending.empty()) {
    text += fmt::format(
        "payload leaves {}; {}; sent again {} in all; frames dropped: {} duplicate, {} corrupt, {} missed\n",
        sending, path, readable_bytes(losses.retransmitted_bytes), losses.duplicate_frames,
        losses.corrupt_frames, losses.missed_frames);
  }
  if (refused_connections + refused_frames > 0) {
    text += fmt::format("refused: {} foreign connections, {} faulty frames\n", refused_connections,
                        refused_frames);
  }
  return text;
}

std::string readable_bytes(std::uint64_t bytes) {
  constexpr std::array kUnits{"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  return fmt::format("{:.4g} {}", value, kUnits[unit]);
}

}  // namespace edgewire::report
