// This file measures how a sort or a load uses the disks, the wire and the cores, step by step and over time.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bounds/model.h"
#include "disk/busy_devices.h"
#include "launch/bootstrap.h"
#include "process/local_process.h"
#include "profile/sampler.h"
#include "report/section.h"
#include "report/table.h"

namespace edgewire::profile {

/// The use of a job's resources. Each figure is that of the process or machine with most of it.
struct Balance : report::Section {
  /// The use of the resources in some time, and the seconds in which they were busy.
  struct Used {
    double seconds = 0;
    double disk_s = 0;   ///< time in which the busiest disk of a host had requests of any process
    double cores_s = 0;  ///< CPU time of all threads of a process, shared out among its cores
    std::uint64_t disk_bytes_read = 0, disk_bytes_written = 0;  ///< by disks of a host for any process
    std::uint64_t wire_bytes = 0;                               ///< bytes sent, with all headers of the link
  };
  struct Step : Used {
    std::string name;
    double wire_s = 0;  ///< time that the bytes sent take at the line rate
  };
  /// The parts of an interval in which resources were busy, 0 to 1.
  struct Interval {
    double disk = 0, wire = 0, cores = 0;
  };
  bool disk_known = false;     ///< whether the system tells the use of the disks
  double line_bits_per_s = 0;  ///< line rate of a process; 0: nothing crosses a wire
  std::vector<Step> steps;
  Step all;  ///< whole job; wire_s also counts what was received
  double interval_s = 0;
  std::vector<Interval> intervals;

  bool has_wire() const noexcept { return line_bits_per_s > 0; }
  bounds::Limit busiest() const noexcept;
  /// Returns the ratio of the job's time to that of its busiest resource: no job is faster than that.
  double times_busiest() const noexcept;
  /// Returns the same as a line for people, ending with a newline.
  std::string to_line() const;
  /// Returns a line for each resource, with its use over time, in tenths.
  std::string to_times() const;
  /// Returns the steps as a table, with a line for each.
  report::Table to_table() const;
  /// The note below the table.
  static constexpr const char* kTableSays =
      "shares of the time in which the resource was busy; bytes of its disks and its wire; of the process or "
      "host with most";
  /// Returns the section `balance` of a report.
  nlohmann::ordered_json to_json() const override;
  /// Returns to_line() and to_times().
  std::string to_text() const override { return to_line() + to_times(); }
};

/// One process's part in the balance: it samples the resources some times a second while its job runs.
class BalanceWatch {
 public:
  /// Begins the watch. `paths`: the files and folders that the job reads and writes. `given_bits_per_s`: the
  /// line rate that the user gave to the link; without one it is measured, where there is a wire. The links
  /// are connected. Both outlive this. Collective; throws Error.
  BalanceWatch(launch::Bootstrap& bootstrap, process::LocalProcess& process,
               const std::vector<std::string>& paths, double given_bits_per_s);
  /// Ends a step. The thread that runs the job calls it.
  void end_step(const std::string& name);
  /// Returns the time in which the busiest disk of this host was busy so far.
  double disk_s() const { return disks_.use().seconds; }
  /// Returns the balance of all processes at rank 0, and nothing elsewhere. Call it once. Collective.
  Balance gather();

 private:
  Balance::Used used() const;
  double cores_s() const;
  std::uint64_t wire_bytes_to(int peer) const;
  std::uint64_t wire_bytes() const;

  launch::Bootstrap& bootstrap_;
  process::LocalProcess& process_;
  disk::BusyDevices disks_;
  double cores_, line_bits_per_s_ = 0;
  double cpu_before_ = 0;
  std::uint64_t began_ns_ = 0;
  std::vector<std::uint64_t> bytes_before_;  ///< bytes sent before, [peer]
  std::vector<std::string> names_;           ///< names of steps
  std::vector<Balance::Used> steps_;         ///< use up to the end of each step
  std::optional<Sampler> sampler_;           ///< sampler, which reads all the others, so it ends first
};

/// Returns the mean rates of samples, which end at `ends_ns`, in equal intervals from `began_ns` on.
std::vector<double> in_intervals(const std::vector<std::uint64_t>& ends_ns, const std::vector<double>& rates,
                                 std::uint64_t began_ns, double interval_s, std::size_t count);

}  // namespace edgewire::profile
