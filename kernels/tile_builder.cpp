// Builds tiles in three parallel passes: count the edges of each group of rows and each column; put them, as
// pairs of 16-bit offsets, where their tile will be; then turn the pairs of each tile into bundles, in place,
// column by column.
#include <algorithm>
#include <array>
#include <utility>

#include "kernels/tile.h"
#include "kernels/tile_encoder.h"
#include "kernels/tile_format.h"

namespace edgewire::kernels {

namespace {

/// A tile of few sources, whose values fit in the L1 cache, grows to this size. These constants are measured
/// (Zen 4: 32 KiB L1, 1 MiB L2).
constexpr std::uint32_t kTileEdges = 1 << 20;
constexpr std::uint32_t kNarrowTileSources = 8192;
/// A tile of more sources grows until it has so many edges for a destination: beyond, fewer sources are
/// better than larger bundles.
constexpr std::uint32_t kEdgesPerDestination = 16;
constexpr std::uint32_t kLeastTileEdges = 1 << 12;
constexpr std::uint32_t kGroupWidth = 1024;
static_assert(kStripWidth % kGroupWidth == 0 && kGroupWidth % kRowBlock == 0);
constexpr std::uint64_t kLineWords = 32;  ///< of a cache line
static_assert(kTileSlackWords % 2 == 0, "pairs stay aligned");

constexpr std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

/// Finds the column of a destination.
class ColumnLookup {
 public:
  explicit ColumnLookup(std::span<const std::uint32_t> bounds) : bounds_(bounds) {
    std::uint32_t column = 0;
    for (std::uint64_t first = 0; first < bounds.back(); first += 1U << kBlockBits) {
      while (bounds[column + 1] <= first) ++column;
      const bool shared =
          bounds[column + 1] < std::min<std::uint64_t>(first + (1U << kBlockBits), bounds.back());
      blocks_.push_back(column | (shared ? kShared : 0));
    }
  }
  std::uint32_t operator()(std::uint32_t destination) const noexcept {
    std::uint32_t column = blocks_[destination >> kBlockBits];
    if ((column & kShared) != 0) [[unlikely]] {
      column &= ~kShared;
      while (destination >= bounds_[column + 1]) ++column;
    }
    return column;
  }

 private:
  static constexpr std::uint32_t kBlockBits = 6;
  static constexpr std::uint32_t kShared = 1U << 31;
  std::span<const std::uint32_t> bounds_;
  /// By 64 destinations: the column of the first, and whether others follow.
  std::vector<std::uint32_t> blocks_;
};

}  // namespace

class TileBuilder {
 public:
  TileBuilder(engine::WorkerPool& pool, const EdgeReader& reader, std::span<const std::uint32_t> bounds)
      : pool_(pool),
        reader_(reader),
        bounds_(bounds),
        lookup_(bounds),
        columns_(bounds.size() - 1),
        strips_(divide_up(reader.sources(), kStripWidth)),
        workers_(static_cast<std::size_t>(pool.workers())) {
    // The table of counts takes at most half a byte an edge, or a megabyte, if it can.
    const std::uint64_t cells = std::max<std::uint64_t>(reader.edges() / 8, 1 << 18);
    while (group_width_ < kStripWidth && divide_up(reader.sources(), group_width_) * columns_ > cells)
      group_width_ *= 2;
    groups_ = divide_up(reader.sources(), group_width_);
    counts_ =
        topology::NodeMemory(groups_ * columns_ * sizeof(std::uint32_t), -1, "counting the edges of tiles");
  }

  Tiles build(std::span<const int> nodes) {
    pool_.for_each(groups_, [this](int w, std::uint64_t group) { count_group(worker(w), w, group); });
    lay_out();
    for (std::size_t c = 0; c < nodes.size(); ++c) {
      const Tiles::Column& column = tiles_.columns_[c];
      topology::prepare_pages(words() + column.offset, column.words * sizeof(std::uint16_t), nodes[c]);
    }
    pool_.for_each(groups_, [this](int w, std::uint64_t group) { place_group(worker(w), w, group); });
    pool_.for_each(columns_,
                   [this](int w, std::uint64_t column) { encode_column(worker(w).encoder, column); });
    return std::move(tiles_);
  }

