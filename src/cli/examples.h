// This file has what help and man pages show of a command before all of its options.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace edgewire::cli {

struct Example {
  std::string line;  ///< line for a shell, which begins with the command; the first one is the simplest
  std::string meaning;
};

/// Returns the examples of the command at this path, such as "pagerank" or "tasks metg"; "" is the program.
/// `below`: also those of the commands below it. All examples can be run in one folder that has edges.txt and
/// names.tsv, those of generate and convert first.
std::vector<Example> examples_of(const std::string& path, bool below);

/// Returns the names of the options that most users of a command need; a command with few options has no
/// such list.
std::vector<std::string> most_used(const std::string& path);

/// Commands that belong together, for the help of the program.
struct Family {
  std::string_view commands, purpose;
};
std::span<const Family> families();

}  // namespace edgewire::cli
