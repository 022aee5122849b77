#include "report/job_report.h"

#include <fmt/core.h>

#include "base/units.h"
#include "report/json_text.h"

namespace edgewire::report {

void LinkReport::add_to(nlohmann::ordered_json& json) const {
  if (!transport_reason.empty()) json["transport_reason"] = transport_reason;
  EDGEWIRE_ADD_FIELDS(json, *this, refused_connections, refused_frames);
  if (sending.empty()) return;
  auto& link = json["link"];
  EDGEWIRE_ADD_FIELDS(link, *this, sending, path, queue_frames, retransmitted_bytes, duplicate_frames,
                      reordered_frames, corrupt_frames, foreign_frames, missed_frames);
}

std::string LinkReport::to_text() const {
  std::string text;
  if (!transport_reason.empty()) text += fmt::format("transport {}: {}\n", transport, transport_reason);
  if (!sending.empty()) {
    text += fmt::format(
        "payload leaves {}; {}; sent again {} in all; frames dropped: {} duplicate, {} corrupt, {} missed\n",
        sending, path, readable_bytes(retransmitted_bytes), duplicate_frames, corrupt_frames, missed_frames);
  }
  if (refused_connections + refused_frames > 0) {
    text += fmt::format("refused: {} foreign connections, {} faulty frames\n", refused_connections,
                        refused_frames);
  }
  return text;
}

std::string JobReport::describe() const {
  return fmt::format("{} process{} x {} worker{}, {}", processes, processes == 1 ? "" : "es", workers,
                     workers == 1 ? "" : "s", link.transport);
}

void JobReport::add_head(nlohmann::ordered_json& json) const {
  EDGEWIRE_ADD_FIELDS(json, *this, processes, workers);
  json["transport"] = link.transport;
}

void JobReport::add_place(nlohmann::ordered_json& json) const {
  EDGEWIRE_ADD_FIELDS(json, *this, peak_rss_bytes, placement);
  link.add_to(json);
}

void JobReport::add_end(nlohmann::ordered_json& json) const {
  if (profile_section) json["profile"] = profile_section->to_json();
  json["version"] = EDGEWIRE_VERSION;
}

}  // namespace edgewire::report
