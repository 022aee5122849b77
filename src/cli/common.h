// What several subcommands need: lists and numbers from options, output that appears whole.
#pragma once

#include <string>
#include <vector>

namespace edgewire::cli {

/// The items of "a,b,c". Throws UsageError naming the option when one is empty or given twice.
std::vector<std::string> split(const std::string& list, const char* option);
/// Throws UsageError naming the option and the range.
int whole_number(const std::string& text, int least, int most, const char* option);

/// Writes `text` to `path` whole or not at all, see OutputFile. Links are
/// followed; what is no regular file (a terminal, a pipe) is written as it is. "-" is stdout. Throws Error
/// with the path, or OutputClosed when stdout is a pipe that nobody reads.
void write_whole(const std::string& path, const std::string& text);

/// Throws the Error that write_whole would throw now, so that a long run need not end with it. "" is no
/// output.
void check_writable(const std::string& path);

}  // namespace edgewire::cli
