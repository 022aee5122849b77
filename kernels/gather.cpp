#include "kernels/gather.h"

#include <bit>

#include "launch/packing.h"

namespace edgewire::kernels {

std::vector<float> gather_values(launch::Bootstrap& bootstrap, const DenseJob& job,
                                 std::span<const float> values) {
  const auto indexes = job.owned().indexes();
  std::vector<float> mine(values.size());
  for (std::size_t local = 0; local < mine.size(); ++local) mine[local] = values[indexes[local]];
  const auto parts = bootstrap.gather(launch::pack(mine));
  std::vector<float> all(parts.empty() ? 0 : job.graph().vertices());
  for (std::uint32_t p = 0; p < parts.size(); ++p) {
    const auto part = launch::unpack<float>(parts[p], p, job.ownership().count(p));
    for (std::uint32_t local = 0; local < part.size(); ++local)
      all[job.ownership().vertex(p, local)] = part[local];
  }
  return all;
}

std::uint64_t checksum(const DenseJob& job, std::span<const float> values) {
  std::uint64_t sum = 0;
  const auto ids = job.owned().ids();
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint64_t mixed = (std::uint64_t{ids[i]} << 32 | std::bit_cast<std::uint32_t>(values[i])) + 1;
    mixed = (mixed ^ (mixed >> 31)) * 0xBF58476D1CE4E5B9ULL;
    sum += (mixed ^ (mixed >> 29)) * 0x94D049BB133111EBULL;
  }
  return sum;
}

}  // namespace edgewire::kernels
