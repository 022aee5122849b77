#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>

#include "disk/queue.h"
#include "shuffle/record.h"
#include "shuffle/run.h"

namespace edgewire::shuffle {

/// Goes through a part of a sorted sequence. Stays where it is.
class Cursor {
 public:
  /// Records [first, last) of a sorted buffer.
  Cursor(const RecordShape& shape, const RecordBuffer& buffer, std::uint64_t first, std::uint64_t last);
  /// Records [first, last) of a file of runs, by way of `memory`: bytes_of_each() of it, aligned. One half is
  /// read while the other is merged.
  Cursor(const RecordShape& shape, const RunFile& file, disk::Queue& queue, std::uint64_t first,
         std::uint64_t last, std::span<std::byte> memory);

  /// The least memory for a part of a file.
  static std::size_t least_bytes(const RecordShape& shape) noexcept;
  /// The share of `memory` that each of so many cursors gets.
  static std::size_t bytes_of_each(std::size_t memory, std::size_t cursors) noexcept {
    return memory / cursors / (2 * disk::kAlignment) * (2 * disk::kAlignment);
  }

  bool done() const noexcept { return next_ == last_; }
  /// Not when it is done.
  const std::byte* record() const noexcept { return record_; }
  std::uint64_t prefix() const noexcept { return prefix_; }
  /// Throws Error when the file cannot be read.
  void advance();

 private:
  /// Records [first, last) on their way from the file, or in memory.
  struct Half {
    explicit Half(disk::Queue& queue) : transfer(queue) {}
    std::span<std::byte> memory;
    std::uint64_t first = 0, last = 0;
    disk::Transfer transfer;
  };
  void look();
  void start(Half& half);

  RecordShape shape_;
  const RecordBuffer* buffer_ = nullptr;  ///< or a file of runs:
  const RunFile* file_ = nullptr;
  std::unique_ptr<std::array<Half, 2>> halves_;
  std::size_t current_ = 0;    ///< of the halves
  std::uint64_t started_ = 0;  ///< records before this one are in memory or on their way
  std::uint64_t next_, last_;
  const std::byte* record_ = nullptr;
  std::uint64_t prefix_ = 0;
};

/// Calls take(record) for all records of the cursors in order.
void merge(const RecordShape& shape, std::deque<Cursor>& cursors,
           const std::function<void(const std::byte*)>& take);

}  // namespace edgewire::shuffle
