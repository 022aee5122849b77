#include "graph/read/input.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

#include "base/error.h"
#include "base/mapped_file.h"

namespace edgewire::graph {

namespace {

constexpr std::uint64_t kPieceBytes = std::uint64_t{512} << 10;
constexpr std::uint64_t kLongestLine = std::uint64_t{64} << 20;
constexpr std::size_t kCarryRoom = std::size_t{4} << 10;  // usual lines are shorter

}  // namespace

std::uint64_t column_of(std::string_view before) {
  before.remove_prefix(before.rfind('\n') + 1);     // npos + 1 is 0
  constexpr unsigned kMask = 0xC0, kWithin = 0x80;  // bytes of a character of UTF-8 behind its first one
  const auto begins = [](unsigned char c) { return (c & kMask) != kWithin; };
  return 1 + static_cast<std::uint64_t>(std::ranges::count_if(before, begins));
}

Input::Input(const std::string& path) : raw_(path) {
  path_ = raw_.name();
  if (raw_.is_file() && !is_compressed(raw_)) {
    const auto bytes = raw_.mapped();
    if (!is_tar({reinterpret_cast<const char*>(bytes.data()), bytes.size()})) return;
  }
  parts_ = PartReader::of(raw_);
  if (!parts_) stream_ = plain_bytes(raw_);
  carry(kTarBlock);
  if (!is_tar({carry_.data(), carry_.size()})) return;
  if (std::exchange(parts_, std::nullopt)) {
    raw_.restart();
    stream_ = plain_bytes(raw_);
    carry_.clear();
    carry(kTarBlock);
  }
  const std::vector<char> first = std::exchange(carry_, {});
  auto graph =
      std::make_unique<TarReader>(std::move(stream_), path_, std::string_view(first.data(), first.size()));
  path_ += ": " + graph->member();
  stream_ = std::move(graph);
}

std::string_view Input::peek() {
  Piece piece;
  fill(piece, kPeekBytes);
  return piece.text;
}

void Input::skip(std::uint64_t count) {
  if (streamed()) carry_.erase(carry_.begin(), carry_.begin() + static_cast<std::ptrdiff_t>(count));
  offset_ += count;
}

/// Makes piece.text the next `wanted` bytes of the plain file, fewer at its end, without moving on.
std::uint64_t Input::fill(Piece& piece, std::uint64_t wanted) {
  piece.offset = offset_;
  if (offset_ >= share_end_) {
    piece.text = {};
    return 0;
  }
  if (!streamed()) {
    const std::uint64_t end = std::min<std::uint64_t>(raw_.mapped().size(), share_end_);
    const std::uint64_t count = std::min(wanted, end - offset_);
    piece.text = {reinterpret_cast<const char*>(raw_.mapped().data()) + offset_, count};
    return count;
  }
  carry(wanted);
  const std::uint64_t count = std::min<std::uint64_t>(wanted, carry_.size());
  piece.text = {carry_.data(), count};
  return count;
}

/// Carries `wanted` bytes, or more where they come in parts; fewer only at the end.
void Input::carry(std::uint64_t wanted) {
  while (parts_ && !stream_ && carry_.size() < wanted) {
    const std::vector<PackedPart> parts = parts_->take(1);
    if (parts.empty()) stream_ = parts_->others();
    if (parts.empty()) break;
    const std::size_t kept = carry_.size();
    carry_.resize(kept + PartReader::plain_bytes(parts) + 1);
    parts_->unpack(parts, carry_.data() + kept);
    carry_.pop_back();
  }
  if (!stream_ || carry_.size() >= wanted) return;
  const std::size_t kept = carry_.size();
  std::size_t count = 0;
  carry_.resize(wanted);
  try {
    count = stream_->read(carry_.data() + kept, wanted - kept);
  } catch (...) {
    share_end_ = offset_;  // workers that come later get no piece
    throw;
  }
  carry_.resize(kept + count);
}

/// Moves on by the first `count` bytes of piece.text, which the piece owns from now on.
void Input::take(Piece& piece, std::uint64_t count) {
  if (streamed()) {
    const auto cut = carry_.begin() + static_cast<std::ptrdiff_t>(count);
    std::vector<char> rest(cut, carry_.end());
    piece.storage = std::exchange(carry_, std::move(rest));
    piece.text = {piece.storage.data(), piece.storage.size()};
  }
  piece.text = piece.text.substr(0, count);
  offset_ += count;
  piece.file_bytes_used = streamed() ? raw_.used() : offset_;
}

void Input::take_share(int rank, int size, std::uint64_t record_bytes, std::uint64_t end, int owner) {
  if (size == 1) return;
  if (streamed()) {
    if (rank != owner) share_end_ = offset_;
    return;
  }
  const std::uint64_t begin = offset_;
  end = std::min<std::uint64_t>(end, raw_.mapped().size());
  const std::string_view all(reinterpret_cast<const char*>(raw_.mapped().data()), end);
  const auto boundary = [&](int reader) {
    const auto part = static_cast<std::uint64_t>(reader), parts = static_cast<std::uint64_t>(size);
    if (part == 0 || part == parts) return part == 0 ? begin : end;
    if (record_bytes > 0) return begin + (end - begin) / record_bytes * part / parts * record_bytes;
    const std::size_t at = begin + (end - begin) / parts * part;
    return std::min<std::uint64_t>(all.find('\n', at), end - 1) + 1;
  };
  if (begin >= end) return;
  offset_ = boundary(rank);
  share_end_ = boundary(rank + 1);
}

void Input::sample(std::uint64_t record_bytes, const std::function<void(const Piece&)>& take) {
  constexpr std::uint64_t kPlaces = 256, kBytes = 4096;
  const auto take_whole = [&](std::string_view text) {
    Piece piece;
    const std::size_t end = text.rfind('\n');
    piece.text = text.substr(0, record_bytes > 0   ? text.size() / record_bytes * record_bytes
                                : end == text.npos ? 0
                                                   : end + 1);
    try {
      take(piece);
    } catch (const Error&) {  // the reader of these bytes meets the error again
    }
  };
  if (streamed()) return take_whole(peek());
  const auto bytes = raw_.mapped().subspan(offset_);
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  raw_.expect_scattered_reads(true);
  const std::uint64_t places = std::clamp<std::uint64_t>(all.size() / kBytes, 1, kPlaces);
  for (std::uint64_t place = 0; place < places; ++place) {
    std::uint64_t at = all.size() / places * place;
    if (record_bytes > 0)
      at = at / record_bytes * record_bytes;
    else if (place > 0)
      at = std::min(all.find('\n', at), all.size() - 1) + 1;
    take_whole(all.substr(at, kBytes));
    raw_.release(offset_, offset_ + bytes.size());  // the kernel may have mapped much around the place
  }
  raw_.expect_scattered_reads(false);
}

/// Unpacks the parts into the piece, behind room for the carried bytes.
void Input::unpack(std::span<const PackedPart> parts, Piece& piece, std::size_t plain, std::uint64_t turn) {
  try {
    if (piece.storage.size() < kCarryRoom + plain + 1) piece.storage.resize(kCarryRoom + plain + 1);
    parts_->unpack(parts, piece.storage.data() + kCarryRoom);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failed_turn_ = std::min(failed_turn_, turn);
    turn_changed_.notify_all();
    throw;
  }
}

/// Gives the next piece of a file in parts. Returns false where there are none: the rest comes from the
/// stream.
bool Input::next_part_lines(Piece& piece, std::unique_lock<std::mutex>& lock) {
  for (;;) {
    const std::vector<PackedPart> parts = parts_->take(kPieceBytes);
    if (parts.empty()) {
      turn_changed_.wait(lock, [&] { return turn_ == turns_ || failed_turn_ != kToEnd; });
      return false;
    }
    const std::uint64_t turn = turns_++, used = raw_.used();
    const std::size_t plain = PartReader::plain_bytes(parts);
    lock.unlock();
    unpack(parts, piece, plain, turn);
    const std::string_view unpacked(piece.storage.data() + kCarryRoom, plain);
    const auto lines = static_cast<std::uint64_t>(std::count(unpacked.begin(), unpacked.end(), '\n'));
    lock.lock();
    turn_changed_.wait(lock, [&] { return turn_ == turn || failed_turn_ < turn; });
    if (failed_turn_ < turn) return false;
    const std::size_t whole = unpacked.rfind('\n') + 1;  // 0 when no line ends here
    const std::string behind(unpacked.substr(whole));
    if (whole > 0) hand_out(piece, whole, lines);
    carry_.insert(carry_.end(), behind.begin(), behind.end());
    piece.file_bytes_used = used;
    ++turn_;
    turn_changed_.notify_all();
    if (whole > 0) return true;
    if (carry_.size() >= kLongestLine) refuse_long_line();
  }
}

/// Makes the carried bytes, and the first `whole` unpacked bytes, the text of the piece.
void Input::hand_out(Piece& piece, std::size_t whole, std::uint64_t lines) {
  piece.offset = offset_;
  piece.line = line_;
  line_ += lines + static_cast<std::uint64_t>(std::count(carry_.begin(), carry_.end(), '\n'));
  offset_ += carry_.size() + whole;
  if (carry_.size() <= kCarryRoom) {
    char* const begin = piece.storage.data() + kCarryRoom - carry_.size();
    std::copy(carry_.begin(), carry_.end(), begin);
    piece.text = {begin, carry_.size() + whole};
  } else {
    piece.storage.insert(piece.storage.begin() + static_cast<std::ptrdiff_t>(kCarryRoom), carry_.begin(),
                         carry_.end());
    piece.text = {piece.storage.data() + kCarryRoom, carry_.size() + whole};
  }
  carry_.clear();
}

bool Input::next_lines(Piece& piece) {
  std::unique_lock lock(mutex_);
  if (parts_ && !stream_ && offset_ < share_end_) {
    if (next_part_lines(piece, lock)) return true;
    if (failed_turn_ != kToEnd) return false;
  }
  std::uint64_t wanted = kPieceBytes, count = 0;
  for (;; wanted *= 2) {
    const std::uint64_t found = fill(piece, wanted);
    const std::size_t line_end = piece.text.rfind('\n');
    count = found < wanted ? found : line_end + 1;  // 0 when no line ends here
    if (found == 0) return false;
    if (count > 0) break;
    if (wanted >= kLongestLine) refuse_long_line();
  }
  take(piece, count);
  if (!streamed()) return true;
  piece.line = line_;
  line_ += static_cast<std::uint64_t>(std::count(piece.text.begin(), piece.text.end(), '\n'));
  return true;
}

bool Input::next_records(Piece& piece, std::uint64_t record_bytes, std::uint64_t end) {
  const std::lock_guard lock(mutex_);
  if (offset_ >= std::min(end, share_end_)) return false;
  if (end != kToEnd) end = std::min(end, share_end_);
  const std::uint64_t wanted = std::min(kPieceBytes / record_bytes * record_bytes, end - offset_);
  const std::uint64_t count = fill(piece, wanted);
  if (count == 0 && end == kToEnd) return false;
  if (count < wanted && (end != kToEnd || count % record_bytes != 0))
    fail(offset_ + count,
         end == kToEnd ? fmt::format("the file ends within a record of {} bytes", record_bytes)
                       : fmt::format("the file ends early; {} bytes are missing", end - offset_ - count));
  take(piece, count);
  return true;
}

void Input::read(void* to, std::uint64_t bytes) {
  char* next = static_cast<char*>(to);
  Piece piece;
  const std::uint64_t end = offset_ + bytes;
  while (next_records(piece, 1, end)) next = std::copy(piece.text.begin(), piece.text.end(), next);
}

void Input::each_piece(std::span<Input* const> inputs, int workers, const Progress& progress,
                       const std::function<bool(Input&, Piece&)>& next,
                       const std::function<void(Input&, int worker, const Piece& piece)>& work) {
  std::atomic<bool> failed = false;  // a hint to stop; the failure itself is guarded by the mutex
  std::mutex mutex;
  std::exception_ptr failure;
  std::pair<std::size_t, std::uint64_t> failed_place;
  std::atomic<std::uint64_t> used{0};  // bytes for the progress alone
  std::uint64_t bytes = 0;
  for (const Input* input : inputs) bytes += input->file_bytes();
  run_workers(workers, [&](int worker) {
    Piece piece;
    std::pair<std::size_t, std::uint64_t> place;
    try {
      for (std::size_t turn = 0; turn < inputs.size(); ++turn) {
        const std::size_t one = (static_cast<std::size_t>(worker) + turn) % inputs.size();
        Input& input = *inputs[one];
        place = {one, kToEnd};
        std::uint64_t before = 0;
        while (!failed.load(std::memory_order_relaxed) && next(input, piece)) {
          place.second = piece.offset;
          work(input, worker, piece);
          place.second = kToEnd;
          if (!input.streamed()) input.raw_.release(piece.offset, piece.offset + piece.text.size());
          if (inputs.size() > 1)
            used.fetch_add(piece.file_bytes_used - std::exchange(before, piece.file_bytes_used),
                           std::memory_order_relaxed);
          if (worker == 0 && progress)
            progress({"reading",
                      inputs.size() > 1 ? std::min(bytes, used.load(std::memory_order_relaxed))
                                        : piece.file_bytes_used,
                      bytes, "bytes"});
        }
      }
    } catch (...) {
      failed.store(true, std::memory_order_relaxed);
      const std::lock_guard lock(mutex);
      if (!failure || place < failed_place) {
        failed_place = place;
        failure = std::current_exception();
      }
    }
  });
  if (failure) std::rethrow_exception(failure);
}

void Input::fail(std::uint64_t offset, std::string_view what) const {
  refuse_changed_files();  // a change may be the cause
  throw Error(fmt::format("{}: byte {}: {}", path(), offset, what));
}

void Input::fail(std::string_view what) const {
  refuse_changed_files();
  throw Error(fmt::format("{}: {}", path(), what));
}

void Input::refuse_long_line() const {
  fail(fmt::format("line {}: it is longer than {} bytes", streamed() ? line_ : line_at(offset_),
                   kLongestLine));
}

std::uint64_t Input::line_at(std::uint64_t offset) const {
  const auto before = raw_.mapped().first(offset);
  return 1 + static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n'));
}

std::uint64_t Input::line_of(const Piece& piece, const char* at) const {
  const auto index = static_cast<std::uint64_t>(at - piece.text.data());
  if (!streamed()) return line_at(piece.offset + index);
  const std::string_view before = piece.text.substr(0, index);
  return piece.line + static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n'));
}

void Input::fail_line(const Piece& piece, const char* at, std::string_view what) const {
  const auto before = piece.text.substr(0, static_cast<std::size_t>(at - piece.text.data()));
  fail(fmt::format("line {}, column {}: {}", line_of(piece, at), column_of(before), what));
}

}  // namespace edgewire::graph
