// Writes graphs as WebGraph's BVGraph does, for tests of the reader, with which it shares nothing.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace edgewire::graph {

/// A writer of bits, the most significant one of each byte first, and the codes of numbers.
class BitWriter {
 public:
  std::uint64_t bits() const { return bits_; }
  const std::string& bytes() const { return bytes_; }
  void append(const BitWriter& other) {
    for (std::uint64_t i = 0; i < other.bits_; ++i)
      bit((static_cast<unsigned char>(other.bytes_[i / 8]) >> (7 - i % 8) & 1) != 0);
  }
  void bit(bool value) {
    if (bits_ % 8 == 0) bytes_ += '\0';
    if (value)
      bytes_.back() = static_cast<char>(static_cast<unsigned char>(bytes_.back()) | 1U << (7 - bits_ % 8));
    ++bits_;
  }
  void number(std::uint64_t value, int width) {
    for (int i = std::min(width, 64) - 1; i >= 0; --i) bit((value >> i & 1) != 0);
  }
  /// Writes a number in the code with this name in compressionflags.
  void code(const std::string& name, std::uint64_t value, std::uint64_t parameter) {
    if (name == "UNARY") unary(value);
    if (name == "GAMMA") gamma(value);
    if (name == "DELTA") delta(value);
    if (name == "ZETA") zeta(value, static_cast<int>(parameter));
    if (name == "GOLOMB") golomb(value, parameter);
    if (name == "NIBBLE") nibble(value);
  }
  void unary(std::uint64_t value) {
    for (; value > 0; --value) bit(false);
    bit(true);
  }
  void gamma(std::uint64_t value) {
    const int width = log2(value + 1);
    unary(static_cast<std::uint64_t>(width));
    number(value + 1, width);
  }
  void delta(std::uint64_t value) {
    const int width = log2(value + 1);
    gamma(static_cast<std::uint64_t>(width));
    number(value + 1, width);
  }
  void zeta(std::uint64_t value, int k) {
    const int h = log2(value + 1) / k;
    unary(static_cast<std::uint64_t>(h));
    const std::uint64_t left = std::uint64_t{1} << h * k;
    minimal_binary(value + 1 - left, (left << k) - left);
  }
  void golomb(std::uint64_t value, std::uint64_t modulus) {
    unary(value / modulus);
    minimal_binary(value % modulus, modulus);
  }
  void nibble(std::uint64_t value) {
    int digits = 1;
    while (value >> 3 * digits != 0) ++digits;
    for (int digit = digits - 1; digit >= 0; --digit) {
      bit(digit == 0);
      number(value >> 3 * digit, 3);
    }
  }

 private:
  static int log2(std::uint64_t value) {
    int log = 0;
    while (value >>= 1) ++log;
    return log;
  }
  /// Writes one of `count` numbers: the first ones have a bit less.
  void minimal_binary(std::uint64_t value, std::uint64_t count) {
    const int width = log2(count);
    const std::uint64_t short_ones = (std::uint64_t{2} << width) - count;
    if (value < short_ones)
      number(value, width);
    else
      number(value + short_ones, width + 1);
  }

  std::string bytes_;
  std::uint64_t bits_ = 0;
};

using BvRows = std::vector<std::vector<std::uint32_t>>;

struct BvOptions {
  std::uint64_t window = 7;
  std::int64_t chain = 3;  ///< longest chain; -1: any
  std::uint64_t min_interval = 4;
  std::uint64_t k = 3;
  std::map<std::string, std::string> codes = {};  ///< codes, such as "RESIDUALS": "DELTA"; others as usual
};

struct BvFiles {
  std::string graph, offsets, properties;
};

class BvWriter {
 public:
  BvWriter(const BvRows& rows, const BvOptions& options) : rows_(rows), options_(options) {}

