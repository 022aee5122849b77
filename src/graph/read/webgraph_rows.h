// The rows of a graph of WebGraph's class BVGraph (Boldi, Vigna: The WebGraph Framework I: Compression
// Techniques, WWW 2004). A row is the targets of one vertex, in ascending order: copied from a row before it,
// whole intervals, and residuals, which are gaps.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "edgewire/numbering.h"
#include "edgewire/progress.h"

namespace edgewire::graph {

/// A stream of the bits of a file, the most significant one of each byte first. Beyond the end there are
/// zeros. It is a small value: a copy reads on its own.
class BitStream {
 public:
  explicit BitStream(const MappedFile& file) : BitStream({file.data(), file.bytes()}) { file_ = &file; }
  /// Makes a stream of bytes in memory, which never fail.
  explicit BitStream(std::span<const std::uint8_t> bytes) : data_(bytes.data()), bytes_(bytes.size()) {}

  std::uint64_t at = 0;  ///< number of the next bit
  std::uint64_t end() const noexcept { return bytes_ * 8; }

  /// Returns the next bits, the first one on top, without moving on: at least 57, zeros below them.
  std::uint64_t peek() const noexcept {
    const std::uint64_t byte = at / 8;
    if (byte + sizeof(std::uint64_t) > bytes_) [[unlikely]]
      return peek_at_end();
    std::uint64_t word = 0;
    std::memcpy(&word, data_ + byte, sizeof word);
    return __builtin_bswap64(word) << at % 8;
  }
  /// Takes the next `count` bits as a number; 0 to 56 of them.
  std::uint64_t take(unsigned count) noexcept {
    const std::uint64_t word = peek();
    at += count;
    return count == 0 ? 0 : word >> (64 - count);
  }
  /// Returns the number of zeros before the next one, which is taken, too; none where no 1 follows.
  std::optional<std::uint64_t> unary() noexcept;

  /// Throws Error: "PATH: byte BYTE: WHAT (bit AT)".
  [[noreturn]] void fail(std::string_view what) const;

 private:
  std::uint64_t peek_at_end() const noexcept;

  const MappedFile* file_ = nullptr;
  const std::uint8_t* data_;
  std::uint64_t bytes_;
};

/// Instantaneous codes of natural numbers: Elias's gamma and delta, unary, Boldi and Vigna's zeta ("Codes for
/// the World-Wide Web", Internet Mathematics 2, 2005), Golomb's, and nibbles of three bits and one that marks
/// the last.
enum class BitCode { gamma, delta, unary, zeta, golomb, nibble };

/// A reader of numbers in one code. A table holds all codes that are no longer than its index.
class BitCodeReader {
 public:
  /// Makes a reader. `parameter`: k of zeta, the modulus of Golomb's; at least 1.
  BitCodeReader(BitCode code, std::uint64_t parameter);

  /// Reads the next number, less than 2^57. Throws Error where the file ends within it, or it is longer.
  std::uint64_t read(BitStream& bits) const {
    const std::uint16_t entry = table_[bits.peek() >> (64 - kIndexBits)];
    if (entry != 0) [[likely]] {
      bits.at += entry % 16U;
      return entry / 16U;
    }
    const Number number = read_long(bits);
    bits.at = number.end;
    return number.value;
  }

 private:
  static constexpr unsigned kIndexBits = 12;
  struct Number {
    std::uint64_t value, end;  ///< number, and the bit after it
  };
  /// Reads a long code. It takes a copy of the stream, so that the caller's can stay in registers.
  Number read_long(BitStream bits) const;
  std::optional<std::uint64_t> decode(BitStream& bits) const noexcept;

  BitCode code_;
  std::uint64_t parameter_;
  /// Table of 16 * number + bits of its code; 0: it is longer.
  std::array<std::uint16_t, 1 << kIndexBits> table_{};
};

/// The facts in the .properties file beside a .graph file, which WebGraph's class BVGraph wrote.
struct WebGraphProperties {
  enum Field : std::size_t { outdegrees, references, block_counts, blocks, residuals, offsets, kFields };

  std::string path;  ///< path of the .properties file
  std::uint64_t vertices = 0, edges = 0;
  std::uint64_t window = 0;        ///< farthest row before it that a row copies from; 0: none does
  std::uint64_t chain = 0;         ///< most rows that copy from one another in turn, or kNoLimit
  std::uint64_t min_interval = 0;  ///< shortest interval; 0: there are none
  std::uint64_t parameter = 3;     ///< parameter of zeta and Golomb's codes
  std::array<BitCode, kFields> codes{};

