#pragma once

#include <cstdint>

namespace edgewire::frontier {

/// What one process did in a superstep.
struct Superstep {
  std::uint64_t step = 0;      ///< what the kernel counts by: a bucket, a level, a round
  std::uint64_t kind = 0;      ///< of the superstep, where the kernel has several
  std::uint64_t frontier = 0;  ///< vertices whose edges were followed; a vertex may count more than once
  std::uint64_t edges = 0;     ///< of them
  std::uint64_t payload_bytes = 0, wire_bytes = 0;  ///< sent
  double seconds = 0;
};

}  // namespace edgewire::frontier
