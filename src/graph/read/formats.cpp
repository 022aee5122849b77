#include "graph/read/formats.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "graph/file/format.h"
#include "graph/read/decompress.h"
#include "graph/read/edge_lines.h"
#include "graph/read/first_lines.h"
#include "graph/read/readers.h"
#include "graph/read/text_lines.h"
#include "graph/read/webgraph_rows.h"
#include "options/files.h"

namespace edgewire::graph {

namespace {

constexpr std::array<FormatName, 12> kFormats = {{
    {Format::snap, "snap", "an edge list", ".txt .edges .e", true},
    {Format::csv, "csv", "a table", ".csv .tsv", true},
    {Format::matrix_market, "mtx", "Matrix Market", ".mtx", true},
    {Format::metis, "metis", "METIS", ".graph .metis", true},
    {Format::dimacs, "dimacs", "DIMACS", ".gr", true},
    {Format::el, "el", "GAP's edge list", ".el", true},
    {Format::wel, "wel", "GAP's weighted edge list", ".wel", true},
    {Format::sg, "sg", "GAP's serialized graph", ".sg", false},
    {Format::wsg, "wsg", "GAP's weighted serialized graph", ".wsg", false},
    {Format::u32_pairs, "u32pairs", "pairs of u32", ".u32 .bin .u32pairs", false},
    {Format::webgraph, "webgraph", "WebGraph's BVGraph", "", false},  // METIS has the same ending
    {Format::ew, "ew", "Edgewire's own", ".ew", false},
}};

/// The facts of a file's content that its first bytes tell.
struct Content {
  std::optional<Format> format;  ///< format, by a mark that only this format has; csv by its header
  std::string_view foreign;      ///< name of a format that is not supported
  bool text = false;             ///< whether it is text; neither text nor binary: empty
  bool binary = false;
  std::size_t binary_at = 0;  ///< first byte that shows binary data
  bool table = false;  ///< whether the first line is a header with source and target, or says the separator
  bool separated = false;  ///< whether the first line says the separator
  bool empty = true;       ///< whether there is no line with data
  bool edges = false;      ///< whether the first line is one of an edge list
};

/// The first bytes of formats that are not supported, and their names.
constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kForeign = {
    {{"PK\x03\x04", "a zip archive"},
     {"\x93NUMPY", "a NumPy array"},
     {"\x89HDF", "HDF5"},
     {"PAR1", "Parquet"},
     {std::string_view("ARROW1\0", 7), "Arrow"},
     {"7z\xBC\xAF", "a 7z archive"},
     {"\x04\x22\x4D\x18", "lz4"},
     {"MATLAB 5.0", "a MATLAB file"},
     {"<", "XML"},
     {"{", "JSON"},
     {"[", "JSON"},
     {"*", "Pajek"},
     {"graph {", "DOT"},
     {"graph [", "GML"},
     {"digraph ", "DOT"},
     {"Creator ", "GML"}}};

bool is_control(char c) { return static_cast<unsigned char>(c) < 32 && (c < '\t' || c > '\r'); }

/// Text of two or four bytes for each character.
struct WideText {
  std::string_view encoding;  ///< encoding as iconv calls it; empty: it is none
  bool sure = false;  ///< whether it is hardly pairs of 32-bit ids: all characters are ASCII, of two bytes
};

/// Returns the encoding of a file that begins with `start`.
WideText wide_text(std::string_view start) {
  using namespace std::string_view_literals;
  if (start.starts_with("\xFF\xFE\0\0"sv) || start.starts_with("\0\0\xFE\xFF"sv)) return {"UTF-32"};
  const bool marked = start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF");
  if (marked) start.remove_prefix(2);
  constexpr std::size_t kEnough = 1024, kLeastShare = 8;
  start = start.substr(0, std::min(kEnough, start.size() / 2 * 2));
  for (const std::size_t high : {1, 0}) {  // the place of the byte that is 0 for ASCII
    std::size_t ascii = 0, line_ends = 0, zeros = 0;
    for (std::size_t at = 0; at < start.size(); at += 2) {
      const char low = start[at + 1 - high];
      zeros += low == 0 ? 1 : 0;
      if (start[at + high] != 0 || is_control(low)) continue;
      ++ascii;
      line_ends += low == '\n' ? 1 : 0;
    }
    if (zeros == 0 && line_ends > 0 && ascii * kLeastShare >= start.size() / 2)
      return {marked ? "UTF-16" : high == 1 ? "UTF-16LE" : "UTF-16BE", ascii == start.size() / 2};
  }
  return {marked ? "UTF-16" : ""};
}

[[noreturn]] void refuse_wide(const Input& input, const WideText& text) {
  throw Error(fmt::format("{0}: it is text in {1}; iconv -f {1} -t UTF-8 FILE > NEW makes it readable",
                          input.path(), text.encoding));
}

/// Returns whether the text is DIMACS: comments with the letter c, then the line p.
bool is_dimacs(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = trimmed(cut_line(text));
    if (line.starts_with("p ")) return true;
    if (!line.empty() && line != "c" && !line.starts_with("c ")) return false;
  }
  return false;
}

bool is_matrix_market(std::string_view text) {
  constexpr std::string_view kBanner = "%%matrixmarket";
  return is_one_of(text.substr(0, kBanner.size()), std::span(&kBanner, 1));
}

/// Returns the first line that is neither blank nor a comment; empty when there is none.
std::string_view first_data_line(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = trimmed(cut_line(text));
    if (!line.empty() && !is_comment(line.data(), line.data() + line.size())) return line;
  }
  return {};
}

