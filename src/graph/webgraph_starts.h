// Where the rows of a graph of WebGraph begin: by its .offsets file, or by a pass over the graph.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/progress.h"
#include "graph/webgraph_rows.h"

namespace edgewire::graph {

/// Starts at about equal numbers of rows, 65536 at most, each with the lengths of as many rows before it as
/// its rows may lead back to by copying.
struct RowStarts {
  std::vector<RowStart> starts;        ///< of this reader
  std::vector<std::uint32_t> lengths;  ///< in bits
  std::vector<std::uint64_t> sources;  ///< a sample, as EdgeSink::start() takes it; may be empty

  std::span<const std::uint32_t> lengths_before(const RowStart& start) const noexcept {
    return std::span(lengths).subspan(start.lengths_end - start.before, start.before);
  }
};

/// Whose starts are wanted: each of `size` readers has consecutive rows with as many edges, or bits, as
/// others.
struct RowShare {
  int rank = 0, size = 1;
  bool sample = false;  ///< fill RowStarts::sources
};

/// By the .offsets file beside; none where there is no such file, or rows may lead back far. Throws Error
/// where it does not fit the graph.
std::optional<RowStarts> starts_by_offsets(const WebGraph& graph, const RowShare& share,
                                           const Progress& progress);
/// By a pass over the graph, which takes about as long as to read it, and checks all of it. Where rows lead
/// back far, starts are few. Throws Error.
RowStarts starts_by_pass(const WebGraph& graph, const RowShare& share, const Progress& progress);

}  // namespace edgewire::graph
