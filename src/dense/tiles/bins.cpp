#include "dense/tiles/build_tiles.h"

#include <algorithm>
#include <numeric>

#include "edgewire/detail/tile_format.h"
#include "topology/worker_pool.h"

namespace edgewire::tiles {

/// The tiles of a strip in a column.
struct Cell {
  std::uint16_t strip = 0;
  std::uint64_t edges = 0;
  std::vector<const std::uint16_t*> tiles;
};

namespace {

/// Calls visit(source, destination) for each edge of a tile without weights.
template <class Visit>
void for_each_edge(const std::uint16_t* tile, const Visit& visit) {
  const bool pull = direction_of(tile) == Direction::pull;
  const std::uint16_t* bundle = tile + head_words(tile);
  for_each_size(tile, [&](std::uint32_t others, std::uint32_t bundles) {
    for (; bundles > 0; --bundles, bundle += 1 + others)
      for (std::uint32_t i = 1; i <= others; ++i)
        visit(pull ? bundle[i] : bundle[0], pull ? bundle[0] : bundle[i]);
  });
}

/// Returns the thin cells of a column, by strip.
std::vector<Cell> thin_cells(const Tiles& tiles, std::size_t column, std::uint32_t sources) {
  std::vector<Cell> cells;
  const auto is_thick = [sources](const Cell& cell) {
    const std::uint64_t first = std::uint64_t{cell.strip} * kStripWidth;
    const auto width = static_cast<double>(std::min<std::uint64_t>(kStripWidth, sources - first));
    return static_cast<double>(cell.edges) >= kThinEdges * width;
  };
  for (auto words : tiles.column_data(column)) {
    for (; !words.empty(); words = words.subspan(words_of(words.data()))) {
      if (cells.empty() || cells.back().strip != words[0]) {
        if (!cells.empty() && is_thick(cells.back())) cells.pop_back();
        cells.push_back({words[0], 0, {}});
      }
      cells.back().edges += edges_of(words.data());
      cells.back().tiles.push_back(words.data());
    }
  }
  if (!cells.empty() && is_thick(cells.back())) cells.pop_back();
  return cells;
}

}  // namespace

std::uint64_t count_thin_edges(topology::WorkerPool& pool, const Tiles& tiles, std::uint32_t sources) {
  std::vector<std::uint64_t> edges(tiles.columns());
  pool.for_each(tiles.columns(), [&](int, std::uint64_t column) {
    for (const Cell& cell : thin_cells(tiles, column, sources)) edges[column] += cell.edges;
  });
  return std::accumulate(edges.begin(), edges.end(), std::uint64_t{0});
}

}  // namespace edgewire::tiles

namespace edgewire {

using namespace tiles;

namespace detail {

struct BinMaker {
  static Bins make(topology::WorkerPool& pool, const Tiles& tiles, std::uint32_t sources) {
    Bins bins;
    std::vector<std::vector<Cell>> cells(tiles.columns());
    pool.for_each(tiles.columns(), [&](int, std::uint64_t c) { cells[c] = thin_cells(tiles, c, sources); });
    bins.strips_.resize((sources + std::uint64_t{kStripWidth} - 1) / kStripWidth);
    std::vector<std::uint64_t> first_sources(bins.strips_.size() + 1);
    // Edges of the strip before a cell, [column][cell].
    std::vector<std::vector<std::uint64_t>> before(tiles.columns());
    for (std::size_t c = 0; c < tiles.columns(); ++c) {
      auto& thin = bins.thin_.emplace_back();
      std::uint64_t end = bins.begins_.back();
      for (const Cell& cell : cells[c]) {
        thin.push_back(cell.strip);
        before[c].push_back(first_sources[cell.strip + 1]);
        first_sources[cell.strip + 1] += cell.edges;
        bins.strips_[cell.strip].segments.push_back({end, static_cast<std::uint32_t>(cell.edges)});
        end += cell.edges;
      }
      bins.begins_.push_back(end);
    }
    if (bins.begins_.back() == 0) bins.strips_.clear();
    std::partial_sum(first_sources.begin(), first_sources.end(), first_sources.begin());
    for (std::size_t s = 0; s < bins.strips_.size(); ++s) bins.strips_[s].first_source = first_sources[s];
    bins.sources_.resize(bins.begins_.back());
    bins.destinations_.resize(bins.begins_.back());
    pool.for_each(tiles.columns(), [&](int, std::uint64_t c) {
      std::uint16_t* destination = bins.destinations_.data() + bins.begins_[c];
      for (std::size_t i = 0; i < cells[c].size(); ++i) {
        const Cell& cell = cells[c][i];
        std::uint16_t* source = bins.sources_.data() + first_sources[cell.strip] + before[c][i];
        for (const std::uint16_t* tile : cell.tiles)
          for_each_edge(tile, [&](std::uint16_t from, std::uint16_t to) {
            *source++ = from;
            *destination++ = to;
          });
      }
    });
    return bins;
  }
};

}  // namespace detail

Bins tiles::make_bins(topology::WorkerPool& pool, const Tiles& tiles, std::uint32_t sources) {
  return detail::BinMaker::make(pool, tiles, sources);
}

bool detail::Bins::holds(std::size_t column, std::uint16_t strip) const noexcept {
  return column < thin_.size() && std::ranges::binary_search(thin_[column], strip);
}

}  // namespace edgewire