/// Returns whether the first field is a number, followed by a blank or a comma.
bool looks_like_edges(std::string_view line) {
  const std::string_view field = line.substr(0, line.find_first_of(" \t,"));
  return !field.empty() && field.find_first_not_of("0123456789+-.") == field.npos;
}

Content content_of(std::string_view start) {
  Content content;
  if (start.starts_with(std::string_view(kMagic.data(), kMagic.size()))) {
    content.format = Format::ew;
    return content;
  }
  std::string_view text = start.substr(start.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
  for (const auto& [bytes, words] : kForeign)
    if (text.starts_with(bytes)) content.foreign = words;
  constexpr std::size_t kEnough = 1024;
  const std::string_view sample = start.substr(0, kEnough);
  const auto control = std::find_if(sample.begin(), sample.end(), is_control);
  content.text = !sample.empty() && control == sample.end();
  content.binary = control != sample.end();
  content.binary_at = static_cast<std::size_t>(control - sample.begin());
  if (!content.text || !content.foreign.empty()) return content;
  if (is_matrix_market(text))
    content.format = Format::matrix_market;
  else if (is_dimacs(text))
    content.format = Format::dimacs;
  else if (std::string_view rest = text; told_separator(cut_line(rest))) {
    content.table = content.separated = true;
    content.empty = false;
  } else {
    const std::string_view line = first_data_line(text);
    content.empty = line.empty();
    content.edges = looks_like_edges(line);
    content.table = names_edges(line);
  }
  return content;
}

std::string readable() {
  std::string list;
  for (const FormatName& known : kFormats)
    if (!known.endings.empty()) list += fmt::format("{}{}", list.empty() ? "" : " ", known.endings);
  return fmt::format("readable are {}, plain or as .gz .zst .xz .bz2", list);
}

[[noreturn]] void refuse(const Input& input, std::string_view what) {
  throw Error(fmt::format("{}: {}", input.path(), what));
}

/// Refuses a content that is not supported, as `what` says, and names a program that reads it, if known.
[[noreturn]] void refuse_foreign(const Input& input, const std::string& what, std::string_view content) {
  std::error_code none;  // stdin and members of archives are no files
  const bool is_file = std::filesystem::is_regular_file(input.path(), none);
  const std::string call = python_reads(is_file ? input.path() : "FILE", content);
  refuse(input, call.empty() ? fmt::format("{}; {}", what, readable())
                             : fmt::format("{}; Python reads it: {}", what, call));
}

/// Refuses a content that `format`, which the name or an option tells, cannot have.
void check_content(Input& input, const Content& content, const FormatName& format, bool asked) {
  const std::string who = asked ? opt::format.said() : "its name";
  if (content.format && *content.format != format.format) {
    const FormatName& found = name_of(*content.format);
    refuse(input, fmt::format("{} says {}, but its content is {}; {} reads it", who, format.option,
                              found.words, opt::format(found.option)));
  }
  if (format.text && !content.foreign.empty())
    refuse_foreign(input,
                   fmt::format("{} says {}, but its content is {}", who, format.option, content.foreign),
                   content.foreign);
  if (format.text && content.binary && !content.format) {
    const std::string_view before = input.peek().substr(0, content.binary_at);
    if (format.format == Format::metis && !asked && before.find('\n') == before.npos)
      refuse(input,
             fmt::format("it is binary, so it is no METIS graph; a graph of WebGraph has its counts and "
                         "codes in {}: put that file beside",
                         beside_webgraph(input.path(), ".properties")));
    refuse(input, fmt::format("line {}, column {}: binary data, but {} says {}",
                              1 + std::count(before.begin(), before.end(), '\n'), column_of(before), who,
                              format.option));
  }
  if (!format.text && content.text && format.format != Format::ew && format.format != Format::webgraph)
    refuse(input, fmt::format("{} says {}, which is binary, but its content is text; {} reads edge lists",
                              who, format.option, opt::format("snap")));
}

Format format_of(Input& input, Format asked, bool columns, bool labels) {
  const Content content = content_of(input.peek());
  const std::optional<Format> told = asked == Format::automatic ? format_of_file(input.path()) : asked;
  if (const WideText wide = wide_text(input.peek());
      !wide.encoding.empty() && told != Format::ew && (!told || name_of(*told).text || wide.sure))
    refuse_wide(input, wide);
  if (told) check_content(input, content, name_of(*told), asked != Format::automatic);
  if (columns) {
    const Format format = told.value_or(content.format.value_or(Format::csv));
    const bool named_list = format == Format::snap && asked == Format::automatic;
    if (format == Format::csv || named_list) return Format::csv;
    throw UsageError(fmt::format("{}: {} has no columns to choose; tables have ({})", opt::columns,
                                 name_of(format).words, opt::format("csv")));
  }
  if (asked != Format::automatic && !labels) return asked;
  if (told == Format::snap || told == Format::csv) {
    if (labels && !content.separated) return Format::snap;
    return content.edges || content.empty ? Format::snap : Format::csv;
  }
  if (told) return *told;
  if (labels && content.text && !content.format && content.foreign.empty() && ending_of(input.path()).empty())
    return Format::snap;
  if (content.format) return *content.format;
  if (input.peek().empty())
    refuse(input,
           fmt::format("the file is empty, so its content does not tell its format; use {}", opt::format));
  if (!content.foreign.empty())
    refuse_foreign(input, fmt::format("{} is not supported", content.foreign), content.foreign);
  if (content.edges) return Format::snap;
  if (content.table) return Format::csv;
  const std::string ending = ending_of(input.path());
  if (!ending.empty()) refuse_foreign(input, fmt::format("{} is not supported", ending), "");
  refuse(input,
         fmt::format("neither name nor content tells its format; {}; else use {}", readable(), opt::format));
}

/// Refuses a METIS graph: where all vertices have equally many neighbours, its lines could be edges as well.
void refuse_metis(Input& input, Format format) {
  if (format != Format::snap && format != Format::csv && format != Format::el && format != Format::wel)
    return;
  if (const auto graph = metis_graph_in(input, input.peek().size() < Input::kPeekBytes))
    refuse(input, fmt::format("it is to be read as {}, but is a METIS graph of {} vertices and {} edges; {} "
                              "reads it (if its lines are edges, begin with a line '# edges')",
                              name_of(format).words, graph->vertices, graph->edges, opt::format("metis")));
}

}  // namespace

