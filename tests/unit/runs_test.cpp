#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bootstraps.h"
#include "graph_test.h"
#include "runs/call.h"
#include "runs/frontier_kernel.h"
#include "runs/kernels.h"
#include "transport_fixture.h"
#include "triangles.h"

namespace edgewire::runs {

namespace {

/// In each of two processes, which are threads. Returns what rank 0 got.
template <class Value>
Result<Value> in_two(const std::function<Result<Value>(launch::Bootstrap&)>& call) {
  const auto bootstraps = launch::bootstraps(2);
  Result<Value> found;
  transport::parallel(2, [&](int p) {
    auto result = call(*bootstraps[static_cast<std::size_t>(p)]);
    if (p == 0)
      found = std::move(result);
    else
      CHECK(result.values.empty());
  });
  CHECK(found.report.processes == 2);
  CHECK(found.report.placement.size() == 2);
  CHECK(found.report.checksum != 0);
  return found;
}

using Labels = std::vector<PlainId>;
using Numbers = std::vector<double>;
constexpr std::uint32_t kUnreached = 0xffffffff;

}  // namespace

TEST_CASE("one call of each kernel that follows a frontier gives the values of all vertices and a report") {
  const auto built = graph::triangles();
  const auto& graph = built.graph;
  RunOptions options;
  options.tools.verify = true;

  SUBCASE("bfs") {
    const auto found = in_two<std::uint32_t>([&](launch::Bootstrap& b) {
      return call<std::uint32_t>(b, graph, *make_bfs({{VertexId(4)}}), options);
    });
    CHECK(found.values == Labels{kUnreached, kUnreached, kUnreached, 1, 0, 1, kUnreached});
    CHECK(found.report.kernel == "bfs");
    CHECK(found.report.supersteps.size() == 2);
    CHECK(!found.report.checks.empty());
  }
  SUBCASE("sssp") {
    const auto found = in_two<double>([&](launch::Bootstrap& b) {
      return call<double>(b, graph, *make_sssp(graph, {{VertexId(0)}}), options);
    });
    const double none = std::numeric_limits<double>::infinity();
    CHECK(found.values == Numbers{0, 4, 2, none, none, none, none});
  }
  SUBCASE("bc") {
    const auto found = in_two<double>([&](launch::Bootstrap& b) {
      return call<double>(b, graph, *make_bc({.vertices = {0, 1, 2, 3, 4, 5, 6}}, {.weighted = true}),
                          options);
    });
    CHECK(found.values == Numbers{0, 0, 2, 0, 0, 0, 0});
  }
  SUBCASE("wcc, scc and cdlp") {
    const Labels expected{0, 0, 0, 3, 3, 3, 6};
    CHECK(in_two<std::uint32_t>([&](launch::Bootstrap& b) {
            return call<std::uint32_t>(b, graph, *make_wcc(), options);
          }).values == expected);
    CHECK(in_two<std::uint32_t>([&](launch::Bootstrap& b) {
            return call<std::uint32_t>(b, graph, *make_scc(), options);
          }).values == expected);
    CHECK(in_two<std::uint32_t>([&](launch::Bootstrap& b) {
            return call<std::uint32_t>(b, graph, *make_cdlp({}), options);
          }).values == expected);
  }
  SUBCASE("lcc") {
    const auto found =
        in_two<double>([&](launch::Bootstrap& b) { return call<double>(b, graph, *make_lcc(), options); });
    CHECK(found.values == Numbers{1, 1, 1, 1, 1, 1, 0});
    CHECK(found.report.triangles == 2);
  }
  SUBCASE("tc") {
    const auto of_vertices = in_two<std::uint64_t>([&](launch::Bootstrap& b) {
      return call<std::uint64_t>(b, graph, *make_tc({.vertices = true}), options);
    });
    CHECK(of_vertices.values == std::vector<std::uint64_t>{1, 1, 1, 1, 1, 1, 0});
    const auto count = in_two<std::uint64_t>(
        [&](launch::Bootstrap& b) { return call<std::uint64_t>(b, graph, *make_tc(), options); });
    CHECK(count.values == std::vector<std::uint64_t>{2});
    CHECK(count.report.triangles == 2);
    // One process is enough that wants the triangles of vertices.
    CHECK(in_two<std::uint64_t>([&](launch::Bootstrap& b) {
            return call<std::uint64_t>(b, graph, *make_tc({.vertices = b.rank() == 1}), options);
          }).values == of_vertices.values);
  }
}

namespace {

/// Its values are right. Its answer is what it is told to say.
class Saying : public VertexKernel<PlainId> {
 public:
  explicit Saying(report::Answer answer)
      : VertexKernel("saying", "value", Values::Form::vertex, 0), answer_(std::move(answer)) {}
  std::vector<frontier::Superstep> supersteps(frontier::Job& job) override {
    for (LocalNumber i{}; i < job.owned(); ++i)
      mine_.push_back(job.ownership().vertex(job.rank(), i) / 3 * 3);
    job.wait_for_all();
    return {{}};
  }
  std::string phase(const frontier::Superstep&) const override { return "all"; }
  report::Answer answer(const AnsweredRun&) override { return answer_; }
  std::string fault(const Graph&) const override { return {}; }
  report::Answer expected_answer(const Asked& asked) const override {
    return expected_of_groups(asked, all_, "groups");
  }
  std::string rules() const override { return "all"; }

