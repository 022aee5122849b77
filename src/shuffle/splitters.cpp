#include "shuffle/splitters.h"

#include <algorithm>

#include "shuffle/radix_sort.h"

namespace edgewire::shuffle {

Splitters::Splitters(const RecordShape& shape, std::span<const std::byte> sample, std::uint32_t partitions)
    : shape_(shape) {
  const std::size_t stride = shape.stride(), count = sample.size() / stride;
  std::vector<RecordRef> sorted;
  sorted.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* const record = &sample[i * stride];
    sorted.push_back({shape.prefix(record), record});
  }
  radix_sort(std::span(sorted), shape);
  // All records go to the last partition where there is no sample.
  const std::vector<std::byte> least(stride);
  for (std::uint64_t p = 1; p < partitions; ++p) {
    const std::size_t place = p * count / partitions;
    const RecordRef splitter = count == 0 ? RecordRef{0, least.data()} : sorted[place];
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), splitter, order_of_refs(shape));
    const auto same = static_cast<std::uint64_t>(last - first);
    const auto before = static_cast<std::uint64_t>(first - sorted.begin());
    ties_.push_back(count == 0 ? Ties{0, 1} : Ties{place - before, same});
    prefixes_.push_back(splitter.prefix);
    splitters_.insert(splitters_.end(), splitter.record, splitter.record + stride);
  }
}

std::uint32_t Splitters::partition(const std::byte* record, std::uint64_t prefix) const noexcept {
  const std::size_t stride = shape_.stride();
  const auto [first, last] = std::equal_range(prefixes_.begin(), prefixes_.end(), prefix);
  auto at = static_cast<std::size_t>(first - prefixes_.begin());
  auto left = static_cast<std::size_t>(last - first);
  while (left > 0) {  // finds the first splitter behind the record, among those with its prefix
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
