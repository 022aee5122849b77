#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace edgewire::cli {

/// Returns "did you mean NAME?", or an empty text for none.
std::string did_you_mean(const std::string& name);

/// Returns the line which says that `command`, at `path` ("" is the program), has no subcommand `word`, in
/// one line, and what was meant.
std::string no_such_command(const CLI::App& command, const std::string& path, const std::string& word);

/// Returns one line about a command line that CLI11 cannot parse, and what was probably meant.
std::string usage_line(const CLI::App& app, const CLI::ParseError& error);

}  // namespace edgewire::cli
