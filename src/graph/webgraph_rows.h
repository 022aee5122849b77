// The rows of a graph of WebGraph's class BVGraph (Boldi, Vigna: The WebGraph Framework I: Compression
// Techniques, WWW 2004). A row is the targets of one vertex, in ascending order: copied from a row before it,
// whole intervals, and residuals, which are gaps.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/numbering.h"
#include "graph/bit_code.h"
#include "graph/webgraph_properties.h"

namespace edgewire::graph {

/// A mapped .graph file and how to read it. Immutable.
class WebGraph {
 public:
  /// Throws Error where the file is too short for so many vertices.
  WebGraph(const std::string& path, const WebGraphProperties& properties);

  const MappedFile& file() const noexcept { return file_; }
  const WebGraphProperties& properties() const noexcept { return properties_; }
  const BitCodeReader& field(WebGraphProperties::Field field) const noexcept { return *fields_[field]; }
  const BitCodeReader& gamma() const noexcept { return *gamma_; }

 private:
  const BitCodeReader* reader_of(BitCode code);

  MappedFile file_;
  WebGraphProperties properties_;
  std::map<BitCode, std::unique_ptr<const BitCodeReader>> readers_;
  std::array<const BitCodeReader*, WebGraphProperties::kFields> fields_{};
  const BitCodeReader* gamma_;
};

/// Numbers with a sign, folded: 0, -1, 1, -2... `origin` plus that; huge where it would be negative.
inline std::uint64_t unfold(std::uint64_t origin, std::uint64_t folded) noexcept {
  const std::uint64_t half = folded / 2;
  if (folded % 2 == 0) return origin + half;
  return half < origin ? origin - half - 1 : ~std::uint64_t{0};
}

/// Reads the row of `row` and tells `take` its parts in the order of the file:
///   begin(degree); refer(other) -> the degree of that row before; copy(first, count) of its targets;
///   interval(first, count); residual(target).
/// No part leaves the graph, and together they are as many as the degree. Throws Error.
template <class Take>
class RowParser {
 public:
  RowParser(const WebGraph& graph, BitStream& stream, std::uint64_t row, Take& take)
      : graph_(graph), vertices_(graph.properties().vertices), bits_(stream), row_(row), take_(take) {
    left_ = graph.field(WebGraphProperties::outdegrees).read(bits_);
    if (left_ > std::min(vertices_, graph.properties().edges))
      fail("it has more edges than there are vertices, or edges in all");
    take_.begin(left_);
    if (left_ > 0 && graph.properties().window > 0) copy_blocks();
    if (left_ > 0 && graph.properties().min_interval > 0) take_intervals();
    if (left_ > 0) take_residuals();
    if (bits_.at > bits_.end()) fail("the file ends within its row");
    stream = bits_;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    bits_.fail(fmt::format("vertex {}: {}", row_, what));
  }

  void copy_blocks() {
    const std::uint64_t distance = graph_.field(WebGraphProperties::references).read(bits_);
    if (distance == 0) return;
    if (distance > graph_.properties().window || distance > row_)
      fail(fmt::format("it copies from {} rows before it, but the window has {}", distance,
                       std::min(row_, graph_.properties().window)));
    const std::uint64_t size = take_.refer(row_ - distance);
    const std::uint64_t blocks = graph_.field(WebGraphProperties::block_counts).read(bits_);
    const BitCodeReader& block = graph_.field(WebGraphProperties::blocks);
    std::uint64_t at = 0;
    for (std::uint64_t i = 0; i < blocks; ++i) {
      const std::uint64_t length = block.read(bits_) + (i > 0 ? 1 : 0);
      if (length > size - at) fail("it copies more than the other row has");
      if (i % 2 == 0) copy(at, length);
      at += length;
    }
    if (blocks % 2 == 0) copy(at, size - at);
  }
  void copy(std::uint64_t first, std::uint64_t count) {
    use(count);
    take_.copy(first, count);
  }

  void take_intervals() {
    const BitCodeReader& gamma = graph_.gamma();
    const std::uint64_t intervals = gamma.read(bits_);
    std::uint64_t next = 0;
    for (std::uint64_t i = 0; i < intervals; ++i) {
      const std::uint64_t gap = gamma.read(bits_);
      const std::uint64_t first = i == 0 ? unfold(row_, gap) : next + 1 + gap;
      const std::uint64_t count = gamma.read(bits_) + graph_.properties().min_interval;
      if (first >= vertices_ || count > vertices_ - first) fail("an interval leaves the graph");
      use(count);
      take_.interval(first, count);
      next = first + count;
    }
  }

  void take_residuals() {
    const BitCodeReader& residual = graph_.field(WebGraphProperties::residuals);
    std::uint64_t target = unfold(row_, residual.read(bits_));
    for (;;) {
      if (target >= vertices_) fail(fmt::format("a target is not within 0 to {}", vertices_ - 1));
      take_.residual(target);
      if (--left_ == 0) return;
      target += residual.read(bits_) + 1;
    }
  }

  void use(std::uint64_t count) {
    if (count > left_) fail("it copies more than its number of edges, or its intervals hold more");
    left_ -= count;
  }

  const WebGraph& graph_;
  const std::uint64_t vertices_;
  BitStream bits_;
  const std::uint64_t row_;
  Take& take_;
  std::uint64_t left_ = 0;  ///< edges of the row that are still to come
};

/// Where rows begin that a worker can start at, without the ones before.
struct RowStart {
  std::uint64_t row = 0, end_row = 0;  ///< rows up to the next start
  std::uint64_t bit = 0, end_bit = 0;  ///< in the file
  std::uint64_t lengths_end = 0;       ///< in the list of all lengths
  std::uint32_t before = 0;            ///< so many rows before `row` have their lengths there
};

/// Reads the rows of a start, one after the other. One for each worker.
class WebGraphRows {
 public:
  explicit WebGraphRows(const WebGraph& graph);

  /// `lengths`: of the rows just before the start, in bits.
  void start(const RowStart& start, std::span<const std::uint32_t> lengths);
  /// The targets of the next row, each once, in no order. Valid until the next call.
  std::span<const PlainId> next();
  /// The bit after the last row.
  std::uint64_t bit() const noexcept { return bits_.at; }
  /// Throws Error with this bit.
  [[noreturn]] void fail(std::string_view what) const { bits_.fail(what); }

 private:
  struct Row {
    std::vector<PlainId> targets;  ///< the first `count` of them
    std::uint64_t count = 0;
    std::uint64_t copied = 0, intervals = 0;  ///< targets; behind both the residuals; each part is sorted
    bool sorted = false;
    bool known = false;  ///< of a row before the start
    std::span<const PlainId> all() const noexcept { return {targets.data(), count}; }
  };
  struct Take;

  void read(std::uint64_t row, BitStream& bits, Row& into);
  const Row& sorted_row(std::uint64_t row);
  void sort(Row& row);

  const WebGraph& graph_;
  BitStream bits_;
  std::uint64_t first_ = 0, next_ = 0;  ///< rows
  std::vector<Row> window_;             ///< row r from first_ on: at r % its size
  std::vector<Row> before_;             ///< rows first_ - its size and on
  std::vector<std::uint64_t> before_bits_;
  std::vector<PlainId> merged_;  ///< of sort()
};

}  // namespace edgewire::graph