  static constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
};

/// Returns keys and values as java.util.Properties reads them, but '?' for characters beyond ASCII.
std::map<std::string, std::string> parse_java_properties(std::string_view text);

/// Returns "x" + ending for "x.graph".
std::string beside_webgraph(std::string_view path, std::string_view ending);
/// Returns whether the .properties file beside names a graph class, so that it is a graph of WebGraph.
bool has_graph_class(std::string_view path);
/// Reads the .properties file beside `path`. Throws Error, with what would help, where it is missing, of
/// another class than BVGraph, of a version that is not known, or not whole.
WebGraphProperties read_webgraph_properties(std::string_view path);

/// A mapped .graph file and how to read it. Immutable.
class WebGraph {
 public:
  /// Throws Error where the file is too short for its vertices.
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

/// Returns a number with a sign that was folded: 0, -1, 1, -2... The result is `origin` plus that; it is huge
/// where it would be negative.
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

/// A place where a worker can start to read rows, without the ones before.
struct RowStart {
  std::uint64_t row = 0, end_row = 0;  ///< first row, and the first row of the next start
  std::uint64_t bit = 0, end_bit = 0;  ///< first bit in the file, and the end
  std::uint64_t lengths_end = 0;       ///< end in the list of all lengths
  std::uint32_t before = 0;            ///< number of rows before `row` whose lengths are there
};

/// A reader of the rows of a start, one after the other, for each worker.
class WebGraphRows {
 public:
  explicit WebGraphRows(const WebGraph& graph);

  /// Begins at a start. `lengths`: lengths in bits of the rows just before the start.
  void start(const RowStart& start, std::span<const std::uint32_t> lengths);
  /// Returns the targets of the next row, each once, in no order. They are valid until the next call.
  std::span<const PlainId> next();
  /// Returns the bit after the last row.
  std::uint64_t bit() const noexcept { return bits_.at; }
  /// Throws Error with bit().
  [[noreturn]] void fail(std::string_view what) const { bits_.fail(what); }

 private:
  struct Row {
    std::vector<PlainId> targets;  ///< targets: the first `count` count
    std::uint64_t count = 0;
    /// Numbers of targets; behind both the residuals; each part is sorted.
    std::uint64_t copied = 0, intervals = 0;
    bool sorted = false;
    bool known = false;  ///< whether a row before the start is known
    std::span<const PlainId> all() const noexcept { return {targets.data(), count}; }
  };
  struct Take;

  void read(std::uint64_t row, BitStream& bits, Row& into);
  const Row& sorted_row(std::uint64_t row);
  void sort(Row& row);

  const WebGraph& graph_;
  BitStream bits_;
  std::uint64_t first_ = 0, next_ = 0;  ///< first row, and the next one
  std::vector<Row> window_;             ///< rows from first_ on, row r at r % size
  std::vector<Row> before_;             ///< rows from first_ - size on
  std::vector<std::uint64_t> before_bits_;
  std::vector<PlainId> merged_;  ///< memory of sort()
};

/// Starts at about equal numbers of rows, 65536 at most, each with the lengths of as many rows before it as
/// its rows may lead back to by copying.
struct RowStarts {
  std::vector<RowStart> starts;        ///< starts of this reader
  std::vector<std::uint32_t> lengths;  ///< lengths in bits
  std::vector<std::uint64_t> sources;  ///< sample as EdgeSink::start() takes it; may be empty

  std::span<const std::uint32_t> lengths_before(const RowStart& start) const noexcept {
    return std::span(lengths).subspan(start.lengths_end - start.before, start.before);
  }
};

/// The reader whose starts are wanted: one of `size`, whose rows have as many edges, or bits, as others'.
struct RowShare {
  int rank = 0, size = 1;
  bool sample = false;  ///< whether to fill RowStarts::sources
};

/// Finds starts by the .offsets file beside; none where there is no such file, or rows may lead back far.
/// Throws Error where it does not fit the graph.
std::optional<RowStarts> starts_by_offsets(const WebGraph& graph, const RowShare& share,
                                           const Progress& progress);
/// Finds starts by a pass over the graph, which takes about as long as to read it, and checks all of it.
/// Where rows lead back far, starts are few. Throws Error.
RowStarts starts_by_pass(const WebGraph& graph, const RowShare& share, const Progress& progress);

}  // namespace edgewire::graph