 private:
  report::Answer answer_;
};

}  // namespace

TEST_CASE("an answer that is not what the values say is refused where it is to be verified") {
  const auto built = graph::triangles();
  const std::uint64_t three = 3, one = 1;
  report::Answer right;
  right.fields = {{"groups", three},
                  {"singles", one},
                  {"largest_size", three},
                  {"largest_label", report::VertexName{"0"}}};
  right.top = {{{"0"}, three}, {{"3"}, three}};
  const auto refusal = [&](const report::Answer& answer, bool verify = true) {
    RunOptions options;
    options.tools.top = 2;
    options.tools.verify = verify;
    Saying kernel(answer);
    const auto alone = launch::alone();
    try {
      kernel.run(*alone, built.graph, graph::VertexNames(built.graph), options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto with = [&](const auto& change) {
    report::Answer answer = right;
    change(answer);
    CHECK(refusal(answer, false).empty());
    return refusal(answer);
  };
  CHECK(with([](report::Answer&) {}).empty());
  CHECK(with([](report::Answer& answer) { answer.fields.emplace_back("seconds", 0.5); }).empty());
  CHECK(with([](report::Answer& answer) { answer.fields[1].second = std::uint64_t{2}; }) ==
        "the answer is wrong: singles is 2, but the values say 1");
  CHECK(with([](report::Answer& answer) { answer.fields[3].second = report::VertexName{"3"}; }) ==
        "the answer is wrong: largest_label is 3, but the values say 0");
  CHECK(with([](report::Answer& answer) { answer.fields.pop_back(); }) ==
        "the answer is wrong: it has no largest_label");
  CHECK(with([](report::Answer& answer) { answer.top->pop_back(); }) ==
        "the answer is wrong: it lists 1 vertices, not 2");
  CHECK(with([](report::Answer& answer) { std::ranges::reverse(*answer.top); }) ==
        "the answer is wrong: number 1 of its list is 3 (3), but by the values 0 (3)");
  CHECK(with([](report::Answer& answer) { (*answer.top)[1].value = std::uint64_t{2}; }) ==
        "the answer is wrong: number 2 of its list is 3 (2), but by the values 3 (3)");
  CHECK(with([](report::Answer& answer) { answer.top.reset(); }) ==
        "the answer is wrong: it has a list or a path that was not asked for, or lacks one");
}

TEST_CASE("paths and sums of answers are compared with those of the values") {
  report::Answer expected;
  expected.fields = {{"mean", 0.1}};
  expected.path = report::Path{{{"0"}, {"2"}}, {"0"}, {"2"}, std::uint64_t{1}};
  report::Answer found = expected;
  found.fields[0].second = 0.1 * (1 + 1e-12);
  CHECK(answer_fault(found, expected).empty());
  found.fields[0].second = 0.1 * (1 + 1e-6);
  CHECK(answer_fault(found, expected).starts_with("mean is 0.1"));
  found = expected;
  found.path->length = std::uint64_t{2};
  CHECK(answer_fault(found, expected) == "the path from 0 to 2 is not the one along the parents");
  found = expected;
  found.path->vertices.insert(found.path->vertices.begin() + 1, {"1"});
  CHECK(answer_fault(found, expected) == "the path from 0 to 2 is not the one along the parents");
  found.path.reset();
  CHECK(!answer_fault(found, expected).empty());
}

TEST_CASE("reports say what had to be sent, where somebody counts it") {
  const auto built = graph::triangles();
  const auto& graph = built.graph;
  RunOptions options;
  options.tools.bound = true;
  const auto sent = [](const report::RunReport& report) {
    std::uint64_t bytes = 0;
    for (const auto& one : report.supersteps) bytes += one.record_bytes;
    return bytes;
  };
  const auto exact = [&](const report::RunReport& report) {
    REQUIRE(report.least.has_value());
    CHECK(report.least->count == "exact");
    CHECK(report.least->record_bytes == sent(report));
    for (const auto& one : report.supersteps) CHECK(one.least_record_bytes == one.record_bytes);
  };
  const auto in_one = [&](const report::RunReport& report, const std::string& count) {
    REQUIRE(report.least.has_value());
    CHECK(report.least->count == count);
    CHECK(report.least->record_bytes <= sent(report));
    CHECK_FALSE(report.supersteps.front().least_record_bytes.has_value());
  };
  SUBCASE("of each superstep") {
    const auto searches = in_two<std::uint32_t>([&](launch::Bootstrap& b) {
      return call<std::uint32_t>(b, graph, *make_bfs({{4, 0}, {"4", "0"}}, {.parallel = Parallel::levels}),
                                 options);
    });
    exact(searches.report);
    for (const auto& run : searches.report.runs) CHECK(run.least_record_bytes == run.record_bytes);
    exact(in_two<double>([&](launch::Bootstrap& b) {
            return call<double>(b, graph, *make_bc({.vertices = {0, 1, 4}}, {.parallel = Parallel::levels}),
                                options);
          }).report);
    exact(in_two<std::uint32_t>([&](launch::Bootstrap& b) {
            return call<std::uint32_t>(b, graph, *make_cdlp({}), options);
          }).report);
    exact(in_two<std::uint32_t>([&](launch::Bootstrap& b) {
            return call<std::uint32_t>(b, graph, *make_scc(), options);
          }).report);
    exact(in_two<double>([&](launch::Bootstrap& b) {
            return call<double>(b, graph, *make_lcc(), options);
          }).report);
  }
  SUBCASE("in one") {
    in_one(in_two<std::uint32_t>([&](launch::Bootstrap& b) {
             return call<std::uint32_t>(b, graph, *make_wcc(), options);
           }).report,
           "at least");
    using Precision = SsspOptions::Precision;
    const auto bytes = [&](Precision precision) {
      const auto found = in_two<double>([&](launch::Bootstrap& b) {
        return call<double>(b, graph, *make_sssp(graph, {{VertexId(0)}}, {{.precision = precision}}),
                            options);
      });
      in_one(found.report, "at least");
      return found.report.least->record_bytes;
    };
    CHECK(bytes(Precision::f32) * 12 == bytes(Precision::f64) * 8);
  }
  SUBCASE("of searches that are tasks nobody does") {
    const auto found = in_two<double>([&](launch::Bootstrap& b) {
      return call<double>(b, graph, *make_bc({.vertices = {0, 1, 2, 4, 5}}, {.parallel = Parallel::sources}),
                          options);
    });
    REQUIRE(found.report.least.has_value());
    CHECK(found.report.least->count.empty());
  }
}

TEST_CASE("runs whose length is known beforehand tell of it: sources of a process, and iterations") {
  const auto built = graph::triangles();
  std::mutex mutex;
  std::multiset<std::string> told;
  RunOptions options;
  options.tools.progress = [&](const Step& step) {
    const std::scoped_lock lock(mutex);
    if (step.name != nullptr && step.total > 0)
      told.insert(fmt::format("{} {} of {} {}", step.name, step.done, step.total, step.unit));
  };
  SUBCASE("searches apart, shared out between two processes") {
    in_two<double>([&](launch::Bootstrap& b) {
      return call<double>(b, built.graph,
                          *make_bc({.vertices = {0, 1, 2, 4, 5}}, {.parallel = Parallel::sources}), options);
    });
    CHECK(told == std::multiset<std::string>{"searching 1 of 3 sources", "searching 2 of 3 sources",
                                             "searching 3 of 3 sources", "searching 1 of 2 sources",
                                             "searching 2 of 2 sources"});
  }
  SUBCASE("iterations, in both processes") {
    in_two<std::uint32_t>([&](launch::Bootstrap& b) {
      return call<std::uint32_t>(b, built.graph, *make_cdlp({.iterations = 9}), options);
    });
    CHECK(told.count("running 1 of 9 supersteps") == 2);
  }
}

TEST_CASE("searches refuse a list of sources that is empty, and names that do not fit it") {
  const auto built = graph::triangles();
  const auto refusals = [&](const Sources& sources, const std::string& line) {
    CHECK_THROWS_WITH_AS(make_bfs(sources), line.c_str(), UsageError);
    CHECK_THROWS_WITH_AS(make_sssp(built.graph, sources), line.c_str(), UsageError);
  };
  refusals({{}, {}}, "there is no source to start from: name one or more vertices");
  refusals({{}, {"a"}}, "there is no source to start from: name one or more vertices");
  refusals({{1, 2}, {}}, "there are 2 sources and 0 names: name each of them");
  refusals({{1, 2}, {"a"}}, "there are 2 sources and 1 names: name each of them");
  refusals({{1}, {"a", "b"}}, "there are 1 sources and 2 names: name each of them");
  CHECK(make_bfs({{VertexId(1)}, {}})->runs().empty());
  CHECK(make_bfs({{1, 2}, {"a", "b"}})->runs().size() == 2);
}

TEST_CASE("searches that are asked for parents return them instead of levels and distances") {
  const auto built = graph::triangles();
  const Labels expected{kUnreached, kUnreached, kUnreached, 4, 4, 4, kUnreached};
  CHECK(in_two<std::uint32_t>([&](launch::Bootstrap& b) {
          return call<std::uint32_t>(b, built.graph, *make_bfs({{VertexId(4)}}, {.parents = true}), {});
        }).values == expected);
  CHECK(in_two<double>([&](launch::Bootstrap& b) {
          return call<double>(b, built.graph, *make_sssp(built.graph, {{VertexId(4)}}, {{}, true}), {});
        }).values == Numbers(expected.begin(), expected.end()));
}

TEST_CASE(
    "one call of each kernel that passes over all edges gives the values of all vertices and a report") {
  const auto built = graph::triangles();
  const auto& graph = built.graph;
  RunOptions options;
  options.tools.verify = true;
  options.job.encoding = plan::Encoding::f64;

  SUBCASE("pagerank") {
    const auto found = in_two<double>([&](launch::Bootstrap& b) {
      return call<double>(b, graph, *make_pagerank({.iterations = 100}, 7, true), options);
    });
    REQUIRE(found.values.size() == 7);
    // A vertex alone has rank r = 0.15 / 7 + 0.85 * r / 7; the six others are alike.
    const double alone = 0.15 / (7 - 0.85);
    CHECK(found.values[6] == doctest::Approx(alone).epsilon(1e-6));
    CHECK(found.values[4] == doctest::Approx((1 - alone) / 6).epsilon(1e-6));
    CHECK(found.report.iterations.size() == 100);
    CHECK(found.report.is_right());
  }
  SUBCASE("ppr") {
    const auto found = in_two<double>([&](launch::Bootstrap& b) {
      return call<double>(b, graph, *make_ppr({}, {{VertexId(3)}}, true), options);
    });
    CHECK(found.values[0] == 0);
    CHECK(found.values[3] > found.values[4]);
    CHECK(found.values[3] + found.values[4] + found.values[5] == doctest::Approx(1));
  }
  SUBCASE("spmv with weights") {
    const auto found = in_two<double>([&](launch::Bootstrap& b) {
      return call<double>(b, graph, *make_spmv({}, {{1, 10, 100, 0, 0, 1, 0}}, true, true), options);
    });
    CHECK(found.values == Numbers{250, 205, 22, 2, 2, 0, 0});
  }
}

TEST_CASE("values that rank 0 has reach their owners") {
  const auto built = graph::triangles();
  const auto bootstraps = launch::bootstraps(2);
  const auto ownership = partition::Ownership::create("ranges", built.graph.offsets(), 2);
  std::vector<std::string> lines(2);
  transport::parallel(2, [&](int p) {
    std::vector<std::uint64_t> distances;
    if (p == 0) distances = {0, 1, 2, 3, 4, 5, std::numeric_limits<std::uint64_t>::max()};
    lines[static_cast<std::size_t>(p)] = text_of_owned(
        *bootstraps[static_cast<std::size_t>(p)], built.graph, ownership,
        {Values::Form::distance, std::span<const std::uint64_t>(distances), 0, "distance"}, TextForm::csv);
  });
  const std::string header = "vertex,distance\n";  // each part is a table
  REQUIRE(lines[1].starts_with(header));
  CHECK(lines[0] + lines[1].substr(header.size()) == header + "0,0\n1,1\n2,2\n3,3\n4,4\n5,5\n6,\n");
  CHECK(lines[1] != header);
}

}  // namespace edgewire::runs
