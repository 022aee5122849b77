// The words of tiles as fewer bytes, for tiles on disks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace edgewire::tiles {

/// Sets `code` to the code of whole tiles (see tile_format.h), of at most 2^32 words.
///
/// The code has the numbers of all tiles in four streams (number_code.h), as they follow each other: the
/// words that stand in front of the bundles; keys; the first others of bundles; their other others. Keys and
/// others ascend, so they are stored as gaps, and first others as differences from the first other of the
/// bundle before, in either direction. Where the others of a tile do not ascend, they stay as they are.
/// Weights stay as they are, too. A code that would be larger than the words holds the words instead.
void encode_tiles(std::span<const std::uint16_t> words, std::vector<std::byte>& code);

/// Returns the number of encoded words; 0 when `code` cannot be a code. The number is below 256 words for
/// each byte of the code.
std::size_t decoded_words(std::span<const std::byte> code) noexcept;

/// Sets `words`, which has room for decoded_words(). Returns false when `code` is not the code of that many
/// words; `words` is then undefined. Faulty codes may give words that are no tiles: see are_tiles().
bool decode_tiles(std::span<const std::byte> code, std::span<std::uint16_t> words) noexcept;

}  // namespace edgewire::tiles
