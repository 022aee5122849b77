#include "disk/segment_reader.h"

#include <algorithm>
#include <utility>

#include "base/checksum.h"

namespace edgewire::disk {

namespace {

constexpr std::size_t kMostReads = 64;  // reads under way, or read ahead

/// Returns the memory for at least two of the largest segments, so that one is read while another is used; at
/// most the memory for all of them twice.
std::size_t needed(std::size_t bytes, const std::vector<Segment>& order) {
  std::size_t all = 0, largest = 0;
  for (const auto& segment : order) {
    all += segment.padded_bytes();
    largest = std::max(largest, segment.padded_bytes());
  }
  return std::max(std::min(bytes, 2 * all), 2 * largest);
}

}  // namespace

SegmentReader::SegmentReader(const SegmentFiles& files, std::vector<Segment> order, std::size_t memory_bytes)
    : files_(files), order_(std::move(order)), memory_(needed(memory_bytes, order_), queue_) {
  queue_.register_files(files.descriptors());
}

SegmentReader::Item SegmentReader::next() {
  if (in_use_) {
    reads_.pop_front();
    memory_.give_back();
  }
  in_use_ = false;
  fill();
  Read& read = reads_.front();
  const Segment& segment = order_[read.number];
  if (const int error = read.transfer.wait(); error != 0)
    files_.fail(segment, files_.cause_of(segment, error));
  in_use_ = true;
  const std::span<const std::byte> bytes(read.memory, segment.bytes);
  if (checksum(bytes.data(), bytes.size()) != segment.checksum) files_.fail(segment, SegmentFiles::kDamaged);
  files_.count_read(segment);
  return {read.number, bytes};
}

void SegmentReader::fill() {
  const Queue::Batch batch(queue_);
  const std::size_t most = std::clamp<std::size_t>(order_.size(), 2, kMostReads);
  while (reads_.size() < most) {
    const Segment& segment = order_[next_];
    const std::size_t bytes = segment.padded_bytes();
    std::byte* const memory = memory_.take(bytes);
    if (memory == nullptr) return;
    Read& read = reads_.emplace_back(queue_);
    read.memory = memory;
    read.number = next_;
    read.transfer.read(files_.descriptor(segment.file), {memory, bytes}, segment.offset);
    next_ = (next_ + 1) % order_.size();
  }
}

}  // namespace edgewire::disk
