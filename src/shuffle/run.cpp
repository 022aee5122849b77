#include "shuffle/run.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "base/search.h"
#include "options/files.h"

namespace edgewire::shuffle {

namespace {

[[noreturn]] void fail_run(const std::string& folder, int cause) {
  throw Error(fmt::format("{}: cannot write a sorted run: {} ({} names another folder)", folder,
                          reason(cause), opt::temp));
}

}  // namespace

RecordBuffer::RecordBuffer(const RecordShape& shape, std::size_t capacity, int node)
    : shape_(shape),
      in_place_(shape.sorts_in_place()),
      capacity_(capacity),
      records_(capacity * shape.bytes, node, fmt::format("records to sort ({})", opt::sort_memory).c_str()) {
  if (!in_place_) entries_.reserve(capacity);
}

template <std::size_t kBytes>
void RecordBuffer::sort_in_place() {
  using Record = std::array<std::byte, kBytes>;
  const auto prefix = [](const Record& record) {
    std::uint64_t number = 0;
    std::memcpy(&number, record.data(), sizeof number);
    return __builtin_bswap64(number);
  };
  radix_sort(records_.as<Record>().first(size_), prefix, [&](const Record& a, const Record& b) {
    const std::uint64_t first = prefix(a), second = prefix(b);
    if (first != second || kBytes == sizeof first) return first < second;
    return std::memcmp(a.data(), b.data(), kBytes) < 0;
  });
}

void RecordBuffer::sort() {
  if (in_place_) {
    if (shape_.bytes == 8) return sort_in_place<8>();
    if (shape_.bytes == 12) return sort_in_place<12>();
    return shape_.bytes == RecordShape::kPairBytes ? sort_in_place<RecordShape::kPairBytes>()
                                                   : sort_in_place<RecordShape::kWeightedBytes>();
  }
  radix_sort(std::span(entries_), shape_);
}

Cuts RecordBuffer::cuts(const Splitters& splitters, std::uint32_t first, std::uint32_t last) const {
  Cuts cuts{0};
  for (std::uint32_t p = first; p + 1 < last; ++p) {
    const std::byte* const splitter = splitters.splitter(p);
    const auto is_not_before = [&](std::uint64_t at) { return !shape_.less(record(at), splitter); };
    const auto is_behind = [&](std::uint64_t at) { return shape_.less(splitter, record(at)); };
    const std::uint64_t begin = p == first ? 0 : cuts[cuts.size() - 2], end = size_;
    const std::uint64_t place = first_of(begin, end, is_not_before);
    cuts.push_back(place);
    cuts.push_back(first_of(place, end, is_behind));
  }
  cuts.push_back(size_);
  return cuts;
}

void RunFile::add(const std::byte* record) {
  for (std::size_t done = 0; done < shape_.bytes;) {
    const std::size_t some = std::min(shape_.bytes - done, kBlockBytes - filled_);
    std::memcpy(&block()[filled_], record + done, some);
    done += some;
    filled_ += some;
    if (filled_ < kBlockBytes) continue;
    write_block();
    offset_ += kBlockBytes;
    current_ = 1 - current_;
    filled_ = 0;
    wait(transfers_[current_]);
  }
}

void RunFile::wait(disk::Transfer& transfer) const {
  if (const int cause = transfer.wait(); cause != 0) fail_run(folder_, cause);
}

/// Writes the filled part of the block, and on to the next multiple of the alignment. At the end of a run the
/// block stays current: the next run begins within it, and it is written again.
void RunFile::write_block() {
  if (health_.failed()) throw Error(health_.message());
  const std::size_t bytes = (filled_ + disk::kAlignment - 1) / disk::kAlignment * disk::kAlignment;
  transfers_[current_].write(file_.descriptor(), block().first(bytes), offset_);
}

void RunFile::settle() {
  for (auto& transfer : transfers_) wait(transfer);
}

void RunFile::end_read(disk::Transfer& transfer) const {
  if (const int cause = transfer.wait(); cause != 0)
    throw Error(fmt::format("{}: cannot read a sorted run: {}", folder_, reason(cause)));
}

void RunFile::append(const RecordBuffer& buffer, const Cuts& cuts) {
  if (file_.descriptor() < 0) {
    file_ = unnamed_file(folder_);
    if (file_.descriptor() < 0) fail_run(folder_, errno);
    // Runs go through the page cache where the file system cannot bypass it.
    [[maybe_unused]] const bool bypassed = bypass_page_cache(file_);
    blocks_ = topology::NodeMemory(2 * kBlockBytes, -1, "blocks of sorted runs");
  }
  wait(transfers_[current_]);
  for (std::size_t i = 0; i < buffer.size(); ++i) add(buffer.record(i));
  write_block();
  for (auto& place : runs_.emplace_back(cuts)) place += end_;
  end_ += buffer.size();
}

void RunFile::merge_first(std::size_t count, std::span<std::byte> memory) {
  const std::size_t chunk = Cursor::bytes_of_each(memory.size(), count);
  settle();
  std::deque<Cursor> cursors;
  Cuts merged(runs_.front().size(), end_);
  for (std::size_t r = 0; r < count; ++r) {
    const Cuts& run = runs_[r];
    cursors.emplace_back(shape_, *this, transfers_[0].queue(), run.front(), run.back(),
                         memory.subspan(r * chunk, chunk));
    for (std::size_t p = 0; p < run.size(); ++p) merged[p] += run[p] - run.front();
  }
  merge(shape_, cursors, [&](const std::byte* record) { add(record); });
  write_block();
  settle();
  for (const Cuts& run : std::span(runs_).first(count)) {  // room that cannot be given back stays to the end
    const auto bytes = static_cast<off_t>((run.back() - run.front()) * shape_.bytes);
    [[maybe_unused]] const int done =
        fallocate(file_.descriptor(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  static_cast<off_t>(run.front() * shape_.bytes), bytes);
  }
  end_ = merged.back();
  runs_.erase(runs_.begin(), runs_.begin() + static_cast<std::ptrdiff_t>(count));
  runs_.push_back(std::move(merged));
}

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
