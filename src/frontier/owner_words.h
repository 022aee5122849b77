#pragma once

#include <cstdint>
#include <vector>

#include "base/bits.h"
#include "error.h"
#include "frontier/frontier_job.h"

namespace edgewire::frontier {

/// Where the bits of all vertices are, a bit for each: those of a process lie side by side, in whole words,
/// so that it can send them to the others without numbers.
class OwnerWords {
 public:
  using Word = Bits::Word;
  static constexpr std::uint32_t kBits = Bits::kBits;

  /// `job` outlives it.
  explicit OwnerWords(FrontierJob& job) : job_(job) {
    std::size_t words = 0;
    for (int p = 0; p < job.bootstrap().size(); ++p) {
      first_.push_back(words);
      words += (job.ownership().count(static_cast<std::uint32_t>(p)) + std::size_t{kBits} - 1) / kBits;
    }
    first_.push_back(words);
  }

  /// Of all vertices.
  std::size_t words() const noexcept { return first_.back(); }
  /// The words of a process are [first(owner), first(owner + 1)). Its vertex `local` is bit local % 64 of its
  /// word local / 64.
  std::size_t first(std::uint32_t owner) const noexcept { return first_[owner]; }
  /// 64 * word + bit.
  std::size_t position(plan::Place place) const noexcept { return first_[place.owner] * kBits + place.local; }

  /// By each lane: sends the words of this process, word_at(word), to all others, and calls take(word, bits)
  /// for theirs. A lane takes as many words as it sends; they travel in order. Throws Error.
  template <class WordAt, class Take>
  void share(int lane, const WordAt& word_at, const Take& take_word) {
    std::vector<std::size_t> taken(first_.size());
    const auto take = [&](int peer, Record record) {
      const auto [first, last] = of_lane(static_cast<std::uint32_t>(peer), lane);
      const std::size_t w = first + taken[static_cast<std::size_t>(peer)]++;
      if (w >= last) throw Error("a process has sent too many bits of its vertices");
      take_word(w, Word{record.value} << 32 | record.vertex);
    };
    const auto [first, last] = of_lane(job_.rank(), lane);
    for (int peer = 0; peer < job_.bootstrap().size(); ++peer) {
      if (peer == job_.bootstrap().rank()) continue;
      for (std::size_t w = first; w < last; ++w) {
        const Word bits = word_at(w);
        job_.records().send(lane, peer,
                            {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)}, take);
      }
    }
    job_.records().finish(lane, take);
  }

 private:
  /// The words of `owner` that lane `lane` sends.
  topology::Part of_lane(std::uint32_t owner, int lane) const noexcept {
    const auto [first, last] = job_.pool().part(lane, first_[owner + std::size_t{1}] - first_[owner]);
    return {first_[owner] + first, first_[owner] + last};
  }

  FrontierJob& job_;
  std::vector<std::size_t> first_;  ///< [owner]; one more at the end
};

}  // namespace edgewire::frontier
