#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace edgewire::frontier {

/// A set of vertices, a bit for each. Several workers may add at the same time; who tests while others add
/// may see either.
class Bits {
 public:
  using Word = std::uint64_t;
  static constexpr std::uint32_t kBits = 64;

  /// `shared`: several workers add at the same time.
  Bits(std::uint64_t vertices, bool shared) : words_((vertices + kBits - 1) / kBits), shared_(shared) {}

  bool test(std::uint32_t v) const noexcept { return (word(v / kBits) >> v % kBits & 1) != 0; }
  void add(std::uint32_t v) noexcept {
    const Word bit = Word{1} << v % kBits;
    if (shared_)
      std::atomic_ref(words_[v / kBits]).fetch_or(bit, std::memory_order_relaxed);
    else
      words_[v / kBits] |= bit;
  }
  void add_all(std::span<const std::uint32_t> vertices) noexcept {
    for (const std::uint32_t v : vertices) add(v);
  }
  /// Takes away all vertices that share a word of 64 with v.
  void clear_word_of(std::uint32_t v) noexcept {
    std::atomic_ref(words_[v / kBits]).store(0, std::memory_order_relaxed);
  }
  void clear_words_of(std::span<const std::uint32_t> vertices) noexcept {
    for (const std::uint32_t v : vertices) clear_word_of(v);
  }
  void clear() noexcept { std::ranges::fill(words_, 0); }
  /// While no other worker adds to this word.
  void set_word(std::size_t w, Word bits) noexcept { words_[w] = bits; }
  std::size_t words() const noexcept { return words_.size(); }
  /// Bit i is vertex 64 * w + i.
  Word word(std::size_t w) const noexcept {
    return std::atomic_ref(const_cast<Word&>(words_[w])).load(std::memory_order_relaxed);
  }

 private:
  std::vector<Word> words_;
  bool shared_;
};

}  // namespace edgewire::frontier
