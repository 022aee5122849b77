#include "graph/read/webgraph_rows.h"

#include <filesystem>
#include <numeric>
#include <utility>

#include "graph/file/format.h"

namespace edgewire::graph {

namespace {

constexpr std::uint64_t kMostStarts = 1 << 16;
constexpr std::uint64_t kLeastRows = 1024;  ///< least rows between starts
constexpr std::uint64_t kMostBefore = 256;  ///< most rows before a start whose lengths are kept
constexpr std::uint64_t kSamples = 20'000;
constexpr std::uint64_t kRowsPerNote = 1 << 20;  ///< rows for each note of progress

/// Takes rows in order, and makes starts of some.
class StartList {
 public:
  /// Makes an empty list. `whole`: the number of edges or bits, which readers share evenly.
  StartList(const WebGraph& graph, const RowShare& share, std::uint64_t whole)
      : share_(share), whole_(whole), recent_(kMostBefore) {
    step_ = std::max(kLeastRows, (graph.properties().vertices + kMostStarts - 1) / kMostStarts);
  }

  /// Returns whether so many rows have passed that a start would be welcome.
  bool is_due(std::uint64_t row) const noexcept { return row == 0 || row - last_ >= step_; }
  /// Adds a start. The rows from `earliest` on, at most kMostBefore, are those that rows from `row` on lead
  /// back to. The rows before `row` are `part` of the whole.
  void add(std::uint64_t row, std::uint64_t bit, std::uint64_t earliest, std::uint64_t part) {
    if (row > 0 && row - earliest > 0 &&
        std::any_of(recent_.begin(), recent_.end(), [](std::uint64_t length) { return length >> 32 != 0; }))
      return;
    end(row, bit);
    last_ = row;
    const auto readers = static_cast<std::uint64_t>(share_.size);
    const std::uint64_t reader = std::min(part * readers / std::max<std::uint64_t>(whole_, 1), readers - 1);
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
  /// Samples the row as often as its share, `before` to `after` of the whole, holds samples.
  void sample(std::uint64_t row, std::uint64_t before, std::uint64_t after) {
    const std::uint64_t step = std::max<std::uint64_t>(1, whole_ / kSamples);
    if (share_.sample) found_.sources.insert(found_.sources.end(), after / step - before / step, row);
  }

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
  std::uint64_t whole_;
  RowStarts found_;
  std::vector<std::uint64_t> recent_;  ///< lengths of the last rows, row r at r % kMostBefore
  std::uint64_t step_ = 0, last_ = 0;
  bool mine_ = false;  ///< whether the last start belongs to this reader
};

/// The degrees of the rows in the window, and how far back each of them leads.
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

  /// Returns the first row that rows from `row` on can lead back to; maybe a later one where that is too far.
  std::uint64_t leads_back_to() const noexcept {
    std::uint64_t first = row;
    const std::uint64_t window = std::min<std::uint64_t>(row, degrees.size() - 1);
    for (std::uint64_t back = 1; back <= window && row - first <= kMostBefore; ++back)
      first = std::min(first, earliest[(row - back) % degrees.size()]);
    return first;
  }
  std::uint64_t degree() const noexcept { return degrees[row % degrees.size()]; }

  std::vector<std::uint64_t> degrees, earliest;  ///< degrees, and earliest rows, of row r at r % size
  std::uint64_t row = 0;
};

}  // namespace

WebGraph::WebGraph(const std::string& path, const WebGraphProperties& properties)
    : file_(path), properties_(properties), gamma_(reader_of(BitCode::gamma)) {
  for (std::size_t field = 0; field < fields_.size(); ++field)
    fields_[field] = reader_of(properties.codes[field]);
  if (properties.vertices > file_.bytes() * 8)  // a code has at least one bit
    file_.fail(file_.bytes(), fmt::format("the file is too short for {} vertices, which {} says it has",
                                          properties.vertices, properties.path));
}

const BitCodeReader* WebGraph::reader_of(BitCode code) {
  auto& reader = readers_[code];
  if (!reader) reader = std::make_unique<const BitCodeReader>(code, properties_.parameter);
  return reader.get();
}

/// A receiver that puts the parts of a row into memory.
struct WebGraphRows::Take {
  WebGraphRows& rows;
  Row& into;
  const PlainId* other = nullptr;
  PlainId* out = nullptr;

