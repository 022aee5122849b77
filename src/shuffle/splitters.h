#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shuffle/record.h"

namespace edgewire::shuffle {

/// Which partition a record belongs to: partition p has the records from splitter p - 1 on to before splitter
/// p. Splitters are whole records, so records with equal keys can lie in several partitions.
class Splitters {
 public:
  /// Chooses partitions - 1 splitters that cut `sample`, records of shape.stride() bytes in any order, into
  /// equal parts (DeWitt, Naughton, Schneider: "Parallel sorting on a shared-nothing architecture using
  /// probabilistic splitting", 1991).
  Splitters(const RecordShape& shape, std::span<const std::byte> sample, std::uint32_t partitions);

  std::uint32_t partitions() const noexcept { return static_cast<std::uint32_t>(prefixes_.size()) + 1; }
  /// Splitter p is the first record of partition p + 1.
  const std::byte* splitter(std::uint32_t p) const noexcept { return &splitters_[p * shape_.stride()]; }
  /// `prefix`: of the record.
  std::uint32_t partition(const std::byte* record, std::uint64_t prefix) const noexcept;

 private:
  RecordShape shape_;
  std::vector<std::uint64_t> prefixes_;  ///< of the splitters, in order
  std::vector<std::byte> splitters_;
};

}  // namespace edgewire::shuffle
