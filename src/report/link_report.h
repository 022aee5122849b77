#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace edgewire::report {

/// The connections of a job's processes, and the events on the way between them. Reports of all commands that
/// run as a job hold one.
struct LinkReport {
  /// The losses and changes of a link that does not keep frames (dpdk), summed over processes.
  struct Losses {
    /// Bytes of payload sent again; a report does not count them as sent.
    std::uint64_t retransmitted_bytes = 0;
    std::uint64_t duplicate_frames = 0, reordered_frames = 0, corrupt_frames = 0, foreign_frames = 0;
    std::uint64_t missed_frames = 0;  ///< number of frames missed for want of buffers

    Losses& operator+=(const Losses& other);
  };

  std::string transport;
  std::string transport_reason;  ///< reason of the choice; empty: it was named, or there was no choice
  /// The numbers of strangers and faulty frames that the transport turned away, summed over processes.
  std::uint64_t refused_connections = 0;
  std::uint64_t refused_frames = 0;
  Losses losses;
  std::string sending;  ///< way of payload to the port (dpdk), or empty
  std::string path;     ///< way of frames from there to the peers, see transport::Transport::path()
  /// Number of frames that came in by each queue of rank 0's port (dpdk).
  std::vector<std::uint64_t> queue_frames;

  /// Adds all fields but `transport`, which stands further up in a report.
  void add_to(nlohmann::ordered_json& json) const;
  /// Returns lines about unusual events; often the text is empty.
  std::string to_text() const;
};

}  // namespace edgewire::report
