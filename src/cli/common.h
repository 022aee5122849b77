// What several subcommands need: lists and numbers from options, output that appears whole.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace edgewire::cli {

/// The items of "a,b,c". Throws UsageError naming the option when one is empty or given twice.
std::vector<std::string> split(const std::string& list, const char* option);
/// Throws UsageError naming the option and the range.
int whole_number(const std::string& text, int least, int most, const char* option);

/// Tells lists of numbers apart in a few words.
template <class T>
std::string digest(const std::vector<T>& numbers) {
  const std::string_view bytes(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T));
  return fmt::format("{} {:016x}", numbers.size(), std::hash<std::string_view>()(bytes));
}

/// Writes `text` to `path` whole or not at all, see OutputFile. Links are
/// followed; what is no regular file (a terminal, a pipe) is written as it is. "-" is stdout. Throws Error
/// with the path, or OutputClosed when stdout is a pipe that nobody reads.
void write_whole(const std::string& path, const std::string& text);

/// Throws the Error that write_whole would throw now, so that a long run need not end with it. "" is no
/// output.
void check_writable(const std::string& path);

}  // namespace edgewire::cli
