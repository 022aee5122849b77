// The partition folder decides who owns a vertex, and how its rows come to the owner. This file has the
// ownership.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/mapped_file.h"
#include "base/mixing.h"
#include "base/parallel.h"
#include "edgewire/numbering.h"

namespace edgewire::partition {

__extension__ using Uint128 = unsigned __int128;

/// Returns whole * part / parts, rounded down.
inline std::uint64_t share(std::uint64_t whole, std::uint64_t part, std::uint64_t parts) {
  return static_cast<std::uint64_t>(static_cast<Uint128>(whole) * part / parts);
}

/// Ownership by a hash. Each block of P consecutive ids has one vertex for each of the P processes. A hash of
/// the block says which process gets the first one; the others follow in turn. This needs no table, has an
/// inverse, and processes differ by one vertex at most.
class HashOwnership {
 public:
  HashOwnership(std::uint64_t vertices, std::uint32_t processes);
  Home home(VertexId v) const noexcept {
    if (processes_ == 1) return {0, LocalNumber(static_cast<std::uint32_t>(v))};
    const auto block = static_cast<std::uint32_t>((static_cast<Uint128>(reciprocal_) * v) >> 64);
    const std::uint32_t at = static_cast<std::uint32_t>(v - PlainId{block} * processes_) + rotation(block);
    return {at >= processes_ ? at - processes_ : at, LocalNumber(block)};
  }
  VertexId vertex(std::uint32_t owner, LocalNumber local) const noexcept {
    if (processes_ == 1) return VertexId(PlainId{local});
    const std::uint32_t turn = rotation(local);
    return VertexId(PlainId{local} * processes_ + (owner >= turn ? owner - turn : owner + processes_ - turn));
  }
  std::uint32_t count(std::uint32_t owner) const noexcept;
  std::uint32_t processes() const noexcept { return processes_; }

  /// Returns the factor by which home() multiplies.
  std::uint64_t reciprocal() const noexcept { return reciprocal_; }

 private:
  std::uint32_t rotation(std::uint32_t block) const noexcept {
    const std::uint64_t mixed = (block + 1) * kGolden;
    return static_cast<std::uint32_t>(((mixed >> 32) * processes_) >> 32);
  }
  std::uint64_t vertices_;
  std::uint32_t processes_;
  /// The reciprocal ceil(2^64 / P), unused for P = 1: Lemire's exact division ("Faster remainder by direct
  /// computation", 2019), for ids x with x * P < 2^64.
  std::uint64_t reciprocal_;
};

/// Cuts all ids into `parts` ranges: in each one, four times its part of all out-edges and its part of all
/// vertices add up to about the same; an edge counts as four vertices at most. Returns the bounds, one more
/// than there are ranges. `offsets` as Graph::offsets(), or a part of it, whose ids then count from 0.
std::vector<PlainId> cut_evenly(std::span<const std::uint64_t> offsets, std::uint32_t parts);

/// Ownership by ranges. Process p owns the ids [bounds[p], bounds[p+1]).
class RangeOwnership {
 public:
  explicit RangeOwnership(std::vector<PlainId> bounds);
  std::uint32_t owner(VertexId v) const noexcept { return home(v).owner; }
  Home home(VertexId v) const noexcept {
    std::uint32_t p = hint_[v >> shift_];
    while (v >= bounds_[p + 1]) ++p;
    return {p, LocalNumber(static_cast<std::uint32_t>(v - bounds_[p]))};
  }
  VertexId vertex(std::uint32_t owner, LocalNumber local) const noexcept {
    return VertexId(bounds_[owner] + local);
  }
  std::uint32_t count(std::uint32_t owner) const noexcept {
    return static_cast<std::uint32_t>(bounds_[owner + 1] - bounds_[owner]);
  }
  /// Returns the first vertex of each process, and the end.
  std::span<const PlainId> bounds() const noexcept { return bounds_; }

 private:
  std::vector<PlainId> bounds_;
  unsigned shift_ = 0;
  std::vector<std::uint32_t> hint_;  ///< owner of the first id with a prefix, [v >> shift_]
};

inline constexpr std::uint32_t kMaxProcesses = 4096;

/// Ownership by a table of the owner of each vertex. The table takes 10 bytes for each vertex of the graph,
/// 14 where ids have 64 bits, in a file without a name (temporary_folder()) that is mapped: a process has of
/// it the pages that it uses, and the system takes them back where memory is short. Copies share it.
class TableOwnership {
 public:
  class Builder;
  Home home(VertexId v) const noexcept { return {owners_[v], locals_[v]}; }
  VertexId vertex(std::uint32_t owner, LocalNumber local) const noexcept {
    return vertices_[starts_[owner] + std::size_t{local}];
  }
  std::uint32_t count(std::uint32_t owner) const noexcept {
    return static_cast<std::uint32_t>(starts_[owner + 1] - starts_[owner]);
  }

