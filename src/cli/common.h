// What several subcommands need: parsing of sizes, rates and lists.
#pragma once

#include <string>

namespace edgewire::cli {

/// Writes `text` to `path` whole or not at all: into a file beside it that is then renamed. "-" is stdout.
/// Throws Error with the path.
void write_whole(const std::string& path, const std::string& text);

}  // namespace edgewire::cli