 private:
  struct Worker {
    std::vector<std::uint32_t> destinations, ends;
    std::vector<std::uint32_t> turns;  ///< by column and turn
    std::vector<Pair*> places;         ///< by column
    TileEncoder encoder;
  };

  Worker& worker(int w) { return workers_[static_cast<std::size_t>(w)]; }
  std::uint16_t* words() { return tiles_.memory_.as<std::uint16_t>().data(); }
  /// By column: the edges of a row group; after lay_out, those of the earlier groups of its strip.
  std::uint32_t* counts(std::uint64_t group) { return counts_.as<std::uint32_t>().data() + group * columns_; }
  std::uint32_t& cell_edges(std::uint64_t strip, std::uint64_t column) {
    return cell_edges_[strip * columns_ + column];
  }
  std::uint64_t& cell_offset(std::uint64_t strip, std::uint64_t column) {
    return cell_offsets_[strip * columns_ + column];
  }

  /// Calls work(first row, last row) for each block of rows of a group, with their edges in `scratch`.
  template <class Work>
  void for_each_block(Worker& scratch, int w, std::uint64_t group, const Work& work) {
    const std::uint64_t group_end = std::min<std::uint64_t>((group + 1) * group_width_, reader_.sources());
    for (std::uint64_t first = group * group_width_; first < group_end; first += kRowBlock) {
      const std::uint64_t last = std::min<std::uint64_t>(first + kRowBlock, group_end);
      scratch.destinations.clear();
      scratch.ends.clear();
      reader_.read(w, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last),
                   scratch.destinations, scratch.ends);
      work(first, last);
    }
  }

  void count_group(Worker& scratch, int w, std::uint64_t group) {
    // Many edges in a row go to the same column: counts that take turns need not wait for each other.
    constexpr std::size_t kTurns = 4;
    scratch.turns.assign(columns_ * kTurns, 0);
    for_each_block(scratch, w, group, [&](std::uint64_t, std::uint64_t) {
      for (std::size_t i = 0; i < scratch.destinations.size(); ++i)
        ++scratch.turns[lookup_(scratch.destinations[i]) * kTurns + i % kTurns];
    });
    for (std::uint64_t c = 0; c < columns_; ++c)
      for (std::size_t turn = 0; turn < kTurns; ++turn) counts(group)[c] += scratch.turns[c * kTurns + turn];
  }

  void place_group(Worker& scratch, int w, std::uint64_t group) {
    const std::uint64_t strip = group * group_width_ / kStripWidth;
    scratch.places.resize(columns_);
    for (std::uint64_t c = 0; c < columns_; ++c)
      scratch.places[c] = reinterpret_cast<Pair*>(words() + cell_offset(strip, c)) + counts(group)[c];
    for_each_block(scratch, w, group, [&](std::uint64_t first, std::uint64_t last) {
      const std::uint32_t* destination = scratch.destinations.data();
      for (std::uint64_t s = first; s < last; ++s) {
        const std::uint32_t* const end = scratch.destinations.data() + scratch.ends[s - first];
        for (; destination != end; ++destination) {
          const std::uint32_t column = lookup_(*destination);
          *scratch.places[column]++ = {static_cast<std::uint16_t>(s % kStripWidth),
                                       static_cast<std::uint16_t>(*destination - bounds_[column])};
        }
      }
    });
  }

