// This file has the common part of the reports of all commands that run as a job.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "report/section.h"

namespace edgewire::profile {
struct Profile;
}

namespace edgewire::report {

/// The connections of a job's processes, and the events on the way between them.
struct LinkReport {
  std::string transport;
  std::string transport_reason;  ///< reason of the choice; empty: it was named, or there was no choice
  /// The numbers of strangers and faulty frames that the transport turned away, summed over processes.
  std::uint64_t refused_connections = 0;
  std::uint64_t refused_frames = 0;
  // The losses and changes of a link that does not keep frames (dpdk), summed over processes.
  std::uint64_t retransmitted_bytes = 0;  ///< bytes of payload sent again, which do not count as sent
  std::uint64_t duplicate_frames = 0, reordered_frames = 0, corrupt_frames = 0, foreign_frames = 0;
  std::uint64_t missed_frames = 0;  ///< number of frames missed for want of buffers
  std::string sending;              ///< way of payload to the port (dpdk), or empty
  std::string path;  ///< way of frames from there to the peers, see transport::Transport::path()
  /// Number of frames that came in by each queue of rank 0's port (dpdk).
  std::vector<std::uint64_t> queue_frames;

  /// Adds all fields but `transport`, which stands further up in a report.
  void add_to(nlohmann::ordered_json& json) const;
  /// Returns lines about unusual events; often the text is empty.
  std::string to_text() const;
};

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
