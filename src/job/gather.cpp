#include "job/gather.h"

#include <bit>

namespace edgewire::job {

std::uint64_t checksum(const DenseJob& job, std::span<const double> values) {
  std::uint64_t sum = 0;
  const auto ids = job.owned().ids();
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint64_t mixed =
        std::bit_cast<std::uint64_t>(values[i]) + (std::uint64_t{ids[i]} + 1) * 0x9E3779B97F4A7C15ULL;
    mixed = (mixed ^ (mixed >> 31)) * 0xBF58476D1CE4E5B9ULL;
    sum += (mixed ^ (mixed >> 29)) * 0x94D049BB133111EBULL;
  }
  return sum;
}

}  // namespace edgewire::job
