// The program to compare with: PageRank as a plain pull over the transposed CSR, in the given order, with a
// float for each vertex. Threads take chunks of destinations in turn, as GAPBS's pr_spmv does. The rank of
// sinks is spread evenly.
//
// Usage: pull GRAPH.ew --threads N --iterations N --ranks FILE
// FILE gets the ranks as f32; stdout one line of JSON.
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <cstring>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "error.h"
#include "graph/graph_file.h"
#include "seconds.h"

namespace {

using edgewire::Clock;
using edgewire::Error;
using edgewire::seconds_since;
using edgewire::graph::GraphFile;

constexpr double kDamping = 0.85;
constexpr std::size_t kChunk = 16384;  ///< vertices

class Pull {
 public:
  explicit Pull(const GraphFile& graph)
      : vertices_(graph.vertices()),
        out_(graph.offsets().begin(), graph.offsets().end()),
        in_(vertices_ + 1),
        sources_(graph.edges()),
        ranks_(vertices_, 1.0F / static_cast<float>(vertices_)),
        shares_(vertices_) {
    for (const std::uint32_t target : graph.targets()) ++in_[target + 1];
    for (std::size_t v = 0; v < vertices_; ++v) in_[v + 1] += in_[v];
    std::vector<std::uint64_t> places(in_.begin(), in_.end() - 1);
    for (std::uint32_t v = 0; v < vertices_; ++v)
      for (std::uint64_t e = out_[v]; e < out_[v + 1]; ++e) sources_[places[graph.targets()[e]]++] = v;
  }

  /// The seconds of each iteration.
  std::vector<double> run(int threads, int iterations) {
    std::vector<double> seconds;
    std::vector<double> dangling(static_cast<std::size_t>(threads));
    std::atomic<std::size_t> next{0};  // the barrier orders the resets
    std::barrier barrier(threads, [&next]() noexcept { next.store(0, std::memory_order_relaxed); });
    const auto for_each_chunk = [&](const auto& work) {
      for (std::size_t begin; (begin = next.fetch_add(kChunk, std::memory_order_relaxed)) < vertices_;)
        work(begin, std::min(begin + kChunk, vertices_));
      barrier.arrive_and_wait();
    };
    const auto thread = [&](std::size_t index) {
      for (int i = 0; i < iterations; ++i) {
        const auto start = Clock::now();
        double mine = 0;
        for_each_chunk([&](std::size_t begin, std::size_t end) { mine += share(begin, end); });
        dangling[index] = mine;
        barrier.arrive_and_wait();
        double all = 0;
        for (const double one : dangling) all += one;
        for_each_chunk([&](std::size_t begin, std::size_t end) { pull(begin, end, all); });
        if (index == 0) seconds.push_back(seconds_since(start));
      }
    };
    std::vector<std::jthread> others;
    for (std::size_t index = 1; index < dangling.size(); ++index) others.emplace_back(thread, index);
    thread(0);
    return seconds;
  }

  const std::vector<float>& ranks() const { return ranks_; }

 private:
  /// Sets shares_ from ranks_; returns the rank of vertices without out-edges.
  double share(std::size_t begin, std::size_t end) {
    double dangling = 0;
    for (std::size_t v = begin; v < end; ++v) {
      const std::uint64_t degree = out_[v + 1] - out_[v];
      if (degree == 0) dangling += static_cast<double>(ranks_[v]);
      shares_[v] = degree == 0 ? 0 : ranks_[v] / static_cast<float>(degree);
    }
    return dangling;
  }

  void pull(std::size_t begin, std::size_t end, double dangling) {
    const double base = (1 - kDamping + kDamping * dangling) / static_cast<double>(vertices_);
    for (std::size_t v = begin; v < end; ++v) {
      double sum = 0;
      for (std::uint64_t e = in_[v]; e < in_[v + 1]; ++e) sum += static_cast<double>(shares_[sources_[e]]);
      ranks_[v] = static_cast<float>(base + kDamping * sum);
    }
  }

  std::size_t vertices_;
  std::vector<std::uint64_t> out_, in_;
  std::vector<std::uint32_t> sources_;
  std::vector<float> ranks_, shares_;
};

std::string option(int argc, char** argv, std::string_view name) {
  for (int i = 2; i + 1 < argc; i += 2)
    if (argv[i] == name) return argv[i + 1];
  throw Error(fmt::format("{} is required", name));
}

void run(int argc, char** argv) {
  if (argc < 2) throw Error("usage: pull GRAPH.ew --threads N --iterations N --ranks FILE");
  const int threads = std::stoi(option(argc, argv, "--threads"));
  const int iterations = std::stoi(option(argc, argv, "--iterations"));
  const auto start = Clock::now();
  const auto graph = GraphFile::open(argv[1]);
  graph.verify_rows(0, graph.vertices());
  Pull pull(graph);
  const double seconds_load = seconds_since(start);
  const std::vector<double> seconds = pull.run(threads, iterations);
  const std::string path = option(argc, argv, "--ranks");
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(pull.ranks().data()),
             static_cast<std::streamsize>(pull.ranks().size() * sizeof(float)));
  if (!file.flush()) throw Error(fmt::format("{}: {}", path, std::strerror(errno)));
  const nlohmann::ordered_json figures{
      {"version", "-O3"}, {"seconds", seconds}, {"seconds_load", seconds_load}};
  fmt::print("{}\n", figures.dump());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc, argv);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "pull: {}\n", error.what());
    return 1;
  }
}
