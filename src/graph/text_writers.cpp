#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <string_view>

#include "base/bits.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "graph/text_output.h"
#include "graph/vertex_names.h"
#include "graph/writers.h"

namespace edgewire::graph {

namespace {

void append_number(std::string& text, std::uint64_t number) {
  const fmt::format_int digits(number);
  text.append(digits.data(), digits.size());
}

/// A line for each edge. append_vertex(text, vertex) appends what the file calls a vertex; see(vertex) is
/// told of both ends of each edge. Several workers call them.
template <class AppendVertex, class See>
void append_edges(TextOutput& output, const Export& task, bool weighted, char separator,
                  const AppendVertex& append_vertex, const See& see) {
  const GraphFile& graph = task.graph;
  const RowBlocks blocks(graph);
  append_blocks(
      output, task.workers, blocks.count(),
      [&](std::uint64_t block, std::string& text) {
        std::string source_text;
        std::uint64_t source = graph.vertices();
        blocks.visit(
            block,
            [&](PlainId row, std::uint64_t index) {
              if (row != source) {
                source = row;
                source_text.clear();
                append_vertex(source_text, VertexId(row));
                source_text += separator;
                see(VertexId(row));
              }
              const VertexId target = graph.targets()[index];
              see(target);
              text += source_text;
              append_vertex(text, target);
              if (weighted) append_text(text += separator, graph.weights().at(index));
              text += '\n';
            },
            [](PlainId) {});
      },
      task.progress);
}

auto numbers_from(std::uint64_t first_id) {
  return [first_id](std::string& text, VertexId vertex) { append_number(text, vertex + first_id); };
}

/// Appends a field as RFC 4180 has it. Blanks at its ends, and what begins a comment, are quoted as well:
/// some readers, ours among them, take them for something else.
void append_field(std::string& text, std::string_view field, char separator) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  const bool quoted = is_blank(field.front()) || is_blank(field.back()) || field.starts_with("//") ||
                      field.front() == '#' || field.front() == '%' ||
                      field.find_first_of("\"\r\n") != field.npos || field.find(separator) != field.npos;
  if (!quoted) {
    text += field;
    return;
  }
  text += '"';
  for (const char c : field) text.append(c == '"' ? 2 : 1, c);
  text += '"';
}

/// Appends a name to a line whose fields are separated by blanks, and where nothing can be quoted.
void append_plain(std::string& text, std::string_view name, const std::string& path) {
  if (name.find_first_of(" \t,\"") != name.npos || name.starts_with("//") || name.front() == '#' ||
      name.front() == '%')
    throw Error(
        fmt::format("{}: an edge list cannot hold the name '{}', which has a blank, a comma or a double "
                    "quote or begins as a comment does: write .csv or .tsv",
                    path == "-" ? "stdout" : path, name));
  text += name;
}

/// A line for each edge, with what results call its vertices. append_name(text, name) appends a name from the
/// table of names. Returns how many vertices have no edge.
template <class AppendName>
std::uint64_t append_named_edges(TextOutput& output, const Export& task, bool weighted, char separator,
                                 const AppendName& append_name) {
  const VertexNames names(task.graph);
  Bits seen(task.graph.vertices());
  append_edges(
      output, task, weighted, separator,
      [&](std::string& text, VertexId vertex) {
        if (names.labelled())
          append_name(text, names.label(vertex));
        else
          append_number(text, task.graph.original_id(vertex));
      },
      [&](VertexId vertex) { seen.set(vertex); });
  std::uint64_t lost = task.graph.vertices();
  for (const Bits::Word word : seen.all_words()) lost -= static_cast<unsigned>(std::popcount(word));
  return lost;
}

/// A line for each edge, with numbers from 0 on. Returns how many vertices at the end have no edge.
std::uint64_t append_numbered_edges(TextOutput& output, const Export& task, bool weighted) {
  std::atomic<std::uint64_t> used{0};  // read after the workers have ended
  append_edges(output, task, weighted, ' ', numbers_from(0), [&](VertexId vertex) {
    std::uint64_t known = used.load(std::memory_order_relaxed);
    while (known <= vertex &&
           !used.compare_exchange_weak(known, vertex + std::uint64_t{1}, std::memory_order_relaxed)) {
    }
  });
  return task.graph.vertices() - used.load(std::memory_order_relaxed);
}

}  // namespace

WriteSummary write_gap_text(const Export& task, bool weighted) {
  TextOutput output(task.output);
  WriteSummary summary{task.graph.edges()};
  if (task.names) {
    summary.lost_vertices = append_named_edges(
        output, task, weighted, ' ',
        [&](std::string& text, std::string_view name) { append_plain(text, name, task.output); });
  } else {
    summary.first_id = 0;
    summary.lost_vertices = append_numbered_edges(output, task, weighted);
  }
  refuse_changed_files();
  output.commit();
  summary.bytes = output.bytes();
  return summary;
}

WriteSummary write_table(const Export& task, char separator) {
  const bool weighted = task.weights && task.graph.weighted();
  TextOutput output(task.output);
  output.append(weighted ? fmt::format("source{0}target{0}weight\n", separator)
                         : fmt::format("source{}target\n", separator));
  const std::uint64_t lost = append_named_edges(
      output, task, weighted, separator,
      [&](std::string& text, std::string_view name) { append_field(text, name, separator); });
  refuse_changed_files();
  output.commit();
  return {task.graph.edges(), output.bytes(), {}, lost};
}

WriteSummary write_matrix_market(const Export& task) {
  const bool weighted = task.weights && task.graph.weighted();
  const std::uint64_t vertices = task.graph.vertices();
  TextOutput output(task.output);
  output.append(fmt::format("%%MatrixMarket matrix coordinate {} general\n{} {} {}\n",
                            !weighted                               ? "pattern"
                            : is_whole(task.graph.weights().type()) ? "integer"
                                                                    : "real",
                            vertices, vertices, task.graph.edges()));
  append_edges(output, task, weighted, ' ', numbers_from(1), [](VertexId) {});
  refuse_changed_files();
  output.commit();
  return {task.graph.edges(), output.bytes(), 1, 0};
}

}  // namespace edgewire::graph
