// Graphs and conversions, as the package's Python code calls them.
#include <memory>

#include "edgewire/convert.h"
#include "edgewire/error.h"
#include "edgewire/graph.h"
#include "python/bindings.h"

namespace edgewire::python {

namespace {

/// An array of numbers that lies in memory without gaps.
using Array = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Number>
std::span<const Number> span_of(const Array& array) {
  return {static_cast<const Number*>(array.data()), array.size()};
}

Ids ids_of(const Array& array, const char* which) {
  const nb::dlpack::dtype type = array.dtype();
  if (type == nb::dtype<std::uint32_t>()) return span_of<std::uint32_t>(array);
  if (type == nb::dtype<std::uint64_t>()) return span_of<std::uint64_t>(array);
  if (type == nb::dtype<std::int32_t>()) return span_of<std::int32_t>(array);
  if (type == nb::dtype<std::int64_t>()) return span_of<std::int64_t>(array);
  throw UsageError(std::string(which) + " are no whole numbers of 32 or 64 bits");
}

graph::Weights weights_of(const Array& array) {
  const nb::dlpack::dtype type = array.dtype();
  const auto weights = [&](graph::WeightType of) { return graph::Weights(of, array.data(), array.size()); };
  if (type == nb::dtype<float>()) return weights(graph::WeightType::f32);
  if (type == nb::dtype<double>()) return weights(graph::WeightType::f64);
  if (type == nb::dtype<std::uint32_t>()) return weights(graph::WeightType::u32);
  if (type == nb::dtype<std::uint64_t>()) return weights(graph::WeightType::u64);
  throw UsageError("weights are neither floats nor whole numbers from 0 on");
}

/// `apart`: in a process of its own. Else nothing else changes the arrays meanwhile.
void convert_arrays_of(const Array& sources, const Array& targets, const std::optional<Array>& weights,
                       const std::string& output, EdgeOptions options, const nb::object& show, bool apart) {
  EdgeArrays edges{ids_of(sources, "sources"), ids_of(targets, "targets")};
  if (weights) edges.weights = weights_of(*weights);
  if (!apart) {
    const nb::gil_scoped_release release;
    convert_arrays(edges, output, options);
    return;
  }
  run_unlocked(
      [&](const Progress& progress) {
        options.progress = progress;
        convert_arrays(edges, output, options);
      },
      show);
}

/// Returns what the user should know of the input.
nb::list convert_apart(const std::string& input, const std::string& output, ConvertOptions options,
                       const nb::object& show) {
  return texts_of(run_unlocked(
      [&](const Progress& progress) {
        options.progress = progress;
        options.note = note_apart;
        convert(input, output, options);
      },
      show));
}

/// Returns the elements as numbers of as many bytes, in a read-only array that keeps `owner`.
template <class Number, class Element>
nb::object view_of(std::span<const Element> elements, nb::handle owner) {
  static_assert(sizeof(Number) == sizeof(Element));
  return nb::cast(nb::ndarray<nb::numpy, const Number, nb::ndim<1>>(
                      reinterpret_cast<const Number*>(elements.data()), {elements.size()}, owner),
                  nb::rv_policy::reference);
}

void check_rows(const Graph& graph) {
  run_unlocked([&](const Progress&) {
    graph.expect_all_rows();
    graph.verify_rows(0, graph.vertices());
  });
}

/// Returns the places of source, target and weight (or none) in a table with columns of these names, and a
/// line for the user. `weight`: where the caller knows it.
nb::tuple edge_columns_of(const std::vector<std::string>& names, std::optional<std::size_t> weight) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  const EdgeColumns found = find_edge_columns(views, true, weight);
  return nb::make_tuple(found.source, found.target, found.weight, found.note);
}

void bind_conversion(nb::module_& m) {
  nb::class_<ConvertOptions>(m, "ConvertOptions")
      .def(nb::init<>())
      .def_rw("format", &ConvertOptions::format)
      .def_rw("weights", &ConvertOptions::weights)
      .def_rw("simple", &ConvertOptions::simple)
      .def_rw("undirected", &ConvertOptions::undirected)
      .def_rw("keep_ids", &ConvertOptions::keep_ids)
      .def_rw("labels", &ConvertOptions::labels)
      .def_rw("allow_empty", &ConvertOptions::allow_empty)
      .def_rw("columns", &ConvertOptions::columns)
      .def_rw("workers", &ConvertOptions::workers);
  nb::class_<EdgeOptions>(m, "EdgeOptions")
      .def(nb::init<>())
      .def_rw("vertices", &EdgeOptions::vertices, nb::arg().none())
      .def_rw("dense", &EdgeOptions::dense)
      .def_rw("names", &EdgeOptions::names)
      .def_rw("simple", &EdgeOptions::simple)
      .def_rw("undirected", &EdgeOptions::undirected)
      .def_rw("workers", &EdgeOptions::workers);
  m.def("convert", &convert_apart, "input"_a, "output"_a, "options"_a, "show"_a.none());
  m.def("edge_columns", &edge_columns_of, "names"_a, "weight"_a.none());
  m.def("note_of_types", &note_of_types);
  m.def("convert_arrays", &convert_arrays_of, "sources"_a, "targets"_a, "weights"_a.none(), "output"_a,
        "options"_a, "show"_a.none(), "apart"_a);
}

}  // namespace

