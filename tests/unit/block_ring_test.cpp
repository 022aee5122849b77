
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <utility>

#include "disk/queue.h"

namespace edgewire::disk {

TEST_CASE("blocks of a ring are aligned, apart from each other, and come back in order") {
  constexpr std::size_t kBlocks = 16;
  Queue queue;
  BlockRing ring(kBlocks * kAlignment, queue);
  std::mt19937 random(7);
  std::deque<std::pair<std::byte*, std::size_t>> taken;
  std::size_t refused = 0;
  for (int turn = 0; turn < 5000; ++turn) {
    const std::size_t bytes = (1 + random() % 5) * kAlignment;
    if (std::byte* const block = ring.take(bytes); block != nullptr) {
      REQUIRE(reinterpret_cast<std::uintptr_t>(block) % kAlignment == 0);
      std::memset(block, turn % 251, bytes);
      for (const auto& [other, size] : taken) REQUIRE((block + bytes <= other || other + size <= block));
      taken.emplace_back(block, bytes);
    } else {
      ++refused;
      REQUIRE(!taken.empty());  // an empty ring has room
    }
    if (random() % 2 == 0 && !taken.empty()) {
      ring.give_back();
      taken.pop_front();
    }
  }
  CHECK(refused > 100);
  for (; !taken.empty(); taken.pop_front()) ring.give_back();
  CHECK(ring.take(kBlocks * kAlignment) != nullptr);
  CHECK(ring.take(kAlignment) == nullptr);
}

}  // namespace edgewire::disk
