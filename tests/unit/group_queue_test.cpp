#include "dense/engine/queues.h"

#include <doctest/doctest.h>

#include <array>
#include <barrier>
#include <thread>
#include <vector>

#include "schedule.h"
#include "transport_fixture.h"

namespace edgewire::engine {
namespace {

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

TEST_CASE("every group is taken once, whatever the workers" * doctest::test_suite("schedules")) {
  std::vector<int> nodes;
  for (int c = 0; c < rounds(10000); ++c) nodes.push_back(c % 3);
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

TEST_CASE("every group is taken once in each iteration, when one worker makes them available again" *
          doctest::test_suite("schedules")) {
  const std::array nodes{0, 1, 0, 1, 1, 2, 0};
  constexpr int kWorkers = 3;
  const int iterations = rounds(1000);
  for (const bool own_only : {false, true}) {
    GroupQueue queue(nodes, own_only);
    std::array<int, nodes.size()> taken{};
    int wrong = 0;
    std::barrier end(kWorkers);
    transport::parallel(kWorkers, [&](int w) {
      for (int iteration = 1; iteration <= iterations; ++iteration) {
        while (const auto group = queue.take(w)) {
          ++taken[*group];
          if (own_only && nodes[*group] != w) taken[*group] = -1;
        }
        end.arrive_and_wait();
        if (w == 0) {
          for (const int times : taken) wrong += times == iteration ? 0 : 1;
          queue.refill();
        }
        end.arrive_and_wait();
      }
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("a process without local groups") {
  GroupQueue queue({});
  CHECK(!queue.take(0));
  queue.refill();
}

}  // namespace
}  // namespace edgewire::engine
