#include "runs/values.h"

#include <type_traits>
#include <vector>

#include "launch/packing.h"
#include "runs/vertex_lines.h"

namespace edgewire::runs {

namespace {

template <class Number>
void add_line(VertexLines& lines, VertexId vertex, const Values& values, Number number) {
  using Form = Values::Form;
  if constexpr (std::is_same_v<Number, std::uint32_t>)
    if (values.form == Form::level) return lines.add_level(vertex, number);
  if constexpr (std::is_same_v<Number, PlainId>)
    if (values.form == Form::vertex) return lines.add_vertex(vertex, VertexId(number));
  if constexpr (!std::is_same_v<Number, std::uint32_t>) {
    if (values.form == Form::distance) return lines.add_distance(vertex, number);
    lines.add(vertex, static_cast<double>(number), values.digits);
  }
}

}  // namespace

std::vector<VertexId> owned_vertices(const partition::Ownership& ownership, std::uint32_t rank) {
  std::vector<VertexId> vertices(ownership.count(rank));
  for (LocalNumber i{}; i < vertices.size(); ++i) vertices[i] = ownership.vertex(rank, i);
  return vertices;
}

std::string lines_of_all(const graph::GraphFile& graph, const Values& all) {
  VertexLines lines(graph);
  std::visit(
      [&](const auto& numbers) {
        for (VertexId v{}; v < numbers.size(); ++v) add_line(lines, v, all, numbers[v]);
      },
      all.numbers);
  return lines.take();
}

std::string lines_of(const graph::GraphFile& graph, std::span<const VertexId> vertices,
                     const Values& values) {
  VertexLines lines(graph);
  std::visit(
      [&](const auto& numbers) {
        for (std::size_t i = 0; i < vertices.size(); ++i) add_line(lines, vertices[i], values, numbers[i]);
      },
      values.numbers);
  return lines.take();
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