 private:
  TableOwnership() = default;
  std::shared_ptr<const MappedFile> file_;  ///< file with the three arrays, one after the other
  NumberedBy<VertexId, std::span<const LocalNumber>> locals_;
  std::span<const VertexId> vertices_;  ///< vertices by owner, ascending
  NumberedBy<VertexId, std::span<const std::uint16_t>> owners_;
  std::vector<std::uint64_t> starts_;  ///< starts of the owners' vertices, [owner], and the end
};

/// The owners of vertices. Local numbers have 32 bits: the functions that make an Ownership throw Error where
/// a process would own 2^32 - 1 vertices or more. Loops over edges should use visit(): it looks up the scheme
/// once, not for each edge.
class Ownership {
 public:
  static Ownership hash(std::uint64_t vertices, int processes);
  /// Makes contiguous ranges with about the same number of out-edges each. `offsets` as Graph::offsets().
  static Ownership ranges(std::span<const std::uint64_t> offsets, int processes);
  /// Does the same in a graph of `vertices` and `edges`, and reads few offsets. first_from(edge): the first
  /// vertex whose row begins with this edge or behind it, or `vertices`.
  static Ownership ranges(std::uint64_t vertices, std::uint64_t edges, int processes,
                          const std::function<std::uint64_t(std::uint64_t edge)>& first_from);
  /// Returns the ranges of cut_evenly(), for blocks of edges (dense/plan/edge_partition.h).
  static Ownership even_ranges(std::span<const std::uint64_t> offsets, int processes);
  /// Reads one owner (0..processes-1) a line for each vertex, as METIS, KaHIP and KaMinPar write. Every
  /// process must own a vertex. It reads the file once, line by line, and keeps what TableOwnership says.
  /// Throws Error with path and line, or with both numbers when there are more or fewer parts than processes.
  static Ownership from_file(const std::string& path, std::uint64_t vertices, int processes);
  /// Makes the ownership that `how` names: "hash", "ranges", "hilbert", "grid" (both: even_ranges()), or the
  /// path of a partition file. Throws Error, and UsageError where it is no name of these and no file.
  static Ownership create(const std::string& how, std::span<const std::uint64_t> offsets, int processes);

  /// Returns whether create() makes ranges() for this name.
  static bool is_name_of_ranges(std::string_view how) noexcept;

  int processes() const noexcept { return processes_; }
  std::uint64_t vertices() const noexcept { return vertices_; }
  Home home(VertexId v) const noexcept {
    return std::visit([v](const auto& scheme) { return scheme.home(v); }, scheme_);
  }
  VertexId vertex(std::uint32_t owner, LocalNumber local) const noexcept {
    return std::visit([=](const auto& scheme) { return scheme.vertex(owner, local); }, scheme_);
  }
  std::uint32_t count(std::uint32_t owner) const noexcept {
    return std::visit([=](const auto& scheme) { return scheme.count(owner); }, scheme_);
  }
  /// Returns whether each process owns a range of ids.
  bool is_ranges() const noexcept { return std::holds_alternative<RangeOwnership>(scheme_); }
  /// Returns how many vertices of `owner` have ids below `end`, which is the local number of the next one.
  std::uint32_t count_below(std::uint32_t owner, std::uint64_t end) const noexcept;
  /// Returns the scheme if it is a hash, else null.
  const HashOwnership* hashed() const noexcept { return std::get_if<HashOwnership>(&scheme_); }
  /// Calls work(scheme) with the HashOwnership, RangeOwnership or TableOwnership.
  template <class Work>
  decltype(auto) visit(Work&& work) const {
    return std::visit(std::forward<Work>(work), scheme_);
  }

 private:
  using Scheme = std::variant<HashOwnership, RangeOwnership, TableOwnership>;
  Ownership(Scheme scheme, std::uint64_t vertices, int processes);
  Scheme scheme_;
  std::uint64_t vertices_;
  int processes_;
};

/// The words that always name an ownership. A file of such a name is meant with its path: ./grid.
inline constexpr std::array<std::string_view, 5> kOwnershipNames{"hash", "ranges", "hilbert", "grid", "auto"};
/// The names under which vertices have owners, and edges go with them.
inline constexpr auto kVertexOwnershipNames = std::span(kOwnershipNames).first<2>();
/// Throws UsageError unless `how` is one of kOwnershipNames or names a file: by a path with a /, or by the
/// name of something that is there, or is "auto,FILE". `offered`: the names that the message lists.
void check_ownership_name(const std::string& how,
                          std::span<const std::string_view> offered = kOwnershipNames);

/// Returns whether the ownership has this name, "hilbert" or "grid". Processes then own edges, too.
bool owns_edges(std::string_view ownership) noexcept;
/// Returns FILE of "FILE" and "auto,FILE", or an empty string where `how` names a kind of ownership.
std::string partition_file(const std::string& how);
/// Returns the part of "hash", "ranges", FILE, "auto,FILE" and so on that must be the same in all processes:
/// of a file its content, whatever its path is. The name of a file that is not there stands for itself.
/// Throws Error where it cannot be read.
std::string fact_of(const std::string& how);

}  // namespace edgewire::partition
