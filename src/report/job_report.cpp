#include "report/job_report.h"

#include <fmt/core.h>

#include "report/json_text.h"

namespace edgewire::report {

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
