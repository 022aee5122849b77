// The rows of boundary vertices, from their owners, batch by batch: each row comes once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bits.h"
#include "frontier/frontier_job.h"
#include "kernels/lcc/oriented_rows.h"

namespace edgewire::kernels {

/// The rows of boundary vertices. A process asks for the rows of those boundary vertices that occur in rows
/// of owned vertices with two entries or more: else there is nothing to intersect. Rows come in the order of
/// their vertices' numbers, in which owner and receiver agree, so rows need no ids. An entry is the id of its
/// vertex. An owner leaves out its own vertices that the receiver has not asked for.
class BoundaryRows {
 public:
  /// Returns the number of words, as wide as an id, that travel in a batch from and to a process, with its
  /// bookkeeping: at most 4 Mi, but at least one row to each peer.
  static std::uint64_t batch_words(const Graph& graph, int processes);

  /// Asks for rows: a bit for each boundary vertex; and exchanges their lengths. `words`: the result of
  /// batch_words(). Memory: a bit and 4 bytes for each known vertex, 8 bytes for each row that is to come or
  /// go, and two batches. `job` and `rows` outlive it. Collective, while workers rest; throws Error.
  BoundaryRows(frontier::Job& job, OrientedRows& rows, const ForEach& for_each, std::uint64_t words);

  /// Returns the number of batches that are left, the same in all processes.
  std::uint64_t batches_left() const noexcept { return batches_left_; }
  /// Replaces the last batch by the next one. Collective, while workers rest; throws Error.
  void fetch();
  const RowBatch& batch() const noexcept { return batch_; }
  /// Returns the number of entries of the batch's rows, or an upper bound.
  std::uint64_t entries() const noexcept { return in_.words.size(); }

 private:
  struct Row {
    std::uint32_t number, entries;
  };
  /// Rows that go to all peers, or come from them.
  struct Stream {
    /// A row of the batch in work.
    struct BatchRow {
      Row row;
      std::size_t at;  ///< place in words
    };
    explicit Stream(std::uint32_t processes)
        : rows(processes), done(processes), first(processes + std::size_t{1}), begin(first) {}
    /// Returns the number of batches of all rows, none of which has travelled.
    std::uint64_t batches(std::uint64_t words_each, bool directed);
    /// Makes the next batch: as many rows for each peer as fit, or one.
    void cut(std::uint64_t words_each, bool directed);
    std::span<const BatchRow> batch_of(std::uint32_t peer) const noexcept {
      return std::span(batch).subspan(first[peer], first[peer + std::size_t{1}] - first[peer]);
    }
    std::uint64_t length(std::uint32_t peer) const noexcept {
      return begin[peer + std::size_t{1}] - begin[peer];
    }

    std::vector<std::vector<Row>> rows;  ///< rows by number, [peer]
    std::vector<std::size_t> done;       ///< number of rows that have travelled, [peer]
    std::vector<BatchRow> batch;
    std::vector<std::size_t> first;  ///< first rows of the peers in the batch, [peer], and the end
    std::vector<std::size_t> begin;  ///< first words of the peers, [peer], and the end
    std::vector<PlainId> words;
  };

  void ask();
  void tell_lengths();
  template <class Work>
  void for_each_row(std::span<const Stream::BatchRow> batch, const Work& work) const;
  void set_needed_by(std::uint32_t peer);
  void pack(std::uint32_t peer);
  void unpack(std::uint32_t peer);

  frontier::Job& job_;
  OrientedRows& rows_;
  ForEach for_each_;
  bool directed_;
  std::uint64_t words_each_;  ///< number of words of a batch, for each peer
  std::uint64_t batches_left_ = 0;
  std::vector<VertexId> vertices_;  ///< vertices, [number]
  Bits wanted_;                     ///< boundary vertices whose rows are to come, by known number
  std::vector<std::vector<std::uint32_t>> asked_;  ///< numbers of owned vertices that a peer wants, [peer]
  Bits boundary_, needed_;  ///< numbers of boundary vertices, and of entries that the peer in work needs
  Stream out_, in_;
  /// Flags of entries in directed graphs, [place in in_.words, in numbers].
  std::vector<std::uint8_t> both_ways_;
  RowBatch batch_{};
};

}  // namespace edgewire::kernels
