#include <fmt/core.h>

#include <atomic>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "graph/file/format.h"
#include "graph/read/readers.h"
#include "graph/read/webgraph_rows.h"

namespace edgewire::graph {

namespace {

/// Checks that only the zeros that fill a word follow the last row.
void check_rows_end(const WebGraph& graph, std::uint64_t rows_end) {
  constexpr std::uint64_t kMostFill = 128;
  BitStream bits(graph.file());
  bits.at = rows_end;
  bool zeros = bits.end() - rows_end < kMostFill;
  for (; zeros && bits.at < bits.end(); bits.at += 32) zeros = bits.peek() >> 32 == 0;
  if (zeros) return;
  bits.at = rows_end;
  bits.fail(fmt::format("the file goes on after its last row: it has more than the nodes={} of {}",
                        graph.properties().vertices, graph.properties().path));
}

/// Rows one after the other, as edges.
class RowEdges {
 public:
  explicit RowEdges(const WebGraph& graph) : graph_(graph), rows_(graph) {}

  void start(const RowStart& start, std::span<const std::uint32_t> lengths) {
    rows_.start(start, lengths);
    start_ = start;
    next_ = start.row;
    released_ = start.bit / 8;
    targets_ = {};
  }

  /// Fills `ids` with sources and targets of the next edges, as many as fit. It returns their number; with 0
  /// there are no more, and the last row ended where it should.
  std::size_t fill(std::span<std::uint64_t> ids) {
    const std::size_t room = ids.size() / 2;
    std::size_t filled = 0;
    for (;;) {
      const std::size_t count = std::min(targets_.size(), room - filled);
      std::uint64_t* to = ids.data() + 2 * filled;
      for (const PlainId target : targets_.first(count)) {
        *to++ = next_ - 1;
        *to++ = target;
      }
      targets_ = targets_.subspan(count);
      filled += count;
      if (filled == room || next_ == start_.end_row) break;
      targets_ = rows_.next();
      ++next_;
    }
    release(filled > 0);
    if (filled == 0) check_end();
    return filled;
  }
  std::uint64_t bit() const noexcept { return rows_.bit(); }

 private:
  /// Releases pages that were read: `later`, once there are enough.
  void release(bool later) noexcept {
    constexpr std::uint64_t kEnough = 256 << 10;
    const std::uint64_t byte = rows_.bit() / 8;
    if (later && byte - released_ < kEnough) return;
    graph_.file().release(released_ / kPageBytes * kPageBytes, byte);
    released_ = byte;
  }

  void check_end() const {
    if (start_.end_bit != 0 && rows_.bit() != start_.end_bit)
      rows_.fail(
          fmt::format("row {} ends here, but at bit {} by {}: one of the two files is damaged, or "
                      "the offsets are of another graph, and can be left out",
                      start_.end_row - 1, start_.end_bit, beside_webgraph(graph_.file().path(), ".offsets")));
    if (start_.end_row == graph_.properties().vertices) check_rows_end(graph_, rows_.bit());
  }

  const WebGraph& graph_;
  WebGraphRows rows_;
  RowStart start_;
  std::uint64_t next_ = 0, released_ = 0;
  std::span<const PlainId> targets_;  ///< targets of row next_ - 1 that are still to come
};

struct WebGraphReader {
  static constexpr std::size_t kBatchIds = 1 << 16;  ///< ids of edges that are handed on at once

  const WebGraph& graph;
  EdgeSink& sink;
  int workers;
  const Progress& progress;
  std::atomic<std::uint64_t> all_edges{0}, all_bits{0};

  /// Reads all rows: each worker those of one start after the other. Returns the number of edges.
  std::uint64_t read(const RowStarts& starts) {
    std::vector<RowEdges> rows;
    rows.reserve(static_cast<std::size_t>(workers));
    for (int worker = 0; worker < workers; ++worker) rows.emplace_back(graph);
    std::vector<std::vector<std::uint64_t>> ids(rows.size());
    parallel_for(workers, starts.starts.size(), [&](int worker, std::uint64_t task) {
      RowEdges& own = rows[static_cast<std::size_t>(worker)];
      std::vector<std::uint64_t>& buffer = ids[static_cast<std::size_t>(worker)];
      buffer.resize(kBatchIds);
      const RowStart& start = starts.starts[task];
      own.start(start, starts.lengths_before(start));
      std::uint64_t bit = start.bit;
      while (const std::size_t edges = own.fill(buffer)) {
        sink.add(worker, std::span(buffer).first(2 * edges), Weights());
        note(worker, edges, own.bit() - bit, own.bit());
        bit = own.bit();
      }
    });
    return all_edges.load(std::memory_order_relaxed);
  }

