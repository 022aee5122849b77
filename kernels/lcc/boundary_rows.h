// The rows of boundary vertices, from their owners, batch by batch: each row comes once.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/bits.h"
#include "base/error.h"
#include "frontier/frontier_job.h"
#include "frontier/known_values.h"
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
  static std::uint64_t batch_words(const Graph& graph, int processes) {
    constexpr std::uint64_t kLeast = 1 << 18, kMost = 1 << 22;
    return std::clamp(graph.edges() / 4 / static_cast<std::uint64_t>(processes), kLeast, kMost);
  }

  /// Asks for rows: a bit for each boundary vertex; and exchanges their lengths. `words`: the result of
  /// batch_words(). Memory: a bit and 4 bytes for each known vertex, 8 bytes for each row that is to come or
  /// go, and two batches. `job` and `rows` outlive it. Collective, while workers rest; throws Error.
  BoundaryRows(frontier::Job& job, OrientedRows& rows, const ForEach& for_each, std::uint64_t words)
      : job_(job),
        rows_(rows),
        for_each_(for_each),
        directed_(!job.graph().symmetric()),
        words_each_(words / (static_cast<std::uint64_t>(job.bootstrap().size()) - 1)),
        vertices_(rows.known()),
        wanted_(rows.known()),
        asked_(static_cast<std::size_t>(job.bootstrap().size())),
        boundary_(rows.known()),
        needed_(rows.known()),
        out_(static_cast<std::uint32_t>(job.bootstrap().size())),
        in_(static_cast<std::uint32_t>(job.bootstrap().size())) {
    for_each_piece(for_each_, rows_.known(), kOwnRowsAtOnce,
                   [&](int, std::uint32_t first, std::uint32_t last) {
                     for (std::uint32_t number = first; number < last; ++number) {
                       vertices_[number] = rows_.boundary().vertex(rows_.known_of(number));
                       if (!rows_.owns(number)) boundary_.set(number);
                       if (rows_.row(number).size() < 2) continue;
                       for (const std::uint32_t entry : rows_.row(number)) wanted_.set(rows_.known_of(entry));
                     }
                   });
    ask();
    tell_lengths();
    const std::uint64_t batches =
        std::max(out_.batches(words_each_, directed_), in_.batches(words_each_, directed_));
    for (const std::uint64_t of_one : job_.records().allgather(std::array{batches}))
      batches_left_ = std::max(batches_left_, of_one);
  }

  /// Returns the number of batches that are left, the same in all processes.
  std::uint64_t batches_left() const noexcept { return batches_left_; }
  /// Replaces the last batch by the next one. Collective, while workers rest; throws Error.
  void fetch() {
    for (const auto& one : in_.batch) rows_.lend(one.row.number, {});
    --batches_left_;
    out_.cut(words_each_, directed_);
    in_.cut(words_each_, directed_);
    out_.words.resize(out_.begin.back());
    in_.words.resize(in_.begin.back());
    if (directed_) both_ways_.resize(kNumbersAWord * in_.words.size());
    for (std::uint32_t peer = 0; peer < asked_.size(); ++peer) pack(peer);
    job_.pool().run([&](int lane) {
      frontier::exchange_lists(
          job_, lane, [&](std::uint32_t peer) { return out_.length(peer); },
          [&](std::uint32_t peer) { return in_.length(peer); },
          [&](std::uint32_t peer, std::uint64_t i) { return out_.words[out_.begin[peer] + i]; },
          [&](std::uint32_t peer, std::uint64_t i, PlainId word) { in_.words[in_.begin[peer] + i] = word; });
    });
    rows_.lend_from(reinterpret_cast<const std::uint32_t*>(in_.words.data()), both_ways_.data());
    for (std::uint32_t peer = 0; peer < asked_.size(); ++peer) unpack(peer);
    batch_ = {rows_.known(), 0, false};
    for (const auto& one : in_.batch) {
      batch_.first = std::min(batch_.first, one.row.number);
      batch_.last = std::max(batch_.last, one.row.number + 1);
    }
  }
  const RowBatch& batch() const noexcept { return batch_; }
  /// Returns the number of entries of the batch's rows, or an upper bound.
  std::uint64_t entries() const noexcept { return in_.words.size(); }

 private:
  // Number of rows that a worker takes.
  static constexpr std::uint64_t kOwnRowsAtOnce = 1 << 12, kBatchRowsAtOnce = 64;
  /// The number of numbers of 32 bits in a word.
  static constexpr std::size_t kNumbersAWord = kIds64 ? 2 : 1;
  /// Returns the words of a row that travels: whole records, so that batches do not change what is sent.
  static std::size_t words_of_row(std::size_t entries, bool directed) {
    return (entries + (directed ? frontier::values_of_bits(entries) : 0) + 1) / 2 * 2;
  }
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
    std::uint64_t batches(std::uint64_t words_each, bool directed) {
      std::uint64_t count = 0;
      for (cut(words_each, directed); !batch.empty(); cut(words_each, directed)) ++count;
      std::ranges::fill(done, std::size_t{0});
      return count;
    }
    /// Makes the next batch: as many rows for each peer as fit, or one.
    void cut(std::uint64_t words_each, bool directed) {
      constexpr std::uint64_t kWordsOfBatchRow = sizeof(BatchRow) / sizeof(PlainId);
      batch.clear();
      std::size_t at = 0;
      for (std::size_t peer = 0; peer < rows.size(); ++peer) {
        first[peer] = batch.size();
        begin[peer] = at;
        std::uint64_t words_left = words_each;
        for (; done[peer] < rows[peer].size(); ++done[peer]) {
          const Row row = rows[peer][done[peer]];
          const std::size_t length = words_of_row(row.entries, directed);
          const std::uint64_t taken = std::min(words_left, length + kWordsOfBatchRow);
          if (taken == words_left && batch.size() > first[peer]) break;
          words_left -= taken;
          batch.push_back({row, at});
          at += length;
        }
      }
      first.back() = batch.size();
      begin.back() = at;
    }
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

  void ask() {
    const frontier::Boundary& boundary = rows_.boundary();
    std::vector<std::vector<std::uint32_t>> bits(asked_.size());  // bits, [peer]
    for (std::uint32_t peer = 0; peer < asked_.size(); ++peer)
      bits[peer].resize(peer == job_.rank() ? 0 : frontier::values_of_bits(boundary.known_by(peer).size()));
    job_.pool().run([&](int lane) {
      frontier::exchange_lists(
          job_, lane, [&](std::uint32_t peer) { return frontier::values_of_bits(boundary.count(peer)); },
          [&](std::uint32_t peer) { return frontier::values_of_bits(boundary.known_by(peer).size()); },
          [&](std::uint32_t peer, std::uint64_t index) {
            return frontier::value_of_bits(index, boundary.count(peer), [&](std::uint64_t i) {
              return wanted_.test(boundary.first(peer) + i);
            });
          },
          [&](std::uint32_t peer, std::uint64_t index, std::uint32_t some) { bits[peer][index] = some; });
    });
    for (std::uint32_t peer = 0; peer < asked_.size(); ++peer) {
      if (peer == job_.rank()) continue;
      const auto known = boundary.known_by(peer);
      for (std::size_t i = 0; i < known.size(); ++i)
        if ((bits[peer][i / frontier::kBitsAValue] >> i % frontier::kBitsAValue & 1) != 0)
          asked_[peer].push_back(rows_.number_of(KnownNumber(known[i])));
    }
  }
  void tell_lengths() {
    std::vector<std::vector<std::uint32_t>> lengths(asked_.size());
    for (std::uint32_t peer = 0; peer < asked_.size(); ++peer) {
      if (peer == job_.rank()) continue;
      set_needed_by(peer);
      const auto& asked = asked_[peer];
      lengths[peer].resize(asked.size());
      for_each_piece(for_each_, asked.size(), kBatchRowsAtOnce,
                     [&](int, std::uint32_t first, std::uint32_t last) {
                       for (std::uint32_t i = first; i < last; ++i)
                         for (const std::uint32_t entry : rows_.row(asked[i]))
                           lengths[peer][i] += needed_.test(entry) ? 1 : 0;
                     });
      for (std::size_t i = 0; i < asked.size(); ++i)
        if (lengths[peer][i] > 0) out_.rows[peer].push_back({asked[i], lengths[peer][i]});
      for (std::uint32_t known = rows_.boundary().first(peer); known < rows_.boundary().first(peer + 1);
           ++known)
        if (wanted_.test(known)) in_.rows[peer].push_back({rows_.number_of(KnownNumber(known)), 0});
    }
    job_.pool().run([&](int lane) {
      frontier::exchange_lists(
          job_, lane, [&](std::uint32_t peer) { return lengths[peer].size(); },
          [&](std::uint32_t peer) { return in_.rows[peer].size(); },
          [&](std::uint32_t peer, std::uint64_t i) { return lengths[peer][i]; },
          [&](std::uint32_t peer, std::uint64_t i, std::uint32_t length) {
            in_.rows[peer][i].entries = length;
          });
    });
    for (std::uint32_t peer = 0; peer < asked_.size(); ++peer) {
      std::erase_if(in_.rows[peer], [](Row row) { return row.entries == 0; });
      for (const Row row : in_.rows[peer])
        if (row.entries >= job_.graph().vertices())
          throw Error("a process has a row of more vertices than there are");
      std::ranges::sort(out_.rows[peer], {}, &Row::number);
      std::ranges::sort(in_.rows[peer], {}, &Row::number);
    }
  }
  template <class Work>
  void for_each_row(std::span<const Stream::BatchRow> batch, const Work& work) const {
    for_each_piece(for_each_, batch.size(), kBatchRowsAtOnce,
                   [&](int, std::uint32_t first, std::uint32_t last) {
                     for (const auto& one : batch.subspan(first, last - first)) work(one);
                   });
  }
  /// Marks the entries that a peer needs. An entry of another process may be in a row there.
  void set_needed_by(std::uint32_t peer) {
    for (std::size_t w = 0; w < needed_.words(); ++w) needed_.set_word(w, boundary_.word(w));
    needed_.add_all(asked_[peer]);
  }
  void pack(std::uint32_t peer) {
    if (out_.batch_of(peer).empty()) return;
    set_needed_by(peer);
    for_each_row(out_.batch_of(peer), [&](const Stream::BatchRow& one) {
      const auto row = rows_.row(one.row.number);
      PlainId* const words = &out_.words[one.at];
      std::fill(words, words + words_of_row(one.row.entries, directed_), PlainId{0});
      std::size_t kept = 0;
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (!needed_.test(row[i])) continue;
        if (directed_)
          words[one.row.entries + kept / frontier::kBitsAValue] |= PlainId{rows_.both_ways(one.row.number)[i]}
                                                                   << kept % frontier::kBitsAValue;
        words[kept++] = vertices_[row[i]];
      }
    });
  }
  /// Leaves out vertices that this process does not know. The others are in order. Their numbers take the
  /// place of the words, which are as wide as numbers or wider, so none is overwritten unread.
  void unpack(std::uint32_t peer) {
    const frontier::Boundary& boundary = rows_.boundary();
    const std::uint64_t vertices = job_.graph().vertices();
    boundary.visit([&](const auto& known) {
      for_each_row(in_.batch_of(peer), [&](const Stream::BatchRow& one) {
        auto* const words = reinterpret_cast<std::byte*>(&in_.words[one.at]);
        auto* const numbers = reinterpret_cast<std::uint32_t*>(words);
        const auto word = [words](std::size_t i) {
          PlainId value;  // copies the bytes, since the memory gets values of another type
          std::memcpy(&value, words + i * sizeof value, sizeof value);
          return value;
        };
        std::uint32_t length = 0;
        for (std::uint32_t i = 0; i < one.row.entries; ++i) {
          if (word(i) >= vertices) throw Error("a process has sent a row with a vertex that does not exist");
          const Home home = known.home(VertexId(word(i)));
          if (!boundary.knows(home)) continue;
          const std::uint32_t number = rows_.number_of(known.number(home));
          if (number >= one.row.number || (length > 0 && number <= numbers[length - 1]))
            throw Error("a process has sent a row in another order than that of degrees");
          if (directed_)
            both_ways_[kNumbersAWord * one.at + length] =
                word(one.row.entries + i / frontier::kBitsAValue) >> i % frontier::kBitsAValue & 1;
          numbers[length++] = number;
        }
        rows_.lend(one.row.number, {numbers, length});
      });
    });
  }

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
