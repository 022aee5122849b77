// The memory of a worker while it builds tiles: for the edges that it distributes, and for the finished
// tiles.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/rooms.h"
#include "dense/tiles/tile_encoder.h"
#include "edgewire/detail/memory.h"
#include "partition/column_addresses.h"

namespace edgewire::tiles {

/// Pairs (Pair or WeightedPair) that one worker deals to the columns, for each column in the order in which
/// they came.
template <class Pair>
class DealtPairs {
 public:
  explicit DealtPairs(std::uint64_t columns) : next_(columns), chunks_(columns) {}

  /// Adds the edges from `source` of the strip to `addresses` (see partition::ColumnAddresses). `weights`: of
  /// these edges, if they have any.
  void add(std::uint16_t source, std::span<const std::uint32_t> addresses, const double* weights) {
    Pair** const places = next_.data();  // the array does not move, which the compiler cannot know
    for (const auto address : addresses) {
      const std::uint32_t column = address >> partition::kOffsetBits;
      Pair* next = places[column];
      if (reinterpret_cast<std::uintptr_t>(next) % sizeof(Chunk) == 0) [[unlikely]]
        next = new_chunk(column);
      Pair pair{source, static_cast<std::uint16_t>(address)};
      if constexpr (kHasWeight<Pair>) pair.weight = static_cast<decltype(pair.weight)>(*weights++);
      std::memcpy(next, &pair, sizeof pair);  // this is one store
      __builtin_prefetch(next + 16, 1);
      places[column] = next + 1;
    }
  }
  std::uint64_t count(std::uint64_t column) const {
    const auto& chunks = chunks_[column];
    if (chunks.empty()) return 0;
    return (chunks.size() - 1) * kChunkPairs + static_cast<std::uint64_t>(next_[column] - chunks.back());
  }
  /// Calls run(pairs) for each contiguous part of the pairs [begin, begin + count) of a column.
  template <class Run>
  void visit(std::uint64_t column, std::uint64_t begin, std::uint64_t count, const Run& run) const {
    for (const std::uint64_t end = begin + count; begin < end;) {
      const std::uint64_t more = std::min(end - begin, kChunkPairs - begin % kChunkPairs);
      run(std::span<const Pair>(chunks_[column][begin / kChunkPairs] + begin % kChunkPairs, more));
      begin += more;
    }
  }
  /// Removes all pairs. Keeps as much memory as they used.
  void clear() {
    std::fill(next_.begin(), next_.end(), nullptr);
    for (auto& chunks : chunks_) chunks.clear();
    blocks_.resize((chunks_used_ + kBlockChunks - 1) / kBlockChunks);
    chunks_used_ = 0;
  }

 private:
  static constexpr std::uint64_t kChunkPairs = 4096 / sizeof(Pair);
  static constexpr std::uint64_t kBlockChunks = 512;  ///< chunks of a block, which is a huge page
  using Chunk = std::array<Pair, kChunkPairs>;  ///< part of a block, which begins at a multiple of its size

  Pair* new_chunk(std::uint32_t column) {
    if (chunks_used_ == blocks_.size() * kBlockChunks)
      blocks_.emplace_back(kBlockChunks * sizeof(Chunk), -1, "the edges of tiles");
    Chunk& chunk = blocks_[chunks_used_ / kBlockChunks].as<Chunk>()[chunks_used_ % kBlockChunks];
    ++chunks_used_;
    return chunks_[column].emplace_back(chunk.data());
  }

  std::vector<Pair*> next_;                 ///< next pairs by column
  std::vector<std::vector<Pair*>> chunks_;  ///< chunks by column
  std::vector<topology::NodeMemory> blocks_;
  std::uint64_t chunks_used_ = 0;
};

/// The memory into which one worker writes its tiles, one after the other. Blocks are large, but a page takes
/// memory only after it was written to.
class TileMemory {
 public:
  /// Makes the memory. `edges`: the approximate number of edges of the tiles.
  explicit TileMemory(std::uint64_t edges)
      : block_words_(std::clamp<std::uint64_t>(edges * 2, 1 << 11, 1 << 24)) {}

  /// Returns room for `words` on `node`. The next call may return the same room, unless keep_to() was called.
  std::uint16_t* reserve(std::uint64_t words, int node) {
    const auto last = std::find_if(blocks_.rbegin(), blocks_.rend(),
                                   [&](const Block& block) { return block.node == node; });
    if (last != blocks_.rend() && static_cast<std::uint64_t>(last->end - last->next) >= words) {
      open_ = static_cast<std::size_t>(blocks_.rend() - last) - 1;
    } else {
      Block block;
      block.memory =
          topology::NodeMemory(std::max(words, block_words_) * sizeof(std::uint16_t), node, "the tiles");
      block.node = node;
      block.next = block.memory.as<std::uint16_t>().data();
      block.end = block.next + block.memory.as<std::uint16_t>().size();
      open_ = blocks_.size();
      blocks_.push_back(std::move(block));
    }
    return blocks_[open_].next;
  }
  /// Keeps the words between the start of the last reserve() and `end`.
  void keep_to(std::uint16_t* end) { blocks_[open_].next = end; }

  void move_to(std::vector<topology::NodeMemory>& memory) {
    for (Block& block : blocks_) memory.push_back(std::move(block.memory));
  }

 private:
  struct Block {
    topology::NodeMemory memory;
    int node = -1;
    std::uint16_t* next = nullptr;
    std::uint16_t* end = nullptr;
  };
  std::uint64_t block_words_;
  std::vector<Block> blocks_;
  std::size_t open_ = 0;
};

}  // namespace edgewire::tiles
