// The extension module edgewire._edgewire: graphs and kernels as the package's Python code calls them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "apart.h"
#include "edgewire/bound.h"
#include "edgewire/convert.h"
#include "edgewire/error.h"
#include "edgewire/graph.h"
#include "edgewire/kernels.h"
#include "edgewire/launch.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace edgewire::python {

namespace {

/// Options of a job, and what only a caller from Python has.
struct Job : JobOptions {
  int processes = 1;
  nb::object show = nb::none();  ///< called with name, done, total and unit of a step; None: nobody looks
};

/// Lets Python handle its signals, and shows the step. Throws what a handler throws, such as
/// KeyboardInterrupt.
Wait waiter(const nb::object& show) {
  return [&show](const ToldStep& step) {
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!show.is_none() && step.name != nullptr) show(step.name, step.done, step.total, step.unit);
  };
}

/// Copies what rank 0 has at `bytes` to all others, a piece at a time. Collective.
void broadcast(launch::Bootstrap& bootstrap, std::span<char> bytes) {
  constexpr std::size_t kPiece = std::size_t{4} << 20;
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(kPiece, bytes.size()))) {
    const auto piece = bytes.first(std::min(kPiece, bytes.size()));
    const auto all =
        bootstrap.allgather(bootstrap.rank() == 0 ? std::string(piece.data(), piece.size()) : "");
    if (bootstrap.rank() > 0) std::ranges::copy(all[0], piece.begin());
  }
}

/// A text that the process of a call sends back.
class SharedText {
 public:
  void put(const std::string& text) {
    if (text.size() >= kMostBytes) throw Error("the report has more than 64 MB");
    std::memcpy(memory_.as<char>().data(), text.data(), text.size());
  }
  /// Brings the text of rank 0 to all. Collective.
  void bring_to_all(launch::Bootstrap& bootstrap) { put(bootstrap.allgather(memory_.as<char>().data())[0]); }
  nb::str take() const { return nb::str(memory_.as<char>().data()); }

 private:
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // takes memory only where it is written
  SharedMemory memory_{kMostBytes};
};

/// What a kernel sends back: values, one for each vertex, and the report.
template <class Value>
class Answer {
 public:
  explicit Answer(std::uint64_t vertices)
      : values_(std::make_unique<SharedMemory>(vertices * sizeof(Value))) {}

  /// In the process of the call.
  template <class From>
  void put(const Result<From>& result) {
    const auto to = values_->as<Value>();
    std::ranges::transform(result.values, to.begin(), [](From value) {
      if constexpr (std::is_integral_v<Value>)
        if (value == std::numeric_limits<From>::max()) return Value{-1};
      return static_cast<Value>(value);
    });
    json_.put(result.report.json);
    page_.put(result.report.page);
  }
  /// Brings the answer of rank 0 to all. Collective.
  void bring_to_all(launch::Bootstrap& bootstrap) {
    broadcast(bootstrap, {values_->as<char>()});
    json_.bring_to_all(bootstrap);
    page_.bring_to_all(bootstrap);
  }
  /// In Python's process: the values without a copy, the JSON text and the page.
  nb::tuple take() {
    const auto values = values_->as<Value>();
    const nb::capsule owner(values_.release(),
                            [](void* memory) noexcept { delete static_cast<SharedMemory*>(memory); });
    return nb::make_tuple(nb::ndarray<nb::numpy, Value, nb::ndim<1>>(values.data(), {values.size()}, owner),
                          json_.take(), page_.take());
  }

 private:
  std::unique_ptr<SharedMemory> values_;
  SharedText json_, page_;
};

std::uint64_t rounds = 0;  // kernels that were called so far; the interpreter's lock guards it

