#include "graph/read/decompress.h"

#include <fmt/core.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <new>
#include <utility>

#include <unistd.h>

#include "base/error.h"
#include "base/units.h"
#include "base/vector_registers.h"

#ifdef EDGEWIRE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif
#ifdef EDGEWIRE_LZMA
#include <lzma.h>
#endif
#ifdef EDGEWIRE_BZIP2
#include <bzlib.h>
#endif

namespace edgewire::graph {

namespace {

constexpr std::size_t kBufferBytes = 64 << 10;  // bytes of the buffer of standard input

class PlainReader final : public ByteStream {
 public:
  explicit PlainReader(RawBytes& raw) : raw_(raw) {}

  std::size_t read(char* to, std::size_t room) override {
    std::size_t made = 0;
    while (made < room) {
      const auto in = raw_.peek();
      if (in.empty()) break;
      const std::size_t count = std::min(in.size(), room - made);
      std::memcpy(to + made, in.data(), count);
      raw_.use(count);
      made += count;
    }
    return made;
  }

 private:
  RawBytes& raw_;
};

/// Reads compressed data: one member (gzip), frame (Zstandard) or stream (xz, bzip2) after the other.
class Decoder : public ByteStream {
 public:
  Decoder(RawBytes& raw, const char* format) : raw_(raw), format_(format) {}

  std::size_t read(char* to, std::size_t room) final {
    std::size_t made = 0;
    while (made < room && !ended_) {
      const auto in = raw_.peek();
      const Step step = with_clean_registers([&] { return decode(in, to + made, room - made); });
      raw_.use(step.used);
      made += step.made;
      if (step.member_ended) {
        end_member();
        if (!ended_) restart();
      } else if (in.empty() && step.made == 0) {
        raw_.fail(raw_.used(), fmt::format("the {} data is cut short", format_));
      }
    }
    return made;
  }

  /// Ends a member, which has been read up to its end.
  void end_member() {
    if (may_be_padded()) skip_zeros();
    ended_ = raw_.peek().empty();
  }

 protected:
  struct Step {
    std::size_t used = 0, made = 0;
    bool member_ended = false;
  };
  /// Decodes `in`, which is empty at the end of the file, and writes up to `room` bytes.
  virtual Step decode(std::span<const std::uint8_t> in, char* to, std::size_t room) = 0;
  virtual void restart() {}
  /// Returns whether zeros may follow a member, as on tapes and block devices.
  virtual bool may_be_padded() const { return false; }

  [[noreturn]] void refuse(std::size_t used, std::string_view what) const {
    raw_.fail(raw_.used() + used, fmt::format("the {} data {}", format_, what));
  }
  [[noreturn, maybe_unused]] void damaged(std::size_t used, const char* why) const {
    refuse(used, fmt::format("is damaged ({})", why));
  }

 private:
  void skip_zeros() {
    for (auto in = raw_.peek(); !in.empty() && in[0] == 0; in = raw_.peek())
      raw_.use(static_cast<std::size_t>(std::ranges::find_if(in, [](auto byte) { return byte != 0; }) -
                                        in.begin()));
  }

  RawBytes& raw_;
  const char* format_;
  bool ended_ = false;
};

[[maybe_unused]] unsigned limited(std::size_t bytes) {
  return static_cast<unsigned>(std::min<std::size_t>(bytes, std::numeric_limits<unsigned>::max()));
}

/// Reads gzip members, as RFC 1952 describes them.
class GzipReader final : public Decoder {
 public:
  explicit GzipReader(RawBytes& raw) : Decoder(raw, "gzip"), state_(new inflate_state) { restart(); }

