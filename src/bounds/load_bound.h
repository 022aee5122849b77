// This file predicts how long a load (convert in parts) or a sort takes: from the bytes that move through
// disks and wires, and the time of cores, at rates that are given or measured.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bounds/bound.h"
#include "graph/file/weights.h"
#include "graph/read/formats.h"
#include "shuffle/record.h"

namespace edgewire::bounds {

/// The load whose time is asked for, and the rates of its machines.
struct LoadTask {
  BoundOptions options{};  ///< only processes, workers, memory, line rates and framing count
  bool sorts = true;       ///< a sort, on a machine for each process; else a conversion
  bool parts = false;      ///< of a conversion: each process has a machine; else all share one
  bool weighted = false, undirected = false;
  std::vector<std::string> inputs{};  ///< input files; without one, `input_bytes` is given
  std::uint64_t input_bytes = 0, edges = 0, vertices = 0;  ///< sizes; 0: not known
  shuffle::RecordShape shape{.bytes = 100};                ///< shape of the records that are sorted
  std::uint32_t partitions = 0;                            ///< partitions of a sort; 0: one for each worker
  double largest_share = 1;  ///< records of the machine with most of them, as a multiple of the mean
  double disk_read_bytes_per_second = 0, disk_write_bytes_per_second = 0;
  double core_bytes_per_second = 0;  ///< bytes of input that a core loads in a second
  double core_share_sending = 0.7;   ///< part of the time of a core before runs are merged
  int cores = 1;                     ///< cores of a process
  // complete() sets these.
  std::uint64_t records = 0, output_bytes = 0;
  graph::WeightFacts weights{};                ///< facts of the weights in a sample of the inputs
  graph::Format format = graph::Format::snap;  ///< snap, u32_pairs, el or wel, the one that is read as fast
};

/// Completes a task from its inputs without reading them to the end. Throws Error that names the input,
/// and UsageError where the user must say how many edges there are.
void complete(LoadTask& task);

/// Measures the rates that are 0, on this machine and in `folder`, where nothing is left. A core sorts or
/// converts a sample, with runs if the load has some. Throws Error that names the folder.
void measure(LoadTask& task, const std::string& folder);

/// The prediction for one number of processes. Its bytes are sums over all processes, as the reports of sort
/// and convert count them; those of disks and wire are of a machine with as many records as the mean.
struct LoadBound {
  int processes = 1, machines = 1;
  std::uint64_t runs = 0, bytes_spilled = 0, bytes_sent = 0;
  std::uint64_t id_bytes_sent = 0;  ///< bytes that tell which ids occur, where ids are numbered anew
  std::uint64_t disk_bytes_read = 0, disk_bytes_written = 0, wire_bytes = 0;
  struct Time {
    std::string rate;
    double seconds = 0;
    std::string_view limited_by;  ///< resource that the load waits for longest
  };
  std::vector<Time> at{};  ///< times at each line rate
};

/// Predicts a load. Records are read, sent, sorted and spilled at the same time; then they are merged to the
/// output. Each phase takes as long as its slowest resource, on the machine with most records. A disk reads
/// or writes, and nothing stays in the page cache. Throws UsageError where memory is too small.
LoadBound load_bound(const LoadTask& task, int processes);

/// Returns the predictions as text for people, ending with a newline.
std::string to_text(const LoadTask& task);
std::string to_json(const LoadTask& task);

}  // namespace edgewire::bounds
