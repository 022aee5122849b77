#include "plan/remote_index.h"

namespace edgewire::plan {

RemoteIndex::RemoteIndex(const Ownership& ownership, int lists) {
  starts_.push_back(0);
  for (std::uint32_t p = 0; p < static_cast<std::uint32_t>(ownership.processes()); ++p) {
    starts_.push_back(starts_.back() + (ownership.count(p) + 63) / 64);
  }
  words_.resize(static_cast<std::size_t>(lists) * starts_.back());
  counts_.resize(static_cast<std::size_t>(lists) * (starts_.size() - 1));
}

void RemoteIndex::seal() noexcept {
  for (std::size_t r = 0; r < counts_.size(); ++r) {
    const std::size_t list = r / (starts_.size() - 1);
    const std::size_t owner = r % (starts_.size() - 1);
    std::uint32_t before = 0;
    for (std::size_t w = starts_[owner]; w < starts_[owner + 1]; ++w) {
      Word& word = words_[list * starts_.back() + w];
      word.before = before;
      before += static_cast<std::uint32_t>(std::popcount(word.bits));
    }
    counts_[r] = before;
  }
}

std::vector<std::uint32_t> RemoteIndex::members(int list, std::uint32_t owner) const {
  std::vector<std::uint32_t> members;
  members.reserve(count(list, owner));
  const Word* words = &words_[static_cast<std::size_t>(list) * starts_.back()] + starts_[owner];
  for (std::size_t w = 0; w < starts_[owner + 1] - starts_[owner]; ++w) {
    for (std::uint64_t bits = words[w].bits; bits != 0; bits &= bits - 1) {
      members.push_back(static_cast<std::uint32_t>(w * 64 + static_cast<unsigned>(std::countr_zero(bits))));
    }
  }
  return members;
}

}  // namespace edgewire::plan
