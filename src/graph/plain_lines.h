// The lines that most edge lists are made of, read many at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace edgewire::graph {

/// How far parse_plain_lines() came.
template <class Id>
struct PlainLines {
  const char* next = nullptr;  ///< the line that was not read, or the end of the text
  Id* ids_end = nullptr;       ///< behind the last id that was written
};

/// Before the text there must be so many bytes that can be read.
inline constexpr std::size_t kBeforePlainLines = 16;

/// Reads lines "SOURCE TARGET\n" (or "\r\n") of two numbers with up to 16 digits and one space, tab or comma
/// between them, up to the first that is not like that or whose ids are not within `least` to `most`; some
/// lines before that one, and those in the last bytes of the text, may be left, too. Writes source and target
/// of each, less `origin` (which is at most `least`), to `ids`, which has room for half as many ids as the
/// text has bytes. `Id` is std::uint32_t or std::uint64_t. Reads nothing on processors other than x86-64.
template <class Id>
PlainLines<Id> parse_plain_lines(std::string_view text, std::uint64_t least, std::uint64_t most,
                                 std::uint64_t origin, Id* ids);

}  // namespace edgewire::graph
