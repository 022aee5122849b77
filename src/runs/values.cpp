#include "runs/values.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "base/mapped_file.h"
#include "graph/file/vertex_names.h"
#include "graph/read/formats.h"
#include "launch/packing.h"
#include "report/json_text.h"

namespace edgewire::runs {

namespace {

/// The level or distance of a vertex that no path leads to.
template <class Number>
constexpr Number kUnreached = std::numeric_limits<Number>::has_infinity
                                  ? std::numeric_limits<Number>::infinity()
                                  : std::numeric_limits<Number>::max();

/// Returns whether a vertex has no value.
template <class Number>
bool is_none(Values::Form form, Number number) {
  if (form == Values::Form::vertex) return VertexId(static_cast<PlainId>(number)) == kNoVertex;
  if (form == Values::Form::number) return !std::isfinite(static_cast<double>(number));
  return number == kUnreached<Number>;
}

/// Appends a vertex as a value, or in the first column.
void add_vertex(fmt::memory_buffer& text, const graph::VertexNames& names, VertexId vertex, TextForm form) {
  if (form == TextForm::lines || !names.labelled())
    names.append(text, vertex);
  else if (form == TextForm::csv)
    graph::append_name(text, names.label(vertex), ',');
  else
    text.append(report::json_text(report::Json(names.label(vertex))));
}

template <class Number>
void add_value(fmt::memory_buffer& text, const graph::VertexNames& names, const Values& values, Number number,
               TextForm form) {
  constexpr std::int64_t kUnreachedLevel = std::numeric_limits<std::int64_t>::max();
  const auto end = std::back_inserter(text);
  const bool none = is_none(values.form, number);
  if (none && form != TextForm::lines) {
    if (form == TextForm::json) text.append(std::string_view("null"));
    return;
  }
  switch (values.form) {
    case Values::Form::level:
      fmt::format_to(end, "{}", none ? kUnreachedLevel : static_cast<std::int64_t>(number));
      break;
    case Values::Form::distance:
      none ? fmt::format_to(end, "infinity") : fmt::format_to(end, "{}", number);
      break;
    case Values::Form::vertex:
      none ? text.append(std::string_view("-1"))
           : add_vertex(text, names, VertexId(static_cast<PlainId>(number)), form);
      break;
    case Values::Form::number:
      fmt::format_to(end, "{:.{}g}", static_cast<double>(number), values.digits);
  }
}

/// The text around the lines of all vertices, and around the two fields of each.
struct Frame {
  std::string before, begin, middle, end, between, after;
};

Frame frame_of(TextForm form, std::string_view column) {
  if (form == TextForm::csv) return {fmt::format("vertex,{}\n", column), "", ",", "\n", "", ""};
  if (form == TextForm::json)
    return {"[\n", "{\"vertex\":", fmt::format(",\"{}\":", column), "}", ",\n", "\n]\n"};
  return {"", "", "\t", "\n", "", ""};
}

/// Returns the text of values. `vertex_at(i)`: the vertex of value i.
template <class VertexAt>
std::string text_with(const Graph& graph, const Values& values, TextForm form, const VertexAt& vertex_at) {
  const graph::VertexNames names(graph);
  const Frame frame = frame_of(form, values.column);
  fmt::memory_buffer text;
  text.append(frame.before);
  std::visit(
      [&](const auto& numbers) {
        for (std::size_t i = 0; i < numbers.size(); ++i) {
          if (i > 0) text.append(frame.between);
          text.append(frame.begin);
          add_vertex(text, names, vertex_at(i), form);
          text.append(frame.middle);
          add_value(text, names, values, numbers[i], form);
          text.append(frame.end);
        }
      },
      values.numbers);
  text.append(frame.after);
  refuse_changed_files();
  return fmt::to_string(text);
}

}  // namespace

std::vector<VertexId> owned_vertices(const partition::Ownership& ownership, std::uint32_t rank) {
  std::vector<VertexId> vertices(ownership.count(rank));
  for (LocalNumber i{}; i < vertices.size(); ++i) vertices[i] = ownership.vertex(rank, i);
  return vertices;
}

TextForm text_form_of(std::string_view path) {
  const std::string ending = graph::ending_of(path);
  return ending == ".csv" ? TextForm::csv : ending == ".json" ? TextForm::json : TextForm::lines;
}

std::string text_of_all(const Graph& graph, const Values& all, TextForm form) {
  return text_with(graph, all, form, [](std::size_t i) { return VertexId(static_cast<PlainId>(i)); });
}

std::string text_of(const Graph& graph, std::span<const VertexId> vertices, const Values& values,
                    TextForm form) {
  return text_with(graph, values, form, [&](std::size_t i) { return vertices[i]; });
}

std::string text_of_owned(launch::Bootstrap& bootstrap, const Graph& graph,
                          const partition::Ownership& ownership, const Values& all, TextForm form) {
  const auto size = static_cast<std::uint32_t>(bootstrap.size());
  const auto rank = static_cast<std::uint32_t>(bootstrap.rank());
  return std::visit(
      [&](const auto& numbers) {
        using Number = std::remove_const_t<typename std::decay_t<decltype(numbers)>::element_type>;
        std::vector<std::string> parts(size);
        for (std::uint32_t p = 0; rank == 0 && p < size; ++p) {
          std::vector<Number> part(ownership.count(p));
          for (LocalNumber i{}; i < part.size(); ++i) part[i] = numbers[ownership.vertex(p, i)];
          parts[p] = launch::pack(part);
        }
        const auto own = launch::unpack<Number>(bootstrap.alltoall(parts)[0], 0, ownership.count(rank));
        return text_of(graph, owned_vertices(ownership, rank),
                       {all.form, std::span<const Number>(own), all.digits, all.column}, form);
      },
      all.numbers);
}

}  // namespace edgewire::runs
