#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <string_view>

namespace edgewire::cli {

/// What we call an option or a command, and what users of other programs say, with blanks between the words.
struct OtherNames {
  std::string_view ours, theirs;
};
std::span<const OtherNames> other_options();
std::span<const OtherNames> other_commands();

/// Says that `command`, at `path` ("" is the program), has no subcommand `word`, in one line, and what was
/// meant.
std::string no_such_command(const CLI::App& command, const std::string& path, const std::string& word);

/// Says what is wrong with a command line that CLI11 cannot parse, in one line, and what was probably meant.
std::string usage_line(const CLI::App& app, const CLI::ParseError& error);

/// Throws UsageError when an option that names a file or folder has an empty name.
void check_names(std::span<char* const> words);

}  // namespace edgewire::cli
