// The limits of this machine's memory that PageRank runs into: how fast values stream past one core and two,
// and how fast 4-byte values are gathered at random from a working set in the L2 cache, in the last-level
// cache and (64 MiB) partly in memory. Each figure is the best of several tries.
//
// Usage: memory_limits [--json] [--smoke]
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "base/rooms.h"
#include "base/seconds.h"
#include "edgewire/detail/memory.h"

namespace {

using edgewire::Clock;
using edgewire::seconds_since;
using edgewire::topology::NodeMemory;

struct Effort {
  int tries = 15;
  std::size_t stream_bytes = std::size_t{256} << 20;  ///< a thread
  std::size_t gathers = std::size_t{4} << 20;         ///< a thread and try
};

std::atomic<std::uint64_t> kept{0};  // so that no loop is optimized away; pairs with nothing

/// Units a second of all threads: each calls work(thread), which handles `units`, in step with the others.
template <class Work>
double best_rate(const Effort& effort, int threads, double units, const Work& work) {
  std::barrier barrier(threads);
  double best = 0;
  const auto thread = [&](int index) {
    for (int i = 0; i < effort.tries; ++i) {
      barrier.arrive_and_wait();
      const auto start = Clock::now();
      kept.fetch_add(work(index), std::memory_order_relaxed);
      barrier.arrive_and_wait();
      const double seconds = seconds_since(start);
      if (index == 0) best = std::max(best, units * threads / seconds);
    }
  };
  std::vector<std::jthread> others;
  for (int index = 1; index < threads; ++index) others.emplace_back(thread, index);
  thread(0);
  return best;
}

std::uint64_t sum_words(std::span<const std::uint64_t> words) {
  std::uint64_t a = 0, b = 0, c = 0, d = 0;
  for (std::size_t i = 0; i + 8 <= words.size(); i += 8) {
    a += words[i] + words[i + 1];
    b += words[i + 2] + words[i + 3];
    c += words[i + 4] + words[i + 5];
    d += words[i + 6] + words[i + 7];
  }
  return a + b + c + d;
}

/// Bytes a second.
double stream(const Effort& effort, int threads) {
  std::vector<NodeMemory> memory;
  for (int i = 0; i < threads; ++i) {
    memory.emplace_back(effort.stream_bytes, -1, "streaming");
    std::ranges::fill(memory.back().as<std::uint64_t>(), 1);
  }
  return best_rate(effort, threads, static_cast<double>(effort.stream_bytes), [&](int index) {
    return sum_words(memory[static_cast<std::size_t>(index)].as<const std::uint64_t>());
  });
}

template <class Index>
std::uint64_t sum_gathered(std::span<const Index> places, const std::uint32_t* values) {
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
  for (std::size_t i = 0; i + 4 <= places.size(); i += 4) {
    a += values[places[i]];
    b += values[places[i + 1]];
    c += values[places[i + 2]];
    d += values[places[i + 3]];
  }
  return std::uint64_t{a} + b + c + d;
}

/// Gathers a second from `bytes` that the threads share, as indexes that stream past name them.
template <class Index>
double gather(const Effort& effort, int threads, std::size_t bytes) {
  NodeMemory values(bytes, -1, "values");
  std::ranges::fill(values.as<std::uint32_t>(), 1);
  std::vector<NodeMemory> places;
  std::mt19937_64 random(1);
  for (int i = 0; i < threads; ++i) {
    places.emplace_back(effort.gathers * sizeof(Index), -1, "indexes");
    std::ranges::generate(places.back().as<Index>(),
                          [&] { return static_cast<Index>(random() % (bytes / sizeof(std::uint32_t))); });
  }
  return best_rate(effort, threads, static_cast<double>(effort.gathers), [&](int index) {
    return sum_gathered(places[static_cast<std::size_t>(index)].as<const Index>(),
                        values.as<std::uint32_t>().data());
  });
}

nlohmann::ordered_json measure(const Effort& effort, int threads) {
  return {{"threads", threads},
          {"stream_bytes_per_second", stream(effort, threads)},
          // 16-bit indexes, as in tiles: 256 KiB of values.
          {"gathers_per_second_l2", gather<std::uint16_t>(effort, threads, std::size_t{256} << 10)},
          {"gathers_per_second_16_mib", gather<std::uint32_t>(effort, threads, std::size_t{16} << 20)},
          {"gathers_per_second_64_mib", gather<std::uint32_t>(effort, threads, std::size_t{64} << 20)}};
}

void print_text(const nlohmann::ordered_json& limits) {
  fmt::print("{:>7}  {:>11}  {:>14}  {:>14}  {:>14}\n", "threads", "stream GB/s", "L2 G gathers/s", "16 MiB",
             "64 MiB");
  for (const auto& one : limits) {
    fmt::print("{:>7}", one["threads"].get<int>());
    const char* format = "  {:>11.2f}";
    for (const char* name : {"stream_bytes_per_second", "gathers_per_second_l2", "gathers_per_second_16_mib",
                             "gathers_per_second_64_mib"}) {
      fmt::print(fmt::runtime(format), one[name].get<double>() / 1e9);
      format = "  {:>14.2f}";
    }
    fmt::print("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  Effort effort;
  bool json = false;
  for (const std::string_view argument : std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) {
    if (argument == "--json") {
      json = true;
    } else if (argument == "--smoke") {
      effort = {2, std::size_t{8} << 20, std::size_t{1} << 18};
    } else {
      fmt::print(stderr, "usage: memory_limits [--json] [--smoke]\n");
      return 2;
    }
  }
  try {
    auto limits = nlohmann::ordered_json::array();
    for (const int threads : {1, 2}) limits.push_back(measure(effort, threads));
    if (json)
      fmt::print("{}\n", limits.dump());
    else
      print_text(limits);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "memory_limits: {}\n", error.what());
    return 1;
  }
}
