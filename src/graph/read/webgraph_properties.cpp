#include "graph/read/webgraph_rows.h"

#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/file_calls.h"
#include "graph/file/format.h"
#include "graph/read/text_lines.h"

namespace edgewire::graph {

namespace {

using Properties = std::map<std::string, std::string>;

bool is_java_blank(char c) { return c == ' ' || c == '\t' || c == '\f'; }

/// Cuts off one logical line, without leading blanks: lines that end with an odd number of backslashes go on.
std::string next_logical_line(std::string_view& text) {
  std::string joined;
  for (bool more = true; more && !text.empty();) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + (text.substr(end).starts_with("\r\n") ? 2 : 1), text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t\f"), line.size()));
    if (joined.empty() && (line.starts_with('#') || line.starts_with('!'))) return {};
    std::size_t backslashes = 0;
    while (backslashes < line.size() && line[line.size() - 1 - backslashes] == '\\') ++backslashes;
    more = backslashes % 2 == 1;
    joined += line.substr(0, line.size() - (more ? 1 : 0));
  }
  return joined;
}

/// Takes one character, or the one that an escape stands for.
char next_character(std::string_view& text) {
  const char c = text.front();
  text.remove_prefix(1);
  if (c != '\\' || text.empty()) return static_cast<unsigned char>(c) < 128 ? c : '?';
  const char escaped = text.front();
  text.remove_prefix(1);
  if (escaped == 'u' && text.size() >= 4) {
    unsigned code = 0;
    std::from_chars(text.data(), text.data() + 4, code, 16);
    text.remove_prefix(4);
    return code > 0 && code < 128 ? static_cast<char>(code) : '?';
  }
  constexpr std::string_view kLetters = "tnrf", kMeanings = "\t\n\r\f";
  const std::size_t letter = kLetters.find(escaped);
  return letter == kLetters.npos ? escaped : kMeanings[letter];
}

/// Returns the text of a file that must be small; none where there is none.
std::optional<std::string> small_text(const std::string& path) {
  constexpr std::size_t kMost = 1 << 20;
  std::error_code cause;
  const auto status = std::filesystem::status(path, cause);
  if (status.type() == std::filesystem::file_type::none)
    throw Error(fmt::format("{}: cannot read: {}", path, reason(cause.value())));
  if (!std::filesystem::is_regular_file(status)) return std::nullopt;
  std::string text(kMost, '\0');
  text.resize(read_start(path, text.data(), text.size()));
  return text;
}

[[noreturn]] void refuse_properties(const std::string& path, std::string_view what) {
  throw Error(fmt::format("{}: {}", path, what));
}

const std::string* value_of(const Properties& properties, const std::string& key) {
  const auto found = properties.find(key);
  return found == properties.end() ? nullptr : &found->second;
}

/// Returns a whole number; or kNoLimit for -1, only where `signed_too`.
std::uint64_t number_of(const std::string& path, const Properties& properties, const std::string& key,
                        bool signed_too = false) {
  const std::string* const value = value_of(properties, key);
  if (value == nullptr) refuse_properties(path, fmt::format("its line {}= is missing", key));
  const std::string_view text = trimmed(*value);
  if (signed_too && text == "-1") return WebGraphProperties::kNoLimit;
  std::uint64_t number = 0;
  const auto [after, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || after != text.data() + text.size())
    refuse_properties(path, fmt::format("{}={} is not a whole number that is in range", key, *value));
  return number;
}

void check_class(const std::string& path, const Properties& properties) {
  const std::string* const value = value_of(properties, "graphclass");
  if (value == nullptr) refuse_properties(path, "it has no line graphclass=, so it is not one of WebGraph's");
  const std::string_view name = trimmed(*value);
  const std::size_t begin = name.find_last_of(". ") + 1;  // npos + 1 is 0
  if (name.substr(begin) == "BVGraph") return;
  if (const std::string* const arcs = value_of(properties, "underlyinggraph"))
    refuse_properties(
        path,
        fmt::format("graphclass {} holds labels; its edges are in {}.graph: give that file", name, *arcs));
  refuse_properties(path, fmt::format("graphclass {} is not supported, but WebGraph's BVGraph is: store the "
                                      "graph as one (java it.unimi.dsi.webgraph.BVGraph)",
                                      name));
}

/// Reads flags such as "RESIDUALS_DELTA | OFFSETS_DELTA".
void read_flags(WebGraphProperties& graph, std::string_view flags) {
  constexpr std::array<std::string_view, WebGraphProperties::kFields> kFields = {
      "OUTDEGREES_", "REFERENCES_", "BLOCK_COUNT_", "BLOCKS_", "RESIDUALS_", "OFFSETS_"};
  constexpr std::array<std::pair<std::string_view, BitCode>, 6> kCodes = {{{"GAMMA", BitCode::gamma},
                                                                           {"DELTA", BitCode::delta},
                                                                           {"UNARY", BitCode::unary},
                                                                           {"ZETA", BitCode::zeta},
                                                                           {"GOLOMB", BitCode::golomb},
                                                                           {"NIBBLE", BitCode::nibble}}};
  while (!flags.empty()) {
    const std::string_view flag = trimmed(flags.substr(0, flags.find('|')));
    flags.remove_prefix(std::min(flags.find('|'), flags.size() - 1) + 1);
    if (flag.empty()) continue;
    bool known = false;
    for (std::size_t field = 0; field < kFields.size(); ++field)
      for (const auto& [name, code] : kCodes)
        if (flag.starts_with(kFields[field]) && flag.substr(kFields[field].size()) == name) {
          graph.codes[field] = code;
          known = true;
        }
    if (!known) refuse_properties(graph.path, fmt::format("compressionflags: {} is not known", flag));
  }
}

void check_ranges(const WebGraphProperties& graph) {
  if (graph.vertices > kMaxVertices || graph.edges > kMaxEdges / 2)
    refuse_properties(graph.path,
                      fmt::format("nodes={} or arcs={} are more than is supported{}", graph.vertices,
                                  graph.edges, graph.vertices > kMaxVertices ? kMoreVertices : ""));
  constexpr std::uint64_t kMostWindow = 1 << 16;
  if (graph.window > kMostWindow)
    refuse_properties(graph.path, fmt::format("windowsize={} is more than the {} that are supported",
                                              graph.window, kMostWindow));
  const auto uses = [&](BitCode code) {
    return std::find(graph.codes.begin(), graph.codes.end(), code) != graph.codes.end();
  };
  constexpr std::uint64_t kMostZeta = 28, kMostGolomb = std::uint64_t{1} << 31;
  const std::uint64_t most = uses(BitCode::zeta) ? kMostZeta : kMostGolomb;
  if ((uses(BitCode::zeta) || uses(BitCode::golomb)) && (graph.parameter == 0 || graph.parameter > most))
    refuse_properties(graph.path, fmt::format("zetak={} is not within 1 to {}", graph.parameter, most));
  if (graph.min_interval > kMaxVertices)
    refuse_properties(graph.path, fmt::format("minintervallength={} is out of range", graph.min_interval));
}

}  // namespace

