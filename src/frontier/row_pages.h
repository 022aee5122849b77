// The rows of a process on disks, for graphs bigger than memory. The codes of all rows lie one behind the
// other, short rows first: a search that is nearly done follows only these, and so reads few pages. The pages
// of this stream are dealt to a file on each device:
//
//   GRAPH.rows-RANK-of-PROCESSES-disk-D    the pages, in stripes of 64 KiB: see disk/segment_file.h
//   GRAPH.rows-RANK-of-PROCESSES           where rows are, the checksums of pages, and the boundary vertices:
//                                          see base/array_file.h
//
// Files of weighted kernels have "weighted-rows" in their names; there the weights follow the code of a row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "disk/memory_budget.h"
#include "disk/segment_file.h"
#include "edgewire/graph.h"
#include "frontier/boundary.h"
#include "partition/owned_rows.h"
#include "partition/ownership.h"
#include "topology/worker_pool.h"

namespace edgewire::frontier {

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kStripePages = 16;

/// The place of rows on disks.
struct RowDisks {
  std::vector<std::string> devices{};  ///< folders, one on each device; empty: rows are in memory
  std::uint64_t memory_bytes = 0;      ///< bytes of memory of a process, see disk::MemoryBudget; 0: ample
  bool weighted = false;               ///< whether rows come with their weights
  disk::VertexBytes kernel{};          ///< bytes that the kernel keeps of a vertex

  /// Returns the memory that is left beside these vertices. They take what the kernel keeps of them, and what
  /// the job keeps: for owned ones 12 bytes of the index and 8 of the mapped graph, for others their place in
  /// the boundary. Throws Error where their memory does not suffice.
  disk::MemoryBudget budget(const disk::VertexCounts& vertices) const {
    constexpr std::uint64_t kPlaces = 20, kOfBlocks = 1;
    constexpr std::uint64_t kBoundary = Boundary::kVertexBytes + Boundary::kToldBytes + kOfBlocks;
    return {memory_bytes, {kernel.owned + kPlaces, kernel.other + kBoundary}, vertices};
  }
};

/// The figures of the weights of a process's edges.
struct WeightFigures {
  double sum = 0;
  double least = 0;  ///< least weight, or 0, if none is less
};

/// Returns whether a row is short. Short rows come first; both kinds are in the order of vertices.
constexpr bool is_short_row(std::uint64_t degree) noexcept { return degree <= 16; }

struct RowIndex {
  std::vector<std::uint64_t> begins;     ///< starts of rows in bytes of the stream, [local]
  std::vector<std::uint32_t> lengths;    ///< lengths of rows in bytes, [local]
  std::vector<std::uint64_t> checksums;  ///< checksums of pages (XXH3-64), [page]
  WeightFigures weights;                 ///< figures of weights; zeros where rows have none
  std::vector<VertexId> boundary{};      ///< boundary vertices, see boundary_ids()
};

class RowPages {
 public:
  /// Opens the files of process `rank`. Where one is missing or was made of something else, all are written
  /// first, of these rows, which are then checked if they lie in the file. Not collective. All outlive it.
  /// Throws Error with the path.
  RowPages(topology::WorkerPool& pool, partition::OwnedRows rows, const partition::Ownership& ownership,
           int rank, const RowDisks& disks);

  const Graph& graph() const noexcept { return graph_; }
  std::uint64_t degree(VertexId vertex) const noexcept { return rows_.degree(vertex); }
  bool weighted() const noexcept { return weighted_; }
  /// Returns where the row of an owned vertex is in the stream: [begin, end) in bytes; empty without edges.
  std::pair<std::uint64_t, std::uint64_t> range(VertexId vertex) const noexcept {
    const LocalNumber local = ownership_.home(vertex).local;
    return {index_.begins[local], index_.begins[local] + index_.lengths[local]};
  }
  std::uint32_t owned() const noexcept { return ownership_.count(rank_); }
  LocalNumber local(VertexId vertex) const noexcept { return ownership_.home(vertex).local; }
  /// Calls work(local number, begin, bytes) for the rows on a page, in the order in which they lie there:
  /// their places on the page, as far as they are on it.
  template <class Work>
  void each_on(std::uint64_t page, const Work& work) const {
    const std::uint64_t first = page * kPageBytes, last = first + kPageBytes;
    bool short_ones = index_.begins[firsts_[page]] < long_begin_;
    for (LocalNumber local = firsts_[page];; ++local) {
      if (local >= index_.begins.size()) {
        if (!short_ones) return;
        short_ones = false;
        local = LocalNumber{};
      }
      const std::uint64_t at = index_.begins[local];
      if (index_.lengths[local] == 0 || (at < long_begin_) != short_ones) continue;
      if (at >= last) return;
      const std::uint64_t begin = std::max(at, first), end = std::min(at + index_.lengths[local], last);
      if (begin < end)
        work(local, static_cast<std::uint16_t>(begin - first), static_cast<std::uint16_t>(end - begin));
    }
  }
  std::uint64_t bytes() const noexcept { return index_.checksums.size() * kPageBytes; }
  /// Returns the bytes of the longest row.
  std::uint64_t longest() const noexcept { return longest_; }
  /// Returns the place of pages [first, first + count), as far as one piece has them, and their number.
  std::pair<disk::Segment, std::uint64_t> piece(std::uint64_t first, std::uint64_t count) const noexcept;
  std::uint64_t checksum(std::uint64_t page) const noexcept { return index_.checksums[page]; }
  const disk::SegmentFiles& files() const noexcept { return *files_; }
  const WeightFigures& weights() const noexcept { return index_.weights; }
  /// Returns the boundary vertices of these rows, ascending. They are gone afterwards.
  std::vector<VertexId> take_boundary() noexcept { return std::move(index_.boundary); }
  /// Returns the number of bytes that this run has written: 0, or bytes() and the rest of their files.
  std::uint64_t bytes_written() const noexcept { return bytes_written_; }

 private:
  struct Names {
    std::vector<std::string> paths;  ///< paths by device
    std::string key;  ///< text of all that the pages depend on; its checksum is the files' generation
  };
  std::string key() const;
  std::string open(const Names& names);
  void write(const Names& names, const RowDisks& disks, const std::string& why);
  void check();
  void find_firsts();

  topology::WorkerPool& pool_;
  partition::OwnedRows rows_;
  const Graph& graph_;
  const partition::Ownership& ownership_;
  std::uint32_t rank_;
  bool weighted_;
  std::size_t devices_;
  std::string index_path_;
  RowIndex index_;
  std::uint64_t longest_ = 0, bytes_written_ = 0;
  std::uint64_t long_begin_ = 0;     ///< start of the rows that are not short, in bytes of the stream
  std::vector<LocalNumber> firsts_;  ///< vertex of the first row on a page, [page]
  std::optional<disk::SegmentFiles> files_;
};

}  // namespace edgewire::frontier
