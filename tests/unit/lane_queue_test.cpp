#include "dense/engine/queues.h"

#include <doctest/doctest.h>

#include <array>
#include <set>

namespace edgewire::engine {
namespace {

/// Streams of sums and of mirrors to two peers. Column c is destination c.
struct Lane {
  std::vector<exchange::OutgoingStream> streams = std::vector<exchange::OutgoingStream>(4);
  std::vector<exchange::OutgoingChunk> chunks;
  std::vector<std::vector<int>> mirrors{{}, {1}, {0}, {0, 1}, {}, {1}};
  std::array<std::uint32_t, 7> bounds{0, 1, 2, 3, 4, 5, 6};
  tiles::TileOrder order{bounds};

  Lane() {
    for (std::size_t s = 0; s < streams.size(); ++s) {
      streams[s].peer = static_cast<int>(s) / 2;
      streams[s].mirrors = s % 2 == 1;
    }
    add(0, 1);
    add(0, 3);
    // Column and stream.
    for (const auto& [column, stream] : {std::pair(0, 0), {1, 2}, {2, 0}, {3, 2}, {4, 0}, {5, 2}})
      add(column, stream);
  }
  void add(int column, int stream) {
    chunks.push_back({static_cast<std::size_t>(column), static_cast<std::size_t>(stream), 0, {}});
  }
  LaneQueue queue() const { return {chunks, streams, order, mirrors}; }
};

/// The columns that leave when the mirrors of these peers are there.
std::vector<std::size_t> taken(LaneQueue& queue, const std::set<int>& arrived) {
  std::vector<std::size_t> columns;
  const auto ready = [&](const LaneRun& run) {
    return std::ranges::all_of(run.mirrors, [&](int peer) { return arrived.contains(peer); });
  };
  while (const LaneRun* run = queue.take(ready))
    for (const auto& chunk : run->chunks) columns.push_back(chunk.column);
  return columns;
}

using Columns = std::vector<std::size_t>;

TEST_CASE("sums leave when their mirrors are there, and in their order to each peer") {
  const Lane lane;
  auto queue = lane.queue();
  for (int round = 0; round < 2; ++round) {
    CHECK(taken(queue, {}) == Columns{0});
    CHECK(queue.first().chunks.front().column == 1);
    CHECK(taken(queue, {0}) == Columns{2, 4});  // 3 follows 1, which goes to the same peer
    CHECK(!queue.empty());
    CHECK(taken(queue, {0, 1}) == Columns{1, 3, 5});
    CHECK(queue.empty());
    queue.refill();
  }
  CHECK(taken(queue, {1}) == Columns{0, 1});
  CHECK(taken(queue, {0, 1}) == Columns{2, 3, 4, 5});
}

TEST_CASE("columns of a group leave together, when the mirrors of all are there") {
  Lane lane;
  lane.order = tiles::TileOrder(tiles::Tiles(lane.bounds, std::vector<tiles::Tiles::Size>(6), {}),
                                {{0, 1}, {2}, {3, 4}, {5}});
  auto queue = lane.queue();
  CHECK(taken(queue, {0}).empty());  // 0 waits for 1; 2 follows 0
  CHECK(taken(queue, {1}) == Columns{0, 1});
  CHECK(taken(queue, {0}) == Columns{2});
  CHECK(taken(queue, {0, 1}) == Columns{3, 4, 5});
}

TEST_CASE("messages of edges need no mirrors, and are in no group") {
  Lane lane;
  lane.streams[0].indexes.resize(1);
  lane.streams[2].indexes.resize(1);
  lane.order = {};
  auto queue = lane.queue();
  CHECK(!queue.first().sums);
  CHECK(taken(queue, {}) == Columns{0, 1, 2, 3, 4, 5});
}

TEST_CASE("a lane that sends nothing is empty") {
  Lane lane;
  lane.chunks.clear();
  auto queue = lane.queue();
  CHECK(queue.empty());
  CHECK(taken(queue, {0, 1}).empty());
}

}  // namespace
}  // namespace edgewire::engine