Properties parse_java_properties(std::string_view text) {
  Properties properties;
  while (!text.empty()) {
    const std::string line = next_logical_line(text);
    std::string_view rest = line;
    if (rest.empty()) continue;
    std::string key, value;
    while (!rest.empty() && rest.front() != '=' && rest.front() != ':' && !is_java_blank(rest.front()))
      key += next_character(rest);
    const auto skip_blanks = [&] {
      while (!rest.empty() && is_java_blank(rest.front())) rest.remove_prefix(1);
    };
    skip_blanks();
    if (rest.starts_with('=') || rest.starts_with(':')) rest.remove_prefix(1);
    skip_blanks();
    while (!rest.empty()) value += next_character(rest);
    properties[key] = value;
  }
  return properties;
}

std::string beside_webgraph(std::string_view path, std::string_view ending) {
  constexpr std::string_view kEnding = ".graph";
  if (path.ends_with(kEnding)) path.remove_suffix(kEnding.size());
  return std::string(path) + std::string(ending);
}

bool has_graph_class(std::string_view path) {
  const auto text = small_text(beside_webgraph(path, ".properties"));
  return text && parse_java_properties(*text).contains("graphclass");
}

WebGraphProperties read_webgraph_properties(std::string_view path) {
  WebGraphProperties graph;
  graph.path = beside_webgraph(path, ".properties");
  const auto text = small_text(graph.path);
  if (!text)
    throw Error(fmt::format(
        "{}: a graph of WebGraph has its counts and codes in {}, which cannot be read: put it beside", path,
        graph.path));
  const Properties properties = parse_java_properties(*text);
  check_class(graph.path, properties);
  if (value_of(properties, "version") != nullptr) {
    if (const auto version = number_of(graph.path, properties, "version"); version > 0)
      refuse_properties(graph.path, fmt::format("version {} is not supported; version 0 is", version));
  }
  if (const auto* const order = value_of(properties, "endianness"); order != nullptr && *order != "big")
    refuse_properties(
        graph.path,
        fmt::format("endianness={} is not supported; big is, which WebGraph converts to", *order));
  graph.vertices = number_of(graph.path, properties, "nodes");
  graph.edges = number_of(graph.path, properties, "arcs");
  graph.window = number_of(graph.path, properties, "windowsize");
  graph.chain = number_of(graph.path, properties, "maxrefcount", true);
  graph.min_interval = number_of(graph.path, properties, "minintervallength");
  if (value_of(properties, "zetak") != nullptr) graph.parameter = number_of(graph.path, properties, "zetak");
  graph.codes.fill(BitCode::gamma);
  graph.codes[WebGraphProperties::references] = BitCode::unary;
  graph.codes[WebGraphProperties::residuals] = BitCode::zeta;
  if (const auto* const flags = value_of(properties, "compressionflags")) read_flags(graph, *flags);
  check_ranges(graph);
  return graph;
}

}  // namespace edgewire::graph
