// This file says which formats there are, and which one a file has: by its name and by its content.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "graph/read/input.h"

namespace edgewire::graph {

/// The formats of graphs. `tsv`, a table with tabs, is only written; `csv` reads it.
enum class Format {
  automatic,
  snap,
  csv,
  tsv,
  matrix_market,
  metis,
  dimacs,
  el,
  wel,
  sg,
  wsg,
  u32_pairs,
  webgraph,
  ew
};

struct FormatName {
  Format format;
  std::string_view option;   ///< word as in --format mtx
  std::string_view words;    ///< words as in "this is Matrix Market"
  std::string_view endings;  ///< endings of file names, separated by spaces
  bool text;
};

/// Returns all formats that are read: not Format::automatic and Format::tsv.
std::span<const FormatName> all_formats();
const FormatName& name_of(Format format);

/// Returns the ending of a path in small letters, such as ".foo" of "x.tar.gz: x/g.Foo.gz": the one before
/// .gz, .zst, .xz or .bz2. It is empty where there is none.
std::string ending_of(std::string_view path);
/// Returns whether the ending is one of several that spaces separate.
bool has_ending(std::string_view endings, std::string_view ending);
/// Returns the format that a name tells, without .gz, .zst, .xz or .bz2; none for other names.
std::optional<Format> format_of_name(std::string_view path);
/// Returns the same for a file: .graph is WebGraph's where a .properties file beside says so, else METIS.
std::optional<Format> format_of_file(std::string_view path);

/// The mark that some editors put before UTF-8 text. Readers of text do not expect it.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
/// Moves behind the mark, where the text has it. Throws Error for text in UTF-16 and UTF-32.
void skip_byte_order_mark(Input& input);

/// Returns what readers of edge lists take a text for that begins with `start`; empty: an edge list.
std::string mistaken_for(std::string_view start);

/// Returns the format to read `input` as: `asked`, or for Format::automatic the one that its name and its
/// content tell. Throws Error, with the file and what would work, when the content contradicts `asked` or the
/// name, and when the format is unknown or not supported. With `columns` (--columns) it is a table; with
/// `labels` (--labels) an edge list, where the name allows it or says nothing, as that of stdin.
Format choose_format(Input& input, Format asked, bool columns, bool labels);

/// Returns whether files with this ending, such as ".parquet", are neither read nor written by Edgewire.
bool is_foreign_ending(std::string_view ending);

/// Returns the call that makes a graph file of the file `path`: of the format that its name tells, or else of
/// the format `content`. Returns an empty text where Python has no such call.
std::string python_reads(const std::string& path, std::string_view content = {});

/// Returns the call that writes `path`, in the format of its name, from expressions: `table` for a DataFrame
/// of pandas, `network` for a graph of NetworkX. Returns an empty text where Python has no such call.
std::string python_writes(const std::string& path, std::string_view table, std::string_view network = {});

}  // namespace edgewire::graph
