#include "graph/decompress.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "error.h"

#ifdef EDGEWIRE_ZLIB
#include <zlib.h>
#endif
#ifdef EDGEWIRE_ZSTD
#include <zstd.h>
#endif

namespace edgewire::graph {

namespace {

#ifdef EDGEWIRE_ZLIB
/// One or more gzip members, one after the other (RFC 1952).
class GzipReader final : public Decompressor {
 public:
  explicit GzipReader(const MappedFile& file) : file_(file) {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~GzipReader() override { inflateEnd(&stream_); }

  std::size_t read(char* to, std::size_t room) override {
    std::size_t made = 0;
    while (made < room && !ended_) {
      const std::size_t left = file_.bytes() - used_;
      constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
      stream_.next_in = const_cast<Bytef*>(file_.data() + used_);
      stream_.avail_in = static_cast<uInt>(std::min(left, kMost));
      stream_.next_out = reinterpret_cast<Bytef*>(to + made);
      stream_.avail_out = static_cast<uInt>(std::min(room - made, kMost));
      const int result = inflate(&stream_, Z_NO_FLUSH);
      used_ = static_cast<std::size_t>(stream_.next_in - file_.data());
      made = static_cast<std::size_t>(reinterpret_cast<char*>(stream_.next_out) - to);
      if (result == Z_STREAM_END) {
        ended_ = used_ == file_.bytes();
        if (!ended_) inflateReset(&stream_);
      } else if (result == Z_BUF_ERROR ||
                 (result == Z_OK && used_ == file_.bytes() && stream_.avail_out > 0)) {
        file_.fail(used_, "the gzip data is cut short");
      } else if (result == Z_MEM_ERROR) {
        throw std::bad_alloc();
      } else if (result != Z_OK) {
        file_.fail(used_, fmt::format("the gzip data is damaged ({})",
                                      stream_.msg == nullptr ? "unknown kind" : stream_.msg));
      }
    }
    return made;
  }
  std::uint64_t consumed() const noexcept override { return used_; }

 private:
  const MappedFile& file_;
  z_stream stream_{};
  std::size_t used_ = 0;
  bool ended_ = false;
};
#endif

#ifdef EDGEWIRE_ZSTD
/// One or more Zstandard frames, one after the other (RFC 8878).
class ZstdReader final : public Decompressor {
 public:
  explicit ZstdReader(const MappedFile& file) : file_(file), stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
    // Also what `zstd --long` writes; the window is the memory that the file makes us take.
    constexpr int kWindowBits = 30;
    ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, kWindowBits);
  }
  ~ZstdReader() override { ZSTD_freeDStream(stream_); }

  std::size_t read(char* to, std::size_t room) override {
    ZSTD_outBuffer out = {to, room, 0};
    ZSTD_inBuffer in = {file_.data(), file_.bytes(), used_};
    while (out.pos < room && (in.pos < in.size || pending_)) {
      const std::size_t before = in.pos + out.pos;
      const std::size_t result = ZSTD_decompressStream(stream_, &out, &in);
      used_ = in.pos;
      if (ZSTD_isError(result) != 0) {
        file_.fail(used_, fmt::format("the Zstandard data is damaged ({})", ZSTD_getErrorName(result)));
      }
      pending_ = result != 0;
      if (pending_ && in.pos + out.pos == before) file_.fail(used_, "the Zstandard data is cut short");
    }
    return out.pos;
  }
  std::uint64_t consumed() const noexcept override { return used_; }

 private:
  const MappedFile& file_;
  ZSTD_DStream* stream_;
  std::size_t used_ = 0;
  bool pending_ = false;  // within a frame
};
#endif

bool begins_with(const MappedFile& file, std::initializer_list<std::uint8_t> magic) {
  return file.bytes() >= magic.size() && std::equal(magic.begin(), magic.end(), file.data());
}

[[noreturn, maybe_unused]] void refuse(const MappedFile& file, const char* format, const char* library) {
  throw Error(fmt::format("{}: cannot read {} files: this program was built without {}", file.path(), format,
                          library));
}

}  // namespace

std::unique_ptr<Decompressor> decompressor_for(const MappedFile& file) {
  if (begins_with(file, {0x1F, 0x8B})) {
#ifdef EDGEWIRE_ZLIB
    return std::make_unique<GzipReader>(file);
#else
    refuse(file, "gzip", "zlib");
#endif
  }
  if (begins_with(file, {0x28, 0xB5, 0x2F, 0xFD})) {
#ifdef EDGEWIRE_ZSTD
    return std::make_unique<ZstdReader>(file);
#else
    refuse(file, "Zstandard", "libzstd");
#endif
  }
  return nullptr;
}

}  // namespace edgewire::graph
