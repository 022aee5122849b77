#include "graph/webgraph_starts.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "graph/format.h"

namespace edgewire::graph {

namespace {

constexpr std::uint64_t kMostStarts = 1 << 16;
constexpr std::uint64_t kLeastRows = 1024;  ///< between starts
constexpr std::uint64_t kMostBefore = 256;  ///< rows before a start whose lengths are kept
constexpr std::uint64_t kSamples = 20'000;
constexpr std::uint64_t kRowsPerNote = 1 << 20;  ///< of progress

/// Takes rows in order, and makes starts of some.
class StartList {
 public:
  StartList(const WebGraph& graph, const RowShare& share) : share_(share), recent_(kMostBefore) {
    const std::uint64_t vertices = graph.properties().vertices;
    step_ = std::max(kLeastRows, (vertices + kMostStarts - 1) / kMostStarts);
  }

  /// Whether so many rows have passed that a start would be welcome.
  bool is_due(std::uint64_t row) const noexcept { return row == 0 || row - last_ >= step_; }
  /// The rows from `earliest` on, at most kMostBefore, are what rows from `row` on lead back to. The rows
  /// before `row` are `part` of `whole`, in edges or bits.
  void add(std::uint64_t row, std::uint64_t bit, std::uint64_t earliest, std::uint64_t part,
           std::uint64_t whole) {
    if (row > 0 && row - earliest > 0 &&
        std::any_of(recent_.begin(), recent_.end(), [](std::uint64_t length) { return length >> 32 != 0; }))
      return;
    end(row, bit);
    last_ = row;
    const auto readers = static_cast<std::uint64_t>(share_.size);
    const std::uint64_t reader = std::min(part * readers / std::max<std::uint64_t>(whole, 1), readers - 1);
    mine_ = reader == static_cast<std::uint64_t>(share_.rank);
    if (!mine_) return;
    RowStart& start = found_.starts.emplace_back();
    start.row = row;
    start.bit = bit;
    start.before = static_cast<std::uint32_t>(row - earliest);
    for (std::uint64_t before = earliest; before < row; ++before)
      found_.lengths.push_back(static_cast<std::uint32_t>(recent_[before % kMostBefore]));
    start.lengths_end = found_.lengths.size();
  }
  void took(std::uint64_t row, std::uint64_t bits) noexcept { recent_[row % kMostBefore] = bits; }
  void sample(std::uint64_t row) { found_.sources.push_back(row); }

  RowStarts finish(std::uint64_t rows, std::uint64_t bit) {
    end(rows, bit);
    return std::move(found_);
  }

 private:
  void end(std::uint64_t row, std::uint64_t bit) noexcept {
    if (!mine_) return;
    found_.starts.back().end_row = row;
    found_.starts.back().end_bit = bit;
  }

  RowShare share_;
  RowStarts found_;
  std::vector<std::uint64_t> recent_;  ///< lengths of the last rows, row r at r % kMostBefore
  std::uint64_t step_ = 0, last_ = 0;
  bool mine_ = false;  ///< the last start is one of this reader
};

/// Passes over a row. Knows the degrees of those in the window, and how far back each of them leads.
struct PassedRows {
  explicit PassedRows(std::uint64_t window) : degrees(window + 1), earliest(window + 1) {}

  void begin(std::uint64_t degree) noexcept {
    degrees[row % degrees.size()] = degree;
    earliest[row % degrees.size()] = row;
  }
  std::uint64_t refer(std::uint64_t other) noexcept {
    earliest[row % degrees.size()] = earliest[other % degrees.size()];
    return degrees[other % degrees.size()];
  }
  void copy(std::uint64_t, std::uint64_t) noexcept {}
  void interval(std::uint64_t, std::uint64_t) noexcept {}
  void residual(std::uint64_t) noexcept {}

  /// The first row that rows from `row` on can lead back to; maybe a later one where that is too far.
  std::uint64_t leads_back_to() const noexcept {
    std::uint64_t first = row;
    const std::uint64_t window = std::min<std::uint64_t>(row, degrees.size() - 1);
    for (std::uint64_t back = 1; back <= window && row - first <= kMostBefore; ++back)
      first = std::min(first, earliest[(row - back) % degrees.size()]);
    return first;
  }
  std::uint64_t degree() const noexcept { return degrees[row % degrees.size()]; }

