#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "shuffle/record.h"

namespace edgewire::shuffle {

/// The splitters, which say to which partition a record belongs: partition p has the records from splitter p
/// - 1 on to before splitter p. Splitters are whole records, so records with equal keys can lie in several
/// partitions. Records that are the same in all bytes as a splitter may also be spread: see before_cut().
class Splitters {
 public:
  /// Chooses partitions - 1 splitters that cut `sample`, records of shape.stride() bytes in any order, into
  /// equal parts (DeWitt, Naughton, Schneider: "Parallel sorting on a shared-nothing architecture using
  /// probabilistic splitting", 1991).
  Splitters(const RecordShape& shape, std::span<const std::byte> sample, std::uint32_t partitions);

  std::uint32_t partitions() const noexcept { return static_cast<std::uint32_t>(prefixes_.size()) + 1; }
  /// Returns splitter p, which is the first record of partition p + 1.
  const std::byte* splitter(std::uint32_t p) const noexcept { return &splitters_[p * shape_.stride()]; }
  /// Returns the partition of a record. `prefix`: the prefix of that record.
  std::uint32_t partition(const std::byte* record, std::uint64_t prefix) const noexcept;
  /// Returns whether the record is the splitter before `partition`, which is its partition.
  bool is_splitter(const std::byte* record, std::uint64_t prefix, std::uint32_t partition) const noexcept {
    return partition > 0 && prefixes_[partition - 1] == prefix &&
           std::memcmp(record, splitter(partition - 1), shape_.bytes) == 0;
  }
  bool same(std::uint32_t p, std::uint32_t q) const noexcept {
    return std::memcmp(splitter(p), splitter(q), shape_.bytes) == 0;
  }

  /// Returns, where `total` records are the same as splitter p, how many of them belong before its cut, in
  /// proportion to the sample. So parts are of equal size also where records are the same.
  std::uint64_t before_cut(std::uint32_t p, std::uint64_t total) const noexcept {
    const auto [before, all] = ties_[p];
    return total / all * before + total % all * before / all;
  }

 private:
  /// Number of records of the sample before the cut, and of all, that are the same as the splitter.
  struct Ties {
    std::uint64_t before, all;
  };
  RecordShape shape_;
  std::vector<std::uint64_t> prefixes_;  ///< prefixes of the splitters, in order
  std::vector<std::byte> splitters_;
  std::vector<Ties> ties_;  ///< ties by splitter
};

}  // namespace edgewire::shuffle
