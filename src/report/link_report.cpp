#include "report/link_report.h"

#include <fmt/core.h>

#include "base/units.h"
#include "report/json_text.h"

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
  EDGEWIRE_ADD_FIELDS(json, *this, refused_connections, refused_frames);
  if (sending.empty()) return;
  auto& link = json["link"];
  EDGEWIRE_ADD_FIELDS(link, *this, sending, path, queue_frames);
  EDGEWIRE_ADD_FIELDS(link, losses, retransmitted_bytes, duplicate_frames, reordered_frames, corrupt_frames,
                      foreign_frames, missed_frames);
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

}  // namespace edgewire::report
