// Builds tiles in one pass over the edges. The sources are cut into bands; all sources of a band belong to
// one strip. For each band the workers first distribute its edges over the columns, as pairs of 16-bit
// offsets. Then they turn the pairs of each column into tiles. Only the pairs of one band are in memory at a
// time, and the next band reuses that memory.
#include <algorithm>
#include <bit>
#include <deque>
#include <utility>

#include "base/rooms.h"
#include "dense/tiles/build_tiles.h"
#include "dense/tiles/tile_encoder.h"
#include "dense/tiles/tile_memory.h"
#include "edgewire/detail/tile_format.h"

namespace edgewire::tiles {

namespace {

/// The most edges of a tile. A tile grows to this size when it has few sources, so that their values fit in
/// the L1 cache. This constant and the next two were chosen by measurement (Zen 4).
constexpr std::uint32_t kTileEdges = 1 << 20;
/// The number of edges for each destination at which a tile with more sources stops growing. Beyond that,
/// fewer sources gain more than larger bundles.
constexpr std::uint32_t kEdgesPerDestination = 16;
constexpr std::uint32_t kLeastTileEdges = 1 << 12;
constexpr std::uint32_t kPieceWidth = 1024;
constexpr std::uint64_t kLeastWidth = 4096;  ///< least width of a column or strip, even if the cache is small
constexpr std::uint64_t kPieceEdges = 1 << 17;
static_assert(kLeastWidth % kPieceWidth == 0 && kPieceWidth % plan::kRowBlock == 0);
/// The largest part of all edges in a band, as its inverse. Its pairs of 4 bytes then take 0.2 bytes for each
/// edge of the graph. The most bytes of its pairs for each source: then pairs and tiles of a band take less
/// than the values of the vertices, which come later.
constexpr std::uint64_t kBandShare = 20, kBandBytesOfSource = 16;
constexpr std::uint64_t kLeastBandEdges = 3 << 20;
/// The approximate bytes of an edge without its weight in a tile.
constexpr std::uint64_t kTileBytesOfEdge = 3;

constexpr std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

}  // namespace

}  // namespace edgewire::tiles

namespace edgewire::detail {

using namespace tiles;

/// The builder. `Pair`: with weights or without.
template <class Pair>
class TileBuilder {
 public:
  TileBuilder(topology::WorkerPool& pool, const plan::EdgeReader& reader,
              std::span<const std::uint32_t> bounds, std::span<const int> nodes, const TileSizes& sizes)
      : pool_(pool),
        reader_(reader),
        bounds_(bounds),
        nodes_(nodes),
        sizes_(sizes),
        columns_(bounds.size() - 1),
        edges_(reader.edges(0, reader.sources())) {
    tiles_.columns_.resize(columns_);
    for (std::uint64_t c = 0; c < columns_; ++c) {
      tiles_.columns_[c].begin = bounds[c];
      tiles_.columns_[c].width = bounds[c + 1] - bounds[c];
    }
    const auto workers = static_cast<std::size_t>(pool.workers());
    for (std::size_t w = 0; w < workers; ++w) workers_.emplace_back(columns_, edges_ / workers);
    cut_pieces();
  }

  void build(TileSink& sink, std::uint64_t budget) {
    const std::uint64_t band = band_edges() * (2 * sizeof(Pair) - sizeof(tiles::Pair) + kTileBytesOfEdge);
    build_bands([&] {
      if (tiles_.bytes() + band > budget) hand_over(sink);
    });
    hand_over(sink);
  }

  Tiles build() {
    build_bands([] {});
    for (Worker& worker : workers_) worker.words.move_to(tiles_.memory_);
    for (const auto& column : tiles_.columns_) tiles_.edges_ += column.edges;
    return std::move(tiles_);
  }

 private:
  /// Returns the most edges of a band, unless a block of rows has more.
  std::uint64_t band_edges() const {
    return std::max(std::min(edges_ / kBandShare, kBandBytesOfSource * reader_.sources() / sizeof(Pair)),
                    kLeastBandEdges);
  }

  template <class AfterBand>
  void build_bands(const AfterBand& after_band) {
    const std::uint64_t most_edges = band_edges();
    for (std::size_t first = 0, last = 0; first < pieces_.size(); first = last) {
      const std::uint32_t strip = pieces_[first].first / sizes_.strip_width;
      std::uint64_t edges = 0;
      while (last < pieces_.size() && pieces_[last].first / sizes_.strip_width == strip &&
             (last == first || edges + pieces_[last].most_edges <= most_edges))
        edges += pieces_[last++].most_edges;
      build_band(std::span(pieces_).subspan(first, last - first));
      after_band();
    }
  }

