// What kernels answer and report, and what they had to send, beside the values of all vertices: over cliques,
// stars, paths and graphs drawn at random, in jobs of one to five processes. Each run verifies its values;
// here answers, supersteps and least bytes are found from them again.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "drawn_graph.h"
#include "kernels/count/count.h"
#include "partition/ownership.h"
#include "runs/call.h"

namespace edgewire::runs {

namespace {

constexpr double kNowhere = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kTopOfAll = 4;

using Numbers = std::vector<double>;
using Fields = std::map<std::string, report::Answer::Value>;

/// What rank 0 has of a job: the report, and for each run the values of all vertices.
struct Found {
  report::RunReport report;
  std::vector<Numbers> values;
};

Numbers numbers_of(const Values& all) {
  Numbers found;
  std::visit(
      [&](const auto numbers) {
        for (const auto one : numbers) {
          using Value = std::remove_cvref_t<decltype(one)>;
          const bool nowhere = all.form != Values::Form::vertex && std::is_integral_v<Value> &&
                               one == std::numeric_limits<Value>::max();
          found.push_back(nowhere ? kNowhere : static_cast<double>(one));
        }
      },
      all.numbers);
  return found;
}

/// Runs in processes that are threads.
template <class Make>
Found run(const Drawn& drawn, int processes, const Make& make) {
  const auto bootstraps = launch::bootstraps(processes);
  Found found;
  transport::parallel(processes, [&](int p) {
    RunOptions options;
    options.job.process.workers = processes < 3 ? 2 : 1;
    options.job.ownership = drawn.ownership;
    options.tools = {.top = kTopOfAll, .verify = true, .bound = true, .gather = true};
    if (p == 0)
      options.finished = [&](const Finished& done) { found.values.push_back(numbers_of(done.all)); };
    const auto kernel = make();
    auto report = kernel->run(*bootstraps[static_cast<std::size_t>(p)], drawn.graph(),
                              graph::VertexNames(drawn.graph()), options);
    if (p == 0) found.report = std::move(report);
  });
  return found;
}

Fields fields_of(const report::Answer& answer) { return {answer.fields.begin(), answer.fields.end()}; }

double number_of(const report::Number& number) {
  return std::visit([](auto one) { return static_cast<double>(one); }, number);
}
double number_of(const report::Answer::Value& value) {
  if (const auto* whole = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return static_cast<double>(std::stoull(std::get<report::VertexName>(value).text));
}

/// The list has those of these values that are highest, by key(value), one after the other.
template <class Key>
void check_top(const report::Answer& answer, std::map<std::uint64_t, double> values, const Key& key) {
  REQUIRE(answer.top.has_value());
  CHECK(answer.top->size() == std::min<std::uint64_t>(kTopOfAll, values.size()));
  for (const auto& one : *answer.top) {
    auto best = values.begin();
    for (auto at = values.begin(); at != values.end(); ++at)
      if (key(at->second) > key(best->second)) best = at;
    CHECK(one.vertex.text == std::to_string(best->first));
    CHECK(number_of(one.value) == best->second);
    values.erase(best);
  }
}

constexpr auto kAsItIs = [](double value) { return value; };

std::map<std::uint64_t, double> reached_in(const Numbers& values) {
  std::map<std::uint64_t, double> reached;
  for (std::uint64_t v = 0; v < values.size(); ++v)
    if (values[v] != kNowhere) reached.emplace(v, values[v]);
  return reached;
}

double highest_in(const std::map<std::uint64_t, double>& values) {
  double most = 0;
  for (const auto& [vertex, value] : values) most = std::max(most, value);
  return most;
}

/// No run has sent less than it had to, and none more where the count is exact: superstep by superstep.
void check_least(const Found& found) {
  REQUIRE(found.report.least.has_value());
  const auto& least = *found.report.least;
  REQUIRE((least.count == "exact" || least.count == "at least"));
  std::uint64_t sent = 0;
  for (const auto& one : found.report.supersteps) {
    sent += one.record_bytes;
    if (least.count == "exact") CHECK(one.least_record_bytes == one.record_bytes);
    if (one.least_record_bytes) CHECK(*one.least_record_bytes <= one.record_bytes);
  }
  CHECK(least.record_bytes <= sent);
  for (const auto& run : found.report.runs) CHECK(run.least_record_bytes.value() <= run.record_bytes);
  if (found.report.processes == 1) CHECK(sent == 0);
}

/// The supersteps are those that `bound` counts before a run, with their vertices.
void check_counted(const Drawn& drawn, const Found& found, const kernels::FrontierCount& count,
                   std::size_t first = 0, std::size_t end = std::string::npos) {
  const auto ownership =
      partition::Ownership::create(drawn.ownership, drawn.graph().offsets(), found.report.processes);
  const auto steps = count.count(ownership);
  const auto& all = found.report.supersteps;
  REQUIRE(std::min(end, all.size()) - first == steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    CHECK(all[first + i].phase == steps[i].phase);
    CHECK(all[first + i].frontier == steps[i].frontier);
  }
}

/// The path is one of the graph, and as long as the answer says.
void check_path(const Drawn& drawn, VertexId source, const report::Answer& answer, double distance,
                bool unit) {
  REQUIRE(answer.path.has_value());
  const auto& path = answer.path->vertices;
  CHECK(path.empty() == (distance == kNowhere));
  if (path.empty()) return;
  CHECK(number_of(answer.path->length) == distance);
  CHECK(path.front().text == std::to_string(source));
  CHECK(path.back().text == std::to_string(drawn.target));
  double length = 0;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    const graph::Row row{drawn.graph(), VertexId(static_cast<PlainId>(std::stoull(path[i].text)))};
    double weight = kNowhere;
    for (std::size_t e = 0; e < row.degree(); ++e)
      if (std::to_string(row.targets()[e]) == path[i + 1].text)
        weight = std::min(weight, unit ? 1 : row.weights()[e]);
    length += weight;
  }
  CHECK(length == distance);
}

void check_searches(const Drawn& drawn, const Found& found, bool counted) {
  const auto& report = found.report;
  REQUIRE(report.runs.size() == drawn.sources.size());
  std::size_t step = 0, searches = 0;
  double seconds_for_an_edge = 0;
  for (std::size_t r = 0; r < report.runs.size(); ++r) {
    const auto& run = report.runs[r];
    const auto reached = reached_in(found.values[r]);
    const auto depth = static_cast<std::size_t>(highest_in(reached));
    double edges = 0;
    for (const auto& [v, level] : reached)
      edges += static_cast<double>(graph::Row{drawn.graph(), VertexId(static_cast<PlainId>(v))}.degree());
    auto fields = fields_of(run.answer);
    CHECK(number_of(fields.at("reached")) == static_cast<double>(reached.size()));
    CHECK(number_of(fields.at("depth")) == static_cast<double>(depth));
    const double traversed = std::floor(edges / (drawn.graph().symmetric() ? 2 : 1));
    CHECK(number_of(fields.at("traversed_edges")) == traversed);
    if (traversed > 0) {
      const double rate = number_of(fields.at("teps"));
      CHECK(rate == doctest::Approx(traversed / run.seconds));
      seconds_for_an_edge += 1 / rate;
      ++searches;
    }
    check_top(run.answer, reached, kAsItIs);
    check_path(drawn, drawn.sources[r], run.answer, found.values[r][drawn.target], true);
    CHECK(run.supersteps == depth + 1);
    CHECK(run.frontier == reached.size());
    REQUIRE(step + run.supersteps <= report.supersteps.size());
    for (std::size_t l = 0; l < run.supersteps; ++l) {
      CHECK(report.supersteps[step + l].phase.starts_with(fmt::format("level {}, ", l + 1)));
      CHECK(report.supersteps[step + l].frontier ==
            static_cast<std::uint64_t>(std::ranges::count(found.values[r], static_cast<double>(l))));
    }
    if (counted)
      check_counted(drawn, found, kernels::count_breadth_first(drawn.graph(), drawn.sources[r]), step,
                    step + run.supersteps);
    step += run.supersteps;
  }
  CHECK(step == report.supersteps.size());
  const auto fields = fields_of(report.answer);
  CHECK(number_of(fields.at("searches")) == static_cast<double>(report.runs.size()));
  if (searches > 0)
    CHECK(number_of(fields.at("harmonic_mean_teps")) ==
          doctest::Approx(static_cast<double>(searches) / seconds_for_an_edge));
}

void check_distances(const Drawn& drawn, const Found& found, bool unit) {
  REQUIRE(found.report.runs.size() == drawn.sources.size());
  std::size_t supersteps = 0;
  for (std::size_t r = 0; r < found.report.runs.size(); ++r) {
    const auto& run = found.report.runs[r];
    const auto reached = reached_in(found.values[r]);
    auto fields = fields_of(run.answer);
    CHECK(number_of(fields.at("reached")) == static_cast<double>(reached.size()));
    CHECK(number_of(fields.at("longest")) == highest_in(reached));
    CHECK(found.values[r][static_cast<std::size_t>(number_of(fields.at("farthest")))] == highest_in(reached));
    check_top(run.answer, reached, kAsItIs);
    CHECK(number_of(fields.at("farthest")) == std::stod(run.answer.top->at(0).vertex.text));
    check_path(drawn, drawn.sources[r], run.answer, found.values[r][drawn.target], unit);
    CHECK(run.frontier >= reached.size());
    supersteps += run.supersteps;
  }
  CHECK(supersteps == found.report.supersteps.size());
}

void check_labels(const Found& found, const char* several) {
  std::map<std::uint64_t, double> sizes;
  for (const double label : found.values[0]) ++sizes[static_cast<std::uint64_t>(label)];
  auto fields = fields_of(found.report.answer);
  CHECK(number_of(fields.at(several)) == static_cast<double>(sizes.size()));
  CHECK(number_of(fields.at("singles")) ==
        static_cast<double>(std::ranges::count_if(sizes, [](const auto& one) { return one.second == 1; })));
  CHECK(number_of(fields.at("largest_size")) == highest_in(sizes));
  CHECK(sizes.at(static_cast<std::uint64_t>(number_of(fields.at("largest_label")))) == highest_in(sizes));
  check_top(found.report.answer, sizes, kAsItIs);
}

/// Triangles and transitivity by all triples of vertices.
void check_clustering(const Drawn& drawn, const Found& found) {
  const auto n = static_cast<std::uint32_t>(drawn.vertices());
  std::vector<std::vector<bool>> joined(n, std::vector<bool>(n));
  for (VertexId u{}; u < n; ++u)
    for (const VertexId v : graph::Row{drawn.graph(), u}.targets())
      if (u != v) joined[u][v] = joined[v][u] = true;
  double triangles = 0, pairs = 0, sum = 0;
  for (std::uint32_t u = 0; u < n; ++u) {
    const auto degree = static_cast<double>(std::ranges::count(joined[u], true));
    pairs += degree * (degree - 1) / 2;
    sum += found.values[0][u];
    for (std::uint32_t v = u + 1; v < n; ++v)
      for (std::uint32_t w = v + 1; w < n; ++w) triangles += joined[u][v] && joined[v][w] && joined[u][w];
  }
  auto fields = fields_of(found.report.answer);
  CHECK(number_of(fields.at("triangles")) == triangles);
  CHECK(number_of(fields.at("transitivity")) == doctest::Approx(pairs == 0 ? 0 : 3 * triangles / pairs));
  CHECK(number_of(fields.at("mean")) == doctest::Approx(sum / n));
  check_top(found.report.answer, reached_in(found.values[0]), kAsItIs);
}

/// Runs the kernels that may have their edges on disks, in memory.
void check_kernels_for_disks(const Drawn& drawn, int processes) {
  const Sources sources = drawn.named_sources();
  const auto bfs = run(drawn, processes, [&] {
    return make_bfs(sources, {.deterministic = drawn.deterministic, .parallel = Parallel::levels},
                    {drawn.target});
  });
  check_searches(drawn, bfs, true);
  check_least(bfs);
  using Precision = SsspOptions::Precision;
  for (const auto& [unit, precision] : {std::pair(false, Precision::f64), {true, Precision::automatic}}) {
    const auto sssp = run(drawn, processes, [&, unit = unit, precision = precision] {
      return make_sssp(drawn.graph(), sources, {{.unit_weights = unit, .precision = precision}},
                       {drawn.target});
    });
    check_distances(drawn, sssp, unit);
    check_least(sssp);
  }
  const auto wcc = run(drawn, processes, make_wcc);
  check_labels(wcc, "components");
  check_least(wcc);
  const auto bc =
      run(drawn, processes, [&] { return make_bc({drawn.sources}, {.parallel = Parallel::levels}); });
  check_top(bc.report.answer, reached_in(bc.values[0]), kAsItIs);
  check_least(bc);
}

void check_other_kernels(const Drawn& drawn, int processes) {
  const auto& graph = drawn.graph();
  const Sources sources = drawn.named_sources();
  check_searches(drawn,
                 run(drawn, processes,
                     [&] { return make_bfs(sources, {.parallel = Parallel::sources}, {drawn.target}); }),
                 false);
  for (const bool weighted : {false, true}) {
    const auto bc = run(drawn, processes, [&, weighted] {
      return make_bc({drawn.sources}, {.weighted = weighted, .parallel = Parallel::sources});
    });
    check_top(bc.report.answer, reached_in(bc.values[0]), kAsItIs);
  }
  const auto scc = run(drawn, processes, make_scc);
  check_labels(scc, "components");
  check_least(scc);
  if (!graph.symmetric()) check_counted(drawn, scc, kernels::count_strong_components(graph));
  const auto cdlp = run(drawn, processes, [] { return make_cdlp({.iterations = 6}); });
  check_labels(cdlp, "communities");
  check_least(cdlp);
  check_counted(drawn, cdlp, kernels::count_labels(graph, 6));
  const auto lcc = run(drawn, processes, make_lcc);
  check_clustering(drawn, lcc);
  check_least(lcc);
  check_counted(drawn, lcc, kernels::count_triangles(graph, "lcc", true));
}

void check_dense(const Drawn& drawn, int processes) {
  const auto make = [&](const std::string& name) -> std::unique_ptr<Kernel> {
    if (name == "pagerank") return make_pagerank({.iterations = 3}, drawn.vertices(), true);
    if (name == "ppr") return make_ppr({.iterations = 3}, {drawn.sources}, true);
    return make_spmv({.iterations = 2}, {}, true, true);
  };
  for (const char* const name : {"pagerank", "ppr", "spmv"}) {
    const auto bootstraps = launch::bootstraps(processes);
    Result<double> found;
    transport::parallel(processes, [&](int p) {
      RunOptions options;
      options.job.strategy = drawn.deterministic ? plan::Strategy::cover : plan::Strategy::slots;
      options.job.encoding = plan::Encoding::f64;
      options.job.ownership = drawn.ownership;
      options.job.assumed_compute_rate = options.job.assumed_link_rate = 1e9;
      options.tools = {.top = kTopOfAll, .verify = true};
      const auto kernel = make(name);
      auto result = call<double>(*bootstraps[static_cast<std::size_t>(p)], drawn.graph(), *kernel, options);
      if (p == 0) found = std::move(result);
    });
    check_top(found.report.answer, reached_in(found.values), [](double value) { return std::fabs(value); });
    if (std::string(name) == "spmv") {
      double squares = 0;
      for (const double value : found.values) squares += value * value;
      CHECK(number_of(fields_of(found.report.answer).at("norm")) == doctest::Approx(std::sqrt(squares)));
    }
    for (const auto& one : found.report.iterations)
      CHECK(one.payload_bytes_sent == found.report.bound.payload_bytes);
  }
}

void check_all(const Drawn& drawn, int processes) {
  check_kernels_for_disks(drawn, processes);
  check_other_kernels(drawn, processes);
  check_dense(drawn, processes);
}

}  // namespace

TEST_CASE("answers, supersteps and least bytes are those of the values: cliques, stars and paths") {
  for_each_shape(check_all);
}

TEST_CASE("answers of wcc take no less than was counted where no label is that of most components") {
  check_all(draw(2'856'330'322, "random", kMostVertices), 3);
}

TEST_CASE("answers, supersteps and least bytes are those of the values: graphs drawn at random") {
  for_each_drawn(check_all);
}

}  // namespace edgewire::runs