  void begin(std::uint64_t degree) {
    if (into.targets.size() < degree) into.targets.resize(degree);
    into.count = degree;
    into.copied = into.intervals = 0;
    into.sorted = false;
    out = into.targets.data();
  }
  std::uint64_t refer(std::uint64_t row) {
    const Row& found = rows.sorted_row(row);
    other = found.targets.data();
    return found.count;
  }
  void copy(std::uint64_t first, std::uint64_t count) {
    out = std::copy_n(other + first, count, out);
    into.copied += count;
  }
  void interval(std::uint64_t first, std::uint64_t count) {
    std::iota(out, out + count, static_cast<PlainId>(first));
    out += count;
    into.intervals += count;
  }
  void residual(std::uint64_t target) { *out++ = static_cast<PlainId>(target); }
};

WebGraphRows::WebGraphRows(const WebGraph& graph)
    : graph_(graph), bits_(graph.file()), window_(graph.properties().window + 1) {}

void WebGraphRows::start(const RowStart& start, std::span<const std::uint32_t> lengths) {
  first_ = next_ = start.row;
  bits_.at = start.bit;
  before_.clear();  // the rows may be large
  before_.resize(lengths.size());
  before_bits_.resize(lengths.size());
  std::uint64_t bit = start.bit;
  for (std::size_t i = lengths.size(); i-- > 0;) before_bits_[i] = bit -= lengths[i];
}

std::span<const PlainId> WebGraphRows::next() {
  Row& row = window_[next_ % window_.size()];
  read(next_++, bits_, row);
  return row.all();
}

void WebGraphRows::read(std::uint64_t row, BitStream& bits, Row& into) {
  Take take{*this, into};
  RowParser<Take>(graph_, bits, row, take);
}

/// Returns a row before the one that is read, within the window or the rows kept before the start.
const WebGraphRows::Row& WebGraphRows::sorted_row(std::uint64_t row) {
  if (row >= first_) {
    Row& found = window_[row % window_.size()];
    sort(found);
    return found;
  }
  const std::uint64_t back = first_ - row;
  if (back > before_.size())
    bits_.fail(fmt::format("vertex {}: more rows copy from one another than the maxrefcount={} of {} allows",
                           row, graph_.properties().chain, graph_.properties().path));
  const std::size_t place = before_.size() - back;
  Row& found = before_[place];
  if (!found.known) {
    BitStream bits = bits_;
    bits.at = before_bits_[place];
    read(row, bits, found);
    found.known = true;
  }
  sort(found);
  return found;
}

/// Merges the three parts of a row.
void WebGraphRows::sort(Row& row) {
  if (std::exchange(row.sorted, true)) return;
  const std::uint64_t residuals = row.copied + row.intervals;
  if (row.copied == row.count || row.intervals == row.count || residuals == 0) return;
  if (merged_.size() < row.count) merged_.resize(row.targets.size());
  const auto merge = [&](std::uint64_t middle, std::uint64_t end) {
    const PlainId* const targets = row.targets.data();
    if (middle == 0 || middle == end || targets[middle - 1] < targets[middle]) return;
    std::merge(targets, targets + middle, targets + middle, targets + end, merged_.data());
    std::copy(targets + end, targets + row.count, merged_.data() + end);
    std::swap(merged_, row.targets);
  };
  merge(row.copied, residuals);
  merge(residuals, row.count);
}

RowStarts starts_by_pass(const WebGraph& graph, const RowShare& share, const Progress& progress) {
  const WebGraphProperties& properties = graph.properties();
  StartList list(graph, share, properties.edges);
  BitStream bits(graph.file());
  PassedRows passed(properties.window);
  std::uint64_t edges = 0, released = 0;
  for (std::uint64_t row = 0; row < properties.vertices; ++row) {
    passed.row = row;
    const std::uint64_t begin = bits.at;
    if (list.is_due(row)) {
      const std::uint64_t earliest = passed.leads_back_to();
      if (row - earliest <= kMostBefore) list.add(row, begin, earliest, edges);
    }
    RowParser<PassedRows>(graph, bits, row, passed);
    list.took(row, bits.at - begin);
    list.sample(row, edges, edges + passed.degree());
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
  const MappedFile file(path);
  BitStream bits(file);
  const BitCodeReader& gap = graph.field(WebGraphProperties::offsets);
  const std::uint64_t end = BitStream(graph.file()).end();
  StartList list(graph, share, end);
  std::uint64_t bit = 0;
  for (std::uint64_t row = 0;; ++row) {
    const std::uint64_t length = gap.read(bits);
    if (length > end - bit)
      bits.fail(
          fmt::format("by these offsets row {} begins behind the end of {}: that file is cut off, or this "
                      "one is of another graph, and can be left out",
                      row, graph.file().path()));
    if (row > 0) list.took(row - 1, length);
    if (row > 0) list.sample(row - 1, bit, bit + length);
    bit += length;
    if (row == properties.vertices) break;
    if (list.is_due(row)) list.add(row, bit, row - std::min(row, leads_back), bit);
    if (progress && row % kRowsPerNote == kRowsPerNote - 1)
      progress({"finding rows", bits.at / 8, file.bytes(), "bytes"});
  }
  return list.finish(properties.vertices, bit);
}

}  // namespace edgewire::graph