void bind_graph(nb::module_& m) {
  bind_conversion(m);
  nb::class_<Graph>(m, "Graph")
      .def_prop_ro("path", &Graph::path)
      .def_prop_ro("vertices", &Graph::vertices)
      .def_prop_ro("edges", &Graph::edges)
      .def_prop_ro("weighted", &Graph::weighted)
      .def_prop_ro("symmetric", &Graph::symmetric)
      .def_prop_ro("simple", &Graph::simple)
      .def_prop_ro("labelled", &Graph::labelled)
      .def_prop_ro("has_original_ids", &Graph::has_original_ids)
      .def_prop_ro("checksum", &Graph::checksum)
      .def("check_rows", &check_rows)
      .def("set_table", &Graph::set_table)
      // Offsets are signed, as NumPy has indexes: there are fewer than 2^63 edges.
      .def_prop_ro("offsets",
                   [](nb::handle_t<Graph> self) {
                     return view_of<std::int64_t>(nb::cast<Graph&>(self).offsets(), self);
                   })
      .def_prop_ro(
          "targets",
          [](nb::handle_t<Graph> self) { return view_of<PlainId>(nb::cast<Graph&>(self).targets(), self); })
      .def_prop_ro("weights", [](nb::handle_t<Graph> self) -> nb::object {
        const auto weights = nb::cast<Graph&>(self).weights();
        if (weights.empty()) return nb::none();
        return weights.visit(
            [&]<class Number>(std::span<const Number> all) { return view_of<Number>(all, self); });
      });
  m.def(
      "open", [](const std::string& path, const std::string& name) { return Graph::open(path, name); },
      "path"_a, "name"_a = "");
  m.def("names_of", [](const Graph& graph) {
    std::vector<VertexId> ids;
    for (VertexId v{}; v < graph.vertices(); ++v) ids.push_back(v);
    return texts_of(names_of(graph, ids));
  });
  m.def("original_ids", [](const Graph& graph) {
    auto ids = std::make_unique<std::vector<std::uint64_t>>();
    for (VertexId v{}; v < graph.vertices(); ++v) ids->push_back(graph.original_id(v));
    std::uint64_t* const data = ids->data();
    const std::size_t size = ids->size();
    const nb::capsule owner(ids.release(),
                            [](void* all) noexcept { delete static_cast<std::vector<std::uint64_t>*>(all); });
    return nb::ndarray<nb::numpy, std::uint64_t, nb::ndim<1>>(data, {size}, owner);
  });
  m.def("export", [](const Graph& graph, const std::string& output, const std::string& format, bool weights,
                     int workers) {
    run_unlocked([&](const Progress&) { export_graph(graph, output, format, weights, workers); });
  });
}

}  // namespace edgewire::python
