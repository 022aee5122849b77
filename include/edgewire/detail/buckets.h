// The vertices that a worker has still to follow, by bucket.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "edgewire/numbering.h"

#pragma GCC visibility push(default)

namespace edgewire::detail {

inline constexpr std::uint64_t kNoBucket = std::numeric_limits<std::uint64_t>::max();

/// Buckets from the base on have a list each. Vertices of higher ones wait together, however many buckets
/// there are, until the base moves up to them.
class Buckets {
 public:
  static constexpr std::uint64_t kEarly = 64;
  /// Puts a vertex into a bucket. A vertex of a lower bucket than the base goes to the base.
  void put(std::uint64_t bucket, KnownNumber vertex) {
    const std::uint64_t place = bucket < base_ ? 0 : bucket - base_;
    if (place >= kNear) {
      far_.emplace_back(bucket, vertex);
      return;
    }
    if (place >= near_.size()) near_.resize(place + 1);
    near_[place].push_back(vertex);
  }
  /// Returns what bucket `bucket` holds, and makes it the base. It is at least the base, and no lower one
  /// holds anything.
  std::vector<KnownNumber> take(std::uint64_t bucket) { return take(bucket, bucket); }
  /// Returns what bucket `bucket` holds, although lower ones may get something yet: those from `base` on,
  /// which is at most kEarly lower.
  std::vector<KnownNumber> take(std::uint64_t bucket, std::uint64_t base) {
    if (base - base_ >= kNear / 2) move_to(base);
    const std::uint64_t place = bucket - base_;
    return place < near_.size() ? std::exchange(near_[place], {}) : std::vector<KnownNumber>();
  }
  std::size_t size(std::uint64_t bucket) const {
    const std::uint64_t place = bucket - base_;
    return place < near_.size() ? near_[place].size() : 0;
  }
  /// Returns the lowest bucket, from `bucket` on, that holds something.
  std::uint64_t lowest(std::uint64_t bucket) const {
    for (std::uint64_t place = bucket - base_; place < near_.size(); ++place)
      if (!near_[place].empty()) return base_ + place;
    std::uint64_t least = kNoBucket;
    for (const auto& one : far_) least = std::min(least, one.first);
    return least;
  }

 private:
  static constexpr std::uint64_t kNear = 256;

  void move_to(std::uint64_t base) {
    auto near = std::exchange(near_, {});
    auto far = std::exchange(far_, {});
    const std::uint64_t old = std::exchange(base_, base);
    for (std::size_t place = 0; place < near.size(); ++place) {
      if (near[place].empty()) continue;
      const std::uint64_t to = old + place - base_;
      if (to >= near_.size()) near_.resize(to + 1);
      near_[to] = std::move(near[place]);
    }
    for (const auto& [bucket, vertex] : far) put(bucket, vertex);
  }

  std::uint64_t base_ = 0;
  std::vector<std::vector<KnownNumber>> near_;              ///< [bucket - base]
  std::vector<std::pair<std::uint64_t, KnownNumber>> far_;  ///< (bucket, vertex)
};

}  // namespace edgewire::detail

#pragma GCC visibility pop
