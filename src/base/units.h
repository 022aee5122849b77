// This file says amounts as people read them, with four digits and in the unit that shows them; and lists.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace edgewire {

/// Returns a text such as "3.2 MB", by powers of 1000.
std::string readable_bytes(std::uint64_t bytes);
/// Returns a text such as "16 GiB", by powers of 1024: of memory and caches, which have such sizes.
std::string readable_memory(std::uint64_t bytes);
/// Returns a text such as "12.34 ms" or "870 us".
std::string readable_seconds(double seconds);
/// Returns a text such as "85.21 M". The caller adds the name of what is counted.
std::string readable_count(double count);
/// Returns "a, b or c". `last`: the text before the last name.
std::string list_of(const std::vector<std::string>& names, const char* last = " or ");

}  // namespace edgewire
