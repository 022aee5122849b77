#include "graph/write/compress.h"

#include <doctest/doctest.h>

#include <string>

#include "base/error.h"

#include <zlib.h>
#ifdef EDGEWIRE_ZSTD
#include <zstd.h>
#endif

namespace edgewire::graph {
namespace {

TEST_CASE("text is compressed when its name says so") {
  std::string text;
  for (int line = 0; line < 100'000; ++line) text += std::to_string(line) + "\t0.5\n";
  CHECK(packed("ranks.tsv", text) == text);
  CHECK(packed("ranks.gz.tsv", text) == text);
  const std::string gz = packed("ranks.tsv.gz", text);
  z_stream stream{};
  REQUIRE(inflateInit2(&stream, MAX_WBITS + 16) == Z_OK);
  std::string unpacked(text.size() + 1, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(gz.data()));
  stream.avail_in = static_cast<uInt>(gz.size());
  stream.next_out = reinterpret_cast<Bytef*>(unpacked.data());
  stream.avail_out = static_cast<uInt>(unpacked.size());
  CHECK(inflate(&stream, Z_FINISH) == Z_STREAM_END);
  unpacked.resize(stream.total_out);
  inflateEnd(&stream);
  CHECK(unpacked == text);
#ifdef EDGEWIRE_ZSTD
  const std::string zst = packed("ranks.tsv.zst", text);
  std::string plain(text.size(), '\0');
  CHECK(ZSTD_decompress(plain.data(), plain.size(), zst.data(), zst.size()) == text.size());
  CHECK(plain == text);
#else
  CHECK_THROWS_AS(packed("ranks.tsv.zst", text), UsageError);
#endif
}

TEST_CASE("endings that promise what is not written are refused") {
  for (const char* const name : {"a.xz", "a.bz2", "a.tar", "a.zip", "a.tar.lz4"})
    CHECK_THROWS_AS(check_packed_ending(name), UsageError);
  check_packed_ending("a.json");
  CHECK(packed_ending("x.ew.gz") == ".gz");
  CHECK(packed_ending("x.gzip").empty());
  CHECK(packed_ending("RANKS.TSV.GZ") == ".gz");
}

}  // namespace
}  // namespace edgewire::graph
