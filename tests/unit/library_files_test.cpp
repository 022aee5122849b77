// What the public headers do with files: conversion, generators and sorting; and tasks.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/control_group.h"
#include "edgewire/convert.h"
#include "edgewire/sort.h"
#include "edgewire/tasks.h"
#include "graph_test.h"
#include "library_test.h"
#include "spoken.h"

namespace edgewire {

namespace {

using graph::contains;
using graph::error_of;
using graph::write_file;

std::multiset<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::multiset<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.insert(line);
  return lines;
}

std::vector<VertexId> all_vertices(const Graph& graph) {
  std::vector<VertexId> all;
  for (VertexId v{}; v < graph.vertices(); ++v) all.push_back(v);
  return all;
}

constexpr std::size_t kRecord = 16, kKeyOffset = 3, kKeyBytes = 2;

std::string random_records(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::string bytes(count * kRecord, ' ');
  for (char& byte : bytes) byte = static_cast<char>('a' + random() % 20);
  return bytes;
}

/// By key, and equal keys by all bytes.
std::string sorted(const std::string& bytes) {
  std::vector<std::string> records;
  for (std::size_t at = 0; at < bytes.size(); at += kRecord) records.push_back(bytes.substr(at, kRecord));
  std::sort(records.begin(), records.end(), [](const std::string& a, const std::string& b) {
    const int keys = a.compare(kKeyOffset, kKeyBytes, b, kKeyOffset, kKeyBytes);
    return keys != 0 ? keys < 0 : a < b;
  });
  std::string all;
  for (const auto& record : records) all += record;
  return all;
}

}  // namespace

TEST_CASE("a graph with names of vertices comes back as it was") {
  const graph::TemporaryDirectory folder;
  const std::string edges = "ann\tbob\t2\nbob\tcy\t5\ncy\tann\t1\nann\tann\t3\n";
  write_file(folder / "in.txt", edges);
  const auto made = convert(folder / "in.txt", folder / "g.ew", {.labels = true});
  CHECK(made.vertices == 3);
  CHECK(made.edges == 4);
  CHECK(made.bytes == std::filesystem::file_size(folder / "g.ew"));
  const auto graph = Graph::open(folder / "g.ew");
  CHECK(graph.weighted());
  const auto names = names_of(graph, all_vertices(graph));
  CHECK(std::multiset<std::string>(names.begin(), names.end()) ==
        std::multiset<std::string>{"ann", "bob", "cy"});
  export_graph(graph, folder / "out.tsv");
  CHECK(lines_of(graph::read_file(folder / "out.tsv")) == lines_of("source\ttarget\tweight\n" + edges));
  export_graph(graph, folder / "out", "csv", false);
  CHECK(lines_of(graph::read_file(folder / "out")) ==
        lines_of("source,target\nann,bob\nbob,cy\ncy,ann\nann,ann\n"));
  CHECK(contains(error_of([&] { names_of(graph, std::vector<VertexId>{3}); }), "3 is no vertex"));
}

TEST_CASE("options of a conversion say what becomes of edges") {
  const graph::TemporaryDirectory folder;
  write_file(folder / "in.txt", "10 20\n20 10\n10 10\n20 40\n20 40\n");
  write_file(folder / "vertices.txt", "30\n");
  const auto made = convert(folder / "in.txt", folder / "g.ew",
                            {.simple = true, .undirected = true, .vertices = folder / "vertices.txt"});
  CHECK(made.vertices == 4);
  CHECK(made.edges == 4);
  CHECK(made.dropped_edges > 0);
  const auto graph = Graph::open(folder / "g.ew");
  CHECK(graph.symmetric());
  CHECK(names_of(graph, all_vertices(graph)) == std::vector<std::string>{"10", "20", "30", "40"});
  write_file(folder / "none.txt", "");
  CHECK(convert(folder / "none.txt", folder / "none.ew", {.format = "snap", .allow_empty = true}).edges == 0);
  CHECK(names_of(Graph::open(folder / "none.ew"), {}).empty());
}

