#include "graph/input.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <utility>

#include "error.h"
#include "graph/tar.h"

namespace edgewire::graph {

namespace {

constexpr std::uint64_t kPieceBytes = std::uint64_t{512} << 10;
constexpr std::uint64_t kLongestLine = std::uint64_t{64} << 20;

}  // namespace

Input::Input(const std::string& path) : raw_(path) {
  path_ = raw_.name();
  if (raw_.is_file() && !is_compressed(raw_)) {
    const auto bytes = raw_.mapped();
    if (!is_tar({reinterpret_cast<const char*>(bytes.data()), bytes.size()})) return;
  }
  stream_ = plain_bytes(raw_);
  carry_.resize(kTarBlock);
  carry_.resize(stream_->read(carry_.data(), carry_.size()));
  const std::string_view first(carry_.data(), carry_.size());
  if (!is_tar(first)) return;
  auto graph = std::make_unique<TarReader>(std::move(stream_), path_, first);
  path_ += ": " + graph->member();
  carry_.clear();
  stream_ = std::move(graph);
}

std::string_view Input::peek() {
  constexpr std::uint64_t kBytes = std::uint64_t{128} << 10;
  Piece piece;
  fill(piece, kBytes);
  return piece.text;
}

void Input::skip(std::uint64_t count) {
  if (streamed()) carry_.erase(carry_.begin(), carry_.begin() + static_cast<std::ptrdiff_t>(count));
  offset_ += count;
}

/// Makes piece.text the next `wanted` bytes of the plain file, fewer at its end, without moving on.
std::uint64_t Input::fill(Piece& piece, std::uint64_t wanted) {
  piece.offset = offset_;
  if (!streamed()) {
    const std::uint64_t count = std::min(wanted, raw_.mapped().size() - offset_);
    piece.text = {reinterpret_cast<const char*>(raw_.mapped().data()) + offset_, count};
    return count;
  }
  if (carry_.size() < wanted) {
    const std::size_t kept = carry_.size();
    carry_.resize(wanted);
    carry_.resize(kept + stream_->read(carry_.data() + kept, wanted - kept));
  }
  const std::uint64_t count = std::min<std::uint64_t>(wanted, carry_.size());
  piece.text = {carry_.data(), count};
  return count;
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

bool Input::next_lines(Piece& piece) {
  const std::lock_guard lock(mutex_);
  std::uint64_t wanted = kPieceBytes;
  std::uint64_t count = 0;
  for (;; wanted *= 2) {
    const std::uint64_t found = fill(piece, wanted);
    const std::size_t line_end = piece.text.rfind('\n');
    count = found < wanted ? found : line_end + 1;  // 0 when no line ends here
    if (found == 0) return false;
    if (count > 0) break;
    if (wanted >= kLongestLine) fail(offset_, fmt::format("a line is longer than {} bytes", kLongestLine));
  }
  take(piece, count);
  piece.line = line_;
  line_ += static_cast<std::uint64_t>(std::count(piece.text.begin(), piece.text.end(), '\n'));
  return true;
}

bool Input::next_records(Piece& piece, std::uint64_t record_bytes, std::uint64_t end) {
  const std::lock_guard lock(mutex_);
  if (offset_ >= end) return false;
  const std::uint64_t wanted = std::min(kPieceBytes / record_bytes * record_bytes, end - offset_);
  const std::uint64_t count = fill(piece, wanted);
  if (count == 0 && end == kToEnd) return false;
  if (count < wanted && (end != kToEnd || count % record_bytes != 0)) {
    fail(offset_ + count,
         end == kToEnd ? fmt::format("the file ends within a record of {} bytes", record_bytes)
                       : fmt::format("the file ends early; {} bytes are missing", end - offset_ - count));
  }
  take(piece, count);
  return true;
}

void Input::read(void* to, std::uint64_t bytes) {
  char* next = static_cast<char*>(to);
  Piece piece;
  const std::uint64_t end = offset_ + bytes;
  while (next_records(piece, 1, end)) next = std::copy(piece.text.begin(), piece.text.end(), next);
}

void Input::each_piece(int workers, const Progress& progress, const std::function<bool(Piece&)>& next,
                       const std::function<void(int worker, const Piece& piece)>& work) {
  std::atomic<bool> failed = false;  // a hint to stop; the failure itself is guarded by the mutex
  std::mutex mutex;
  std::exception_ptr failure;
  std::uint64_t failed_offset = 0;
  run_workers(workers, [&](int worker) {
    Piece piece;
    std::uint64_t offset = kToEnd;
    try {
      while (!failed.load(std::memory_order_relaxed) && next(piece)) {
        offset = piece.offset;
        work(worker, piece);
        offset = kToEnd;
        if (worker == 0 && progress) progress("reading", piece.file_bytes_used, file_bytes());
      }
    } catch (...) {
      failed.store(true, std::memory_order_relaxed);
      const std::lock_guard lock(mutex);
      if (!failure || offset < failed_offset) {
        failed_offset = offset;
        failure = std::current_exception();
      }
    }
  });
  if (failure) std::rethrow_exception(failure);
}

void Input::fail(std::uint64_t offset, std::string_view what) const {
  throw Error(fmt::format("{}: byte {}: {}", path(), offset, what));
}

void Input::fail_line(const Piece& piece, const char* at, std::string_view what) const {
  const auto index = static_cast<std::uint64_t>(at - piece.text.data());
  const auto line = piece.line + static_cast<std::uint64_t>(std::count(piece.text.data(), at, '\n'));
  throw Error(fmt::format("{}: line {}, byte {}: {}", path(), line, piece.offset + index, what));
}

}  // namespace edgewire::graph
