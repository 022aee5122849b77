#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "shuffle/record.h"
#include "shuffle/run.h"

namespace edgewire::shuffle {

/// Goes through a part of a sorted sequence.
class Cursor {
 public:
  /// Records [first, last) of a sorted buffer.
  Cursor(const RecordShape& shape, const RecordBuffer& buffer, std::uint64_t first, std::uint64_t last);
  /// Records [first, last) of a file of runs, by way of `memory`, which takes one record at least.
  Cursor(const RecordShape& shape, const RunFile& file, std::uint64_t first, std::uint64_t last,
         std::span<std::byte> memory);

  bool done() const noexcept { return next_ == last_; }
  /// Not when it is done.
  const std::byte* record() const noexcept { return record_; }
  std::uint64_t prefix() const noexcept { return prefix_; }
  /// Throws Error when the file cannot be read.
  void advance();

 private:
  void look();

  RecordShape shape_;
  const RecordBuffer* buffer_ = nullptr;  ///< or a file of runs:
  const RunFile* file_ = nullptr;
  std::span<std::byte> memory_;
  std::uint64_t read_first_ = 0, read_last_ = 0;  ///< records that are in memory
  std::uint64_t next_, last_;
  const std::byte* record_ = nullptr;
  std::uint64_t prefix_ = 0;
};

/// Calls take(record) for all records of the cursors in order.
void merge(const RecordShape& shape, std::vector<Cursor>& cursors,
           const std::function<void(const std::byte*)>& take);

}  // namespace edgewire::shuffle