 private:
  Step decode(std::span<const std::uint8_t> in, char* to, std::size_t room) override {
    // The library would wait for a whole header.
    if (!in.empty() && std::exchange(at_header_, false) &&
        (in[0] != 0x1F || (in.size() > 1 && in[1] != 0x8B)))
      damaged(0, "incorrect header check");
    state_->next_in = const_cast<std::uint8_t*>(in.data());
    state_->avail_in = limited(in.size());
    state_->next_out = reinterpret_cast<std::uint8_t*>(to);
    state_->avail_out = limited(room);
    const int result = isal_inflate(state_.get());
    const Step step = {in.empty() ? 0 : static_cast<std::size_t>(state_->next_in - in.data()),
                       static_cast<std::size_t>(reinterpret_cast<char*>(state_->next_out) - to),
                       state_->block_state == ISAL_BLOCK_FINISH};
    if (result < 0) damaged(step.used, inflate_fault(result));
    return step;
  }
  void restart() override {
    isal_inflate_init(state_.get());
    state_->crc_flag = ISAL_GZIP;
    at_header_ = true;
  }
  bool may_be_padded() const override { return true; }

  std::unique_ptr<inflate_state> state_;
  bool at_header_ = true;
};

#ifdef EDGEWIRE_ZSTD
/// Reads Zstandard frames, as RFC 8878 describes them.
class ZstdReader final : public Decoder {
 public:
  explicit ZstdReader(RawBytes& raw) : Decoder(raw, "Zstandard"), stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
    // The limit also allows the output of `zstd --long`; the window is the memory that a file makes us take.
    constexpr int kWindowBits = 30;
    ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, kWindowBits);
  }
  ~ZstdReader() override { ZSTD_freeDStream(stream_); }

 private:
  Step decode(std::span<const std::uint8_t> from, char* to, std::size_t room) override {
    ZSTD_outBuffer out = {to, room, 0};
    ZSTD_inBuffer in = {from.data(), from.size(), 0};
    const std::size_t result = ZSTD_decompressStream(stream_, &out, &in);
    if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
      refuse(in.pos, "needs more memory for unpacking than there is");
    if (ZSTD_isError(result) != 0) damaged(in.pos, ZSTD_getErrorName(result));
    return {in.pos, out.pos, result == 0};
  }

  ZSTD_DStream* stream_;
};
#endif

#ifdef EDGEWIRE_LZMA
/// Reads the .xz file format 1.1.0. Its decoder takes several streams, and their padding, by itself.
class XzReader final : public Decoder {
 public:
  explicit XzReader(RawBytes& raw) : Decoder(raw, "xz") {
    constexpr std::uint64_t kMemory = std::uint64_t{2} << 30;  // most memory that a file may need
    if (lzma_stream_decoder(&stream_, kMemory, LZMA_CONCATENATED) != LZMA_OK) throw std::bad_alloc();
  }
  ~XzReader() override { lzma_end(&stream_); }

 private:
  Step decode(std::span<const std::uint8_t> in, char* to, std::size_t room) override {
    stream_.next_in = in.data();
    stream_.avail_in = in.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(to);
    stream_.avail_out = room;
    const lzma_ret result = lzma_code(&stream_, in.empty() ? LZMA_FINISH : LZMA_RUN);
    const Step step = {in.size() - stream_.avail_in, room - stream_.avail_out, result == LZMA_STREAM_END};
    if (result == LZMA_MEM_ERROR || result == LZMA_MEMLIMIT_ERROR)
      refuse(step.used,
             fmt::format("needs {} of memory for unpacking, and {}", readable_bytes(lzma_memusage(&stream_)),
                         result == LZMA_MEM_ERROR ? "there is less" : "it may take at most 2 GB"));
    if (result != LZMA_OK && result != LZMA_STREAM_END && result != LZMA_BUF_ERROR)
      damaged(step.used, result == LZMA_OPTIONS_ERROR ? "unknown options" : "incorrect data check");
    return step;
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
};
#endif

#ifdef EDGEWIRE_BZIP2
class Bzip2Reader final : public Decoder {
 public:
  explicit Bzip2Reader(RawBytes& raw) : Decoder(raw, "bzip2") { restart(); }
  ~Bzip2Reader() override { BZ2_bzDecompressEnd(&stream_); }

