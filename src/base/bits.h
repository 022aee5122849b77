#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace edgewire {

/// Sets bit `number` of `word`, also while other threads set others. Returns whether this call has set it.
[[gnu::always_inline]] inline bool set_bit(std::uint64_t& word, std::uint64_t number) noexcept {
  const std::atomic_ref shared(word);
  const std::uint64_t mask = std::uint64_t{1} << number;
  // Relaxed: bits are independent, and say nothing of other memory.
  if ((shared.load(std::memory_order_relaxed) & mask) != 0) return false;
  return (shared.fetch_or(mask, std::memory_order_relaxed) & mask) == 0;
}

/// Returns whether a bit is set, also while other threads set some.
inline bool test_bit(std::span<const std::uint64_t> words, std::uint64_t bit) noexcept {
  const std::atomic_ref word(const_cast<std::uint64_t&>(words[bit / 64]));
  return (word.load(std::memory_order_relaxed) >> bit % 64 & 1) != 0;
}

/// A set of small numbers, such as vertices: a bit for each, so that much of it stays in the caches. A reader
/// who tests while others set() may see either.
class Bits {
 public:
  using Word = std::uint64_t;
  static constexpr std::uint32_t kBits = 64;

  explicit Bits(std::uint64_t size) : words_((size + kBits - 1) / kBits) {}
  /// Makes a set of `members`, which may be numbers of any type.
  template <class Numbers>
  Bits(std::uint64_t size, const Numbers& members) : Bits(size) {
    add_all(members);
  }

  /// Does the same as set_bit().
  bool set(std::uint64_t bit) noexcept { return set_bit(words_[bit / kBits], bit % kBits); }
  /// Sets the numbers first + i for which bit i of `some` is set. All must be in the set's range. Several
  /// threads may call it at the same time.
  void set_some(std::uint64_t first, Word some) noexcept {
    const std::uint64_t shift = first % kBits;
    const auto set_in = [this](std::uint64_t word, Word bits) {
      if (bits != 0) std::atomic_ref(words_[word]).fetch_or(bits, std::memory_order_relaxed);
    };
    set_in(first / kBits, some << shift);
    if (shift != 0) set_in(first / kBits + 1, some >> (kBits - shift));
  }
  /// Does the same as set(), for one thread alone.
  void add(std::uint64_t bit) noexcept { words_[bit / kBits] |= Word{1} << bit % kBits; }
  template <class Numbers>
  void add_all(const Numbers& numbers) noexcept {
    for (const auto number : numbers) add(number);
  }
  bool test(std::uint64_t bit) const noexcept { return test_bit(words_, bit); }

  std::size_t words() const noexcept { return words_.size(); }
  /// Returns 64 bits, of which bit i is the number 64 * w + i.
  Word word(std::size_t w) const noexcept {
    return std::atomic_ref(const_cast<Word&>(words_[w])).load(std::memory_order_relaxed);
  }
  /// Sets 64 bits, while no other thread sets bits of this word.
  void set_word(std::size_t w, Word bits) noexcept { words_[w] = bits; }
  std::span<const Word> all_words() const noexcept { return words_; }
  /// Takes away all numbers that share a word of 64 with one of these.
  template <class Numbers>
  void clear_words_of(const Numbers& numbers) noexcept {
    for (const auto number : numbers)
      std::atomic_ref(words_[number / kBits]).store(0, std::memory_order_relaxed);
  }
  void clear() noexcept { std::ranges::fill(words_, 0); }

  /// Returns all numbers that are set, ascending. There are fewer than 2^32.
  template <class Number = std::uint32_t>
  std::vector<Number> members() const {
    std::vector<Number> all;
    for (std::size_t w = 0; w < words_.size(); ++w)
      for (Word left = words_[w]; left != 0; left &= left - 1)
        all.emplace_back(
            static_cast<std::uint32_t>(w * kBits + static_cast<unsigned>(std::countr_zero(left))));
    return all;
  }
  std::uint64_t bytes() const noexcept { return words_.size() * sizeof(Word); }

 private:
  std::vector<Word> words_;
};

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

/// Sorts numbers of the range [first, last), which all differ, by means of a set of bits, where they are so
/// many that this is faster than comparing. Returns whether it has. `empty`: a set with room for as many
/// numbers as the range has; it is empty afterwards, too.
template <class Number>
bool sort_many(std::span<Number> numbers, Bits& empty, std::uint32_t first, std::uint32_t last) {
  constexpr std::size_t kMany = 4;  // words of bits that may be read for each number
  const std::size_t words = (last - first + std::size_t{Bits::kBits} - 1) / Bits::kBits;
  if (numbers.size() * kMany < words) return false;
  if (empty.words() < words) empty = Bits(last - first);
  for (const Number number : numbers) empty.add(number - first);
  auto out = numbers.begin();
  for (std::size_t w = 0; w < words; ++w) {
    for (Bits::Word left = empty.word(w); left != 0; left &= left - 1)
      *out++ = Number(first + static_cast<std::uint32_t>(w * Bits::kBits) +
                      static_cast<std::uint32_t>(std::countr_zero(left)));
    empty.set_word(w, 0);
  }
  return true;
}

/// Bits that one worker adds to alone, or several at the same time.
class SharedBits : public Bits {
 public:
  /// Makes an empty set. `shared` means that several workers add to it.
  SharedBits(std::uint64_t size, bool shared) : Bits(size), shared_(shared) {}

  void add(std::uint64_t bit) noexcept {
    if (shared_)
      set(bit);
    else
      Bits::add(bit);
  }
  template <class Numbers>
  void add_all(const Numbers& numbers) noexcept {
    for (const auto number : numbers) add(number);
  }

 private:
  bool shared_;
};

}  // namespace edgewire