  /// Reads in turn: a free worker reads the next rows, while the others hand on what they have read.
  std::uint64_t read_in_turn() {
    RowEdges rows(graph);
    RowStart all;
    all.end_row = graph.properties().vertices;
    rows.start(all, {});
    std::mutex mutex;
    bool ended = false;  // guarded by the mutex
    std::vector<std::vector<std::uint64_t>> ids(static_cast<std::size_t>(workers));
    run_workers(workers, [&](int worker) {
      std::vector<std::uint64_t>& buffer = ids[static_cast<std::size_t>(worker)];
      buffer.resize(kBatchIds);
      for (;;) {
        std::size_t edges = 0;
        {
          const std::lock_guard lock(mutex);
          if (std::exchange(ended, true)) return;  // another worker may have met a failure
          const std::uint64_t bit = rows.bit();
          edges = rows.fill(buffer);
          note(worker, edges, rows.bit() - bit, rows.bit());
          ended = edges == 0;
        }
        if (edges == 0) return;
        sink.add(worker, std::span(buffer).first(2 * edges), Weights());
      }
    });
    return all_edges.load(std::memory_order_relaxed);
  }

  void note(int worker, std::uint64_t edges, std::uint64_t bits_read, std::uint64_t bit) {
    const std::uint64_t all = all_edges.fetch_add(edges, std::memory_order_relaxed) + edges;
    if (all > graph.properties().edges)
      graph.file().fail(bit / 8, fmt::format("there are more edges than the arcs={} of {}",
                                             graph.properties().edges, graph.properties().path));
    const std::uint64_t bits = all_bits.fetch_add(bits_read, std::memory_order_relaxed) + bits_read;
    if (worker == 0 && progress) progress({"reading", bits / 8, graph.file().bytes(), "bytes"});
  }
};

/// Returns where this reader's rows begin; none where a single pass over the graph, which reads its rows at
/// once, is faster than one that finds them.
std::optional<RowStarts> starts_for(const WebGraph& graph, const EdgeSink& sink, int workers,
                                    const Progress& progress) {
  const RowShare share{sink.rank(), sink.size(), sink.wants_sample()};
  const bool alone = share.size == 1 && !share.sample;
  if (alone && workers == 1) return std::nullopt;
  auto starts = starts_by_offsets(graph, share, progress);
  if (!starts && !alone) starts = starts_by_pass(graph, share, progress);
  return starts;
}

}  // namespace

BuildSummary read_webgraph(Conversion conversion) {
  const Input& input = conversion.input;
  if (input.streamed())
    throw Error(fmt::format(
        "{}: a graph of WebGraph is mapped, so it must be a plain file, neither compressed nor a pipe",
        input.path()));
  const WebGraph graph(input.path(), read_webgraph_properties(input.path()));
  const WebGraphProperties& properties = graph.properties();
  EdgeSink& sink = conversion.edges;
  BuildOptions& options = conversion.options;
  options.weighted = false;
  const auto starts = starts_for(graph, sink, options.workers, conversion.progress);
  const bool sparse = !options.keep_ids && are_sparse(properties.vertices, properties.edges);
  start(conversion,
        {.numbering = sparse ? GraphShape::Numbering::dense : GraphShape::Numbering::counted,
         .vertices = properties.vertices,
         .expected_edges = properties.edges},
        [&] { return starts->sources; });
  WebGraphReader reader{graph, sink, options.workers, conversion.progress};
  const std::uint64_t found = sink.sum(starts ? reader.read(*starts) : reader.read_in_turn());
  if (found != properties.edges)
    graph.file().fail(graph.file().bytes(), fmt::format("its rows have {} edges, but the arcs={} of {} says "
                                                        "otherwise",
                                                        found, properties.edges, properties.path));
  BuildSummary summary = sink.write(0, conversion.progress);
  summary.compacted = sparse;
  return summary;
}

}  // namespace edgewire::graph
