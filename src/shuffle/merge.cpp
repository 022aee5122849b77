#include "shuffle/merge.h"

#include <algorithm>
#include <utility>

namespace edgewire::shuffle {

Cursor::Cursor(const RecordShape& shape, const RecordBuffer& buffer, std::uint64_t first, std::uint64_t last)
    : shape_(shape), buffer_(&buffer), next_(first), last_(last) {
  look();
}

Cursor::Cursor(const RecordShape& shape, const RunFile& file, std::uint64_t first, std::uint64_t last,
               std::span<std::byte> memory)
    : shape_(shape),
      file_(&file),
      memory_(memory),
      read_first_(first),
      read_last_(first),
      next_(first),
      last_(last) {
  look();
}

void Cursor::advance() {
  ++next_;
  look();
}

void Cursor::look() {
  if (done()) return;
  if (buffer_ != nullptr) {
    record_ = buffer_->record(next_);
    prefix_ = buffer_->prefix(next_);
    return;
  }
  if (next_ == read_last_) {
    read_first_ = next_;
    read_last_ = std::min(last_, next_ + memory_.size() / shape_.bytes);
    file_->read(read_first_, read_last_ - read_first_, memory_.data());
  }
  record_ = &memory_[(next_ - read_first_) * shape_.bytes];
  prefix_ = shape_.prefix(record_);
}

/// A heap of cursors, the one with the least record on top (Knuth, TAOCP volume 3, 5.2.3 and 5.4.1).
void merge(const RecordShape& shape, std::vector<Cursor>& cursors,
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
