// This file says how much memory a large build may take.
#pragma once

#include <cstdint>
#include <string>

namespace edgewire {

/// Returns how many bytes the machine and the container have free; 2^64 - 1 where that is not known.
std::uint64_t available_memory();

/// Throws Error ("PATH: needs N MB of memory, M MB are available") when the machine or the container has less
/// than `bytes` free. Says nothing where that is not known.
void require_memory(const std::string& path, std::uint64_t bytes);

}  // namespace edgewire
