// Sorted runs, and the buffer that they come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "shuffle/record.h"
#include "shuffle/record_input.h"
#include "shuffle/splitters.h"
#include "topology/memory.h"
#include "transport/health.h"

namespace edgewire::shuffle {

/// Records in memory, up to a number. Of one worker.
class RecordBuffer {
 public:
  RecordBuffer(const RecordShape& shape, std::size_t capacity, int node);

  bool full() const noexcept { return entries_.size() == capacity_; }
  std::size_t size() const noexcept { return entries_.size(); }
  /// `record`: shape.bytes of it are copied. Not when it is full.
  void add(const std::byte* record, std::uint64_t prefix) {
    std::byte* const to = records_.as<std::byte>().data() + entries_.size() * shape_.bytes;
    std::memcpy(to, record, shape_.bytes);
    entries_.push_back({prefix, to});
  }
  void sort();
  void clear() noexcept { entries_.clear(); }
  /// After sort(): the record at this place, and its prefix.
  const std::byte* record(std::size_t place) const noexcept { return entries_[place].record; }
  std::uint64_t prefix(std::size_t place) const noexcept { return entries_[place].prefix; }
  /// After sort(): for each of the partitions [first, last) where it begins, and the end.
  std::vector<std::uint64_t> begins(const Splitters& splitters, std::uint32_t first,
                                    std::uint32_t last) const;

  /// Bytes of memory that a record takes here.
  static std::size_t bytes_a_record(const RecordShape& shape) noexcept { return shape.bytes + sizeof(Entry); }

 private:
  struct Entry {
    std::uint64_t prefix;
    const std::byte* record;
  };
  RecordShape shape_;
  std::size_t capacity_;
  topology::NodeMemory records_;
  std::vector<Entry> entries_;
};

/// Gathers records, and hands them on whenever its memory is full.
class Block {
 public:
  /// Takes the bytes, and where they begin in what is written.
  using Write = std::function<void(std::span<const std::byte>, std::uint64_t)>;
  /// `memory` takes one record at least, and outlives this.
  Block(std::span<std::byte> memory, std::size_t record_bytes, std::uint64_t offset, Write write)
      : memory_(memory.first(memory.size() / record_bytes * record_bytes)),
        record_bytes_(record_bytes),
        offset_(offset),
        write_(std::move(write)) {}
  void add(const std::byte* record) {
    std::memcpy(&memory_[filled_], record, record_bytes_);
    filled_ += record_bytes_;
    if (filled_ == memory_.size()) flush();
  }
  void flush() {
    write_(memory_.first(filled_), offset_);
    offset_ += filled_;
    filled_ = 0;
  }

 private:
  std::span<std::byte> memory_;
  std::size_t record_bytes_, filled_ = 0;
  std::uint64_t offset_;
  Write write_;
};

/// The sorted runs of one worker, one behind the other in a file without a name. The file goes with the
/// process, whatever ends it. Members throw Error that names the folder, or says that the job has failed.
class RunFile {
 public:
  /// Where the partitions of a run begin in the file, and where the run ends: counted in records.
  using Run = std::vector<std::uint64_t>;

  /// The file is made with the first run. `health` outlives this.
  RunFile(const RecordShape& shape, std::string folder, const transport::Health& health)
      : shape_(shape), folder_(std::move(folder)), health_(&health) {}

  const std::vector<Run>& runs() const noexcept { return runs_; }
  /// Of all runs that were ever written.
  std::uint64_t bytes_written() const noexcept { return end_ * shape_.bytes; }
  /// Appends the sorted buffer as a run, by way of `block`. `begins`: of the buffer.
  void append(const RecordBuffer& buffer, const std::vector<std::uint64_t>& begins,
              std::span<std::byte> block);
  /// Merges the first `count` runs to one, which is then the last one, and gives their room back. Reads them
  /// by way of `memory`, a record for each of them at least.
  void merge_first(std::size_t count, std::span<std::byte> memory, std::span<std::byte> block);
  /// Reads records from `first` on.
  void read(std::uint64_t first, std::uint64_t count, std::byte* to) const;

 private:
  Block writer(std::span<std::byte> block);
  RecordShape shape_;
  std::string folder_;
  const transport::Health* health_;
  File file_;
  std::vector<Run> runs_;
  std::uint64_t end_ = 0;  ///< records
};

}  // namespace edgewire::shuffle
