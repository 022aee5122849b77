// The vertices that a process knows: those that it owns, and its boundary vertices, which are those of other
// processes that its edges lead to. A kernel keeps values for these alone, so that what a process holds does
// not grow with the graph.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "edgewire/graph.h"
#include "edgewire/numbering.h"
#include "frontier/records.h"
#include "partition/ownership.h"
#include "partition/vertex_set.h"
#include "topology/worker_pool.h"

namespace edgewire::frontier {

class InRows;

/// The counterpart of Boundary::Known in a process that owns all vertices.
struct AllKnown {
  static Home home(VertexId v) noexcept { return {0, LocalNumber(static_cast<std::uint32_t>(v))}; }
  static KnownNumber number(VertexId v) noexcept { return KnownNumber(static_cast<std::uint32_t>(v)); }
  static VertexId vertex(LocalNumber local) noexcept { return VertexId(PlainId{local}); }
};

/// A function that returns the row of an owned vertex. `room` takes its ids, where they are not in memory.
using IdsOf = std::function<std::span<const VertexId>(LocalNumber local, std::vector<VertexId>& room)>;

/// The boundary of a process. That of a process alone is empty; knows() and number() are for several.
class Boundary {
 public:
  /// The bytes for each boundary vertex, for each process that knows an owned vertex, and for a block of
  /// vertices of one owner of which this process knows any.
  static constexpr std::uint64_t kVertexBytes = sizeof(LocalNumber), kToldBytes = sizeof(LocalNumber),
                                 kBlockVertices = 64, kBlockBytes = 16;

  /// The numbers of vertices, with the ownership looked up once.
  template <class Scheme>
  struct Known {
    const Scheme& scheme;
    const Boundary& boundary;

    Home home(VertexId v) const noexcept { return scheme.home(v); }
    KnownNumber number(Home home) const noexcept { return boundary.number(home); }
    /// Returns the number of a vertex that is known.
    KnownNumber number(VertexId v) const noexcept { return number(home(v)); }
    VertexId vertex(LocalNumber local) const noexcept { return scheme.vertex(boundary.rank_, local); }
  };

  /// Makes the boundary: reads the rows of the owned vertices of `graph`, and tells each owner which of its
  /// vertices this process knows. The rows have been checked. Memory: 4 bytes for each boundary vertex, 16
  /// for each 64 vertices of one owner among which this process knows any, and for each 4096; 4 for each
  /// vertex and process that knows it. While it is made, also a bit for each vertex of the graph, or 4 bytes
  /// for each edge of the process where that is less. Collective, while workers rest; throws Error, also
  /// where the process would know more vertices than kMostOfAProcess. `ownership` outlives it. `in`: where it
  /// is given, the sources of edges that lead to owned vertices are known, too.
  Boundary(const Graph& graph, const IdsOf& ids_of, const partition::Ownership& ownership, std::uint32_t rank,
           topology::WorkerPool& pool, Records& records, const InRows* in = nullptr);
  /// Makes the same from its boundary vertices, as boundary_ids() gives them.
  Boundary(std::span<const VertexId> ids, const partition::Ownership& ownership, std::uint32_t rank,
           Records& records);

  /// Returns the number of owned vertices, whose numbers are below it. All numbers are below known().
  std::uint32_t owned() const noexcept { return owned_; }
  std::uint32_t known() const noexcept { return owned_ + static_cast<std::uint32_t>(locals_.size()); }
  /// Returns the first number of an owner's boundary vertices, [first(owner), first(owner + 1)).
  std::uint32_t first(std::uint32_t owner) const noexcept { return firsts_[owner]; }
  std::uint32_t count(std::uint32_t owner) const noexcept { return firsts_[owner + 1] - firsts_[owner]; }
  /// Returns the owner of a boundary vertex.
  std::uint32_t owner(KnownNumber number) const noexcept;
  /// Returns the home of a boundary vertex.
  Home home(KnownNumber number) const noexcept;
  /// Returns the vertex with any number.
  VertexId vertex(KnownNumber number) const noexcept;
  /// Returns the owned vertices that `peer` knows, ascending: entry i has the number first(rank) + i there.
  std::span<const LocalNumber> known_by(std::uint32_t peer) const noexcept {
    return std::span(known_by_).subspan(known_firsts_[peer], known_firsts_[peer + 1] - known_firsts_[peer]);
  }