TEST_CASE_TEMPLATE("edges in arrays become a graph", Id, std::int32_t, std::int64_t, std::uint32_t,
                   std::uint64_t) {
  const graph::TemporaryDirectory folder;
  const std::vector<Id> sources{2, 0, 2, 2}, targets{0, 1, 0, 2};
  const std::vector<double> weights{0.5, 7, 0.25, 1};
  const EdgeArrays edges{
      std::span(sources), std::span(targets), {graph::WeightType::f64, weights.data(), weights.size()}};
  CHECK(convert_arrays(edges, folder / "g.ew", {.vertices = 5}).edges == 4);
  const auto graph = Graph::open(folder / "g.ew");
  CHECK(graph.vertices() == 5);
  export_graph(graph, folder / "g.wel");
  CHECK(lines_of(graph::read_file(folder / "g.wel")) == lines_of("0 1 7\n2 0 0.5\n2 0 0.25\n2 2 1\n"));
  const auto simple =
      convert_arrays({std::span(sources), std::span(targets)}, folder / "s.ew",
                     {.names = {"x", "y", "z"}, .simple = true, .undirected = true, .workers = 2});
  CHECK(simple.vertices == 3);
  CHECK(simple.edges == 4);
  const auto named = Graph::open(folder / "s.ew");
  CHECK(named.symmetric());
  CHECK(names_of(named, all_vertices(named)) == std::vector<std::string>{"x", "y", "z"});
}

