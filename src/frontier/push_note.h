#pragma once

#include <algorithm>
#include <cstdint>

#include "frontier/records.h"

namespace edgewire::frontier {

/// The processes that have vertices to follow in the next superstep: none, one, or perhaps several.
class Active {
 public:
  void add(std::uint32_t rank) noexcept {
    code_ = code_ == kNobody || code_ == rank + 1 ? rank + 1 : kSeveral;
  }
  void add(Active others) noexcept {
    if (others.code_ != kNobody) code_ = code_ == kNobody || code_ == others.code_ ? others.code_ : kSeveral;
  }
  bool nobody() const noexcept { return code_ == kNobody; }
  /// Returns whether no other process has any.
  bool is_only(std::uint32_t rank) const noexcept { return code_ == rank + 1; }
  bool is_one() const noexcept { return code_ != kNobody && code_ != kSeveral; }

  /// Returns the value for an unknown number of processes.
  static Active several() noexcept { return of_code(kSeveral); }
  std::uint32_t code() const noexcept { return code_; }
  static Active of_code(std::uint32_t code) noexcept {
    Active active;
    active.code_ = code;
    return active;
  }

 private:
  static constexpr std::uint32_t kNobody = 0, kSeveral = 0xffff;  ///< codes; else the rank plus 1
  std::uint32_t code_ = kNobody;
};

/// The note of a lane at the end of a superstep. The sum of the notes is that of all lanes.
struct PushNote {
  std::uint64_t vertices = 0;  ///< number of vertices whose edges were followed in the last level; below 2^32
  std::uint64_t edges = 0;     ///< number of edges out of them
  std::uint32_t levels = 0;    ///< number of levels followed in this superstep, alone but for the last
  std::uint64_t edges_before = 0;  ///< number of edges out of the vertices of the earlier levels
  Active next{};                   ///< processes that have vertices to follow next, as far as this lane knows

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
