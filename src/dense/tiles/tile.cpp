#include "base/rooms.h"
#include "dense/tiles/build_tiles.h"
#include "topology/worker_pool.h"

#include <algorithm>
#include <map>

namespace edgewire::detail {

Tiles::Tiles(std::span<const std::uint32_t> column_bounds, std::span<const Size> sizes,
             std::span<const std::uint16_t> words) {
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    const auto [edges, count] = sizes[c];
    columns_.push_back(
        {column_bounds[c], column_bounds[c + 1] - column_bounds[c], edges, 0, {words.first(count)}});
    words = words.subspan(count);
    edges_ += edges;
  }
}

Tiles::Tiles(std::span<const std::uint32_t> column_bounds, std::span<const Size> sizes, ColumnReader& reader)
    : reader_(&reader) {
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    const auto& [edges, words] = sizes[c];
    columns_.push_back({column_bounds[c], column_bounds[c + 1] - column_bounds[c], edges, words, {}});
    edges_ += edges;
  }
}

struct TileMover {
  static void move(Tiles& tiles, topology::WorkerPool& pool, std::span<const int> nodes) {
    std::map<int, std::uint64_t> words;  // words by node
    std::vector<std::uint64_t> starts;   // start of each column in the memory of its node
    for (std::size_t c = 0; c < tiles.columns(); ++c) {
      starts.push_back(words[nodes[c]]);
      words[nodes[c]] += tiles.bytes(c) / sizeof(std::uint16_t);
    }
    std::map<int, topology::NodeMemory> memory;
    for (const auto& [node, count] : words)
      memory.emplace(node, topology::NodeMemory(count * sizeof(std::uint16_t), node, "the tiles"));
    pool.for_each(tiles.columns(), [&](int, std::uint64_t c) {
      auto& parts = tiles.columns_[c].parts;
      std::uint16_t* const begin = memory.at(nodes[c]).as<std::uint16_t>().data() + starts[c];
      std::uint16_t* end = begin;
      for (const auto part : parts) end = std::ranges::copy(part, end).out;
      parts.assign(1, {begin, end});
    });
    tiles.memory_.clear();
    for (auto& [node, one] : memory) tiles.memory_.push_back(std::move(one));
  }
};

std::uint64_t Tiles::bytes(std::size_t column) const noexcept {
  std::uint64_t words = columns_[column].words;
  for (const auto part : columns_[column].parts) words += part.size();
  return words * sizeof(std::uint16_t);
}

std::uint64_t Tiles::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t c = 0; c < columns(); ++c) sum += bytes(c);
  return sum;
}

}  // namespace edgewire::detail

void edgewire::tiles::move_to_nodes(Tiles& tiles, topology::WorkerPool& pool, std::span<const int> nodes) {
  detail::TileMover::move(tiles, pool, nodes);
}
