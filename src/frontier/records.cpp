#include "frontier/records.h"

#include <fmt/core.h>

#include "base/error.h"

namespace edgewire::frontier {

std::vector<std::uint64_t> Records::allgather(std::span<const std::uint64_t> mine) {
  Note note{};
  if (mine.size() > note.size()) throw Error(fmt::format("{} numbers are too many to share", mine.size()));
  std::ranges::copy(mine, note.begin());
  finish_words(
      0, [](int peer, std::uint64_t) { throw Error(fmt::format("rank {} shared too many numbers", peer)); },
      note);
  std::vector<std::uint64_t> all;
  for (int p = 0; p < stream_.size(); ++p) {
    const Note& said = p == stream_.rank() ? note : stream_.note(0, p);
    all.insert(all.end(), said.begin(), said.begin() + static_cast<std::ptrdiff_t>(mine.size()));
  }
  return all;
}

std::uint64_t Records::min_of_all(std::uint64_t mine) {
  return std::ranges::min(allgather(std::span(&mine, 1)));
}

Sent Records::sent() const noexcept {
  const auto counters = stream_.counters();
  return {stream_.bytes_sent(), counters.payload_bytes, counters.wire_bytes};
}

}  // namespace edgewire::frontier
