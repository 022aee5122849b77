// What the yardsticks share: passes of a plain pull over CSR by in-edges, with several threads that take
// chunks of destinations in turn, as GAPBS's pr_spmv does.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/seconds.h"
#include "edgewire/graph.h"

namespace pull {

/// The edges by destination. They outlive what pulls along them.
struct InEdges {
  std::size_t vertices() const { return out_degrees.size(); }

  std::span<const std::uint64_t> offsets;  ///< of the first edge into each vertex, and of the end
  std::span<const std::uint32_t> sources;
  std::span<const std::uint32_t> out_degrees;
};

/// The same in memory of its own.
struct OwnInEdges {
  explicit OwnInEdges(const edgewire::Graph& graph)
      : offsets(graph.vertices() + 1), sources(graph.edges()), out_degrees(graph.vertices()) {
    const auto rows = graph.offsets();
    const auto targets = graph.targets();
    for (const std::uint32_t target : targets) ++offsets[target + 1];
    for (std::size_t v = 0; v < out_degrees.size(); ++v) {
      offsets[v + 1] += offsets[v];
      out_degrees[v] = static_cast<std::uint32_t>(rows[v + 1] - rows[v]);
    }
    std::vector<std::uint64_t> places(offsets.begin(), offsets.end() - 1);
    for (std::uint32_t v = 0; v < out_degrees.size(); ++v)
      for (std::uint64_t e = rows[v]; e < rows[v + 1]; ++e) sources[places[targets[e]]++] = v;
  }

  InEdges view() const { return {offsets, sources, out_degrees}; }

  std::vector<std::uint64_t> offsets;
  std::vector<std::uint32_t> sources, out_degrees;
};

/// PageRank with a float for each vertex and double sums. The rank of sinks is spread evenly.
class PageRank {
 public:
  explicit PageRank(InEdges in)
      : in_(in), values_(in.vertices(), 1.0F / static_cast<float>(in.vertices())), shares_(in.vertices()) {}

  /// Sets what vertices [begin, end) give to each of their edges; returns the rank of those without edges.
  double offer(std::size_t begin, std::size_t end) {
    double dangling = 0;
    for (std::size_t v = begin; v < end; ++v) {
      const std::uint32_t degree = in_.out_degrees[v];
      if (degree == 0) dangling += static_cast<double>(values_[v]);
      shares_[v] = degree == 0 ? 0 : values_[v] / static_cast<float>(degree);
    }
    return dangling;
  }

  /// `dangling`: the sum of what offer() returned for all vertices.
  void pull(std::size_t begin, std::size_t end, double dangling) {
    constexpr double kDamping = 0.85;
    const double base = (1 - kDamping + kDamping * dangling) / static_cast<double>(values_.size());
    for (std::size_t v = begin; v < end; ++v) {
      double sum = 0;
      for (std::uint64_t e = in_.offsets[v]; e < in_.offsets[v + 1]; ++e)
        sum += static_cast<double>(shares_[in_.sources[e]]);
      values_[v] = static_cast<float>(base + kDamping * sum);
    }
  }

  std::span<const float> values() const { return values_; }

 private:
  InEdges in_;
  std::vector<float> values_, shares_;
};

/// Products of the matrix of the graph and a vector that is 1 everywhere at first: double values, float
/// messages.
class SpMV {
 public:
  explicit SpMV(InEdges in) : in_(in), values_(in.vertices(), 1.0), messages_(in.vertices()) {}

  double offer(std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) messages_[v] = static_cast<float>(values_[v]);
    return 0;
  }

  void pull(std::size_t begin, std::size_t end, double) {
    for (std::size_t v = begin; v < end; ++v) {
      double sum = 0;
      for (std::uint64_t e = in_.offsets[v]; e < in_.offsets[v + 1]; ++e)
        sum += static_cast<double>(messages_[in_.sources[e]]);
      values_[v] = sum;
    }
  }

  std::span<const double> values() const { return values_; }

 private:
  InEdges in_;
  std::vector<double> values_;
  std::vector<float> messages_;
};

/// Runs passes of a kernel; the seconds of each.
template <class Kernel>
std::vector<double> run_passes(Kernel& kernel, int threads, int passes) {
  constexpr std::size_t kChunk = 16384;  // vertices
  const std::size_t vertices = kernel.values().size();
  std::vector<double> seconds;
  std::vector<double> sums(static_cast<std::size_t>(threads));
  std::atomic<std::size_t> next{0};  // the barrier orders the resets
  std::barrier barrier(threads, [&next]() noexcept { next.store(0, std::memory_order_relaxed); });
  const auto for_each_chunk = [&](const auto& work) {
    for (std::size_t begin; (begin = next.fetch_add(kChunk, std::memory_order_relaxed)) < vertices;)
      work(begin, std::min(begin + kChunk, vertices));
    barrier.arrive_and_wait();
  };
  const auto thread = [&](std::size_t index) {
    for (int i = 0; i < passes; ++i) {
      const auto start = edgewire::Clock::now();
      double mine = 0;
      for_each_chunk([&](std::size_t begin, std::size_t end) { mine += kernel.offer(begin, end); });
      sums[index] = mine;
      barrier.arrive_and_wait();
      double all = 0;
      for (const double one : sums) all += one;
      for_each_chunk([&](std::size_t begin, std::size_t end) { kernel.pull(begin, end, all); });
      if (index == 0) seconds.push_back(edgewire::seconds_since(start));
    }
  };
  std::vector<std::jthread> others;
  for (std::size_t index = 1; index < sums.size(); ++index) others.emplace_back(thread, index);
  thread(0);
  return seconds;
}

/// The value of an option, of words[first] and those behind it.
inline std::string option(std::span<char* const> words, std::size_t first, std::string_view name) {
  for (std::size_t i = first; i + 1 < words.size(); i += 2)
    if (words[i] == name) return words[i + 1];
  throw edgewire::Error(fmt::format("{} is required", name));
}

/// Writes one behind the other. Throws Error with the path.
class OutputBytes {
 public:
  explicit OutputBytes(const std::string& path) : path_(path), file_(path, std::ios::binary) {}

  template <class Values>
  void write(const Values& values) {
    const auto bytes = std::as_bytes(std::span(values));
    file_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }

  void close() {
    if (!file_.flush()) throw edgewire::Error(fmt::format("{}: {}", path_, std::strerror(errno)));
  }

 private:
  std::string path_;
  std::ofstream file_;
};

}  // namespace pull