 private:
  Step decode(std::span<const std::uint8_t> in, char* to, std::size_t room) override {
    const unsigned have = limited(in.size());
    const unsigned free = limited(room);
    stream_.next_in = reinterpret_cast<char*>(const_cast<std::uint8_t*>(in.data()));
    stream_.avail_in = have;
    stream_.next_out = to;
    stream_.avail_out = free;
    const int result = BZ2_bzDecompress(&stream_);
    const Step step = {have - stream_.avail_in, free - stream_.avail_out, result == BZ_STREAM_END};
    if (result == BZ_MEM_ERROR) throw std::bad_alloc();
    if (result != BZ_OK && result != BZ_STREAM_END) damaged(step.used, "incorrect data check");
    return step;
  }
  void restart() override {
    BZ2_bzDecompressEnd(&stream_);
    stream_ = {};
    if (BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) throw std::bad_alloc();
  }

  bz_stream stream_{};
};
#endif

enum class Packing { none, gzip, zstandard, xz, bzip2 };

bool begins_with(std::span<const std::uint8_t> bytes, std::initializer_list<std::uint8_t> magic) {
  return bytes.size() >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin());
}

/// Returns whether these are the first bytes of a gzip member (RFC 1952, section 2.3.1) as programs write it.
/// The magic number alone is also the first of two small ids. A file that is cut short within its header has
/// only the first of these bytes.
bool is_gzip_header(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t kMethod = 2, kFlags = 3, kExtraFlags = 8, kSystem = 9;
  constexpr std::uint8_t kDeflate = 8, kReserved = 0xE0, kSlowest = 2, kFastest = 4, kLastSystem = 13,
                         kUnknown = 255;
  const auto byte = [&](std::size_t place, std::uint8_t usual) {
    return place < bytes.size() ? bytes[place] : usual;
  };
  const std::uint8_t extra = byte(kExtraFlags, 0), system = byte(kSystem, 0);
  return byte(kMethod, kDeflate) == kDeflate && (byte(kFlags, 0) & kReserved) == 0 &&
         (extra == 0 || extra == kSlowest || extra == kFastest) &&
         (system <= kLastSystem || system == kUnknown);
}

/// Returns whether a Zstandard frame with data begins here, or follows a small one that is skipped.
bool is_zstandard_data(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t kHeaderBytes = 8;
  if (!is_zstandard(bytes)) return false;
  if (bytes[0] >> 4 != 5) return true;
  std::uint32_t skipped = 0;
  if (bytes.size() < kHeaderBytes) return false;
  std::memcpy(&skipped, &bytes[4], sizeof skipped);
  return bytes.size() - kHeaderBytes > skipped && is_zstandard(bytes.subspan(kHeaderBytes + skipped));
}

/// Returns whether these bytes, behind the header, begin a block of bzip2 or its end of a stream.
bool is_bzip2_block(std::span<const std::uint8_t> bytes) {
  constexpr std::array<std::uint8_t, 6> kBlock = {0x31, 0x41, 0x59, 0x26, 0x53, 0x59};
  constexpr std::array<std::uint8_t, 6> kEnd = {0x17, 0x72, 0x45, 0x38, 0x50, 0x90};
  bytes = bytes.first(std::min(bytes.size(), kBlock.size()));  // fewer bytes where the file is cut short
  return std::equal(bytes.begin(), bytes.end(), kBlock.begin()) ||
         std::equal(bytes.begin(), bytes.end(), kEnd.begin());
}

/// Returns how the bytes are packed. Pairs of ids, which have no magic number, may begin with one of these:
/// where the name does not say that the file is packed, more than the magic number must be right.
Packing packing_of(std::span<const std::uint8_t> first, std::string_view name) {
  const auto named = [&](std::string_view ending) { return name.ends_with(ending); };
  if (begins_with(first, {0x1F, 0x8B}) && (named(".gz") || is_gzip_header(first))) return Packing::gzip;
  if (named(".zst") ? is_zstandard(first) : is_zstandard_data(first)) return Packing::zstandard;
  if (begins_with(first, {0xFD, '7', 'z', 'X', 'Z', 0})) return Packing::xz;
  if (begins_with(first, {'B', 'Z', 'h'}) && first.size() > 3 && first[3] >= '1' && first[3] <= '9' &&
      (named(".bz2") || is_bzip2_block(first.subspan(4))))
    return Packing::bzip2;
  return Packing::none;
}

