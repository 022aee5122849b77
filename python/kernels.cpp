// Kernels and the bound, as the package's Python code calls them.
#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

#include "edgewire/bound.h"
#include "edgewire/error.h"
#include "edgewire/kernels.h"
#include "edgewire/launch.h"
#include "options/jobs.h"
#include "options/kernels.h"
#include "python/bindings.h"

namespace edgewire::python {

namespace {

/// Options of a job, and what only a caller from Python has.
struct Job : JobOptions {
  int processes = 1;
  nb::object show = nb::none();  ///< called with name, done, total and unit of a step; None: nobody looks
};

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
  nb::str take() const { return text_of(memory_.as<char>().data()); }

 private:
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // takes memory only where it is written
  SharedMemory memory_{kMostBytes};
};

/// The values and the report that a kernel sends back.
template <class Value>
class Answer {
 public:
  explicit Answer(std::uint64_t values) : values_(std::make_unique<SharedMemory>(values * sizeof(Value))) {}

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

/// Calls a kernel of the library in all processes of a job, and returns what it returns at rank 0: so many
/// values. `asked`: its arguments between graph and job.
template <class Value, class Kernel, class... Asked>
nb::tuple run_for(std::uint64_t values, const Kernel& kernel, const Graph& graph, const Job& job,
                  const Asked&... asked) {
  launch::prepare_to_fork();  // the interpreter's lock is held, so that no process is forked meanwhile
  Answer<Value> answer(values);
  run_unlocked(
      [&](const Progress& progress) {
        launch::LaunchOptions launch;
        launch.processes = job.processes;
        launch.peer_timeout_s = job.peer_timeout_s;
        launch::run(launch, [&](launch::Bootstrap& bootstrap) {
          JobOptions options = job;
          if (bootstrap.rank() == 0) options.progress = progress;
          const auto result = kernel(bootstrap, graph, asked..., options);
          if (bootstrap.rank() == 0) answer.put(result);
          const bool launched = job.processes == 1 && bootstrap.size() > 1;  // each has a Python of its own
          if (launched) answer.bring_to_all(bootstrap);
        });
      },
      job.show);
  return answer.take();
}

/// Does the same for a kernel with a value for each vertex.
template <class Value, class Kernel, class... Asked>
nb::tuple run_kernel(const Kernel& kernel, const Graph& graph, const Job& job, const Asked&... asked) {
  return run_for<Value>(graph.vertices(), kernel, graph, job, asked...);
}

/// Returns the table for people, the same as JSON, and a page with charts.
nb::tuple bound_apart(const Graph& graph, BoundOptions options, const nb::object& show) {
  SharedText text, json, page;
  run_unlocked(
      [&](const Progress& progress) {
        options.progress = progress;
        const Bound counted = bound(graph, options);
        text.put(counted.text);
        json.put(counted.json);
        page.put(counted.page);
      },
      show);
  return nb::make_tuple(text.take(), json.take(), page.take());
}

/// Returns the getter and the setter of a list of enumeration values, which Python has as words of a row.
template <class Enum>
auto words_of(const options::Option& row, std::vector<Enum> BoundOptions::*member) {
  return [&row, member](const BoundOptions& options) {
    std::vector<std::string> words;
    for (const Enum one : options.*member) words.push_back(word_of(row, one));
    return words;
  };
}
template <class Enum>
auto set_words(const options::Option& row, std::vector<Enum> BoundOptions::*member) {
  return [&row, member](BoundOptions& options, const std::vector<std::string>& words) {
    (options.*member).clear();
    for (const std::string& word : words) (options.*member).push_back(meant_by<Enum>(row, word));
  };
}

void bind_bound(nb::module_& m) {
  nb::class_<BoundOptions>(m, "BoundOptions")
      .def(nb::init<>())
      .def_rw("processes", &BoundOptions::processes)
      .def_rw("workers", &BoundOptions::workers)
      .def_rw("ownerships", &BoundOptions::ownerships)
      .def_prop_rw("strategies", words_of(opt::strategy, &BoundOptions::strategies),
                   set_words(opt::strategy, &BoundOptions::strategies))
      .def_prop_rw("wires", words_of(opt::any_wire, &BoundOptions::wires),
                   set_words(opt::any_wire, &BoundOptions::wires))
      .def_rw("rates", &BoundOptions::rates)
      .def_rw("threads", &BoundOptions::threads);
  m.def("bound", &bound_apart, "graph"_a, "options"_a, "show"_a.none());
}

/// Makes the class of the options of a job. `job_options` of the module has what their rows say: the line of
/// help of each, and which kernels have it.
void bind_job(nb::module_& m) {
  nb::class_<Job> job(m, "Job");
  job.def(nb::init<>()).def_rw("_show", &Job::show, nb::arg().none());
  nb::dict said;
  const auto add = [&]<class Of, class Member>(const options::Option& row, Member Of::*member) {
    const char* const name = row.python.data();  // a literal
    if constexpr (std::is_enum_v<Member>)
      job.def_prop_rw(
          name, [&row, member](const Job& of) { return word_of(row, of.*member); },
          [&row, member](Job& of, const std::string& word) { of.*member = meant_by<Member>(row, word); });
    else
      job.def_rw(name, static_cast<Member Job::*>(member));
    said[name] = nb::make_tuple(row.help.data(), row.part == options::Part::tiles        ? "dense"
                                                 : row.part == options::Part::supersteps ? "frontier"
                                                                                         : "all");
  };
  add(opt::processes, &Job::processes);
  add(opt::workers, &Job::workers);
  add(opt::transport, &Job::transport);
  add(opt::peer_timeout, &Job::peer_timeout_s);
  add(opt::integrity, &Job::integrity);
  add(opt::ownership, &Job::ownership);
  add(opt::rows, &Job::rows);
  add(opt::devices, &Job::disks);
  add(opt::memory, &Job::memory_bytes);
  add(opt::strategy, &Job::strategy);
  add(opt::any_wire, &Job::wire);
  add(opt::layout, &Job::layout);
  add(opt::order, &Job::order);
  add(opt::plan_cache, &Job::plan_cache);
  add(opt::verify, &Job::verify);
  add(opt::bound, &Job::bound);
  add(opt::profile, &Job::profile);
  m.attr("job_options") = said;
}

std::vector<VertexId> sources_of(const std::vector<PlainId>& vertices) {
  return {vertices.begin(), vertices.end()};
}

}  // namespace

void bind_kernels(nb::module_& m) {
  bind_job(m);
  bind_bound(m);
  nb::class_<PageRankOptions>(m, "PageRankOptions")
      .def(nb::init<>())
      .def_rw("iterations", &PageRankOptions::iterations)
      .def_rw("damping", &PageRankOptions::damping)
      .def_rw("tolerance", &PageRankOptions::tolerance)
      .def_rw("weighted", &PageRankOptions::weighted);
  nb::class_<BfsOptions>(m, "BfsOptions")
      .def(nb::init<>())
      .def_rw("parents", &BfsOptions::parents)
      .def_rw("deterministic", &BfsOptions::deterministic);
  nb::class_<SsspOptions>(m, "SsspOptions")
      .def(nb::init<>())
      .def_rw("delta", &SsspOptions::delta)
      .def_rw("unit_weights", &SsspOptions::unit_weights);
  nb::class_<BcOptions>(m, "BcOptions")
      .def(nb::init<>())
      .def_rw("weighted", &BcOptions::weighted)
      .def_rw("endpoints", &BcOptions::endpoints)
      .def_rw("normalized", &BcOptions::normalized)
      .def_rw("deterministic", &BcOptions::deterministic);
  m.def("pagerank", [](const Graph& graph, const PageRankOptions& asked, const Job& job) {
    return run_kernel<double>([](auto&... all) { return pagerank(all...); }, graph, job, asked);
  });
  m.def("ppr", [](const Graph& graph, const std::vector<PlainId>& sources, const std::vector<double>& shares,
                  const PageRankOptions& asked, const Job& job) {
    return run_kernel<double>([](auto&... all) { return ppr(all...); }, graph, job,
                              PprSources{sources_of(sources), shares}, asked);
  });
  m.def("spmv", [](const Graph& graph, const std::vector<double>& x, int iterations, const Job& job) {
    return run_kernel<double>([](auto&... all) { return spmv(all...); }, graph, job, x,
                              SpmvOptions{iterations});
  });
  m.def("bfs", [](const Graph& graph, PlainId source, const BfsOptions& asked, const Job& job) {
    return run_kernel<std::int64_t>([](auto&... all) { return bfs(all...); }, graph, job, VertexId(source),
                                    asked);
  });
  m.def("sssp", [](const Graph& graph, PlainId source, const SsspOptions& asked, const Job& job) {
    return run_kernel<double>([](auto&... all) { return sssp(all...); }, graph, job, VertexId(source), asked);
  });
  m.def("bc",
        [](const Graph& graph, const std::vector<PlainId>& sources, const BcOptions& asked, const Job& job) {
          return run_kernel<double>([](auto&... all) { return bc(all...); }, graph, job, sources_of(sources),
                                    asked);
        });
  m.def("wcc", [](const Graph& graph, const Job& job) {
    return run_kernel<std::int64_t>([](auto&... all) { return wcc(all...); }, graph, job);
  });
  m.def("scc", [](const Graph& graph, const Job& job) {
    return run_kernel<std::int64_t>([](auto&... all) { return scc(all...); }, graph, job);
  });
  m.def("cdlp", [](const Graph& graph, std::uint32_t iterations, const Job& job) {
    return run_kernel<std::int64_t>([](auto&... all) { return cdlp(all...); }, graph, job,
                                    CdlpOptions{iterations});
  });
  m.def("lcc", [](const Graph& graph, const Job& job) {
    return run_kernel<double>([](auto&... all) { return lcc(all...); }, graph, job);
  });
  m.def("tc", [](const Graph& graph, bool vertices, const Job& job) {
    return run_for<std::int64_t>(
        vertices ? graph.vertices() : 1, [](auto&... all) { return tc(all...); }, graph, job,
        TcOptions{vertices});
  });
}

}  // namespace edgewire::python
