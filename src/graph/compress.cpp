#include "graph/compress.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <vector>

#include <strings.h>

#include "base/error.h"
#include "base/vector_registers.h"

#ifdef EDGEWIRE_ZLIB
#include <zlib.h>
#endif
#ifdef EDGEWIRE_ZSTD
#include <zstd.h>
#endif

namespace edgewire::graph {

namespace {

constexpr std::array<std::string_view, 11> kEndings{".gz",  ".zst", ".xz",  ".bz2", ".lz4", ".Z",
                                                    ".tgz", ".zip", ".tar", ".7z",  ".lzma"};
#ifdef EDGEWIRE_ZLIB
constexpr bool kHasZlib = true;

std::string gzip(const std::string& text) {
  z_stream stream{};
  constexpr int kGzip = 16;  // added to the window's bits: a gzip header
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  constexpr std::size_t kPiece = std::size_t{1} << 30;
  std::string result;
  std::vector<unsigned char> out(std::size_t{1} << 18);
  for (std::size_t at = 0; at < text.size() || at == 0; at += kPiece) {
    const std::size_t bytes = std::min(kPiece, text.size() - at);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data() + at));
    stream.avail_in = static_cast<uInt>(bytes);
    const int flush = at + kPiece >= text.size() ? Z_FINISH : Z_NO_FLUSH;
    do {
      stream.next_out = out.data();
      stream.avail_out = static_cast<uInt>(out.size());
      deflate(&stream, flush);
      result.append(reinterpret_cast<const char*>(out.data()), out.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  }
  deflateEnd(&stream);
  return result;
}
#else
constexpr bool kHasZlib = false;
std::string gzip(const std::string&) { return {}; }
#endif

#ifdef EDGEWIRE_ZSTD
constexpr bool kHasZstd = true;

std::string zstandard(const std::string& text) {
  std::string result(ZSTD_compressBound(text.size()), '\0');
  const std::size_t bytes =
      ZSTD_compress(result.data(), result.size(), text.data(), text.size(), ZSTD_CLEVEL_DEFAULT);
  if (ZSTD_isError(bytes) != 0) throw std::bad_alloc();
  result.resize(bytes);
  return result;
}
#else
constexpr bool kHasZstd = false;
std::string zstandard(const std::string&) { return {}; }
#endif

}  // namespace

std::string_view packed_ending(std::string_view path) {
  const auto found = std::ranges::find_if(kEndings, [&](std::string_view ending) {
    return path.size() >= ending.size() &&
           strncasecmp(path.data() + path.size() - ending.size(), ending.data(), ending.size()) == 0;
  });
  return found == kEndings.end() ? std::string_view() : *found;
}

void check_packed_ending(const std::string& path) {
  const std::string_view ending = packed_ending(path);
  if (ending.empty() || (ending == ".gz" && kHasZlib) || (ending == ".zst" && kHasZstd)) return;
  const bool left_out = ending == ".gz" || ending == ".zst";
  throw UsageError(fmt::format("{}: {}; write to a name without {} and compress that file", path,
                               left_out ? "this program was built without the library that compresses it"
                                        : "text is written plain, as .gz or as .zst",
                               ending));
}

std::string packed(const std::string& path, std::string text) {
  check_packed_ending(path);
  const std::string_view ending = packed_ending(path);
  if (ending.empty()) return text;
  return with_clean_registers([&] { return ending == ".gz" ? gzip(text) : zstandard(text); });
}

}  // namespace edgewire::graph
