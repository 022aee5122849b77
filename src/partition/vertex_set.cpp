#include "partition/vertex_set.h"

#include <fmt/core.h>

#include "base/error.h"

namespace edgewire::partition {

namespace {

/// Throws Error where there are too many vertices. A set's vertices have numbers of 32 bits, of which the
/// last one means that there is none.
void check(std::uint64_t count) {
  if (count > kMostOfAProcess)
    throw Error(fmt::format("the edges of one process lead to {} vertices, more than {}: use more processes",
                            count, kMostOfAProcess));
}

}  // namespace

void VertexSet::open_words() {
  std::uint64_t words = 0;
  for (Region& region : regions_) {
    region.first = static_cast<std::uint32_t>(words);
    words += static_cast<std::uint64_t>(std::popcount(region.used));
  }
  check(words);
  words_.resize(words + std::size_t{1});
}

void VertexSet::count_words() {
  std::uint64_t count = 0;
  for (auto& word : words_) {
    const auto more = static_cast<std::uint64_t>(std::popcount(word));
    word |= count << kBits;
    count += more;
  }
  check(count);
  count_ = static_cast<std::uint32_t>(count);
}

std::vector<VertexId> VertexSet::members() const {
  std::vector<VertexId> all;
  all.reserve(count_);
  const auto add = [&](std::size_t number, std::uint64_t word) {
    for (auto left = static_cast<std::uint32_t>(word); left != 0; left &= left - 1)
      all.emplace_back(static_cast<PlainId>(number * kBits + static_cast<unsigned>(std::countr_zero(left))));
  };
  for (std::size_t w = 0; regions_.empty() && w < words_.size(); ++w) add(w, words_[w]);
  for (std::size_t r = 0; r < regions_.size(); ++r) {
    std::size_t at = regions_[r].first;
    for (std::uint64_t used = regions_[r].used; used != 0; used &= used - 1, ++at)
      add(r * kWords + static_cast<unsigned>(std::countr_zero(used)), words_[at]);
  }
  return all;
}

}  // namespace edgewire::partition
