#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>

#include "dense/job/disk_tiles.h"
#include "dense/tiles/tile_code.h"
#include "dense/tiles/tile_format.h"
#include "disk/queue.h"

namespace edgewire::job {

namespace {

constexpr std::uint64_t kSegmentWords =
    (std::uint64_t{1} << 20) / sizeof(std::uint16_t);  // a larger tile has
                                                       // its own segment
constexpr std::size_t kPiecesPerWorker = 8;            // whose codes are in memory at the same time
}  // namespace

DiskTilesWriter::DiskTilesWriter(topology::WorkerPool& pool, const std::vector<std::string>& paths,
                                 std::size_t columns, std::uint64_t generation)
    : pool_(pool), files_(paths, generation), generation_(generation), sizes_(columns), segments_(columns) {}

/// Cuts the tiles of a column into pieces, and adds these.
void DiskTilesWriter::cut(const tiles::Tiles& tiles, std::size_t column, std::vector<Piece>& pieces) {
  Piece piece{column};
  for (const auto part : tiles.column_data(column)) {
    for (std::uint64_t begin = 0, end = 0; begin < part.size(); begin = end) {
      for (; end < part.size(); end += tiles::words_of(part.data() + end)) {
        const std::uint64_t more = tiles::words_of(part.data() + end);
        if (piece.words + (end - begin) + more > kSegmentWords && piece.words + (end - begin) > 0) break;
      }
      if (end > begin) {
        piece.parts.push_back(part.subspan(begin, end - begin));
        piece.words += end - begin;
      }
      if (end == part.size()) break;
      pieces.push_back(std::move(piece));
      piece = {column};
    }
  }
  if (piece.words > 0) pieces.push_back(std::move(piece));
}

void DiskTilesWriter::take(const tiles::Tiles& tiles) {
  std::vector<Piece> pieces;
  for (std::size_t c = 0; c < tiles.columns(); ++c) {
    cut(tiles, c, pieces);
    sizes_[c].edges += tiles.edges(c);
    sizes_[c].words += tiles.bytes(c) / sizeof(std::uint16_t);
  }
  const std::size_t at_once = kPiecesPerWorker * static_cast<std::size_t>(pool_.workers());
  for (std::size_t p = 0; p < pieces.size(); p += at_once)
    write(std::span(pieces).subspan(p, std::min(at_once, pieces.size() - p)));
  for (const Piece& piece : pieces) segments_[piece.column].push_back(piece.segment);
}

/// Encodes and writes pieces, in the order in which they are.
void DiskTilesWriter::write(std::span<Piece> pieces) {
  std::vector<std::vector<std::byte>> codes(pieces.size());
  pool_.for_each(pieces.size(), [&](int, std::uint64_t p) {
    std::vector<std::uint16_t> words;
    words.reserve(pieces[p].words);
    for (const auto part : pieces[p].parts) words.insert(words.end(), part.begin(), part.end());
    tiles::encode_tiles(words, codes[p]);
  });
  for (std::size_t p = 0; p < pieces.size(); ++p)
    pieces[p].segment = files_.place(static_cast<std::uint32_t>(codes[p].size()));
  pool_.for_each(pieces.size(), [&](int, std::uint64_t p) {
    codes[p].resize(pieces[p].segment.padded_bytes());
    files_.write(pieces[p].segment, codes[p]);
  });
}

std::pair<disk::SegmentFiles, TileSegments> DiskTilesWriter::finish() {
  TileSegments where{generation_, std::move(sizes_), {}, {}};
  for (const auto& column : segments_) {
    where.segments.insert(where.segments.end(), column.begin(), column.end());
    where.ends.push_back(where.segments.size());
  }
  return {files_.commit(), std::move(where)};
}

}  // namespace edgewire::job
