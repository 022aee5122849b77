#include "job/gather.h"

#include <bit>

#include "launch/packing.h"

namespace edgewire::job {

std::vector<double> gather_values(launch::Bootstrap& bootstrap, const DenseJob& job,
                                  std::span<const double> values) {
  const auto indexes = job.owned().indexes();
  std::vector<double> mine(values.size());
  for (std::size_t local = 0; local < mine.size(); ++local) mine[local] = values[indexes[local]];
  const auto parts = bootstrap.gather(launch::pack(mine));
  std::vector<double> all(parts.empty() ? 0 : job.graph().vertices());
  for (std::uint32_t p = 0; p < parts.size(); ++p) {
    const auto part = launch::unpack<double>(parts[p], p, job.ownership().count(p));
    for (std::uint32_t local = 0; local < part.size(); ++local)
      all[job.ownership().vertex(p, local)] = part[local];
  }
  return all;
}

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
