#include "engine/column_queue.h"

#include <doctest/doctest.h>

#include <array>
#include <thread>
#include <vector>

using edgewire::engine::ColumnQueue;

TEST_CASE("a worker gets the columns of its node first, then those of others") {
  const std::array nodes{0, 1, 0, 1, 2};
  ColumnQueue queue(nodes);
  for (int round = 0; round < 2; ++round) {
    std::vector<std::size_t> taken;
    while (const auto column = queue.take(1)) taken.push_back(*column);
    CHECK(taken == std::vector<std::size_t>{1, 3, 4, 0, 2});
    CHECK(!queue.take(0));
    queue.refill();
  }
}

TEST_CASE("every column is taken once, whatever the workers") {
  std::vector<int> nodes;
  for (int c = 0; c < 10000; ++c) nodes.push_back(c % 3);
  ColumnQueue queue(nodes);
  std::vector<int> taken(nodes.size());
  std::vector<std::thread> workers;
  for (int w = 0; w < 4; ++w) {
    workers.emplace_back([&, w] {
      while (const auto column = queue.take(w % 3)) ++taken[*column];
    });
  }
  for (auto& worker : workers) worker.join();
  CHECK(taken == std::vector<int>(nodes.size(), 1));
}

TEST_CASE("a process without local columns") {
  ColumnQueue queue({});
  CHECK(!queue.take(0));
  queue.refill();
}
