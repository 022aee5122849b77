// This file has the common part of the reports of all commands that run as a job.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "report/link_report.h"
#include "report/section.h"

namespace edgewire::profile {
struct Profile;
}

namespace edgewire::report {

struct JobReport {
  int processes = 1;
  int workers = 1;  ///< workers of each process
  LinkReport link;
  std::vector<std::string> placement;  ///< host, cores, memory and address of each process, [rank]
  double seconds_load = 0;             ///< time of the slowest process, as the next two
  double seconds_plan = 0;
  double seconds_total = 0;
  std::uint64_t peak_rss_bytes = 0;  ///< peak of the largest process
  std::uint64_t checksum = 0;  ///< checksum, equal for equal results in any order of vertices or records

  // These are set for a run that was profiled, by profile::add_to(); else they are null.
  std::shared_ptr<const profile::Profile> profile;  ///< profile for a page and a trace
  std::shared_ptr<const Section> profile_section;   ///< profile for JSON and text

  /// Returns a text such as "2 processes x 4 workers, tcp".
  std::string describe() const;
  /// Returns the lines of the profile, or nothing.
  std::string profile_text() const { return profile_section ? profile_section->to_text() : ""; }
  /// Adds processes, workers and transport, which stand at the head of a report.
  void add_head(nlohmann::ordered_json& json) const;
  /// Adds the peak of memory, the placement and the link.
  void add_place(nlohmann::ordered_json& json) const;
  /// Adds the profile and the version, which stand at the end.
  void add_end(nlohmann::ordered_json& json) const;
};

}  // namespace edgewire::report