/// Calls run(bootstrap, job) in all processes of a job, and returns what it returns at rank 0.
template <class Value, class Run>
nb::tuple run_kernel(const graph::GraphFile& graph, const Job& job, const Run& run) {
  const std::uint64_t round = rounds++;
  Answer<Value> answer(graph.vertices());
  const Wait wait = waiter(job.show);
  {
    const nb::gil_scoped_release release;
    run_apart(
        [&](const Progress& progress) {
          launch::LaunchOptions launch;
          launch.processes = job.processes;
          launch.peer_timeout_s = job.peer_timeout_s;
          launch.round = round;
          return launch::run(launch, [&](launch::Bootstrap& bootstrap) {
            JobOptions options = job;
            if (bootstrap.rank() == 0) options.progress = progress;
            const auto result = run(bootstrap, options);
            if (bootstrap.rank() == 0) answer.put(result);
            const bool launched = job.processes == 1 && bootstrap.size() > 1;  // each has a Python of its own
            if (launched) answer.bring_to_all(bootstrap);
          });
        },
        wait);
  }
  return answer.take();
}

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

void convert_arrays_apart(const Array& sources, const Array& targets, const std::optional<Array>& weights,
                          const std::string& output, EdgeOptions options, const nb::object& show) {
  EdgeArrays edges{ids_of(sources, "sources"), ids_of(targets, "targets")};
  if (weights) edges.weights = weights_of(*weights);
  const Wait wait = waiter(show);
  const nb::gil_scoped_release release;
  run_apart(
      [&](const Progress& progress) {
        options.progress = progress;
        convert_arrays(edges, output, options);
        return 0;
      },
      wait);
}

void convert_apart(const std::string& input, const std::string& output, ConvertOptions options,
                   const nb::object& show) {
  const Wait wait = waiter(show);
  const nb::gil_scoped_release release;
  run_apart(
      [&](const Progress& progress) {
        options.progress = progress;
        convert(input, output, options);
        return 0;
      },
      wait);
}

/// Returns the elements as numbers of as many bytes, in an array that Python cannot write and that keeps
/// `owner`.
template <class Number, class Element>
nb::object view_of(std::span<const Element> elements, nb::handle owner) {
  static_assert(sizeof(Number) == sizeof(Element));
  return nb::cast(nb::ndarray<nb::numpy, const Number, nb::ndim<1>>(
                      reinterpret_cast<const Number*>(elements.data()), {elements.size()}, owner),
                  nb::rv_policy::reference);
}

void check_rows(const graph::GraphFile& graph) {
  const nb::gil_scoped_release release;
  graph.expect_all_rows();
  graph.verify_rows(0, graph.vertices());
}

void bind_graph(nb::module_& m) {
  using graph::GraphFile;
  nb::class_<GraphFile>(m, "GraphFile")
      .def_prop_ro("path", &GraphFile::path)
      .def_prop_ro("vertices", &GraphFile::vertices)
      .def_prop_ro("edges", &GraphFile::edges)
      .def_prop_ro("weighted", &GraphFile::weighted)
      .def_prop_ro("symmetric", &GraphFile::symmetric)
      .def_prop_ro("simple", &GraphFile::simple)
      .def_prop_ro("labelled", &GraphFile::labelled)
      .def_prop_ro("has_original_ids", &GraphFile::has_original_ids)
      .def_prop_ro("checksum", &GraphFile::checksum)
      .def("check_rows", &check_rows)
      // Offsets are signed, as NumPy has indexes: there are fewer than 2^63 edges.
      .def_prop_ro("offsets",
                   [](nb::handle_t<GraphFile> self) {
                     return view_of<std::int64_t>(nb::cast<GraphFile&>(self).offsets(), self);
                   })
      .def_prop_ro("targets",
                   [](nb::handle_t<GraphFile> self) {
                     return view_of<PlainId>(nb::cast<GraphFile&>(self).targets(), self);
                   })
      .def_prop_ro("weights", [](nb::handle_t<GraphFile> self) -> nb::object {
        const auto weights = nb::cast<GraphFile&>(self).weights();
        if (weights.empty()) return nb::none();
        return weights.visit(
            [&]<class Number>(std::span<const Number> all) { return view_of<Number>(all, self); });
      });
  m.def(
      "open", [](const std::string& path, const std::string& name) { return GraphFile::open(path, name); },
      "path"_a, "name"_a = "");
  m.def("names_of", [](const GraphFile& graph) {
    std::vector<VertexId> ids;
    for (VertexId v{}; v < graph.vertices(); ++v) ids.push_back(v);
    return names_of(graph, ids);
  });
  m.def("original_ids", [](const GraphFile& graph) {
    auto ids = std::make_unique<std::vector<std::uint64_t>>();
    for (VertexId v{}; v < graph.vertices(); ++v) ids->push_back(graph.original_id(v));
    std::uint64_t* const data = ids->data();
    const std::size_t size = ids->size();
    const nb::capsule owner(ids.release(),
                            [](void* all) noexcept { delete static_cast<std::vector<std::uint64_t>*>(all); });
    return nb::ndarray<nb::numpy, std::uint64_t, nb::ndim<1>>(data, {size}, owner);
  });
  m.def("export", [](const GraphFile& graph, const std::string& output, const std::string& format,
                     bool weights, int workers) {
    const nb::gil_scoped_release release;
    export_graph(graph, output, format, weights, workers);
  });
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
      .def_rw("names", &EdgeOptions::names)
      .def_rw("simple", &EdgeOptions::simple)
      .def_rw("undirected", &EdgeOptions::undirected)
      .def_rw("workers", &EdgeOptions::workers);
  m.def("convert", &convert_apart, "input"_a, "output"_a, "options"_a, "show"_a.none());
  m.def("convert_arrays", &convert_arrays_apart, "sources"_a, "targets"_a, "weights"_a.none(), "output"_a,
        "options"_a, "show"_a.none());
}

