#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "graph/file/format.h"
#include "graph/read/edge_lines.h"
#include "graph/read/first_lines.h"
#include "graph/read/list_head.h"
#include "graph/read/readers.h"
#include "graph/read/text_lines.h"
#include "options/files.h"

namespace edgewire::graph {

namespace {

std::string metis_hint() { return fmt::format(" (METIS graphs are read with {})", opt::format("metis")); }

BuildSummary read_lines(Conversion& conversion, LineShape shape, const Piece& first,
                        GraphShape::Numbering numbering) {
  shape.rounded = &conversion.rounded;
  BuildOptions& options = conversion.options;
  options.weighted = options.weighted && shape.weighted;
  start(conversion, {.numbering = numbering}, [&] { return sample_sources(conversion.inputs, shape); });
  EdgeSink& sink = conversion.edges;
  each_edge_piece(conversion, conversion.inputs, shape, first,
                  [&](int worker, const ParsedEdges& edges) { edges.add_to(sink, worker); });
  if (conversion.vertices != nullptr) {
    LineShape lone;
    lone.vertex = true;
    each_edge_piece(
        conversion, std::span(&conversion.vertices, 1), lone, {},
        [&](int worker, const ParsedEdges& vertices) { sink.add_vertices(worker, vertices.all_ids()); });
  }
  return sink.write(0, conversion.progress);
}

std::uint32_t u32_at(std::string_view text, std::size_t place) {
  std::uint32_t number = 0;
  std::memcpy(&number, text.data() + place * sizeof number, sizeof number);
  return number;
}

std::vector<std::uint64_t> sample_pairs(std::span<Input* const> inputs) {
  constexpr std::size_t kPair = 8;
  std::vector<std::uint64_t> sources;
  for (Input* const input : inputs)
    input->sample(kPair, [&](const Piece& piece) {
      for (std::size_t pair = 0; pair < piece.text.size() / kPair; ++pair)
        sources.push_back(u32_at(piece.text, 2 * pair));
    });
  return sources;
}

/// Returns the words of a line, without quotes.
std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kBetween = " \t\r,;|\"'";
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(kBetween); at < line.size();) {
    const std::size_t end = std::min(line.find_first_of(kBetween, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBetween, end);
  }
  return words;
}

}  // namespace

WeightColumn third_column(std::string_view comments) {
  constexpr std::array<std::string_view, 2> kWeights = {"weight", "weights"};
  constexpr std::array<std::string_view, 9> kTimes = {"time",       "times",    "date",   "ts",   "timestamp",
                                                      "timestamps", "datetime", "unixts", "epoch"};
  WeightColumn column = WeightColumn::guessed;
  while (!comments.empty()) {
    std::string_view line = cut_line(comments);
    line.remove_prefix(std::min(line.find_first_not_of(" \t#%/"), line.size()));
    const auto words = words_of(line);
    if (words.size() != 3 || !is_end_name(words[0]) || !is_end_name(words[1])) continue;
    if (is_one_of(words[2], kWeights)) column = WeightColumn::named;
    if (is_one_of(words[2], kTimes)) column = WeightColumn::time;
  }
  return column;
}

ThirdField third_field(std::string_view columns) {
  if (columns.empty()) return ThirdField::unsaid;
  return chosen_columns(columns).has_weight() ? ThirdField::weight : ThirdField::other;
}

BuildSummary read_snap(Conversion conversion) {
  Piece first;
  FirstEdge edge;
  while (edge.fields == 0 && conversion.input.next_lines(first)) edge = first_edge(first);
  if (edge.fields == 0) first.text = {};
  LineShape shape;
  shape.named = conversion.inputs.size() == 1;
  shape.fields = std::max(edge.fields, 2);
  const ThirdField third = third_field(conversion.wanted.columns);
  const bool timed = conversion.head.timed && edge.fields == 4;
  shape.weighted = conversion.options.weighted &&
                   (third == ThirdField::weight || (edge.weighted && third == ThirdField::unsaid));
  if (shape.weighted && third == ThirdField::unsaid && edge.fields > 3 && !timed)
    conversion.input.fail_line(
        first, edge.at,
        fmt::format(
            "{} fields; an edge list has SOURCE TARGET [WEIGHT]. {} says which fields to read, such as {}",
            edge.fields, opt::columns, opt::columns("1,2")));
  shape.hint = metis_hint();
  WeightColumn& column = conversion.options.column;
  if (shape.weighted && timed && third == ThirdField::unsaid && conversion.options.note &&
      conversion.edges.rank() == 0)
    conversion.options.note(fmt::format("{}: its fourth field is a time ({}) and left out",
                                        conversion.head.path, conversion.head.line));
  if (shape.weighted && !edge.named && third == ThirdField::unsaid && !conversion.head.weighted) {
    column = third_column({first.text.data(), static_cast<std::size_t>(edge.at - first.text.data())});
    for (Input* const other : conversion.inputs.subspan(1))
      column = std::max(column, third_column(other->peek()));
  }
  BuildSummary summary = read_lines(conversion, shape, first, GraphShape::Numbering::dense);
  summary.third_is_weight = shape.weighted && third == ThirdField::unsaid;
  return summary;
}

BuildSummary read_gap_text(Conversion conversion, bool weighted) {
  LineShape shape;
  shape.max_id = kMaxVertices - 1;
  shape.weighted = weighted && conversion.options.weighted;
  shape.fields = weighted ? 3 : 2;
  shape.hint = metis_hint();
  return read_lines(conversion, shape, {}, GraphShape::Numbering::given);
}

BuildSummary read_u32_pairs(Conversion conversion) {
  BuildOptions& options = conversion.options;
  options.weighted = false;
  start(conversion, {}, [&] { return sample_pairs(conversion.inputs); });
  EdgeSink& sink = conversion.edges;
  std::vector<std::vector<std::uint64_t>> buffers(static_cast<std::size_t>(options.workers));
  each_piece(conversion, conversion.inputs, {}, 8, [&](const Input& input, int worker, const Piece& piece) {
    std::vector<std::uint64_t>& ids = buffers[static_cast<std::size_t>(worker)];
    ids.resize(piece.text.size() / 4);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = u32_at(piece.text, i);
    const auto wrong =
        std::find_if(ids.begin(), ids.end(), [](std::uint64_t id) { return id >= kMaxVertices; });
    if (wrong != ids.end())
      input.fail(piece.offset + static_cast<std::uint64_t>(wrong - ids.begin()) * 4,
                 fmt::format("vertex id {} is larger than the {} that is supported{}", *wrong,
                             kMaxVertices - 1, kMoreVertices));
    sink.add(worker, ids, Weights());
  });
  return sink.write(0, conversion.progress);
}

}  // namespace edgewire::graph
