// What several subcommands need: output that appears whole.
#pragma once

#include <string>

namespace edgewire::cli {

/// Writes `text` to `path` whole or not at all: into a file beside it that is then renamed. Links are followed;
/// what is no regular file (a terminal, a pipe) is written as it is. "-" is stdout. Throws Error with the path.
void write_whole(const std::string& path, const std::string& text);

/// Throws the Error that write_whole would throw now, so that a long run need not end with it. "" is no output.
void check_writable(const std::string& path);

}  // namespace edgewire::cli
