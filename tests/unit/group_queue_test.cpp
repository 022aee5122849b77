#include "dense/engine/group_queue.h"

#include <doctest/doctest.h>

#include <array>
#include <thread>
#include <vector>

using edgewire::engine::GroupQueue;

TEST_CASE("a worker gets the groups of its node first, then those of others") {
  const std::array nodes{0, 1, 0, 1, 2};
  GroupQueue queue(nodes);
  for (int round = 0; round < 2; ++round) {
    std::vector<std::size_t> taken;
    while (const auto group = queue.take(1)) taken.push_back(*group);
    CHECK(taken == std::vector<std::size_t>{1, 3, 4, 0, 2});
    CHECK(!queue.take(0));
    queue.refill();
  }
}

TEST_CASE("a worker gets no group of another one, where each has its own") {
  const std::array workers{0, 2, 0, 2};
  GroupQueue queue(workers, true);
  for (int round = 0; round < 2; ++round) {
    CHECK(queue.take(2) == 1);
    CHECK(queue.take(0) == 0);
    CHECK(queue.take(2) == 3);
    CHECK(!queue.take(2));
    CHECK(queue.take(0) == 2);
    CHECK(!queue.take(0));
    CHECK(!queue.take(1));
    CHECK(!queue.take(3));
    queue.refill();
  }
}

TEST_CASE("every group is taken once, whatever the workers") {
  std::vector<int> nodes;
  for (int c = 0; c < 10000; ++c) nodes.push_back(c % 3);
  GroupQueue queue(nodes);
  std::vector<int> taken(nodes.size());
  std::vector<std::thread> workers;
  for (int w = 0; w < 4; ++w) {
    workers.emplace_back([&, w] {
      while (const auto group = queue.take(w % 3)) ++taken[*group];
    });
  }
  for (auto& worker : workers) worker.join();
  CHECK(taken == std::vector<int>(nodes.size(), 1));
}

TEST_CASE("a process without local groups") {
  GroupQueue queue({});
  CHECK(!queue.take(0));
  queue.refill();
}