  /// Returns the number of each known vertex by id: where many edges get numbers, these are found faster than
  /// by number(). Memory: that of partition::VertexNumbers.
  partition::VertexNumbers numbers() const;
  /// Calls work(known), see Known. It is for loops over edges.
  template <class Work>
  void visit(const Work& work) const {
    ownership_.visit([&](const auto& scheme) {
      work(Known<std::remove_cvref_t<decltype(scheme)>>{scheme, *this});
    });
  }
  bool knows(Home home) const noexcept {
    const std::size_t at = starts_[home.owner] + home.local;
    const Group& group = groups_[at / kGroup];
    return (group.blocks >> block_in_group(at) & 1) != 0 && (block(at, group).bits >> at % kBits & 1) != 0;
  }
  /// Returns the number of a vertex that is known.
  KnownNumber number(Home home) const noexcept {
    const std::size_t at = starts_[home.owner] + home.local;
    const Block& found = block(at, groups_[at / kGroup]);
    return KnownNumber(found.before + ones_below(found.bits, at % kBits));
  }
  KnownNumber number(VertexId v) const noexcept { return number(ownership_.home(v)); }

 private:
  static constexpr std::size_t kBits = kBlockVertices, kGroup = kBits * kBits;
  /// 64 vertices of one owner, some of which are known: which ones, and the number of the first one.
  struct Block {
    std::uint64_t bits = 0;
    std::uint32_t before = 0;
  };
  static_assert(sizeof(Block) == kBlockBytes);
  /// 64 blocks: which of them there are, and the index of the first one.
  struct Group {
    std::uint64_t blocks = 0;
    std::uint32_t before = 0;
  };
  static constexpr std::size_t block_in_group(std::size_t at) noexcept { return at / kBits % kBits; }
  static std::uint32_t ones_below(std::uint64_t bits, std::size_t bit) noexcept {
    return static_cast<std::uint32_t>(std::popcount(bits & ((std::uint64_t{1} << bit) - 1)));
  }
  const Block& block(std::size_t at, const Group& group) const noexcept {
    return blocks_[group.before + ones_below(group.blocks, block_in_group(at))];
  }

  /// A function that calls take(v) for all boundary vertices, and perhaps owned ones, ascending.
  using EachId = std::function<void(const std::function<void(VertexId)>& take)>;

  class Told;
  Boundary(const EachId& each_id, const partition::Ownership& ownership, std::uint32_t rank,
           Records& records);
  void find(const EachId& each_id);
  void make_blocks(std::uint32_t owner);
  void add_block(std::size_t at, const Block& block);
  void tell_owners(Records& records);

  const partition::Ownership& ownership_;
  std::uint32_t rank_, processes_, owned_;
  /// Bit of each owner's vertex 0, a multiple of kBits, [owner]; and the end.
  std::vector<std::size_t> starts_;
  std::vector<Group> groups_;              ///< groups, [bit / kGroup]
  std::vector<Block> blocks_;              ///< blocks with known vertices
  std::vector<std::uint32_t> firsts_;      ///< first numbers, [owner]; and the end
  std::vector<LocalNumber> locals_;        ///< local numbers at the owner, [number - owned()]
  std::vector<std::size_t> known_firsts_;  ///< starts of the peers in known_by_, [peer]; and the end
  std::vector<LocalNumber> known_by_;
};

/// Returns the boundary vertices of process `rank`, ascending: see the first constructor of Boundary.
std::vector<VertexId> boundary_ids(const Graph& graph, const IdsOf& ids_of,
                                   const partition::Ownership& ownership, std::uint32_t rank,
                                   topology::WorkerPool& pool);

}  // namespace edgewire::frontier
