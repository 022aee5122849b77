// Sorted runs, the buffer that they come from, and their merge.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/file_calls.h"
#include "base/rooms.h"
#include "disk/queue.h"
#include "edgewire/detail/memory.h"
#include "shuffle/radix_sort.h"
#include "shuffle/record.h"
#include "shuffle/record_input.h"
#include "shuffle/splitters.h"
#include "transport/health.h"

namespace edgewire::shuffle {

/// The places of a process's partitions in a sorted sequence: that of the first record, then for each
/// splitter between two of them those of the first record not before it and of the first one behind it, and
/// the end. Between these two lie the records that are the same as the splitter.
using Cuts = std::vector<std::uint64_t>;

/// A buffer for a number of records. It belongs to one worker.
class RecordBuffer {
 public:
  RecordBuffer(const RecordShape& shape, std::size_t capacity, int node);

  bool full() const noexcept { return size_ == capacity_; }
  std::size_t size() const noexcept { return size_; }
  /// Adds a record. `record`: shape.bytes of it are copied. There must be room for it.
  void add(const std::byte* record, std::uint64_t prefix) {
    std::byte* const to = at(size_);
    std::memcpy(to, record, shape_.bytes);
    if (!in_place_) entries_.push_back({prefix, to});
    ++size_;
  }
  void sort();
  void clear() noexcept {
    entries_.clear();
    size_ = 0;
  }
  /// Returns, after sort(), the record at this place, and its prefix.
  const std::byte* record(std::size_t place) const noexcept {
    return in_place_ ? at(place) : entries_[place].record;
  }
  std::uint64_t prefix(std::size_t place) const noexcept {
    return in_place_ ? shape_.prefix(at(place)) : entries_[place].prefix;
  }
  /// Returns, after sort(), the places of the partitions [first, last).
  Cuts cuts(const Splitters& splitters, std::uint32_t first, std::uint32_t last) const;

  /// Returns the bytes of memory that a record takes here.
  static std::size_t bytes_a_record(const RecordShape& shape) noexcept {
    return shape.bytes + (shape.sorts_in_place() ? 0 : sizeof(RecordRef));
  }

 private:
  template <std::size_t kBytes>
  void sort_in_place();
  std::byte* at(std::size_t place) const noexcept {
    return records_.as<std::byte>().data() + place * shape_.bytes;
  }

  RecordShape shape_;
  bool in_place_;
  std::size_t capacity_, size_ = 0;
  topology::NodeMemory records_;
  std::vector<RecordRef> entries_;  ///< references to the records; none where records are sorted in place
};

/// The sorted runs of one worker in a file without a name, past the page cache. It goes with the process,
/// whatever ends it. Members throw Error that names the folder, or says that the job has failed.
class RunFile {
 public:
  /// The bytes of each of the two blocks by which a run is written.
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

  /// Makes the file with the first run. `queue` and `health` outlive this.
  RunFile(const RecordShape& shape, std::string folder, disk::Queue& queue, const transport::Health& health)
      : shape_(shape),
        folder_(std::move(folder)),
        health_(health),
        transfers_{disk::Transfer(queue), disk::Transfer(queue)} {}

  /// Returns the places of each run in the file, counted in records.
  const std::vector<Cuts>& runs() const noexcept { return runs_; }
  /// Returns the bytes of all runs that were ever written.
  std::uint64_t bytes_written() const noexcept { return end_ * shape_.bytes; }
  /// Appends the sorted buffer as a run. `cuts`: those of the buffer. Its last blocks may still be under way.
  void append(const RecordBuffer& buffer, const Cuts& cuts);
  /// Merges the first `count` runs to one, which is then the last one, and gives their room back. `memory`:
  /// at least Cursor::least_bytes() for each of them, aligned.
  void merge_first(std::size_t count, std::span<std::byte> memory);
  /// Waits until all runs are in the file, before they are read.
  void settle();
  /// Starts to read the bytes; offset and size are aligned.
  void start_read(disk::Transfer& transfer, std::span<std::byte> to, std::uint64_t offset) const noexcept {
    transfer.read(file_.descriptor(), to, offset);
  }
  /// Waits for the end of a read.
  void end_read(disk::Transfer& transfer) const;

 private:
  void add(const std::byte* record);
  void write_block();
  void wait(disk::Transfer& transfer) const;
  std::span<std::byte> block() noexcept {
    return blocks_.as<std::byte>().subspan(current_ * kBlockBytes, kBlockBytes);
  }

