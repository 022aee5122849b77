#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace edgewire::report {

/// How the processes of a job were connected, and what happened on the way between them. Reports of all
/// commands that run as a job hold one.
struct LinkReport {
  /// What was lost or changed by a link that does not keep frames (dpdk), summed over processes.
  struct Losses {
    std::uint64_t retransmitted_bytes = 0;  ///< payload sent again; not in the bytes that a report calls sent
    std::uint64_t duplicate_frames = 0, reordered_frames = 0, corrupt_frames = 0, foreign_frames = 0;
    std::uint64_t missed_frames = 0;  ///< frames missed for want of buffers

    Losses& operator+=(const Losses& other);
  };

  std::string transport;
  std::string transport_reason;  ///< why it was chosen; empty: it was named, or there was no choice
  /// The strangers and faulty frames that the transport turned away, summed over processes.
  std::uint64_t refused_connections = 0;
  std::uint64_t refused_frames = 0;
  Losses losses;
  std::string sending;  ///< how payload gets to the port (dpdk), or empty
  std::string path;     ///< how frames get from there to the peers, see transport::Transport::path()
  std::vector<std::uint64_t> queue_frames;  ///< frames that came in by each queue of rank 0's port (dpdk)

  /// Adds all fields but `transport`, which stands further up in a report.
  void add_to(nlohmann::ordered_json& json) const;
  /// Returns lines of what is worth a line; often the text is empty.
  std::string to_text() const;
};

}  // namespace edgewire::report
