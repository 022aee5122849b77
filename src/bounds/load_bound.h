// This file computes how long a load (convert in parts) or a sort takes at least. It counts the bytes that
// must move through disks and wires, and the time of cores, at rates that are given or measured.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bounds/load_simulation.h"
#include "dense/plan/volume.h"
#include "shuffle/record.h"

namespace edgewire::bounds {

/// The load whose time is asked for.
struct LoadTask {
  bool sorts = true;  ///< sort, on a machine for each process; else convert:
  bool parts =
      false;  ///< convert: a machine for each process, which writes its part; else all on one machine
  std::vector<std::string> inputs;  ///< inputs of a sort; empty: not there
  std::uint64_t input_bytes = 0;
  std::uint64_t edges = 0;     ///< edges of convert's input
  std::uint64_t vertices = 0;  ///< 0: not known
  bool binary = false;         ///< pairs of 32-bit ids, not text
  bool renumbers = true;       ///< ids of edge lists and tables are numbered anew
  bool both_ways = false;      ///< each edge is stored in both directions
  std::uint64_t records = 0;   ///< records that are sorted: edges, or both directions of each
  shuffle::RecordShape shape;  ///< shape of these records
  std::uint64_t output_bytes = 0;
  std::uint32_t partitions = 0;    ///< partitions of a sort; 0: one for each worker
  int workers = 1;                 ///< workers of a process
  std::uint64_t memory_bytes = 0;  ///< memory of a process
  /// The records of the machine with most of them, as a multiple of the mean; 0: as `places` tell, see
  /// shares_of_sources(), or equally many.
  double largest_share = 0;
  std::vector<std::vector<std::uint64_t>> places{};

  bool on_machines() const noexcept { return sorts || parts; }
};

/// The rates of the machines.
struct LoadRates {
  double disk_read_bytes_per_s = 0, disk_write_bytes_per_s = 0;  ///< rates of the disk of a machine
  double core_bytes_per_s = 0;                                   ///< bytes of input that a core loads
  double core_share_sending = 0.7;  ///< part of the time of a core before runs are merged
  int cores = 1;                    ///< cores of a process
  std::size_t framing = 0;          ///< index into plan::kFramings
  std::vector<std::pair<std::string, std::uint64_t>> lines;  ///< line rates as given, in bits per second
};

/// The bound for one number of processes. All of them do the same amount of work.
struct LoadBound {
  struct AtLine {
    double wire_s = 0;
    double seconds = 0;  ///< the least time, at the given rates
    LoadLimit limit = LoadLimit::disk;
    SimulatedRun simulated;
  };
  int processes = 1;
  int machines = 1;
  // These are sums over all processes, as the reports of sort and convert count them.
  std::uint64_t runs = 0;           ///< runs that are merged at last
  std::uint64_t bytes_spilled = 0;  ///< written to runs, and read from them again
  std::uint64_t bytes_sent = 0;  ///< bytes of records that change the process, where keys are in random order
  std::uint64_t id_bytes_sent = 0;  ///< bytes to all others: which ids occur, where ids are numbered anew
  double largest_share = 1;         ///< the records of the machine with most, as a multiple of the mean
  // These are the bytes of one machine.
  std::uint64_t disk_bytes_read = 0, disk_bytes_written = 0, wire_bytes = 0;
  double disk_s = 0, cores_s = 0;
  std::vector<AtLine> at;  ///< [line]; convert on one machine has one, without a wire
};

/// Computes the bound. The disk of a machine reads or writes, one at a time. It reads the input and writes
/// runs while records are sent, so these take as long as the slower of both; then runs are read and the
/// output is written. Nothing of this stays in the page cache. Cores work all the time. For this bound all
/// machines do the same; beside it, the function simulates who waits for whom. Throws UsageError where
/// memory is too small.
LoadBound load_bound(const LoadTask& task, const LoadRates& rates, int processes);

/// Returns the bounds as text for people, ending with a newline.
std::string to_text(const std::vector<LoadBound>& bounds, const LoadTask& task, const LoadRates& rates);
std::string to_json(const std::vector<LoadBound>& bounds, const LoadTask& task, const LoadRates& rates);

// These are the rates of this machine, measured in a few seconds.

struct DiskRates {
  double read_bytes_per_s = 0, write_bytes_per_s = 0;
};

/// Writes and reads 256 MiB past the page cache, in a file without a name, as sorted runs are. Throws Error
/// that names the folder.
DiskRates measure_disk(const std::string& folder);

struct CoreRate {
  double bytes_per_s = 0;    ///< bytes of the task's input, in a second of the core's own time
  double share_sending = 0;  ///< the part of that time before runs are merged
};

/// Measures how fast a core sorts or converts: it runs a job of one process and one worker with a sample of
/// the records, or with random records or edges. The job spills to `folder` where the task does. The rate
/// leaves out what sending takes. Throws Error.
CoreRate measure_core(const LoadTask& task, bool spills, const std::string& folder);

}  // namespace edgewire::bounds