  std::vector<std::uint64_t> degrees, earliest;  ///< row r at r % size
  std::uint64_t row = 0;
};

RowStarts read_offsets(const WebGraph& graph, const std::string& path, const RowShare& share,
                       std::uint64_t leads_back, const Progress& progress) {
  const WebGraphProperties& properties = graph.properties();
  const MappedFile file(path);
  BitStream bits(file);
  const BitCodeReader& gap = graph.field(WebGraphProperties::offsets);
  const std::uint64_t end = BitStream(graph.file()).end();
  StartList list(graph, share);
  const std::uint64_t step = std::max<std::uint64_t>(1, end / kSamples);
  std::uint64_t bit = 0;
  for (std::uint64_t row = 0;; ++row) {
    const std::uint64_t length = gap.read(bits);
    if (length > end - bit)
      bits.fail(
          fmt::format("by these offsets row {} begins behind the end of {}: that file is cut off, or this "
                      "one is of another graph, and can be left out",
                      row, graph.file().path()));
    if (row > 0) list.took(row - 1, length);
    for (std::uint64_t left = (bit + length) / step - bit / step; share.sample && row > 0 && left > 0; --left)
      list.sample(row - 1);
    bit += length;
    if (row == properties.vertices) break;
    if (list.is_due(row)) list.add(row, bit, row - std::min(row, leads_back), bit, end);
    if (progress && row % kRowsPerNote == kRowsPerNote - 1)
      progress({"finding rows", bits.at / 8, file.bytes(), "bytes"});
  }
  return list.finish(properties.vertices, bit);
}

}  // namespace

RowStarts starts_by_pass(const WebGraph& graph, const RowShare& share, const Progress& progress) {
  const WebGraphProperties& properties = graph.properties();
  StartList list(graph, share);
  BitStream bits(graph.file());
  PassedRows passed(properties.window);
  const std::uint64_t step = std::max<std::uint64_t>(1, properties.edges / kSamples);
  std::uint64_t edges = 0, released = 0;
  for (std::uint64_t row = 0; row < properties.vertices; ++row) {
    passed.row = row;
    const std::uint64_t begin = bits.at;
    if (list.is_due(row)) {
      const std::uint64_t earliest = passed.leads_back_to();
      if (row - earliest <= kMostBefore) list.add(row, begin, earliest, edges, properties.edges);
    }
    RowParser<PassedRows>(graph, bits, row, passed);
    list.took(row, bits.at - begin);
    for (std::uint64_t left = (edges + passed.degree()) / step - edges / step; share.sample && left > 0;
         --left)
      list.sample(row);
    edges += passed.degree();
    if (edges > properties.edges)
      bits.fail(fmt::format("vertex {}: there are more edges than the arcs={} of {}", row, properties.edges,
                            properties.path));
    if (row % kRowsPerNote != kRowsPerNote - 1) continue;
    if (progress) progress({"finding rows", bits.at / 8, graph.file().bytes(), "bytes"});
    graph.file().release(released, begin / 8);
    released = begin / 8 / kPageBytes * kPageBytes;
  }
  graph.file().release(released, bits.at / 8);
  return list.finish(properties.vertices, bits.at);
}

std::optional<RowStarts> starts_by_offsets(const WebGraph& graph, const RowShare& share,
                                           const Progress& progress) {
  const WebGraphProperties& properties = graph.properties();
  const std::string path = beside_webgraph(graph.file().path(), ".offsets");
  const bool near = properties.window == 0 || properties.chain <= kMostBefore / properties.window;
  if (!near || !std::filesystem::exists(path)) return std::nullopt;
  const std::uint64_t leads_back = properties.window == 0 ? 0 : properties.window * properties.chain;
  return read_offsets(graph, path, share, leads_back, progress);
}

}  // namespace edgewire::graph
