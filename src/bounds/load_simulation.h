// This file simulates how a load or a sort runs on many machines: not only the bytes that each resource must
// move, but also who waits for whom.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace edgewire::bounds {

/// The resource that limits a load or a sort.
enum class LoadLimit { disk, wire, cores };
const char* to_name(LoadLimit limit) noexcept;

/// The work of a machine with an equal share of the records, in seconds of each resource. The disk reads or
/// writes, one at a time; the wire sends and receives at once; the cores work together.
struct SimulatedMachine {
  // These take their time while records are sent.
  double disk_read_s = 0;  ///< the input
  double cores_parse_s = 0;
  double wire_s = 0;        ///< sends what other machines own; receives as long
  double cores_sort_s = 0;  ///< sorts full buffers; without spills it sorts all, when all have come
  double disk_spill_s = 0;  ///< writes runs
  double runs = 0;          ///< so many of them; 0: all records stay in memory
  int buffers = 1;          ///< while one is written, the others are filled
  // These follow, when all machines are through with that.
  double wire_ids_s = 0;    ///< tells the others the ids that occur
  double disk_again_s = 0;  ///< merges runs to longer ones
  double disk_fetch_s = 0;  ///< reads runs
  double cores_merge_s = 0;
  double disk_write_s = 0;  ///< the output
};

struct SimulatedRun {
  double seconds = 0;
  double sending_s = 0;  ///< the part of it until all machines have all their records
  /// The busiest resource of all machines, and the part of the time in which each was busy on the machine
  /// where it was most so.
  LoadLimit limit = LoadLimit::disk;
  double disk = 0, wire = 0, cores = 0;
};

/// Runs the load on `shares.size()` machines. `shares`: the records that each owns, as multiples of the
/// mean. It is a discrete event simulation. The input of a machine comes in rounds. A machine sends at most
/// a few rounds more than the slowest receiver has taken, as its rings are full then. Requests to a resource
/// are served in the order in which they come. The result is never less than load_bound(), and the same for
/// the same arguments.
SimulatedRun simulate(const SimulatedMachine& machine, std::span<const double> shares);

/// Returns the share of each machine, as a multiple of the mean, for a job whose sources were sampled.
/// `places`: the sources of edges at each place of the sample. The job cuts the ids where its sample has
/// equal parts, which are not quite equal parts of the input, and cuts no row. To see how far they are off,
/// it cuts a sample that is drawn from the sample (Efron: "Bootstrap methods: another look at the
/// jackknife", 1979).
std::vector<double> shares_of_sources(std::span<const std::vector<std::uint64_t>> places, int machines);

/// Returns shares of which one is `largest` times the mean; all other machines have the same lower share.
std::vector<double> shares_with_largest(double largest, int machines);

}  // namespace edgewire::bounds