  void hand_over(TileSink& sink) {
    sink.take(tiles_);
    for (auto& column : tiles_.columns_) {
      column.edges = 0;
      column.parts.clear();
    }
    for (Worker& one : workers_) one.words = TileMemory(edges_ / workers_.size());
  }

  /// Consecutive sources of one strip. One worker distributes their edges over the columns.
  struct Piece {
    std::uint32_t first, end;
    std::uint64_t most_edges;
    const DealtPairs<Pair>* dealt = nullptr;
  };
  struct Worker {
    Worker(std::uint64_t columns, std::uint64_t edges) : dealt(columns), words(edges) {}
    plan::EdgeRows rows;
    DealtPairs<Pair> dealt;
    PairRuns<Pair> tile;
    TileEncoder<Pair> encoder;
    TileMemory words;
  };
  /// The pairs of one piece in one column: their place among the pairs of the worker that distributed them.
  struct Range {
    std::uint64_t begin;
    std::uint32_t count;
  };

  static constexpr std::uint64_t kPairWords = sizeof(Pair) / sizeof(std::uint16_t);

  Worker& worker(int w) { return workers_[w]; }

  void cut_pieces() {
    // Pieces are so wide that there are at most edges / 8 ranges, unless a whole strip is still too narrow.
    const std::uint64_t cells = std::max<std::uint64_t>(edges_ / 8, 1 << 18);
    std::uint32_t width = kPieceWidth;
    while (width < sizes_.strip_width && divide_up(reader_.sources(), width) * columns_ > cells) width *= 2;
    for (std::uint32_t block = 0; block < reader_.sources(); block += plan::kRowBlock) {
      const std::uint32_t end = std::min(block + plan::kRowBlock, reader_.sources());
      const std::uint64_t edges = reader_.edges(block, end);
      if (block % width == 0 || pieces_.back().most_edges + edges > kPieceEdges)
        pieces_.push_back({block, end, edges});
      else
        pieces_.back() = {pieces_.back().first, end, pieces_.back().most_edges + edges};
    }
  }

  void build_band(std::span<Piece> band) {
    ranges_.resize(band.size() * columns_);
    pool_.for_each(band.size(), [&](int w, std::uint64_t piece) {
      deal(worker(w), band[piece], ranges_.data() + piece * columns_);
    });
    pool_.for_each(columns_, [&](int w, std::uint64_t column) { encode(worker(w), band, column); });
    for (Worker& one : workers_) {
      one.dealt.clear();
      one.encoder.trim();  // the next band has lower degrees and may need much less memory
    }
  }

  void deal(Worker& worker, Piece& piece, Range* ranges) {
    piece.dealt = &worker.dealt;
    for (std::uint64_t c = 0; c < columns_; ++c) ranges[c].begin = worker.dealt.count(c);
    for (std::uint32_t first = piece.first; first < piece.end; first += plan::kRowBlock) {
      const std::uint32_t last = std::min(first + plan::kRowBlock, piece.end);
      if (reader_.edges(first, last) == 0) continue;
      const auto& rows = worker.rows;
      reader_.read(first, last, worker.rows);
      std::uint32_t begin = 0;
      for (std::uint32_t s = first; s < last; ++s) {
        const std::uint32_t end = rows.ends[s - first];
        worker.dealt.add(static_cast<std::uint16_t>(s % kStripWidth),
                         std::span(rows.destinations).subspan(begin, end - begin),
                         kHasWeight<Pair> ? rows.weights.data() + begin : nullptr);
        begin = end;
      }
    }
    for (std::uint64_t c = 0; c < columns_; ++c)
      ranges[c].count = static_cast<std::uint32_t>(worker.dealt.count(c) - ranges[c].begin);
    if (worker.rows.destinations.capacity() > kPieceEdges) worker.rows = {};  // high-degree sources are done
  }

  /// Cuts the pairs of one band in one column into tiles.
  void encode(Worker& worker, std::span<const Piece> band, std::uint64_t c) {
    std::uint64_t edges = 0;
    std::size_t first = 0;
    for (std::size_t p = 0; p < band.size(); ++p) {
      const std::uint64_t more = ranges_[p * columns_ + c].count;
      const bool narrow = band[p].end - band[first].first <= sizes_.narrow_sources;
      if (edges + more > (narrow ? kTileEdges : wide_tile_edges(c))) {
        encode_tile(worker, band, c, first, p);
        first = p;
        edges = 0;
      }
      edges += more;
    }
    encode_tile(worker, band, c, first, band.size());
  }