/// Returns the table for people, the same as JSON, and a page with charts.
nb::tuple bound_apart(const graph::GraphFile& graph, BoundOptions options, const nb::object& show) {
  SharedText text, json, page;
  const Wait wait = waiter(show);
  {
    const nb::gil_scoped_release release;
    run_apart(
        [&](const Progress& progress) {
          options.progress = progress;
          const Bound counted = bound(graph, options);
          text.put(counted.text);
          json.put(counted.json);
          page.put(counted.page);
          return 0;
        },
        wait);
  }
  return nb::make_tuple(text.take(), json.take(), page.take());
}

void bind_bound(nb::module_& m) {
  nb::class_<BoundOptions>(m, "BoundOptions")
      .def(nb::init<>())
      .def_rw("processes", &BoundOptions::processes)
      .def_rw("workers", &BoundOptions::workers)
      .def_rw("ownerships", &BoundOptions::ownerships)
      .def_rw("strategies", &BoundOptions::strategies)
      .def_rw("wires", &BoundOptions::wires)
      .def_rw("rates", &BoundOptions::rates)
      .def_rw("threads", &BoundOptions::threads);
  m.def("bound", &bound_apart, "graph"_a, "options"_a, "show"_a.none());
}

void bind_job(nb::module_& m) {
  nb::class_<Job>(m, "Job")
      .def(nb::init<>())
      .def_rw("processes", &Job::processes)
      .def_rw("show", &Job::show, nb::arg().none())
      .def_rw("workers", &Job::workers)
      .def_rw("transport", &Job::transport)
      .def_rw("peer_timeout", &Job::peer_timeout_s)
      .def_rw("ownership", &Job::ownership)
      .def_rw("weighted", &Job::weighted)
      .def_rw("strategy", &Job::strategy)
      .def_rw("wire", &Job::wire)
      .def_rw("layout", &Job::layout)
      .def_rw("order", &Job::order)
      .def_rw("verify", &Job::verify)
      .def_rw("bound", &Job::bound)
      .def_rw("profile", &Job::profile);
}

std::vector<VertexId> sources_of(const std::vector<PlainId>& vertices) {
  return {vertices.begin(), vertices.end()};
}

