#include "partition/column_addresses.h"

#include <fmt/core.h>

#include "base/error.h"

namespace edgewire::partition {

namespace {

template <class Change>
void change(std::span<std::uint32_t> numbers, const ForEach& for_each, const Change& change_one) {
  constexpr std::size_t kPiece = 1 << 16;
  for_each((numbers.size() + kPiece - 1) / kPiece, [&](int, std::uint64_t piece) {
    const std::size_t begin = piece * kPiece;
    for (auto& number : numbers.subspan(begin, std::min(kPiece, numbers.size() - begin))) change_one(number);
  });
}

}  // namespace

void to_addresses(std::span<std::uint32_t> destinations, std::span<const std::uint32_t> bounds,
                  const ForEach& for_each) {
  if (bounds.size() - 1 > std::size_t{1} << kOffsetBits)
    throw Error(
        fmt::format("{} columns in one process, more than 2^16: use more processes", bounds.size() - 1));
  const ColumnAddresses address(bounds);
  change(destinations, for_each, [&](std::uint32_t& number) {
    if (number != kNoDestination) number = address(number);
  });
}

void to_destinations(std::span<std::uint32_t> addresses, std::span<const std::uint32_t> bounds,
                     const ForEach& for_each) {
  change(addresses, for_each, [&](std::uint32_t& number) {
    number = bounds[number >> kOffsetBits] + (number & ((1U << kOffsetBits) - 1));
  });
}

}  // namespace edgewire::partition
