#pragma once

#include <cstdint>
#include <span>

#include "base/bits.h"

namespace edgewire::plan {

/// copy_others() may write so many numbers, of any value, after its result.
inline constexpr std::size_t kCopySlack = 16;

/// Copies the numbers that are not in `left_out`, in their order, and returns the end of the copies. `out`
/// has room for all numbers and kCopySlack more.
std::uint32_t* copy_others(const Bits& left_out, std::span<const std::uint32_t> numbers,
                           std::uint32_t* out) noexcept;

}  // namespace edgewire::plan
