#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bits.h"

namespace edgewire {

/// A set of numbers that knows how many of them are below another number. Immutable.
class RankedBits {
 public:
  explicit RankedBits(const Bits& bits)
      : RankedBits(bits.words(), [&](std::size_t w) { return bits.word(w); }) {}
  /// Makes the set whose words of 64 numbers are word(0), word(1) and so on.
  template <class WordAt>
  RankedBits(std::size_t words, const WordAt& word) {
    words_.reserve(words);
    for (std::size_t w = 0; w < words; ++w) {
      words_.push_back({word(w), count_});
      count_ += static_cast<std::uint64_t>(std::popcount(words_.back().bits));
    }
  }

  std::uint64_t count() const noexcept { return count_; }
  bool has(std::uint64_t number) const noexcept {
    return (words_[number / Bits::kBits].bits >> number % Bits::kBits & 1) != 0;
  }
  /// Returns how many numbers of the set are below this one.
  std::uint64_t below(std::uint64_t number) const noexcept {
    const Ranked& word = words_[number / Bits::kBits];
    const Bits::Word lower = word.bits & ((Bits::Word{1} << number % Bits::kBits) - 1);
    return word.before + static_cast<std::uint64_t>(std::popcount(lower));
  }
  /// Returns all numbers of the set, ascending.
  std::vector<std::uint64_t> members() const {
    std::vector<std::uint64_t> all;
    all.reserve(count_);
    for (std::size_t w = 0; w < words_.size(); ++w)
      for (Bits::Word left = words_[w].bits; left != 0; left &= left - 1)
        all.push_back(w * Bits::kBits + static_cast<std::uint64_t>(std::countr_zero(left)));
    return all;
  }

 private:
  struct Ranked {  // lies in one cache line
    Bits::Word bits;
    std::uint64_t before;  ///< number of the set's numbers in the words before it
  };
  std::vector<Ranked> words_;
  std::uint64_t count_ = 0;
};

}  // namespace edgewire
