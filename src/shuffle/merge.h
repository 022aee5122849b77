#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "disk/queue.h"
#include "shuffle/record.h"
#include "shuffle/run.h"

namespace edgewire::shuffle {

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
