// Sorted runs, and the buffer that they come from.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/rooms.h"
#include "disk/file.h"
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

/// The sorted runs of one worker, one behind the other in a file without a name, which is written past the
/// page cache. The file goes with the process, whatever ends it. Members throw Error that names the folder,
/// or says that the job has failed.
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
  disk::File file_;
  topology::NodeMemory blocks_;
  std::array<disk::Transfer, 2> transfers_;
  std::size_t current_ = 0, filled_ = 0;  ///< number of the block that is being filled, and its filled bytes
  std::uint64_t offset_ = 0;              ///< place of that block in the file
  std::vector<Cuts> runs_;
  std::uint64_t end_ = 0;  ///< number of records
};

}  // namespace edgewire::shuffle
