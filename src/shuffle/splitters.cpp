#include "shuffle/splitters.h"

#include <algorithm>

namespace edgewire::shuffle {

Splitters::Splitters(const RecordShape& shape, std::span<const std::byte> sample, std::uint32_t partitions)
    : shape_(shape) {
  const std::size_t stride = shape.stride(), count = sample.size() / stride;
  std::vector<const std::byte*> sorted;
  for (std::size_t i = 0; i < count; ++i) sorted.push_back(&sample[i * stride]);
  std::ranges::sort(sorted, [&](const std::byte* a, const std::byte* b) { return shape.less(a, b); });
  const std::vector<std::byte> least(stride);  // where there is no sample, everything goes to the last one
  for (std::uint64_t p = 1; p < partitions; ++p) {
    const std::byte* const splitter = count == 0 ? least.data() : sorted[p * count / partitions];
    prefixes_.push_back(shape.prefix(splitter));
    splitters_.insert(splitters_.end(), splitter, splitter + stride);
  }
}

std::uint32_t Splitters::partition(const std::byte* record, std::uint64_t prefix) const noexcept {
  const std::size_t stride = shape_.stride();
  const auto [first, last] = std::equal_range(prefixes_.begin(), prefixes_.end(), prefix);
  auto at = static_cast<std::size_t>(first - prefixes_.begin());
  auto left = static_cast<std::size_t>(last - first);
  while (left > 0) {  // the first splitter behind the record, among those with its prefix
    const std::size_t half = left / 2;
    if (shape_.less_behind_prefix(record, &splitters_[(at + half) * stride])) {
      left = half;
    } else {
      at += half + 1;
      left -= half + 1;
    }
  }
  return static_cast<std::uint32_t>(at);
}

}  // namespace edgewire::shuffle
