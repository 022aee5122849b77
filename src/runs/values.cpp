#include "runs/values.h"

#include <fmt/format.h>

#include <limits>
#include <type_traits>

#include "base/mapped_file.h"
#include "graph/vertex_names.h"
#include "launch/packing.h"

namespace edgewire::runs {

namespace {

/// The level or distance of a vertex that no path leads to.
template <class Number>
constexpr Number kUnreached = std::numeric_limits<Number>::has_infinity
                                  ? std::numeric_limits<Number>::infinity()
                                  : std::numeric_limits<Number>::max();

template <class Number>
void add_value(fmt::memory_buffer& text, const graph::VertexNames& names, const Values& values,
               Number number) {
  constexpr std::int64_t kUnreachedLevel = std::numeric_limits<std::int64_t>::max();
  const auto end = std::back_inserter(text);
  const bool unreached = number == kUnreached<Number>;
  switch (values.form) {
    case Values::Form::level:
      fmt::format_to(end, "{}", unreached ? kUnreachedLevel : static_cast<std::int64_t>(number));
      break;
    case Values::Form::distance:
      unreached ? fmt::format_to(end, "infinity") : fmt::format_to(end, "{}", number);
      break;
    case Values::Form::vertex: {
      const VertexId other(static_cast<PlainId>(number));
      other == kNoVertex ? text.append(std::string_view("-1")) : names.append(text, other);
      break;
    }
    case Values::Form::number:
      fmt::format_to(end, "{:.{}g}", static_cast<double>(number), values.digits);
  }
}

/// Returns the lines of values. `vertex_at(i)`: the vertex of value i.
template <class VertexAt>
std::string lines(const graph::GraphFile& graph, const Values& values, const VertexAt& vertex_at) {
  const graph::VertexNames names(graph);
  fmt::memory_buffer text;
  std::visit(
      [&](const auto& numbers) {
        for (std::size_t i = 0; i < numbers.size(); ++i) {
          names.append(text, vertex_at(i));
          text.push_back('\t');
          add_value(text, names, values, numbers[i]);
          text.push_back('\n');
        }
      },
      values.numbers);
  refuse_changed_files();
  return fmt::to_string(text);
}

}  // namespace

std::vector<VertexId> owned_vertices(const partition::Ownership& ownership, std::uint32_t rank) {
  std::vector<VertexId> vertices(ownership.count(rank));
  for (LocalNumber i{}; i < vertices.size(); ++i) vertices[i] = ownership.vertex(rank, i);
  return vertices;
}

std::string lines_of_all(const graph::GraphFile& graph, const Values& all) {
  return lines(graph, all, [](std::size_t i) { return VertexId(static_cast<PlainId>(i)); });
}

std::string lines_of(const graph::GraphFile& graph, std::span<const VertexId> vertices,
                     const Values& values) {
  return lines(graph, values, [&](std::size_t i) { return vertices[i]; });
}

std::string lines_of_owned(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                           const partition::Ownership& ownership, const Values& all) {
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
        return lines_of(graph, owned_vertices(ownership, rank),
                        {all.form, std::span<const Number>(own), all.digits});
      },
      all.numbers);
}

}  // namespace edgewire::runs
