// Tiles that are read from disks are those that were written; faulty ones with right checksums end the job.
#include "dense/job/disk_tiles.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "dense/tiles/tile_code.h"
#include "graph_test.h"
#include "phase_listener.h"
#include "tile_edges.h"

namespace edgewire::job {

namespace {

using Words = std::vector<std::uint16_t>;
constexpr std::uint32_t kVertices = 3000, kWidth = 1000;
constexpr std::uint64_t kGeneration = 4;

struct SomeTiles {
  topology::WorkerPool pool = tiles::make_pool(2);
  std::vector<std::uint32_t> bounds = tiles::equal_columns(kVertices, kWidth);
  tiles::Tiles tiles;

  SomeTiles() {
    tiles::Edges edges(kVertices);
    std::minstd_rand random(3);
    for (int e = 0; e < 40000; ++e)
      edges.add(static_cast<std::uint32_t>(random() % kVertices),
                static_cast<std::uint32_t>(random() % kVertices));
    tiles = tiles::build(pool, edges, bounds);
  }
  Words words(std::size_t column) const {
    Words all;
    for (const auto part : tiles.column_data(column)) all.insert(all.end(), part.begin(), part.end());
    return all;
  }
};

/// Column 0 as a segment of `bytes`, and no other.
std::pair<disk::SegmentFiles, TileSegments> with_segment(const std::vector<std::string>& paths,
                                                         std::vector<std::byte> bytes) {
  disk::SegmentWriter writer(paths, kGeneration);
  auto segment = writer.place(static_cast<std::uint32_t>(bytes.size()));
  bytes.resize(segment.padded_bytes());
  writer.write(segment, bytes);
  return {writer.commit(), TileSegments{kGeneration, {{}}, {1}, {segment}}};
}

std::string fault_of(const std::vector<std::string>& paths, const std::vector<std::byte>& bytes) {
  transport::Health health;
  auto [files, segments] = with_segment(paths, bytes);
  DiskTiles disks(std::move(files), std::move(segments), health);
  disks.plan_reads({{0}}, kVertices, {kWidth}, 1 << 20);
  const bool none = disks.part(0, 0, 0).empty();
  CHECK(none == health.failed());
  return health.message();
}

TEST_CASE("tiles come from two files as they were, again and again") {
  SomeTiles some;
  const graph::TemporaryDirectory folder;
  const std::vector<std::string> paths{folder / "a", folder / "b"};
  DiskTilesWriter writer(some.pool, paths, some.tiles.columns(), kGeneration);
  writer.take(some.tiles);
  transport::Health health;
  auto [files, segments] = writer.finish();
  DiskTiles disks(std::move(files), std::move(segments), health);
  CHECK(disks.where().padded_bytes() < some.tiles.bytes());
  disks.plan_reads({{2, 0, 1}}, kVertices, {kWidth, kWidth, kWidth}, 1 << 20);
  for (int round = 0; round < 3; ++round) {
    for (const std::size_t column : {2U, 0U, 1U}) {
      Words words;
      for (std::size_t number = 0;; ++number) {
        const auto part = disks.part(0, column, number);
        if (part.empty()) break;
        words.insert(words.end(), part.begin(), part.end());
      }
      CHECK(words == some.words(column));
    }
  }
  CHECK_FALSE(health.failed());
  CHECK(disks.files().all_bytes_read() == 3 * disks.where().padded_bytes());
}

TEST_CASE("an observer is told how long a worker waits for tiles") {
  SomeTiles some;
  const graph::TemporaryDirectory folder;
  DiskTilesWriter writer(some.pool, {folder / "a"}, some.tiles.columns(), kGeneration);
  writer.take(some.tiles);
  transport::Health health;
  auto [files, segments] = writer.finish();
  DiskTiles disks(std::move(files), std::move(segments), health);
  topology::PhaseListener listener(2);
  const auto waited_ns = [&] {
    CHECK_FALSE(disks.part(1, 1, 0).empty());
    CHECK(listener.aside_ns[0] == std::array<std::uint64_t, topology::kPhases>{});
    return listener.aside_ns[1][static_cast<std::size_t>(topology::Phase::wait)];
  };
  disks.plan_reads({{0}, {1}}, kVertices, {kWidth, kWidth}, 1 << 20);
  CHECK(waited_ns() == 0);
  disks.plan_reads({{0}, {1}}, kVertices, {kWidth, kWidth}, 1 << 20);
  std::uint64_t told = 0;
  {
    const DiskTiles::Watching watching(disks, &listener);
    told = waited_ns();
  }
  CHECK(told > 0);
  CHECK(waited_ns() == told);
}

TEST_CASE("faulty codes with right checksums end the job, and name the file") {
  const SomeTiles some;
  const graph::TemporaryDirectory folder;
  const std::vector<std::string> paths{folder / "a"};
  const std::string line = paths[0] + ": the tiles of column 0 are out of range";
  std::vector<std::byte> code;
  tiles::encode_tiles(some.words(0), code);
  CHECK(fault_of(paths, code).empty());
  for (const std::size_t byte : {0U, 3U, 4U, 8U, 19U}) {  // of the header
    auto forged = code;
    forged[byte] ^= std::byte{0x80};
    CHECK(fault_of(paths, forged) == line);
  }
  code.resize(code.size() / 2);
  CHECK(fault_of(paths, code) == line);
  CHECK(fault_of(paths, {std::byte{1}}) == line);
  auto words = some.words(0);  // tiles of another graph
  words[0] = 7;
  tiles::encode_tiles(words, code);
  CHECK(fault_of(paths, code) == line);
}

}  // namespace

}  // namespace edgewire::job
