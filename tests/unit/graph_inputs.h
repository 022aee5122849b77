// One small graph in every format that is read, and its result.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include <sys/stat.h>

#include <zlib.h>
#ifdef EDGEWIRE_ZSTD
#include <zstd.h>
#endif
#ifdef EDGEWIRE_LZMA
#include <lzma.h>
#endif
#ifdef EDGEWIRE_BZIP2
#include <bzlib.h>
#endif

#include "graph/convert.h"
#include "graph_test.h"

namespace edgewire::graph {

/// Returns the deflated bytes. `window_bits`: as deflateInit2() takes them, which choose the frame around
/// them.
inline std::string deflated(const std::string& plain, int window_bits) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&stream, plain.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

inline std::string gzipped(const std::string& plain) { return deflated(plain, MAX_WBITS + 16); }

/// Returns blocks of BGZF with `block_bytes` of plain bytes each, and the empty one at the end, as bgzip
/// writes them.
inline std::string bgzf(const std::string& plain, std::size_t block_bytes = 65280) {
  std::string packed;
  std::vector<std::string> blocks;
  for (std::size_t at = 0; at < plain.size(); at += block_bytes)
    blocks.push_back(plain.substr(at, block_bytes));
  blocks.emplace_back();
  for (const std::string& block : blocks) {
    const std::string raw = deflated(block, -MAX_WBITS);
    const auto little = [](std::uint64_t number, std::size_t bytes) {
      return std::string(reinterpret_cast<const char*>(&number), bytes);
    };
    const auto crc = crc32(0, reinterpret_cast<const Bytef*>(block.data()), static_cast<uInt>(block.size()));
    packed += std::string("\x1F\x8B\x08\x04\0\0\0\0\0\xFF\x06\0BC\x02\0", 16) +
              little(18 + raw.size() + 8 - 1, 2) + raw + little(crc, 4) + little(block.size(), 4);
  }
  return packed;
}

inline std::string zstandard([[maybe_unused]] const std::string& plain) {
#ifdef EDGEWIRE_ZSTD
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 3));
  return packed;
#else
  return {};
#endif
}

inline std::string xz([[maybe_unused]] const std::string& plain) {
#ifdef EDGEWIRE_LZMA
  std::string packed(lzma_stream_buffer_bound(plain.size()), '\0');
  std::size_t bytes = 0;
  REQUIRE(lzma_easy_buffer_encode(
              3, LZMA_CHECK_CRC32, nullptr, reinterpret_cast<const std::uint8_t*>(plain.data()), plain.size(),
              reinterpret_cast<std::uint8_t*>(packed.data()), &bytes, packed.size()) == LZMA_OK);
  packed.resize(bytes);
  return packed;
#else
  return {};
#endif
}

inline std::string bzip2([[maybe_unused]] const std::string& plain) {
#ifdef EDGEWIRE_BZIP2
  auto bytes = static_cast<unsigned>(plain.size() * 2 + 600);
  std::string packed(bytes, '\0');
  REQUIRE(BZ2_bzBuffToBuffCompress(packed.data(), &bytes, const_cast<char*>(plain.data()),
                                   static_cast<unsigned>(plain.size()), 1, 0, 0) == BZ_OK);
  packed.resize(bytes);
  return packed;
#else
  return {};
#endif
}

