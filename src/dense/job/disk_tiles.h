// Tiles on disks: `--edges disk`. The words of a column are cut into whole tiles of about 1 MiB together. A
// segment, which goes to a file on one of the devices, has the code of such a piece
// (dense/tiles/tile_code.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dense/tiles/build_tiles.h"
#include "disk/segment_file.h"
#include "disk/segment_reader.h"
#include "topology/worker_pool.h"
#include "transport/health.h"

namespace edgewire::job {

/// The places of the tiles of all columns.
struct TileSegments {
  std::uint64_t generation = 0;           ///< generation of the files
  std::vector<tiles::Tiles::Size> sizes;  ///< sizes, [column]
  std::vector<std::uint64_t> ends;        ///< number of segments of a column and all before it, [column]
  /// Segments, column by column, in the order in which they are swept.
  std::vector<disk::Segment> segments{};

  std::uint64_t padded_bytes() const noexcept {
    std::uint64_t bytes = 0;
    for (const auto& segment : segments) bytes += segment.padded_bytes();
    return bytes;
  }
  std::span<const disk::Segment> of(std::size_t column) const noexcept {
    const std::uint64_t begin = column == 0 ? 0 : ends[column - 1];
    return std::span(segments).subspan(begin, ends[column] - begin);
  }
};

/// Writes tiles to disks while they are built.
class DiskTilesWriter final : public tiles::TileSink {
 public:
  /// Makes the writer. `paths`: of a file on each device. `pool` outlives it. Throws Error with the path.
  DiskTilesWriter(topology::WorkerPool& pool, const std::vector<std::string>& paths, std::size_t columns,
                  std::uint64_t generation);
  void take(const tiles::Tiles& tiles) override;
  /// Gives the files their names. Returns the files, and the places of all tiles in them.
  std::pair<disk::SegmentFiles, TileSegments> finish();

 private:
  /// A segment and its tiles.
  struct Piece {
    std::size_t column = 0;
    std::uint64_t words = 0;
    std::vector<std::span<const std::uint16_t>> parts{};
    disk::Segment segment{};
  };
  static void cut(const tiles::Tiles& tiles, std::size_t column, std::vector<Piece>& pieces);
  void write(std::span<Piece> pieces);

  topology::WorkerPool& pool_;
  disk::SegmentWriter files_;
  std::uint64_t generation_;
  std::vector<tiles::Tiles::Size> sizes_;             ///< sizes, [column]
  std::vector<std::vector<disk::Segment>> segments_;  ///< segments, [column]
};

/// A reader of tiles from disks, for workers that compute columns in an order that is known before.
class DiskTiles final : public tiles::ColumnReader {
 public:
  /// Makes the reader. A failed read fails the job through `health`, which outlives it. Throws Error with the
  /// path when a segment does not lie within its file.
  DiskTiles(disk::SegmentFiles files, TileSegments segments, transport::Health& health);

  const TileSegments& where() const noexcept { return where_; }
  const disk::SegmentFiles& files() const noexcept { return files_; }
  /// Plans the reads. `columns`: those of each worker, in the order in which it computes them. `sources` are
  /// those of tiles, and `widths` those of columns. `memory_bytes` is for what each worker reads.
  void plan_reads(const std::vector<std::vector<std::size_t>>& columns, std::uint64_t sources,
                  std::vector<std::uint32_t> widths, std::size_t memory_bytes);
  std::span<const std::uint16_t> part(int worker, std::size_t column, std::size_t number) noexcept override;
  /// Tells an observer, which may be null, the time that workers wait for disks, as long as this object
  /// lives. Made after plan_reads(). Tiles and observer outlive it.
  class Watching {
   public:
    Watching(DiskTiles& tiles, topology::Observer* observer) noexcept : tiles_(tiles) {
      tiles_.tell(observer);
    }
    ~Watching() { tiles_.tell(nullptr); }
    Watching(const Watching&) = delete;
    Watching& operator=(const Watching&) = delete;

   private:
    DiskTiles& tiles_;
  };
  /// Ends reads that are under way. Nothing can be read afterwards.
  void stop_reads();

 private:
  struct Worker {
    disk::SegmentReader reader;
    std::size_t segments = 0;  ///< number of segments that an iteration reads
    std::size_t seen = 0;      ///< number of these that were checked; each is before it is first swept
    std::vector<std::uint16_t> words{};  ///< tiles of the segment that was read last, and slack behind them
  };
  std::span<const std::uint16_t> read(Worker& worker, std::size_t column) const;
  void tell(topology::Observer* observer) noexcept;

  disk::SegmentFiles files_;
  TileSegments where_;
  transport::Health& health_;
  std::uint64_t sources_ = 0;
  std::vector<std::uint32_t> widths_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

/// Returns the columns that each worker computes, in order, by worker: those of `sent`, which it has to send,
/// then its share of the columns before `local`, ascending. Shares have about the same bytes.
std::vector<std::vector<std::size_t>> share_columns(const tiles::Tiles& tiles,
                                                    std::vector<std::vector<std::size_t>> sent,
                                                    std::size_t local, std::vector<int>& column_workers);

}  // namespace edgewire::job