  /// Writes the pairs of pieces [first, last) in column c as one tile, or as several if they are too many.
  void encode_tile(Worker& worker, std::span<const Piece> band, std::uint64_t c, std::size_t first,
                   std::size_t last) {
    std::uint64_t edges = 0;
    for (std::size_t p = first; p < last; ++p) edges += ranges_[p * columns_ + c].count;
    if (edges == 0) return;
    tiles_.columns_[c].edges += edges;
    const std::uint64_t most = divide_up(edges, divide_up(edges, kTileEdges));
    for (std::size_t p = first; p < last; ++p) {
      const Range range = ranges_[p * columns_ + c];
      band[p].dealt->visit(c, range.begin, range.count, [&](std::span<const Pair> pairs) {
        while (!pairs.empty()) {
          const auto more = std::min<std::uint64_t>(pairs.size(), most - worker.tile.pairs());
          worker.tile.add(pairs.first(more));
          pairs = pairs.subspan(more);
          if (worker.tile.pairs() == most) write_tile(worker, band[0].first / kStripWidth, c);
        }
      });
    }
    write_tile(worker, band[0].first / kStripWidth, c);
  }

  void write_tile(Worker& worker, std::uint64_t strip, std::uint64_t c) {
    if (worker.tile.pairs() == 0) return;
    Tiles::Column& column = tiles_.columns_[c];
    std::uint16_t* const out = worker.words.reserve(worker.tile.pairs() * kPairWords + kTileSlackWords,
                                                    nodes_.empty() ? -1 : nodes_[c]);
    std::uint16_t* const end = worker.encoder.encode(strip, worker.tile, column.width, out);
    if (!column.parts.empty() && column.parts.back().data() + column.parts.back().size() == out)
      column.parts.back() = {column.parts.back().data(), end};
    else
      column.parts.emplace_back(out, end);
    worker.words.keep_to(end);
    worker.tile.clear();
  }

  std::uint64_t wide_tile_edges(std::uint64_t c) const {
    return std::max<std::uint64_t>(std::uint64_t{kEdgesPerDestination} * (bounds_[c + 1] - bounds_[c]),
                                   kLeastTileEdges);
  }

  topology::WorkerPool& pool_;
  const plan::EdgeReader& reader_;
  std::span<const std::uint32_t> bounds_;
  std::span<const int> nodes_;
  TileSizes sizes_;
  std::uint64_t columns_, edges_;
  std::deque<Worker> workers_;
  std::vector<Piece> pieces_;
  std::vector<Range> ranges_;  ///< ranges, [piece of the band * columns + column]
  Tiles tiles_;
};

}  // namespace edgewire::detail

namespace edgewire::tiles {

TileSizes TileSizes::for_caches(std::uint64_t l1_bytes, std::uint64_t l2_bytes,
                                std::uint64_t message_bytes) noexcept {
  const auto values = [](std::uint64_t bytes, std::uint64_t value_bytes) {
    return static_cast<std::uint32_t>(
        std::bit_floor(std::clamp<std::uint64_t>(bytes / value_bytes, kLeastWidth, kStripWidth)));
  };
  return {values(l2_bytes / 2, sizeof(double)), values(l2_bytes / 4, message_bytes),
          values(l1_bytes, message_bytes)};
}

namespace {

/// Calls build(pair) with a pair of the type that holds an edge.
template <class Build>
void with_pairs(const plan::EdgeReader& reader, const Build& build) {
  switch (reader.weight_bytes()) {
    case 0:
      return build(Pair{});
    case sizeof(float):
      return build(WeightedPair<float>{});
    default:
      return build(WeightedPair<double>{});
  }
}

}  // namespace

Tiles build_tiles(topology::WorkerPool& pool, const plan::EdgeReader& reader,
                  std::span<const std::uint32_t> column_bounds, std::span<const int> column_nodes,
                  const TileSizes& sizes) {
  Tiles tiles;
  with_pairs(reader, [&](auto pair) {
    tiles = TileBuilder<decltype(pair)>(pool, reader, column_bounds, column_nodes, sizes).build();
  });
  return tiles;
}

void build_tiles(topology::WorkerPool& pool, const plan::EdgeReader& reader,
                 std::span<const std::uint32_t> column_bounds, const TileSizes& sizes, TileSink& sink,
                 std::uint64_t budget) {
  with_pairs(reader, [&](auto pair) {
    TileBuilder<decltype(pair)>(pool, reader, column_bounds, {}, sizes).build(sink, budget);
  });
}

}  // namespace edgewire::tiles
