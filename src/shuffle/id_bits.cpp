#include "shuffle/id_bits.h"

#include <fmt/core.h>

#include "base/error.h"

namespace edgewire::shuffle {

/// calloc() gives pages that are zero without touching them.
IdBits::IdBits(std::uint64_t limit)
    : limit_(limit), words_(static_cast<std::uint64_t*>(std::calloc(limit / 512 + 1, 64))) {  // NOLINT
  if (words_ == nullptr)
    throw Error(
        fmt::format("cannot get {} bytes of memory for vertex ids{}", limit / 8, limit_to_raise(ENOMEM)));
}

void IdBits::count(std::uint64_t end) {
  end_ = end;
  for (std::uint64_t block = 0; block * kBlockBits < end; ++block) {
    ranks_.push_back(static_cast<PlainId>(size_));
    for (std::uint64_t word = 0; word < kBlockBits / 64; ++word)
      size_ += bit_count(words_.get()[block * (kBlockBits / 64) + word]);
  }
}

}  // namespace edgewire::shuffle