TEST_CASE("ids in arrays become the vertices that occur, whatever their bits") {
  const graph::TemporaryDirectory folder;
  const auto check = [&](const auto& sources, const auto& targets, std::vector<std::string> names) {
    const std::vector<float> weights{1.5, 2.5};
    const EdgeArrays edges{
        std::span(sources), std::span(targets), {graph::WeightType::f32, weights.data(), weights.size()}};
    CHECK(convert_arrays(edges, folder / "g.ew", {.dense = true, .workers = 2}).edges == 2);
    const auto graph = Graph::open(folder / "g.ew");
    CHECK(names_of(graph, all_vertices(graph)) == names);
    CHECK(graph.has_original_ids() == (names.back() != std::to_string(names.size() - 1)));
    export_graph(graph, folder / "g.wel");
    CHECK(lines_of(graph::read_file(folder / "g.wel")) == lines_of("0 1 2.5\n2 0 1.5\n"));
  };
  using Wide = std::vector<std::uint64_t>;
  check(std::vector<std::int32_t>{2, 0}, std::vector<std::uint32_t>{0, 1}, {"0", "1", "2"});
  check(std::vector<std::int64_t>{20'000'000, 1}, std::vector<std::int32_t>{1, 2}, {"1", "2", "20000000"});
  check(Wide{0xFFFF'FFFF, 1}, Wide{1, 2}, {"1", "2", "4294967295"});
  check(Wide{~0ULL, 1}, Wide{1, 1ULL << 63}, {"1", "9223372036854775808", "18446744073709551615"});
}

TEST_CASE("vertices that need more memory than is free are refused before they take any") {
  constexpr std::uint64_t kBytes = graph::kMaxVertices * 8;
  if (available_memory() >= kBytes) return;  // 34 GB, or 2 PB where ids have 64 bits
  const graph::TemporaryDirectory folder;
  const std::vector<std::uint64_t> ids{graph::kMaxVertices - 1};
  const auto refusal = [&](const EdgeOptions& options) {
    return error_of([&] { convert_arrays({std::span(ids), std::span(ids)}, folder / "g.ew", options); });
  };
  const std::string need = fmt::format(": needs about {} MB of memory, ", kBytes / 1'000'000);
  CHECK(contains(refusal({.vertices = graph::kMaxVertices}), "the graph" + need));
  CHECK(contains(refusal({}), fmt::format("vertices are all ids up to {} (`dense` keeps those that occur){}",
                                          graph::kMaxVertices - 1, need)));
  CHECK(folder.files() == 0);
}

TEST_CASE("arrays that are no graph are refused, and leave no file") {
  const graph::TemporaryDirectory folder;
  const std::vector<std::int64_t> ids{0, 1}, wrong{0, -3}, large{1, std::int64_t{1} << 60};
  const std::vector<float> infinite{1, std::numeric_limits<float>::infinity()};
  const auto refused = [&](const std::vector<std::int64_t>& sources, std::span<const std::int64_t> targets,
                           const graph::Weights& weights, const EdgeOptions& options,
                           const std::string& part) {
    const std::string line = error_of([&] {
      convert_arrays({std::span(sources), targets, weights}, folder / "g.ew", options);
    });
    INFO(line);
    CHECK(contains(line, part));
  };
  refused(ids, wrong, {}, {}, "the target of edge 1 is -3");
  refused(wrong, ids, {}, {}, "the source of edge 1 is -3");
  refused(ids, std::span(ids).first(1), {}, {}, "2 sources, 1 targets");
  refused(ids, ids, {graph::WeightType::f32, infinite.data(), 1}, {}, "1 weights");
  refused(ids, ids, {graph::WeightType::f32, infinite.data(), 2}, {}, "the weight of edge 1 is inf");
  refused(ids, ids, {}, {.vertices = 1}, "id 1 is no vertex of a graph of 1 vertices");
  if constexpr (!kIds64)
    refused(ids, large, {}, {},
            "all ids up to 1152921504606846976 (`dense` keeps those that occur): more than");
  refused(ids, ids, {}, {.vertices = 3, .dense = true}, "leave `vertices` and `names` out");
  refused(ids, ids, {}, {.names = {"x"}}, "1 names for 2 vertices");
  refused(ids, ids, {}, {.names = {"x", ""}}, "the name of vertex 1 is empty");
  refused(ids, ids, {}, {.workers = -1}, "--workers -1");
  CHECK(folder.files() == 0);
}

TEST_CASE("conversions refuse what makes no sense, and leave no file") {
  const options::Spoken face(options::Face::cpp);
  const graph::TemporaryDirectory folder;
  write_file(folder / "in.txt", "1 2\n");
  const auto refused = [&](const std::string& input, const std::string& output, const ConvertOptions& options,
                           const std::string& part) {
    const std::string line = error_of([&] { convert(input, output, options); });
    INFO(line);
    CHECK(contains(line, part));
    CHECK(!contains(line, "\n"));
  };
  refused(folder / "in.txt", folder / "g.ew", {.format = "xyz"},
          "ConvertOptions::format = xyz is none of auto, snap");
  refused(folder / "in.txt", folder / "g.ew", {.workers = -1}, "workers = -1");
  refused(folder / "in.txt", "", {}, "output: it names no file");
  refused("", folder / "g.ew", {}, "input: it names no file");
  refused(folder / "none", folder / "g.ew", {}, "cannot read");
  refused(folder / "in.txt", folder / "in.txt", {}, "the same file");
  CHECK(folder.files() == 1);
  convert(folder / "in.txt", folder / "g.ew");
  const auto graph = Graph::open(folder / "g.ew");
  const auto not_written = [&](const std::string& output, const std::string& format,
                               const std::string& part) {
    CHECK_THROWS_AS(export_graph(graph, output, format), UsageError);
    CHECK(contains(error_of([&] { export_graph(graph, output, format); }), part));
  };
  not_written(folder / "out", "dimacs", "format = dimacs is none of auto, el");
  not_written(folder / "out", "auto", "tells no format");
  not_written(folder / "out.xyz", "auto", ".xyz is not written");
  not_written("", "el", "output");
  CHECK(folder.files() == 2);
}

TEST_CASE("generators make graphs that repeat") {
  const graph::TemporaryDirectory folder;
  CHECK(generate_kronecker(folder / "a.ew", 6, 8, {.seed = 3}).vertices == 64);
  CHECK(generate_kronecker(folder / "b.ew", 6, 8, {.seed = 3, .workers = 2}).edges == 64 * 8);
  const auto a = Graph::open(folder / "a.ew"), b = Graph::open(folder / "b.ew");
  CHECK(graph::edges_of(a) == graph::edges_of(b));
  generate_uniform(folder / "c.ew", 50, 4, {.weighted = true, .simple = true, .undirected = true});
  const auto c = Graph::open(folder / "c.ew");
  CHECK(c.vertices() == 50);
  CHECK(c.weighted());
  CHECK(c.simple());
  CHECK(c.symmetric());
  CHECK(contains(error_of([&] { generate_kronecker(folder / "d.ew", 32); }), "--scale 32"));
  CHECK(contains(error_of([&] { generate_uniform("", 3); }), "output"));
}

TEST_CASE("records are sorted by two processes as std::sort does") {
  const graph::TemporaryDirectory folder;
  const std::string first = random_records(3000, 1), second = random_records(1777, 2);
  write_file(folder / "first", first);
  write_file(folder / "second", second);
  write_file(folder / "empty", "");
  const SortOptions options{.inputs = {folder / "first", folder / "empty", folder / "second"},
                            .output = folder / "sorted",
                            .record_bytes = kRecord,
                            .key_offset = kKeyOffset,
                            .key_bytes = kKeyBytes,
                            .partitions = 3,
                            .memory_bytes = 64 << 20};
  std::vector<SortSummary> summaries(2);
  in_processes(2, [&](launch::Bootstrap& bootstrap) {
    summaries[static_cast<std::size_t>(bootstrap.rank())] = sort(bootstrap, options);
  });
  std::string all;
  for (const auto& summary : summaries)
    for (const auto& part : summary.parts) all += graph::read_file(part);
  CHECK(all == sorted(first + second));
  CHECK(summaries[0].parts.size() + summaries[1].parts.size() == 3);
  CHECK(summaries[0].records + summaries[1].records == 4777);
  CHECK(summaries[0].payload_bytes > 0);
  CHECK(summaries[0].wire_bytes >= summaries[0].payload_bytes);
}

TEST_CASE("a sort refuses what makes no sense") {
  const options::Spoken face(options::Face::cpp);
  const graph::TemporaryDirectory folder;
  write_file(folder / "in", std::string(64, 'x'));
  const auto alone = launch::alone();
  const SortOptions right{.inputs = {folder / "in"}, .output = folder / "out", .record_bytes = 32};
  const auto refused = [&](const std::function<void(SortOptions&)>& set, const std::string& part) {
    SortOptions options = right;
    set(options);
    const std::string line = error_of([&] { sort(*alone, options); });
    INFO(line);
    CHECK(contains(line, part));
    CHECK(!contains(line, "\n"));
  };
  refused([](auto& o) { o.inputs = {}; }, "inputs: name at least one file");
  refused([&](auto& o) { o.inputs = {folder / "none"}; }, "cannot read");
  refused([](auto& o) { o.output = ""; }, "output");
  refused([&](auto& o) { o.output = folder / "in"; }, "it is not a folder");
  refused([](auto& o) { o.key_bytes = 0; }, "SortOptions::key_offset");
  refused([](auto& o) { o.key_offset = 32; }, "SortOptions::key_offset");
  refused([](auto& o) { o.record_bytes = 0; }, "SortOptions::record_bytes = 0 is outside the range 1");
  refused([](auto& o) { o.record_bytes = 60; }, "no whole number of records");
  refused([](auto& o) { o.partitions = 0; }, "partitions = 0");
  refused([](auto& o) { o.memory_bytes = 1; }, "SortOptions::memory_bytes");
  CHECK(contains(error_of([&] { sort(*alone, right, {.workers = -1}); }), "workers = -1"));
  CHECK(sort(*alone, right).records == 2);
}

TEST_CASE("one job of tasks runs several times, and says what it did") {
  tasks::Registry registry;
  tasks::FunctionId fibonacci = 0;
  fibonacci = registry.add("fibonacci", [&fibonacci](tasks::Context& task) -> tasks::Task {
    const int n = task.argument<int>();
    if (n < 2) co_return tasks::to_bytes(n);
    const auto a = task.spawn(fibonacci, tasks::to_bytes(n - 1));
    const auto b = task.spawn(fibonacci, tasks::to_bytes(n - 2));
    const int first = tasks::from_bytes<int>(co_await task.take(a));
    co_return tasks::to_bytes(first + tasks::from_bytes<int>(co_await task.take(b)));
  });
  std::atomic<std::uint64_t> ended = 0;
  in_processes(2, [&](launch::Bootstrap& bootstrap) {
    TaskJob job(bootstrap, registry, {.workers = 2});
    for (const auto& [n, expected] : {std::pair(10, 55), std::pair(7, 13)}) {
      const std::string result = job.run(fibonacci, tasks::to_bytes(n));
      if (bootstrap.rank() == 0)
        CHECK(tasks::from_bytes<int>(result) == expected);
      else
        CHECK(result.empty());
      ended += job.figures().tasks;
    }
  });
  CHECK(ended == 177 + 41);  // calls of fibonacci(10) and of fibonacci(7)
  const auto alone = launch::alone();
  TaskJob job(*alone, registry);
  CHECK(contains(error_of([&] { job.run(7); }), "there is no function 7"));
  CHECK(contains(error_of([&] { job.run(fibonacci, "abc"); }), "it has 3 bytes where 4 are expected"));
  CHECK(contains(error_of([&] { const TaskJob wrong(*alone, registry, {.workers = -1}); }), "--workers -1"));
}

}  // namespace edgewire
