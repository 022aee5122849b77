#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

namespace edgewire::cli {

/// The candidate that `word` was probably meant to be: the one that it begins, if it is one only, or the one
/// with the fewest typing errors, if they are few for its length. Empty: none is near.
std::string nearest(const std::string& word, std::span<const std::string> candidates);

/// What is wrong with a command line that CLI11 cannot parse, in one line, and what was probably meant.
std::string usage_line(const CLI::App& app, const CLI::ParseError& error);

/// Throws UsageError when an option that names a file or folder has an empty name.
void check_names(std::span<char* const> words);

}  // namespace edgewire::cli
