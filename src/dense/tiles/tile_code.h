// The words of tiles as fewer bytes, for tiles on disks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace edgewire::tiles {

/// Sets `code` to the code of whole tiles (see tile_format.h), of 2^32 words at most.
///
/// The code has the numbers of all tiles in four streams (number_code.h), as they follow each other: what
/// stands in front of the bundles; keys; the first others of bundles; their other others. Keys and others
/// ascend, so they are stored as gaps, and first others as differences from the first other of the bundle
/// before, in either direction. Where the others of a tile do not ascend, they stay as they are. Weights stay
/// as they are, too. A code that would be larger than the words holds the words instead.
void encode_tiles(std::span<const std::uint16_t> words, std::vector<std::byte>& code);

/// Returns how many words were encoded; 0 when `code` cannot be a code. The number is below 256 words for
/// each byte of the code.
std::size_t decoded_words(std::span<const std::byte> code) noexcept;

/// Sets `words`, which has room for as many as decoded_words() says. Returns false when `code` is not the
/// code of so many words; what `words` has then means nothing. From faulty codes there may come words that
/// are no tiles: see are_tiles().
bool decode_tiles(std::span<const std::byte> code, std::span<std::uint16_t> words) noexcept;

}  // namespace edgewire::tiles
