#pragma once

#include <cstdint>
#include <span>

namespace edgewire::tiles {

/// Whether `words` are whole tiles of a column (see tile_format.h), with sources below `sources` and
/// destinations below `width`. Sweeping them then stays within its arrays.
bool are_tiles(std::span<const std::uint16_t> words, std::uint64_t sources, std::uint32_t width) noexcept;

}  // namespace edgewire::tiles