  /// Gives each tile room for its pairs, and for the little that its bundles may take beyond that.
  void lay_out() {
    cell_edges_.resize(strips_ * columns_);
    cell_offsets_.resize(strips_ * columns_);
    for (std::uint64_t group = 0; group < groups_; ++group) {
      const std::uint64_t strip = group * group_width_ / kStripWidth;
      for (std::uint64_t c = 0; c < columns_; ++c) {
        const std::uint32_t edges = counts(group)[c];
        counts(group)[c] = cell_edges(strip, c);
        cell_edges(strip, c) += edges;
      }
    }
    std::uint64_t offset = 0;
    tiles_.columns_.resize(columns_);
    for (std::uint64_t c = 0; c < columns_; ++c) {
      Tiles::Column& column = tiles_.columns_[c];
      column = {.begin = bounds_[c],
                .width = bounds_[c + 1] - bounds_[c],
                .edges = 0,
                .offset = offset,
                .words = 0};
      for (std::uint64_t strip = 0; strip < strips_; ++strip) {
        const std::uint64_t edges = cell_edges(strip, c);
        offset += most_tiles(c, edges) * kTileSlackWords;
        cell_offset(strip, c) = offset;
        offset += edges * 2;
        column.edges += edges;
      }
      column.words = offset - column.offset;
      tiles_.edges_ += column.edges;
      offset = divide_up(offset, kLineWords) * kLineWords;
    }
    tiles_.memory_ = topology::NodeMemory(offset * sizeof(std::uint16_t), -1, "the tiles");
  }

  void encode_column(TileEncoder& encoder, std::uint64_t c) {
    Tiles::Column& column = tiles_.columns_[c];
    std::uint16_t* out = words() + column.offset;
    for (std::uint64_t strip = 0; strip < strips_; ++strip) {
      const std::span<const Pair> pairs(reinterpret_cast<const Pair*>(words() + cell_offset(strip, c)),
                                        cell_edges(strip, c));
      for_each_tile(strip, c, [&](std::uint64_t begin, std::uint64_t end) {
        out = encoder.encode(strip, pairs.subspan(begin, end - begin), column.width, out);
      });
    }
    column.words = static_cast<std::uint64_t>(out - words()) - column.offset;
  }

  /// Cuts the edges of a strip and column into tiles: calls work(first edge, end) for each.
  template <class Work>
  void for_each_tile(std::uint64_t strip, std::uint64_t c, const Work& work) {
    const std::uint64_t edges = cell_edges(strip, c);
    std::uint64_t first = strip * (kStripWidth / group_width_);
    const std::uint64_t last = std::min(first + kStripWidth / group_width_, groups_);
    const std::uint64_t most_edges = wide_tile_edges(c);
    const auto edges_before = [&](std::uint64_t group) { return group == last ? edges : counts(group)[c]; };
    for (std::uint64_t begin = 0, group = first + 1; begin < edges; ++group) {
      const std::uint64_t end = edges_before(group);
      if (group < last) {
        const bool narrow = (group + 1 - first) * group_width_ <= kNarrowTileSources;
        const std::uint64_t limit = narrow ? kTileEdges : most_edges;
        if (edges_before(group + 1) - begin <= limit) continue;
      }
      const std::uint64_t parts = divide_up(end - begin, kTileEdges);
      for (std::uint64_t i = 0; i < parts; ++i)
        work(begin + (end - begin) * i / parts, begin + (end - begin) * (i + 1) / parts);
      begin = end;
      first = group;
    }
  }

  std::uint64_t wide_tile_edges(std::uint64_t c) const {
    return std::max<std::uint64_t>(std::uint64_t{kEdgesPerDestination} * (bounds_[c + 1] - bounds_[c]),
                                   kLeastTileEdges);
  }

  /// A bound for the number of tiles of a strip and column: two neighbours have more than wide_tile_edges
  /// together, or are parts of kTileEdges / 2 or more.
  std::uint64_t most_tiles(std::uint64_t c, std::uint64_t edges) const {
    return edges == 0 ? 0 : 1 + edges * 4 / wide_tile_edges(c);
  }

  engine::WorkerPool& pool_;
  const EdgeReader& reader_;
  std::span<const std::uint32_t> bounds_;
  ColumnLookup lookup_;
  std::uint64_t columns_, strips_, groups_ = 0;
  std::uint64_t group_width_ = kGroupWidth;
  std::vector<Worker> workers_;
  topology::NodeMemory counts_;
  std::vector<std::uint32_t> cell_edges_;
  std::vector<std::uint64_t> cell_offsets_;  ///< in words
  Tiles tiles_;
};

Tiles build_tiles(engine::WorkerPool& pool, const EdgeReader& reader,
                  std::span<const std::uint32_t> column_bounds, std::span<const int> column_nodes) {
  return TileBuilder(pool, reader, column_bounds).build(column_nodes);
}

}  // namespace edgewire::kernels
