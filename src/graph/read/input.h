// The bytes of a file that is converted, plain, compressed or in an archive, in pieces for several workers.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/parallel.h"
#include "graph/read/decompress.h"

namespace edgewire::graph {

/// Some consecutive bytes of the plain file. It is valid until its holder takes the next one.
struct Piece {
  std::string_view text;
  std::uint64_t offset = 0;           ///< offset of its first byte in the plain file
  std::uint64_t line = 1;             ///< line of its first byte; only next_lines() keeps it, for streams
  std::uint64_t record = 0;           ///< number of its first record, for the caller of next_lines()
  std::uint64_t file_bytes_used = 0;  ///< bytes of the file itself, maybe compressed, up to the piece's end
  std::vector<char> storage;          ///< memory of text, when the input is streamed
};

/// Returns the column that follows `before`, the text ahead of it: characters of its line, from 1 on.
std::uint64_t column_of(std::string_view before);

/// A file, or standard input, read front to back. Whichever worker asks for the next piece of a compressed
/// file decompresses it, while the others parse theirs; so memory stays bounded by a piece for each worker.
/// Workers decompress files in parts side by side (packed_parts.h). Offsets are those of the plain file.
class Input {
 public:
  static constexpr std::uint64_t kToEnd = ~std::uint64_t{0};  ///< offset that stands for the end

  /// Opens an input. `path` may be "-", standard input. Of a tar archive the graph in it is read (tar.h).
  explicit Input(const std::string& path);

  /// Returns its name for messages.
  const std::string& path() const noexcept { return path_; }
  /// Returns whether the input is compressed, in an archive or from standard input: the plain file's size
  /// shows only at its end. Thread safe: a stream comes later behind parts, so this does not look at it.
  bool streamed() const noexcept { return parts_.has_value() || stream_ != nullptr; }
  std::uint64_t file_bytes() const noexcept { return raw_.mapped().size(); }

  /// Returns the next bytes, up to kPeekBytes; fewer only at the end. They are valid until something is read.
  std::string_view peek();
  static constexpr std::uint64_t kPeekBytes = std::uint64_t{128} << 10;
  /// Moves on; `count` is at most what peek() gave.
  void skip(std::uint64_t count);

  /// Limits the input, from here on, to the share of reader `rank` of `size`: of a plain file as many bytes
  /// as others, cut at line ends, or after whole records where `record_bytes` is not 0; up to `end` of the
  /// plain file. Reader `owner` gets all of a stream.
  void take_share(int rank, int size, std::uint64_t record_bytes = 0, std::uint64_t end = kToEnd,
                  int owner = 0);
  /// Calls take() with whole lines, or records where `record_bytes` is not 0, from all over a plain file, or
  /// the next ones of a stream, without moving on. Errors that it throws are ignored.
  void sample(std::uint64_t record_bytes, const std::function<void(const Piece&)>& take);
  /// Gives the next piece, cut after a line end. It returns false at the end. Thread safe.
  bool next_lines(Piece& piece);
  /// Gives the next piece, cut after a whole record, before offset `end` of the plain file. It returns false
  /// at `end`, and throws Error when the file ends earlier, but for `end` == kToEnd. Thread safe.
  bool next_records(Piece& piece, std::uint64_t record_bytes, std::uint64_t end);
  /// Reads `bytes`. Throws Error when the file ends earlier.
  void read(void* to, std::uint64_t bytes);
  /// Returns the offset of the next byte to be handed out.
  std::uint64_t offset() const noexcept { return offset_; }

  /// Calls work(input, worker, piece) for every piece that `next` yields of the inputs, which workers read
  /// side by side, each beginning with another one. After a failure no more pieces are taken, and the error
  /// of the first piece that has one is thrown: the same one whatever the number of workers.
  static void each_piece(std::span<Input* const> inputs, int workers, const Progress& progress,
                         const std::function<bool(Input&, Piece&)>& next,
                         const std::function<void(Input&, int worker, const Piece& piece)>& work);

  /// Returns the number of the line of `at`, which points into piece.text.
  std::uint64_t line_of(const Piece& piece, const char* at) const;
  /// Returns the number of the line that holds this byte of a plain file. Reads all before it.
  std::uint64_t line_at(std::uint64_t offset) const;

  /// Throws Error: "PATH: byte OFFSET: WHAT", for a file that is no text.
  [[noreturn]] void fail(std::uint64_t offset, std::string_view what) const;
  /// Throws Error: "PATH: WHAT", for the whole file.
  [[noreturn]] void fail(std::string_view what) const;
  /// Throws Error: "PATH: line LINE, column COLUMN: WHAT", see column_of(). `at` points into piece.text.
  [[noreturn]] void fail_line(const Piece& piece, const char* at, std::string_view what) const;

 private:
  std::uint64_t fill(Piece& piece, std::uint64_t wanted);
  void carry(std::uint64_t wanted);
  void take(Piece& piece, std::uint64_t count);
  void hand_out(Piece& piece, std::size_t whole, std::uint64_t lines);
  [[noreturn]] void refuse_long_line() const;
  bool next_part_lines(Piece& piece, std::unique_lock<std::mutex>& lock);
  void unpack(std::span<const PackedPart> parts, Piece& piece, std::size_t plain, std::uint64_t turn);

  std::string path_;
  RawBytes raw_;
  // Neither is there when the mapped file is read as it is.
  std::optional<PartReader> parts_;     // parts with which the file begins
  std::unique_ptr<ByteStream> stream_;  // bytes behind the parts, or all
  std::mutex mutex_;
  std::uint64_t offset_ = 0;
  std::uint64_t share_end_ = kToEnd;  // end of the share, see take_share()
  std::uint64_t line_ = 1;            // next line of a stream
  std::vector<char> carry_;           // bytes of a stream that are not yet handed out
  // These are for a file in parts: workers take parts in turns, and hand out lines in the same order.
  std::uint64_t turns_ = 0;  // number of turns that were taken
  std::uint64_t turn_ = 0;   // number of the turn that hands out lines next
  std::uint64_t failed_turn_ = kToEnd;
  std::condition_variable turn_changed_;
};

}  // namespace edgewire::graph
