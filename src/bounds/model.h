// A prediction of the time of an iteration, by its most loaded process and the rates of machines and links.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace edgewire::bounds {

/// The work of the most loaded process in an iteration.
struct Demand {
  int processes = 1;
  double edges = 0;                ///< number of computed edges
  std::uint64_t wire_bytes = 0;    ///< bytes on the wire in the direction with more of them
  std::uint64_t messages = 0;      ///< number of messages that are sent: at least one for each peer
  std::uint64_t memory_bytes = 0;  ///< bytes streamed through memory; see memory_bytes()
};

/// The rates of the machines and of the link between them. Each process has one machine.
struct Rates {
  double edges_per_core_s = 0;    ///< edges/s of a core, measured on graphs like this one
  int cores = 1;                  ///< cores of a process
  double memory_bytes_per_s = 0;  ///< memory rate of a process; 0: never the limit
  double line_bits_per_s = 0;
  double latency_s = 0;  ///< latency of each message
  double turn = 1;       ///< part of the time in which a process has its cores; else others have them
};

/// The resource that limits an iteration, a sort or a load.
enum class Limit { cores, memory, wire, disk };
std::string_view to_name(Limit limit) noexcept;

struct Prediction {
  int processes = 1;
  double cores_s = 0;
  double memory_s = 0;
  double wire_s = 0;     ///< time on the wire, with latency_s
  double latency_s = 0;  ///< latency of all messages, one after the other
  double seconds = 0;    ///< largest of the three, since they overlap; more where processes take turns
  Limit limit = Limit::cores;
  /// The line rate at which the wire takes as long as the rest. Below it, the wire is the limit. 0 means
  /// that nothing crosses the wire; infinity means that latency alone takes longer than the rest.
  double balanced_bits_per_s = 0;
};

/// Predicts the time of one iteration. Computing, streaming memory and sending overlap, so only the slowest
/// counts. The cost of a message is its latency plus the time for its bytes (Hockney: The communication
/// challenge for MPP, 1994). Where processes take turns on the cores, a link may wait for the turn of its
/// process. At worst it waits for all turns of the others, which is 1 - turn of the computing. This function
/// counts half of that, times the shorter of computing and sending, which could overlap.
Prediction predict(const Demand& demand, const Rates& rates);

/// Returns the bytes that a process reads and writes in an iteration. They are 4 for each edge (two 16-bit
/// offsets in a tile), 8 for each of its vertices (the old value read, the new one written), and
/// `value_bytes` twice for each value sent or received (written, then read), but for values in a cache.
std::uint64_t memory_bytes(double edges, double vertices, std::uint64_t values,
                           std::uint64_t value_bytes = 4) noexcept;

/// Returns the index of the first prediction with another limit than that of prediction 0, else their number.
std::size_t change_of_limit(std::span<const Prediction> by_processes) noexcept;

}  // namespace edgewire::bounds
