#pragma once

#include <algorithm>
#include <cstdint>

#include "frontier/records.h"

namespace edgewire::frontier {

/// Says who has vertices to follow in the next superstep: nobody, one process, or perhaps several.
class Active {
 public:
  void add(std::uint32_t rank) noexcept {
    code_ = code_ == kNobody || code_ == rank + 1 ? rank + 1 : kSeveral;
  }
  void add(Active others) noexcept {
    if (others.code_ != kNobody) code_ = code_ == kNobody || code_ == others.code_ ? others.code_ : kSeveral;
  }
  bool nobody() const noexcept { return code_ == kNobody; }
  /// Returns whether nobody else has any.
  bool is_only(std::uint32_t rank) const noexcept { return code_ == rank + 1; }
  bool is_one() const noexcept { return code_ != kNobody && code_ != kSeveral; }

  /// What is said where nobody knows.
  static Active several() noexcept { return of_code(kSeveral); }
  std::uint32_t code() const noexcept { return code_; }
  static Active of_code(std::uint32_t code) noexcept {
    Active active;
    active.code_ = code;
    return active;
  }

 private:
  static constexpr std::uint32_t kNobody = 0, kSeveral = 0xffff;  ///< else the rank, and 1
  std::uint32_t code_ = kNobody;
};

/// A lane says this at the end of a superstep. Sums of them are what all say.
struct PushNote {
  std::uint64_t vertices = 0;      ///< vertices whose edges were followed in the last level; below 2^32
  std::uint64_t edges = 0;         ///< out of them
  std::uint32_t levels = 0;        ///< levels followed in this superstep, alone but for the last
  std::uint64_t edges_before = 0;  ///< out of the vertices of the earlier ones
  Active next{};                   ///< who has vertices to follow next, as far as this lane knows

  PushNote& operator+=(const PushNote& more) noexcept {
    vertices += more.vertices;
    edges += more.edges;
    levels = std::max(levels, more.levels);
    edges_before += more.edges_before;
    next.add(more.next);
    return *this;
  }
  Records::Note words() const noexcept {
    return {vertices | std::uint64_t{levels} << 32, edges, edges_before << 16 | next.code()};
  }
  static PushNote of(const Records::Note& words) noexcept {
    return {static_cast<std::uint32_t>(words[0]), words[1], static_cast<std::uint32_t>(words[0] >> 32),
            words[2] >> 16, Active::of_code(static_cast<std::uint32_t>(words[2] & 0xffff))};
  }
};

}  // namespace edgewire::frontier
