#include "shuffle/merge.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace edgewire::shuffle {

Cursor::Cursor(const RecordShape& shape, const RecordBuffer& buffer, std::uint64_t first, std::uint64_t last)
    : shape_(shape), buffer_(&buffer), next_(first), last_(last) {
  look();
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
  if (!done()) file_->end_read((*halves_)[0].transfer);
  look();
}

/// A half has room for a record and for what lies around it up to the next multiples of the alignment.
std::size_t Cursor::least_bytes(const RecordShape& shape) noexcept {
  return 2 * ((shape.bytes + 3 * disk::kAlignment - 1) / disk::kAlignment * disk::kAlignment);
}

/// Reads the records that come next, as far as they fit.
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

void Cursor::advance() {
  ++next_;
  if (file_ != nullptr && next_ == (*halves_)[current_].last && !done()) {
    start((*halves_)[current_]);
    current_ = 1 - current_;
    file_->end_read((*halves_)[current_].transfer);
  }
  look();
}

void Cursor::look() {
  if (done()) return;
  if (buffer_ != nullptr) {
    record_ = buffer_->record(next_);
    prefix_ = buffer_->prefix(next_);
    return;
  }
  const Half& half = (*halves_)[current_];
  record_ = &half.memory[half.first * shape_.bytes % disk::kAlignment + (next_ - half.first) * shape_.bytes];
  prefix_ = shape_.prefix(record_);
}

/// A heap of cursors, the one with the least record on top (Knuth, TAOCP volume 3, 5.2.3 and 5.4.1).
void merge(const RecordShape& shape, std::deque<Cursor>& cursors,
           const std::function<void(const std::byte*)>& take) {
  std::vector<Cursor*> heap;
  for (Cursor& cursor : cursors)
    if (!cursor.done()) heap.push_back(&cursor);
  const auto less = [&](const Cursor* a, const Cursor* b) {
    return a->prefix() != b->prefix() ? a->prefix() < b->prefix()
                                      : shape.less_behind_prefix(a->record(), b->record());
  };
  std::ranges::sort(heap, less);
  while (!heap.empty()) {
    take(heap.front()->record());
    heap.front()->advance();
    if (heap.front()->done()) {
      std::swap(heap.front(), heap.back());
      heap.pop_back();
    }
    for (std::size_t at = 0;;) {
      std::size_t least = at;
      for (const std::size_t child : {2 * at + 1, 2 * at + 2})
        if (child < heap.size() && less(heap[child], heap[least])) least = child;
      if (least == at) break;
      std::swap(heap[at], heap[least]);
      at = least;
    }
  }
}

}  // namespace edgewire::shuffle
