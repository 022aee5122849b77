#include "dense/job/disk_tiles.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/rooms.h"
#include "dense/tiles/tile_code.h"
#include "disk/queue.h"
#include "edgewire/detail/tile_format.h"

namespace edgewire::job {

DiskTiles::DiskTiles(disk::SegmentFiles files, TileSegments segments, transport::Health& health)
    : files_(std::move(files)), where_(std::move(segments)), health_(health) {
  const auto refuse = [&] { throw Error(fmt::format("{}: faulty segments of tiles", files_.paths()[0])); };
  if (where_.ends.size() != where_.sizes.size() || !std::ranges::is_sorted(where_.ends) ||
      (where_.ends.empty() ? 0 : where_.ends.back()) != where_.segments.size())
    refuse();
  for (std::size_t c = 0; c < where_.sizes.size(); ++c) {
    for (const auto& segment : where_.of(c)) {
      files_.check(segment);
      if (segment.bytes == 0) refuse();
    }
  }
}

void DiskTiles::plan_reads(const std::vector<std::vector<std::size_t>>& columns, std::uint64_t sources,
                           std::vector<std::uint32_t> widths, std::size_t memory_bytes) {
  sources_ = sources;
  widths_ = std::move(widths);
  workers_.clear();
  for (const auto& mine : columns) {
    std::vector<disk::Segment> order;
    for (const std::size_t column : mine) {
      const auto more = where_.of(column);
      order.insert(order.end(), more.begin(), more.end());
    }
    const std::size_t count = order.size();
    workers_.push_back(
        std::unique_ptr<Worker>(new Worker{{files_, std::move(order), memory_bytes}, count, 0}));
  }
}

std::span<const std::uint16_t> DiskTiles::part(int worker, std::size_t column, std::size_t number) noexcept {
  if (number == where_.of(column).size() || health_.failed()) return {};
  try {
    return read(*workers_[worker], column);
  } catch (const std::exception& error) {
    health_.fail(-1, line_of(error));
    return {};
  }
}

std::span<const std::uint16_t> DiskTiles::read(Worker& worker, std::size_t column) const {
  const auto [number, bytes] = worker.reader.next();
  const std::size_t count = tiles::decoded_words(bytes);
  if (worker.words.size() < count) worker.words.resize(count);
  const std::span words(worker.words.data(), count);
  bool right = tiles::decode_tiles(bytes, words);
  if (worker.seen < worker.segments) {  // checksums detect damage, but not a file of a faulty program
    ++worker.seen;
    right = right && tiles::are_tiles(words, sources_, widths_[column]);
  }
  if (!right)
    throw Error(fmt::format("{}: the tiles of column {} are out of range", files_.paths()[0], column));
  return words;
}

void DiskTiles::tell(topology::Observer* observer) noexcept {
  for (std::size_t w = 0; w < workers_.size(); ++w) workers_[w]->reader.watch(observer, static_cast<int>(w));
}

void DiskTiles::stop_reads() { workers_.clear(); }

std::vector<std::vector<std::size_t>> share_columns(const tiles::Tiles& tiles,
                                                    std::vector<std::vector<std::size_t>> sent,
                                                    std::size_t local, std::vector<int>& column_workers) {
  std::vector<std::uint64_t> load;  // bytes by worker
  for (const auto& columns : sent) {
    load.push_back(0);
    for (const std::size_t column : columns) load.back() += tiles.bytes(column);
  }
  std::vector<std::size_t> largest_first(local);
  std::iota(largest_first.begin(), largest_first.end(), std::size_t{0});
  std::ranges::stable_sort(largest_first, std::ranges::greater{}, [&](auto c) { return tiles.bytes(c); });
  column_workers.assign(local, 0);
  for (const std::size_t column : largest_first) {
    const auto least = std::ranges::min_element(load);
    *least += tiles.bytes(column) + 1;  // columns without edges are shared, too
    column_workers[column] = static_cast<int>(least - load.begin());
  }
  for (std::size_t c = 0; c < local; ++c) sent[static_cast<std::size_t>(column_workers[c])].push_back(c);
  return sent;
}

namespace {

// Words of a segment; a larger tile has its own segment.
constexpr std::uint64_t kSegmentWords = (std::uint64_t{1} << 20) / sizeof(std::uint16_t);
constexpr std::size_t kPiecesPerWorker = 8;  // pieces of a worker whose codes are in memory at the same time
}  // namespace

DiskTilesWriter::DiskTilesWriter(topology::WorkerPool& pool, const std::vector<std::string>& paths,
                                 std::size_t columns, std::uint64_t generation)
    : pool_(pool), files_(paths, generation), generation_(generation), sizes_(columns), segments_(columns) {}

/// Cuts the tiles of a column into pieces, and adds these to `pieces`.
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

/// Encodes and writes pieces, in their order.
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
