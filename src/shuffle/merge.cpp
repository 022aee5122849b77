#include "shuffle/merge.h"

#include <algorithm>

namespace edgewire::shuffle {

Cursor::Cursor(const RecordShape& shape, const RecordBuffer& buffer, std::uint64_t first, std::uint64_t last)
    : shape_(shape), buffer_(&buffer), next_(first), last_(last), stop_(last) {
  if (done()) return;
  record_ = buffer.record(next_);
  prefix_ = buffer.prefix(next_);
}

Cursor::Cursor(const RecordShape& shape, const RunFile& file, disk::Queue& queue, std::uint64_t first,
               std::uint64_t last, std::span<std::byte> memory)
    : shape_(shape),
      file_(&file),
      halves_(new std::array<Half, 2>{Half(queue), Half(queue)}),
      started_(first),
      next_(first),
      last_(last) {
  const std::size_t bytes = memory.size() / 2;
  for (std::size_t h = 0; h < 2; ++h) {
    (*halves_)[h].memory = memory.subspan(h * bytes, bytes);
    start((*halves_)[h]);
  }
  if (!done()) take_half();
}

/// A half has room for a record and for the bytes around it up to the next multiples of the alignment.
std::size_t Cursor::least_bytes(const RecordShape& shape) noexcept {
  return 2 * ((shape.bytes + 3 * disk::kAlignment - 1) / disk::kAlignment * disk::kAlignment);
}

/// Reads the next records, as far as they fit.
void Cursor::start(Half& half) {
  const std::uint64_t room = (half.memory.size() - 2 * disk::kAlignment) / shape_.bytes;
  half.first = started_;
  half.last = started_ = std::min(last_, started_ + room);
  if (half.first == half.last) return;
  const std::uint64_t begin = half.first * shape_.bytes / disk::kAlignment;
  const std::uint64_t end = (half.last * shape_.bytes + disk::kAlignment - 1) / disk::kAlignment;
  file_->start_read(half.transfer, half.memory.first((end - begin) * disk::kAlignment),
                    begin * disk::kAlignment);
}

/// Goes on in the other half, and starts to fill the one that is used up.
void Cursor::turn() {
  if (done()) return;
  start((*halves_)[current_]);
  current_ = 1 - current_;
  take_half();
}

void Cursor::take_half() {
  Half& half = (*halves_)[current_];
  file_->end_read(half.transfer);
  stop_ = half.last;
  record_ = &half.memory[half.first * shape_.bytes % disk::kAlignment];
  prefix_ = shape_.prefix(record_);
}

}  // namespace edgewire::shuffle
