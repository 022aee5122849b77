#include "graph/webgraph_rows.h"

#include <numeric>
#include <utility>

#include "base/error.h"

namespace edgewire::graph {

WebGraph::WebGraph(const std::string& path, const WebGraphProperties& properties)
    : file_(path), properties_(properties), gamma_(reader_of(BitCode::gamma)) {
  for (std::size_t field = 0; field < fields_.size(); ++field)
    fields_[field] = reader_of(properties.codes[field]);
  if (properties.vertices > file_.bytes() * 8)  // the shortest code has a bit
    file_.fail(file_.bytes(), fmt::format("the file is too short for {} vertices, which {} says it has",
                                          properties.vertices, properties.path));
}

const BitCodeReader* WebGraph::reader_of(BitCode code) {
  auto& reader = readers_[code];
  if (!reader) reader = std::make_unique<const BitCodeReader>(code, properties_.parameter);
  return reader.get();
}

/// Puts the parts of a row into memory.
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
  before_.clear();  // they may be large
  before_.resize(lengths.size());
  before_bits_.resize(lengths.size());
  std::uint64_t bit = start.bit;
  for (std::size_t i = lengths.size(); i-- > 0;) {
    before_bits_[i] = bit -= lengths[i];
  }
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

/// A row before the one that is read, within the window or what is kept before the start.
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

/// Merges the three parts.
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

}  // namespace edgewire::graph