  BvFiles write() {
    BitWriter graph, offsets;
    std::vector<std::int64_t> chains;
    std::uint64_t edges = 0, last = 0;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      offsets.code(code("OFFSETS"), graph.bits() - last, options_.k);
      last = graph.bits();
      BitWriter best = encode(row, 0);
      std::int64_t chain = 0;
      const std::size_t window = rows_[row].empty() ? 0 : std::min<std::size_t>(row, options_.window);
      for (std::size_t back = 1; back <= window; ++back) {
        if (options_.chain >= 0 && chains[row - back] >= options_.chain) continue;
        BitWriter other = encode(row, back);
        if (other.bits() >= best.bits()) continue;
        best = other;
        chain = chains[row - back] + 1;
      }
      longest_chain = std::max(longest_chain, chain);
      chains.push_back(chain);
      graph.append(best);
      edges += rows_[row].size();
    }
    offsets.code(code("OFFSETS"), graph.bits() - last, options_.k);
    std::string flags;
    for (const auto& [field, name] : options_.codes)
      flags += fmt::format("{}{}_{}", flags.empty() ? "" : " | ", field, name);
    return {graph.bytes(), offsets.bytes(),
            fmt::format("#BVGraph properties\nnodes={}\narcs={}\nwindowsize={}\nmaxrefcount={}\n"
                        "minintervallength={}\nzetak={}\ncompressionflags={}\nversion=0\n"
                        "graphclass=it.unimi.dsi.webgraph.BVGraph\n",
                        rows_.size(), edges, options_.window, options_.chain, options_.min_interval,
                        options_.k, flags)};
  }

  std::int64_t longest_chain = 0;  ///< length of the longest chain that was written

 private:
  std::string code(const std::string& field) const {
    const auto found = options_.codes.find(field);
    if (found != options_.codes.end()) return found->second;
    return field == "REFERENCES" ? "UNARY" : field == "RESIDUALS" ? "ZETA" : "GAMMA";
  }
  static std::uint64_t fold(std::int64_t value) {
    return value >= 0 ? 2 * static_cast<std::uint64_t>(value) : 2 * static_cast<std::uint64_t>(-value) - 1;
  }

  BitWriter encode(std::size_t row, std::size_t back) const {
    BitWriter out;
    std::vector<std::uint32_t> rest = rows_[row];
    const auto put = [&](const std::string& field, std::uint64_t value) {
      out.code(code(field), value, options_.k);
    };
    put("OUTDEGREES", rest.size());
    if (rest.empty()) return out;
    if (options_.window > 0) put("REFERENCES", back);
    if (back > 0) {
      std::vector<std::uint64_t> runs = {0};  // copied, left out, copied...
      const std::set<std::uint32_t> wanted(rest.begin(), rest.end());
      std::set<std::uint32_t> copied;
      for (const std::uint32_t target : rows_[row - back]) {
        const bool copies = wanted.contains(target);
        if (copies != (runs.size() % 2 == 1)) runs.push_back(0);
        ++runs.back();
        if (copies) copied.insert(target);
      }
      runs.pop_back();  // the last run follows from the rest
      put("BLOCK_COUNT", runs.size());
      for (std::size_t i = 0; i < runs.size(); ++i) put("BLOCKS", runs[i] - (i > 0 ? 1 : 0));
      std::erase_if(rest, [&](std::uint32_t target) { return copied.contains(target); });
    }
    const auto x = static_cast<std::int64_t>(row);
    if (!rest.empty() && options_.min_interval > 0) {
      std::vector<std::pair<std::uint64_t, std::uint64_t>> intervals;
      std::vector<std::uint32_t> residuals;
      for (std::size_t i = 0; i < rest.size();) {
        std::size_t end = i + 1;
        while (end < rest.size() && rest[end] == rest[end - 1] + 1) ++end;
        if (end - i >= options_.min_interval)
          intervals.emplace_back(rest[i], end - i);
        else
          residuals.insert(residuals.end(), rest.begin() + static_cast<std::ptrdiff_t>(i),
                           rest.begin() + static_cast<std::ptrdiff_t>(end));
        i = end;
      }
      out.gamma(intervals.size());
      std::uint64_t end = 0;
      for (std::size_t i = 0; i < intervals.size(); ++i) {
        const auto [left, length] = intervals[i];
        out.gamma(i == 0 ? fold(static_cast<std::int64_t>(left) - x) : left - end - 1);
        out.gamma(length - options_.min_interval);
        end = left + length;
      }
      rest = residuals;
    }
    for (std::size_t i = 0; i < rest.size(); ++i)
      put("RESIDUALS", i == 0 ? fold(std::int64_t{rest[0]} - x) : rest[i] - rest[i - 1] - 1);
    return out;
  }

  const BvRows& rows_;
  BvOptions options_;
};

/// Returns rows like those of pages: similar to one before, with runs, some empty, some with an edge far
/// away.
inline BvRows page_rows(std::uint32_t vertices, std::uint32_t seed) {
  std::minstd_rand random(seed);
  const auto draw = [&](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
  BvRows rows;
  for (std::uint32_t row = 0; row < vertices; ++row) {
    std::set<std::uint32_t> targets;
    if (row > 0 && draw(4) > 0)
      for (const std::uint32_t target : rows[row - 1 - draw(std::min(row, 4U))])
        if (draw(5) > 0) targets.insert(target);
    if (draw(3) == 0)
      for (std::uint32_t first = draw(vertices), length = draw(9); length > 0; --length)
        targets.insert(std::min(first + length, vertices - 1));
    for (std::uint32_t more = draw(4); more > 0; --more)
      targets.insert((row + draw(200) + vertices - std::min(100U, vertices)) % vertices);
    if (draw(8) == 0) targets.insert(draw(vertices));
    if (draw(10) == 0) targets.clear();
    rows.emplace_back(targets.begin(), targets.end());
  }
  return rows;
}

}  // namespace edgewire::graph