void bind_kernels(nb::module_& m) {
  using graph::GraphFile;
  using launch::Bootstrap;
  nb::class_<PageRankOptions>(m, "PageRankOptions")
      .def(nb::init<>())
      .def_rw("iterations", &PageRankOptions::iterations)
      .def_rw("damping", &PageRankOptions::damping)
      .def_rw("tolerance", &PageRankOptions::tolerance);
  nb::class_<BcOptions>(m, "BcOptions")
      .def(nb::init<>())
      .def_rw("weighted", &BcOptions::weighted)
      .def_rw("endpoints", &BcOptions::endpoints)
      .def_rw("normalized", &BcOptions::normalized)
      .def_rw("deterministic", &BcOptions::deterministic);
  m.def("pagerank", [](const GraphFile& graph, const PageRankOptions& asked, const Job& job) {
    return run_kernel<double>(graph, job, [&](Bootstrap& bootstrap, const JobOptions& options) {
      return pagerank(bootstrap, graph, asked, options);
    });
  });
  m.def("ppr", [](const GraphFile& graph, const std::vector<PlainId>& sources, const PageRankOptions& asked,
                  const Job& job) {
    return run_kernel<double>(graph, job, [&](Bootstrap& bootstrap, const JobOptions& options) {
      return ppr(bootstrap, graph, sources_of(sources), asked, options);
    });
  });
  m.def("spmv", [](const GraphFile& graph, const std::vector<double>& x, int iterations, const Job& job) {
    return run_kernel<double>(graph, job, [&](Bootstrap& bootstrap, const JobOptions& options) {
      return spmv(bootstrap, graph, x, iterations, options);
    });
  });
  m.def("bfs", [](const GraphFile& graph, PlainId source, bool parents, const Job& job) {
    return run_kernel<std::int64_t>(graph, job, [&](Bootstrap& bootstrap, const JobOptions& options) {
      return bfs(bootstrap, graph, VertexId(source), {.parents = parents, .deterministic = parents}, options);
    });
  });
  m.def("sssp", [](const GraphFile& graph, PlainId source, double delta, bool unit_weights, const Job& job) {
    return run_kernel<double>(graph, job, [&](Bootstrap& bootstrap, const JobOptions& options) {
      return sssp(bootstrap, graph, VertexId(source), {.delta = delta, .unit_weights = unit_weights},
                  options);
    });
  });
  m.def("bc", [](const GraphFile& graph, const std::vector<PlainId>& sources, const BcOptions& asked,
                 const Job& job) {
    return run_kernel<double>(graph, job, [&](Bootstrap& bootstrap, const JobOptions& options) {
      return bc(bootstrap, graph, sources_of(sources), asked, options);
    });
  });
  m.def("wcc", [](const GraphFile& graph, const Job& job) {
    return run_kernel<std::int64_t>(graph, job, [&](Bootstrap& bootstrap, const JobOptions& options) {
      return wcc(bootstrap, graph, options);
    });
  });
  m.def("scc", [](const GraphFile& graph, const Job& job) {
    return run_kernel<std::int64_t>(graph, job, [&](Bootstrap& bootstrap, const JobOptions& options) {
      return scc(bootstrap, graph, options);
    });
  });
  m.def("cdlp", [](const GraphFile& graph, std::uint32_t iterations, const Job& job) {
    return run_kernel<std::int64_t>(graph, job, [&](Bootstrap& bootstrap, const JobOptions& options) {
      return cdlp(bootstrap, graph, iterations, options);
    });
  });
  m.def("lcc", [](const GraphFile& graph, const Job& job) {
    return run_kernel<double>(graph, job, [&](Bootstrap& bootstrap, const JobOptions& options) {
      return lcc(bootstrap, graph, options);
    });
  });
}

}  // namespace

}  // namespace edgewire::python

NB_MODULE(_edgewire, m) {
  using namespace edgewire;
  m.attr("__version__") = EDGEWIRE_VERSION;
  const auto error = nb::exception<Error>(m, "Error");
  nb::exception<UsageError>(m, "UsageError", error.ptr());
  python::bind_graph(m);
  python::bind_conversion(m);
  python::bind_bound(m);
  python::bind_job(m);
  python::bind_kernels(m);
}