Packing packing_of(RawBytes& raw) {
  constexpr std::size_t kEnough = 4096;
  return packing_of(raw.peek(kEnough), raw.name());
}

}  // namespace

bool is_zstandard(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < 4) return false;
  const bool frame = bytes[0] == 0x28 && bytes[1] == 0xB5 && bytes[2] == 0x2F && bytes[3] == 0xFD;
  const bool skipped = bytes[0] >> 4 == 5 && bytes[1] == 0x2A && bytes[2] == 0x4D && bytes[3] == 0x18;
  return frame || skipped;
}

bool begins_as_packed(std::string_view text) {
  return packing_of({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "") != Packing::none;
}

bool is_compressed(RawBytes& raw) { return packing_of(raw) != Packing::none; }

std::unique_ptr<ByteStream> more_members(RawBytes& raw, bool gzip) {
  std::unique_ptr<Decoder> members;
  if (gzip) members = std::make_unique<GzipReader>(raw);
#ifdef EDGEWIRE_ZSTD
  if (!gzip) members = std::make_unique<ZstdReader>(raw);
#endif
  members->end_member();
  return members;
}

std::unique_ptr<ByteStream> plain_bytes(RawBytes& raw) {
  const Packing packing = packing_of(raw);
  if (packing == Packing::none) return std::make_unique<PlainReader>(raw);
  if (packing == Packing::gzip) return std::make_unique<GzipReader>(raw);
#ifdef EDGEWIRE_ZSTD
  if (packing == Packing::zstandard) return std::make_unique<ZstdReader>(raw);
#endif
#ifdef EDGEWIRE_LZMA
  if (packing == Packing::xz) return std::make_unique<XzReader>(raw);
#endif
#ifdef EDGEWIRE_BZIP2
  if (packing == Packing::bzip2) return std::make_unique<Bzip2Reader>(raw);
#endif
  const auto [format, library] = packing == Packing::zstandard ? std::pair("Zstandard", "libzstd")
                                 : packing == Packing::xz      ? std::pair("xz", "liblzma")
                                                               : std::pair("bzip2", "libbz2");
  throw Error(fmt::format("{}: cannot read {} files: this program was built without {}", raw.name(), format,
                          library));
}

RawBytes::RawBytes(const std::string& path) : name_(path == "-" ? "stdin" : path) {
  if (path != "-") file_.emplace(path);
}

std::span<const std::uint8_t> RawBytes::mapped() const noexcept {
  return file_ ? std::span(file_->data(), file_->bytes()) : std::span<const std::uint8_t>();
}

std::span<const std::uint8_t> RawBytes::peek(std::size_t least) {
  if (file_) return mapped().subspan(used_);
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(used_ - buffer_offset_));
  buffer_offset_ = used_;
  least = std::min(least, kBufferBytes);
  while (buffer_.size() < least) {
    const std::size_t kept = buffer_.size();
    buffer_.resize(kBufferBytes);
    const ssize_t got = ::read(STDIN_FILENO, buffer_.data() + kept, kBufferBytes - kept);
    const int cause = errno;
    buffer_.resize(kept + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && cause == EINTR) continue;
    if (got < 0) throw Error(fmt::format("{}: cannot read: {}", name_, reason(cause)));
    if (got == 0) break;
  }
  return buffer_;
}

void RawBytes::fail(std::uint64_t offset, std::string_view what) const {
  refuse_changed_files();
  throw Error(fmt::format("{}: byte {}: {}", name_, offset, what));
}

}  // namespace edgewire::graph
