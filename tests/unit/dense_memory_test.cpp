// What a process of a dense kernel is predicted to hold in memory.
#include "bounds/memory.h"

#include <doctest/doctest.h>

namespace edgewire::bounds {
namespace {

using plan::Strategy;

constexpr DenseShare kShare{
    .processes = 4, .vertices = 1 << 20, .edges = 30'000'000, .leaving = 22'000'000, .values = 1'200'000};

std::uint64_t with(Strategy strategy, bool edges_owned = false) {
  DenseShare share = kShare;
  share.strategy = strategy;
  share.edges_owned = edges_owned;
  return dense_memory(share);
}

TEST_CASE("covers take the most where many edges leave, and little where few do") {
  CHECK(with(Strategy::cover) > with(Strategy::slots));
  DenseShare few = kShare;
  few.strategy = Strategy::cover;
  few.leaving = few.values = 0;
  CHECK(dense_memory(few) < with(Strategy::slots));
  CHECK(with(Strategy::worker) == with(Strategy::process));
}

TEST_CASE("routes of owned edges take more than their blocks, and both more than owned rows") {
  CHECK(with(Strategy::cover, true) > with(Strategy::slots, true));
  CHECK(with(Strategy::slots, true) > with(Strategy::slots));
}

TEST_CASE("one process has neither covers nor blocks") {
  DenseShare alone = kShare;
  alone.processes = 1;
  alone.values = 0;
  const std::uint64_t bytes = dense_memory(alone);
  alone.strategy = Strategy::cover;
  CHECK(dense_memory(alone) == bytes);
  alone.edges_owned = true;
  CHECK(dense_memory(alone) == bytes);
}

TEST_CASE("weights take memory with each edge, and wide values with each vertex") {
  DenseShare wide = kShare;
  wide.vertices = 20 << 20;  // what it keeps while it iterates is the most
  const std::uint64_t narrow = dense_memory(wide);
  wide.value_bytes = 8;
  CHECK(dense_memory(wide) - narrow >= 4 * 4 * wide.vertices - 1);
  const std::uint64_t without = dense_memory(kShare);
  DenseShare weighted = kShare;
  weighted.weight_bytes = 4;
  CHECK(dense_memory(weighted) - without >= 4 * weighted.edges);
}

}  // namespace
}  // namespace edgewire::bounds
