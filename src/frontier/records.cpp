#include "frontier/records.h"

#include <fmt/core.h>

#include <algorithm>

#include "error.h"

namespace edgewire::frontier {

namespace {

[[noreturn]] void throw_too_many(int peer) {
  throw Error(fmt::format("rank {} shared too many numbers", peer));
}

}  // namespace

std::vector<std::uint64_t> Records::share(std::span<const std::uint64_t> mine) {
  std::vector<std::uint64_t> all(mine.size() * static_cast<std::size_t>(stream_.size()));
  std::vector<std::size_t> taken(static_cast<std::size_t>(stream_.size()));
  std::ranges::copy(mine, &all[mine.size() * static_cast<std::size_t>(stream_.rank())]);
  Note note{};
  if (mine.size() <= note.size()) {  // no record is needed
    std::ranges::copy(mine, note.begin());
    finish_words(
        0, [](int peer, std::uint64_t) { throw_too_many(peer); }, note);
    for (int peer = 0; peer < stream_.size(); ++peer)
      if (peer != stream_.rank())
        std::copy_n(stream_.note(0, peer).begin(), mine.size(),
                    &all[mine.size() * static_cast<std::size_t>(peer)]);
    return all;
  }
  const auto take = [&](int peer, std::uint64_t number) {
    const auto from = static_cast<std::size_t>(peer);
    if (taken[from] == mine.size()) throw_too_many(peer);
    all[from * mine.size() + taken[from]++] = number;
  };
  for (int peer = 0; peer < stream_.size(); ++peer) {
    if (peer == stream_.rank()) continue;
    for (const std::uint64_t number : mine) send_word(0, peer, number, take);
  }
  finish_words(0, take);
  return all;
}

std::uint64_t Records::agree(std::uint64_t mine) { return std::ranges::min(share(std::span(&mine, 1))); }

Sent Records::sent() const noexcept {
  const auto counters = stream_.counters();
  return {stream_.bytes_sent(), counters.payload_bytes, counters.wire_bytes};
}

}  // namespace edgewire::frontier
