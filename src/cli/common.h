// This file has lists and numbers from options, and output that appears whole.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launch/bootstrap.h"

namespace edgewire::cli {

/// Returns the items of "a,b,c". Throws UsageError naming the option when one is empty or given twice.
std::vector<std::string> split(const std::string& list, const char* option);
/// Returns the whole number in the text. Throws UsageError naming the option and the range.
int whole_number(const std::string& text, int least, int most, const char* option);

/// The units that may stand behind a number, and their factors.
using Units = std::initializer_list<std::pair<const char*, double>>;
/// Returns a number with one of the units behind it, times the unit's value. Throws UsageError, with
/// `example`.
double with_unit(const std::string& text, Units units, const char* option, const char* example);
/// Returns `number`, which was read from `text`. Throws UsageError when it is not above zero.
double above_zero(double number, const std::string& text, const char* option);
/// Returns a number above zero that may have k, M, G or T (powers of 1000) behind it; 0 for an empty text,
/// the value of an option that was not given. Throws UsageError.
double amount_from(const std::string& text, const char* option, const char* example);
/// Returns the same as a whole number, which is `most` at most.
std::uint64_t count_from(const std::string& text, std::uint64_t most, const char* option);

/// Returns the text with a backslash before each of these characters.
std::string backslashed(std::string_view text, std::string_view characters);

/// Writes `text` to `path` whole or not at all, see OutputFile; compressed where the name says so, see
/// graph::packed(). The text goes to other than regular files (a terminal, a pipe) as it is. "-" is stdout.
/// Throws Error with the path, OutputClosed when stdout is a pipe without a reader, or FileChanged where a
/// file that is mapped was written meanwhile, so that the text may be wrong.
void write_whole(const std::string& path, const std::string& text);

/// Writes text for people to stdout, unless --quiet was given. Throws as write_whole() does.
void show(const std::string& text);

/// Throws the Error that write_whole() would throw now, before a long run. A path of "" means no output.
void check_writable(const std::string& path);

/// Returns the name of one process's part of an output, such as "ranks.tsv.0001-of-0004".
std::string part_path(const std::string& path, int rank, int size);

/// Does the same as check_writable, for the parts of all processes. Collective.
void check_part_writable(launch::Bootstrap& bootstrap, const std::string& path);

/// Writes this process's part, so that a job leaves all its parts or none. Names appear when the content of
/// all is written, after older parts of the same names have gone. Collective; throws Error with the path.
void write_part(launch::Bootstrap& bootstrap, const std::string& path, const std::string& text);

}  // namespace edgewire::cli
