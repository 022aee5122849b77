// What C++ callers may ask of the library: options that make no sense end in one line, not in a crash, a hang
// or a wrong result.
#include <limits>
#include <string>
#include <vector>

#include "bounds/bound.h"
#include "dense/job/dense_job.h"
#include "graph/generator.h"
#include "kernels/bc/bc.h"
#include "kernels/bc/by_source.h"
#include "kernels/bfs/bfs.h"
#include "kernels/cdlp/cdlp.h"
#include "kernels/count/count.h"
#include "kernels/lcc/lcc.h"
#include "kernels/runs.h"
#include "kernels/sssp/sssp.h"
#include "launch/start.h"
#include "refusals.h"
#include "shuffle/generator.h"
#include "shuffle/load_job.h"
#include "shuffle/sort_job.h"
#include "tasks/task_job.h"

namespace edgewire {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Options that `set` has changed.
template <class Options, class Set>
Options with(const Set& set) {
  Options options;
  set(options);
  return options;
}

TEST_CASE("options of a dense job") {
  using job::DenseOptions;
  const File file(false);
  const auto alone = launch::alone();
  try_all<DenseOptions>(
      {},
      {{[](auto& o) { o.process.workers = 0; }, "--workers 0 is outside the range 1"},
       {[](auto& o) { o.process.workers = -1; }, "workers"},
       {[](auto& o) { o.process.workers = 1 << 20; }, "workers"},
       {[](auto& o) { o.process.peer_timeout_s = 0; }, "--peer-timeout"},
       {[](auto& o) { o.process.peer_timeout_s = kNan; }, "--peer-timeout nan"},
       {[](auto& o) { o.process.peer_timeout_s = kInfinity; }, "--peer-timeout inf"},
       {[](auto& o) { o.assumed_compute_rate = -1; }, "assumed_compute_rate"},
       {[](auto& o) { o.assumed_link_rate = kNan; }, "assumed_link_rate"},
       {[](auto& o) { o.process.transport = "rdma"; }, "no transport 'rdma'"},
       {[](auto& o) { o.weighted = true; }, "the graph has no weights"},
       {[](auto& o) { o.ownership = ""; }, "ownership"},
       {[](auto& o) { o.ownership = "/no/such/file"; }, "/no/such/file"},
       {[](auto& o) {
          o.ownership = "hilbert";
          o.strategy = plan::Strategy::process;
        },
        "--ownership hilbert"},
       {[](auto& o) {
          o.encoding = plan::Encoding::bf16;
          o.strategy = plan::Strategy::edge;
        },
        "slots or cover"},
       {[](auto& o) { o.memory_bytes = 1; }, "--memory 1"},
       {[](auto& o) { o.devices = {"/tmp"}; }, "--plan-cache, which is empty"},
       {[](auto& o) {
          o.devices = {"/tmp"};
          o.strategy = plan::Strategy::cover;
        },
        "take slots"}},
      [&](const DenseOptions& options) { const DenseJob job(*alone, file.graph, options); });
  const File weighted(true);
  try_all<DenseOptions>(
      dense(true),
      {{[](auto& o) {
          o.order = {tiles::Order::bins, false};
        },
        "bins hold no weights"}},
      [&](const DenseOptions& options) { const DenseJob job(*alone, weighted.graph, options); });
}

template <class P>
void start(const Graph& graph, P program, bool weighted, const IterateOptions& options = {}) {
  const auto alone = launch::alone();
  DenseJob job(*alone, graph, dense(weighted));
  DenseRun run(job, program);
  run.iterate(options);
}

TEST_CASE("options of the kernels with iterations") {
  const File file(true);
  const std::vector<Wrong<PageRankOptions>> wrong{
      {[](auto& o) { o.damping = -0.1; }, "damping"},     {[](auto& o) { o.damping = 1.1; }, "damping"},
      {[](auto& o) { o.damping = kNan; }, "damping"},     {[](auto& o) { o.tolerance = -1; }, "tolerance"},
      {[](auto& o) { o.tolerance = kNan; }, "tolerance"}, {[](auto& o) { o.iterations = -1; }, "iterations"},
      {[](auto& o) { o.weighted = true; }, "weighted"}};
  try_all<PageRankOptions>({}, wrong, [&](const auto& options) {
    start(file.graph, kernels::PageRank<float>(options, 4), false);
  });
  const std::vector<VertexId> sources{0, 3}, none, unordered{3, 0}, twice{0, 0}, beyond{0, 4};
  try_all<PageRankOptions>({}, wrong, [&](const auto& options) {
    start(file.graph, kernels::Ppr<float>(options, {sources}), false);
  });
  check_line(refusal([&] { start(file.graph, kernels::PageRank<float>({}, 4), true); }), "both");
  check_line(refusal([&] { start(file.graph, kernels::PageRank<float>({}, 5), false); }), "is not that of");
  for (const auto* wrong_sources : {&none, &unordered, &twice, &beyond})
    check_line(refusal([&] { start(file.graph, kernels::Ppr<float>({}, {*wrong_sources}), false); }),
               "sources: ");
  const std::vector<double> three(3);
  check_line(refusal([&] { start(file.graph, kernels::Spmv<float>(three), false); }), "3 values");
  const kernels::PageRank<float> program({}, 4);
  try_all<IterateOptions>({}, {{[](auto& o) { o.iterations = -1; }, "--iterations -1"}},
                          [&](const auto& options) { start(file.graph, program, false, options); });
  const auto alone = launch::alone();
  DenseJob job(*alone, file.graph, {});
  auto copy = program;
  DenseRun run(job, copy);
  check_line(refusal([&] { job.keep(nullptr, 0); }), "--every 0");
  check_line(refusal([&] { run.resume(1, three, nullptr); }), "this process owns");
  check_line(refusal([&] { gather_values<double>(job, three); }), "3 values");
}

TEST_CASE("options of kernels that follow a frontier") {
  using frontier::Job;
  const File file(false), weighted(true), negative(true, -1.0F);
  const auto alone = launch::alone();
  try_all<frontier::Options>({},
                             {{[](auto& o) { o.process.workers = 0; }, "workers"},
                              {[](auto& o) { o.process.peer_timeout_s = kNan; }, "--peer-timeout"},
                              {[](auto& o) { o.ownership = ""; }, "ownership"},
                              {[](auto& o) { o.ownership = "grid"; }, "--ownership grid"},
                              {[](auto& o) { o.record_bytes = 5; }, "record_bytes"},
                              {[](auto& o) { o.disks.weighted = true; }, "no weights"}},
                             [&](const auto& options) { const Job job(*alone, file.graph, options); });
  Job job(*alone, file.graph, {.listener = nullptr});
  check_line(refusal([&] { kernels::Bfs(job, kernels::Bfs::Parents::none).run(4); }),
             "source: 4 is no vertex");
  const std::vector<VertexId> beyond{0, 4};
  check_line(refusal([&] { kernels::Bc(job).run(beyond); }), "source: 4");
  check_line(refusal([&] { kernels::Cdlp(job).run(0); }), "iterations");
  check_line(refusal([&] { const kernels::Lcc one(job, kernels::Lcc::Wanted::count, {.record_bits = 0}); }),
             "record_bits");
  check_line(refusal([&] { const kernels::BcBySource one(job, {}); }), "for_tasks");
  check_line(refusal([&] { const kernels::Sssp one(job); }), "disks.weighted");
  const kernels::Sssp hops(job, 0, true);
  CHECK(kernels::DeltaStepping(job, hops).run(3, 0).size() > 0);
  check_line(refusal([&] { kernels::DeltaStepping(job, hops).run(4, 0); }), "source: 4");
  const frontier::Options weights{.disks = {{}, 0, true}};
  Job heavy(*alone, weighted.graph, weights);
  for (const double delta : {kNan, -1.0, kInfinity})
    check_line(refusal([&] { const kernels::Sssp one(heavy, delta); }), "delta");
  check_line(refusal([&] { const kernels::DeltaStepping one(heavy, hops); }), "weights");
  Job below(*alone, negative.graph, weights);
  check_line(refusal([&] { const kernels::Sssp one(below); }), "weight -1");
  Job tasks(*alone, file.graph, {.for_tasks = true});
  check_line(refusal([&] { const kernels::Cdlp one(tasks); }), "for_tasks");
  check_line(refusal([&] { const kernels::Bc one(tasks); }), "for_tasks");
}

TEST_CASE("options of a sort, of a load and of records") {
  const graph::TemporaryDirectory folder;
  graph::write_file(folder / "in", std::string(64, 'x'));
  const auto alone = launch::alone();
  int number = 0;
  const auto right = with<shuffle::SortOptions>([&](auto& options) {
    options.inputs = {folder / "in"};
    options.shape = {32, 0, 8};
    options.partitions = 2;
    options.memory_bytes = 1 << 28;
  });
  try_all<shuffle::SortOptions>(
      right,
      {{[](auto& o) { o.process.workers = 0; }, "workers"},
       {[](auto& o) { o.shape.bytes = 0; }, "--record"},
       {[](auto& o) { o.shape.key_bytes = 0; }, "the key lies outside"},
       {[](auto& o) { o.shape.key_offset = ~std::size_t{0}; }, "the key lies outside"},
       {[](auto& o) { o.partitions = 0; }, "partitions"},
       {[](auto& o) { o.inputs.clear(); }, "inputs"},
       {[](auto& o) { o.inputs = {""}; }, "cannot read"},
       {[](auto& o) { o.output = "-"; }, "output"},
       {[](auto& o) { o.memory_bytes = 0; }, "--memory"}},
      [&](shuffle::SortOptions options) {
        options.output = options.output == "-" ? "" : folder / ("out" + std::to_string(++number));
        shuffle::SortJob(*alone, options).run();
      });
  try_all<shuffle::LoadOptions>(
      with<shuffle::LoadOptions>([&](auto& o) { o.temp = folder / ""; }),
      {{[](auto& o) { o.process.workers = 0; }, "workers"}, {[](auto& o) { o.temp = ""; }, "temp"}},
      [&](const auto& options) { const shuffle::LoadJob job(*alone, options); });
  try_all<shuffle::RecordsWanted>({.records = 3},
                                  {{[](auto& o) { o.record_bytes = 0; }, "--record"},
                                   {[](auto& o) { o.keys = 0; }, "keys"},
                                   {[](auto& o) { o.files = 0; }, "files"}},
                                  [&](const auto& wanted) {
                                    shuffle::generate_records(folder / ("r" + std::to_string(++number)),
                                                              wanted);
                                  });
}

TEST_CASE("options of tasks, of generators and of a start") {
  const auto alone = launch::alone();
  tasks::Registry registry;
  const auto one = registry.add("one", [](tasks::Context&) -> tasks::Task { co_return "1"; });
  check_line(refusal([&] { registry.add("none", nullptr); }), "none");
  tasks::TaskJob job(*alone, registry, {});
  CHECK(job.run(one) == "1");
  check_line(refusal([&] { job.run(7); }), "no function 7");
  check_line(refusal([&] { const tasks::TaskJob none(*alone, registry, {.workers = 0}); }), "workers");

  const graph::TemporaryDirectory folder;
  for (const int scale : {-1, 32})
    check_line(refusal([&] { graph::generate_kronecker(folder / "g", scale, 1, {}); }), "scale");
  check_line(refusal([&] { graph::generate_kronecker(folder / "g", 3, ~std::uint64_t{0}, {}); }), "edges");
  check_line(refusal([&] { graph::generate_uniform(folder / "g", 4, 1, {.workers = -1}); }), "workers");
  check_line(refusal([&] { graph::generate_grid(folder / "g", {1ULL << 40, 1ULL << 40}, {}); }), "vertices");

  const auto nothing = [](launch::Bootstrap&) {};
  try_all<launch::StartOptions>({},
                                {{[](auto& o) { o.processes = 0; }, "--processes"},
                                 {[](auto& o) { o.processes = 1 << 20; }, "--processes"},
                                 {[](auto& o) { o.peer_timeout_s = 0; }, "--peer-timeout"},
                                 {[](auto& o) { o.start_timeout_s = kNan; }, "--start-timeout"},
                                 {[](auto& o) { o.port = -1; }, "--port"},
                                 {[](auto& o) { o.link_bits_per_s = 1; }, "--rate"},
                                 {[](auto& o) { o.hosts_file = "/no/such"; }, "/no/such"}},
                                [&](const auto& options) { launch::start(options, nothing); });
  check_line(refusal([&] { launch::start({}, nullptr); }), "nothing to run");
}

TEST_CASE("options of a bound") {
  using bounds::BoundOptions;
  const File file(false);
  const auto right = with<BoundOptions>([](auto& options) {
    options.processes = {2};
    options.ownerships = {"hash"};
    options.strategies = {plan::Strategy::slots};
    options.rates = {{"1G", 1'000'000'000}};
    options.memory_bytes = 1 << 20;
    options.model = bounds::Rates{.edges_per_core_s = 1e9};
  });
  try_all<BoundOptions>(right,
                        {{[](auto& o) { o.processes.clear(); }, "processes"},
                         {[](auto& o) { o.processes = {0}; }, "processes"},
                         {[](auto& o) { o.processes = {1 << 20}; }, "processes"},
                         {[](auto& o) { o.ownerships.clear(); }, "ownerships"},
                         {[](auto& o) { o.strategies.clear(); }, "strategies"},
                         {[](auto& o) { o.encodings.clear(); }, "encodings"},
                         {[](auto& o) { o.workers = 0; }, "workers"},
                         {[](auto& o) { o.threads = 0; }, "threads"},
                         {[](auto& o) { o.framing = 99; }, "framing"},
                         {[](auto& o) { o.memory_bytes = 0; }, "--memory 0"},
                         {[](auto& o) { o.rates[0].second = 0; }, "rates"},
                         {[](auto& o) { o.model->edges_per_core_s = kNan; }, "edges_per_core_s"},
                         {[](auto& o) { o.model->cores = 0; }, "cores"},
                         {[](auto& o) { o.model->latency_s = -1; }, "latency_s"}},
                        [&](const auto& options) {
                          bounds::compute_bound({file.graph.offsets(), file.graph.targets()}, options);
                        });
  check_line(refusal([&] { kernels::count_breadth_first(file.graph, 4); }), "source: 4");
  check_line(refusal([&] { kernels::count_shortest_paths(file.graph, 4); }), "source: 4");
  check_line(refusal([&] { kernels::count_betweenness(file.graph, 4); }), "source: 4");
  check_line(refusal([&] { kernels::count_labels(file.graph, 0); }), "iterations");
}

}  // namespace
}  // namespace edgewire