std::span<const FormatName> all_formats() { return kFormats; }

const FormatName& name_of(Format format) { return *std::ranges::find(kFormats, format, &FormatName::format); }

std::string ending_of(std::string_view path) {
  std::string name(path.substr(path.rfind('/') + 1));  // npos + 1 is 0
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view packed : {".gz", ".zst", ".xz", ".bz2"})
    if (name.ends_with(packed)) name.resize(name.size() - packed.size());
  const std::size_t dot = name.rfind('.');
  return dot == name.npos ? "" : name.substr(dot);
}

bool has_ending(std::string_view endings, std::string_view ending) {
  return !ending.empty() &&
         fmt::format(" {} ", endings).find(fmt::format(" {} ", ending)) != std::string::npos;
}

std::optional<Format> format_of_name(std::string_view path) {
  const std::string ending = ending_of(path);
  const auto found = std::ranges::find_if(
      kFormats, [&](const FormatName& known) { return has_ending(known.endings, ending); });
  return found == kFormats.end() ? std::nullopt : std::optional(found->format);
}

std::optional<Format> format_of_file(std::string_view path) {
  const std::optional<Format> told = format_of_name(path);
  return told == Format::metis && path.ends_with(".graph") && has_graph_class(path) ? Format::webgraph : told;
}

void skip_byte_order_mark(Input& input) {
  if (const WideText wide = wide_text(input.peek()); !wide.encoding.empty()) refuse_wide(input, wide);
  if (input.peek().starts_with(kByteOrderMark)) input.skip(kByteOrderMark.size());
}

std::string mistaken_for(std::string_view start) {
  if (start.starts_with(kByteOrderMark)) return "text with a byte order mark";
  if (const WideText wide = wide_text(start); !wide.encoding.empty())
    return fmt::format("text in {}", wide.encoding);
  if (begins_as_packed(start)) return "packed data";
  const Content content = content_of(start);
  if (content.format) return std::string(name_of(*content.format).words);
  return std::string(content.table ? name_of(Format::csv).words : content.foreign);
}

Format choose_format(Input& input, Format asked, bool columns, bool labels) {
  const Format format = format_of(input, asked, columns, labels);
  if (!name_of(format).text) return format;
  const std::string_view text = input.peek();
  if (text.find('\n') == text.npos && cr_within_line(text) != text.npos)
    refuse(input, fmt::format("its {}", kCrAlone));
  refuse_metis(input, format);
  return format;
}

}  // namespace edgewire::graph
