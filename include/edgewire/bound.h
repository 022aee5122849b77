// Counts the fewest bytes that a job must send, before it runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "edgewire/graph.h"
#include "edgewire/options.h"
#include "edgewire/progress.h"

#pragma GCC visibility push(default)

namespace edgewire {

/// What to count. No list is empty but `rates`.
struct BoundOptions {
  std::vector<int> processes{2, 4, 8, 16};
  int workers = 1;                              ///< of each process
  std::vector<std::string> ownerships{"hash"};  ///< hash, ranges, hilbert, grid or partition files
  std::vector<Strategy> strategies{Strategy::slots, Strategy::cover};  ///< not automatic
  std::vector<Wire> wires{Wire::f32};
  std::vector<std::string> rates{"1G", "10G", "40G", "100G"};  ///< line rates in bit/s
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;         ///< limit beside the graph, from 1 on
  int threads = 0;                                             ///< that count; 0: one a core
  Progress progress{};
};

/// What each process must send in an iteration of a pass over all edges, such as pagerank.
struct BoundRow {
  int processes = 1;
  std::string ownership;
  Strategy strategy = Strategy::slots;
  Wire wire = Wire::f32;
  std::uint64_t values = 0;          ///< sent by all processes together
  std::uint64_t payload_bytes = 0;   ///< of these values
  std::uint64_t wire_bytes = 0;      ///< the same as TCP over Ethernet, MTU 1500
  std::vector<double> seconds_at{};  ///< [rate]: of the most loaded process, sending and receiving at once
};
/// What must be sent, and the same for people and programs.
struct Bound {
  std::vector<BoundRow>
      rows{};          ///< for each number of processes, ownership, and strategy and wire that go together
  std::string text{};  ///< a table for people
  std::string json{};  ///< what --json writes
  std::string page{};  ///< an HTML page with charts
};

/// Reads all rows. Throws UsageError when an option makes no sense, and Error with path and byte offset when
/// the file does.
Bound bound(const Graph& graph, const BoundOptions& options = {});

}  // namespace edgewire

#pragma GCC visibility pop