/// Returns a tar archive (ustar) of files, each a path and its content.
inline std::string tar(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string archive;
  for (const auto& [path, content] : files) {
    std::string header = path;
    header.resize(100);
    header += fmt::format("{:07o}", 0644) + '\0' + fmt::format("{:07o}", 0) + '\0' +
              fmt::format("{:07o}", 0) + '\0';
    header += fmt::format("{:011o}", content.size()) + '\0' + fmt::format("{:011o}", 0) + '\0';
    header += std::string(8, ' ') + (path.ends_with('/') ? '5' : '0');
    header.resize(257);
    header += std::string(
        "ustar\0"
        "00",
        8);
    header.resize(512);
    unsigned sum = 0;
    for (const char byte : header) sum += static_cast<unsigned char>(byte);
    header.replace(148, 8, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
    archive += header + content + std::string((512 - content.size() % 512) % 512, '\0');
  }
  return archive + std::string(1024, '\0');
}

template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// The ways to write one graph of 6 vertices, none of them without edges. Weights are whole numbers.
inline constexpr std::uint32_t kVertices = 6;
inline const std::vector<Edge> kEdges = {{0, 1, 5}, {0, 3, 1}, {1, 1, 2}, {2, 5, -4},
                                         {2, 5, 9}, {4, 0, 0}, {5, 2, 7}};

inline std::string edge_lines(bool weighted, std::uint32_t first_id, char separator = ' ',
                              const char* line_end = "\n") {
  std::string text;
  for (const auto& [source, target, weight] : kEdges) {
    text += fmt::format("{}{}{}", source + first_id, separator, target + first_id);
    if (weighted) text += fmt::format("{}{}", separator, weight);
    text += line_end;
  }
  return text;
}

inline std::string gap_binary(bool weighted) {
  std::string bytes;
  append(bytes, std::uint8_t{1});
  append(bytes, static_cast<std::int64_t>(kEdges.size()));
  append(bytes, std::int64_t{kVertices});
  for (int direction = 0; direction < 2; ++direction) {
    std::vector<Edge> edges = kEdges;
    for (auto& [source, target, weight] : edges) {
      if (direction == 1) std::swap(source, target);
    }
    std::sort(edges.begin(), edges.end());
    for (std::uint32_t v = 0; v <= kVertices; ++v) {
      append(bytes, std::int64_t{std::count_if(edges.begin(), edges.end(),
                                               [&](const Edge& edge) { return std::get<0>(edge) < v; })});
    }
    for (const auto& [source, target, weight] : edges) {
      append(bytes, target);
      if (weighted) append(bytes, static_cast<std::int32_t>(weight));
    }
  }
  return bytes;
}

inline std::string u32_pairs() {
  std::string bytes;
  for (const auto& [source, target, weight] : kEdges) {
    append(bytes, source);
    append(bytes, target);
  }
  return bytes;
}

inline std::string matrix_market(bool weighted) {
  return fmt::format("%%MatrixMarket matrix coordinate {} general\r\n% a comment\n\n {} {} {}\n",
                     weighted ? "Real" : "pattern", kVertices, kVertices, kEdges.size()) +
         edge_lines(weighted, 1);
}

inline std::vector<Edge> without_weights(std::vector<Edge> edges) {
  for (auto& [source, target, weight] : edges) weight = 0;
  return edges;
}

/// A converter that writes bytes as NAME, converts them and opens the result.
class Converter {
 public:
  Graph operator()(const std::string& name, const std::string& bytes,
                   const ConvertOptions& options = {}) const {
    write_file(directory_ / name, bytes);
    convert(directory_ / name, directory_ / "out.ew", options);
    return Graph::open(directory_ / "out.ew");
  }
  /// Returns the message of the refusal, without the path; nothing may be left behind.
  std::string error(const std::string& name, const std::string& bytes,
                    const ConvertOptions& options = {}) const {
    const std::string path = directory_ / name;
    std::filesystem::remove(path);
    std::filesystem::remove(directory_ / "out.ew");
    const auto before = directory_.files();
    write_file(path, bytes);
    const std::string message = error_of([&] { convert(path, directory_ / "out.ew", options); });
    std::filesystem::remove(path);
    CHECK(directory_.files() == before);
    REQUIRE(message.starts_with(path + ": "));
    CHECK(!contains(message, "\n"));
    return message.substr(path.size() + 2);
  }
  std::string output_bytes() const { return read_file(directory_ / "out.ew"); }
  const TemporaryDirectory& directory() const { return directory_; }

 private:
  TemporaryDirectory directory_;
};

}  // namespace edgewire::graph