  RecordShape shape_;
  std::string folder_;
  const transport::Health& health_;
  OpenFile file_;
  topology::NodeMemory blocks_;
  std::array<disk::Transfer, 2> transfers_;
  std::size_t current_ = 0, filled_ = 0;  ///< number of the block that is being filled, and its filled bytes
  std::uint64_t offset_ = 0;              ///< place of that block in the file
  std::vector<Cuts> runs_;
  std::uint64_t end_ = 0;  ///< number of records
};

/// A cursor in a part of a sorted sequence. It does not move in memory.
class Cursor {
 public:
  /// Makes a cursor for records [first, last) of a sorted buffer.
  Cursor(const RecordShape& shape, const RecordBuffer& buffer, std::uint64_t first, std::uint64_t last);
  /// Makes a cursor for records [first, last) of a file of runs. `memory`: bytes_of_each() of it, aligned.
  /// One half is read while the other is merged.
  Cursor(const RecordShape& shape, const RunFile& file, disk::Queue& queue, std::uint64_t first,
         std::uint64_t last, std::span<std::byte> memory);

  /// Returns the least memory for a part of a file.
  static std::size_t least_bytes(const RecordShape& shape) noexcept;
  /// Returns the share of `memory` that each of `cursors` gets.
  static std::size_t bytes_of_each(std::size_t memory, std::size_t cursors) noexcept {
    return memory / cursors / (2 * disk::kAlignment) * (2 * disk::kAlignment);
  }

  bool done() const noexcept { return next_ == last_; }
  /// Returns the current record. The cursor must not be done.
  const std::byte* record() const noexcept { return record_; }
  std::uint64_t prefix() const noexcept { return prefix_; }
  /// Goes to the next record. Throws Error when the file cannot be read.
  void advance() {
    ++next_;
    if (next_ == stop_) return turn();
    record_ = buffer_ != nullptr ? buffer_->record(next_) : record_ + shape_.bytes;
    prefix_ = shape_.prefix(record_);
  }

 private:
  /// Records [first, last) on their way from the file, or in memory.
  struct Half {
    explicit Half(disk::Queue& queue) : transfer(queue) {}
    std::span<std::byte> memory;
    std::uint64_t first = 0, last = 0;
    disk::Transfer transfer;
  };
  void turn();
  void take_half();
  void start(Half& half);

  RecordShape shape_;
  const RecordBuffer* buffer_ = nullptr;  ///< buffer of the records, or null: then they are in `file_`
  const RunFile* file_ = nullptr;
  std::unique_ptr<std::array<Half, 2>> halves_;
  std::size_t current_ = 0;    ///< index of the half in use
  std::uint64_t started_ = 0;  ///< records before this one are in memory or on their way
  std::uint64_t next_, last_;
  std::uint64_t stop_ = 0;  ///< end of the records in memory from next_ on
  const std::byte* record_ = nullptr;
  std::uint64_t prefix_ = 0;
};

/// Calls take(record) for all records of the cursors in order, by a tree of losers (Knuth, TAOCP 3, 5.4.1).
template <class Take>
void merge(const RecordShape& shape, std::deque<Cursor>& cursors, const Take& take) {
  struct Player {
    std::uint64_t prefix;
    Cursor* cursor;  ///< cursor; null: it is done
  };
  const auto less = [&](const Player& a, const Player& b) {
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    if (a.cursor == nullptr || b.cursor == nullptr) return a.cursor != nullptr;
    return shape.less_behind_prefix(a.cursor->record(), b.cursor->record());
  };
  const auto player = [](Cursor& cursor) {
    return cursor.done() ? Player{~std::uint64_t{0}, nullptr} : Player{cursor.prefix(), &cursor};
  };
  const std::size_t count = cursors.size();
  if (count == 0) return;
  std::vector<Player> winners(2 * count), losers(count);  // players 2i and 2i + 1 meet at i
  std::vector<std::size_t> places(2 * count), lost(count);
  for (std::size_t i = 0; i < count; ++i) {
    winners[count + i] = player(cursors[i]);
    places[count + i] = i;
  }
  for (std::size_t i = count; i-- > 1;) {
    const std::size_t won = less(winners[2 * i + 1], winners[2 * i]) ? 2 * i + 1 : 2 * i;
    winners[i] = winners[won];
    places[i] = places[won];
    losers[i] = winners[won ^ 1];
    lost[i] = places[won ^ 1];
  }
  Player winner = winners[1];
  std::size_t place = places[1];
  while (winner.cursor != nullptr) {
    take(winner.cursor->record());
    winner.cursor->advance();
    winner = player(*winner.cursor);
    for (std::size_t i = (count + place) / 2; i > 0; i /= 2) {
      if (!less(losers[i], winner)) continue;
      std::swap(losers[i], winner);
      std::swap(lost[i], place);
    }
  }
}

}  // namespace edgewire::shuffle
