// Rows on their way from the file to the processes that own their vertices, which are threads of the test.
#include "partition/row_loader.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "bootstraps.h"
#include "graph/file/format.h"
#include "graph_test.h"
#include "partition/row_shares.h"
#include "transport_fixture.h"

namespace edgewire::exchange {
namespace {

constexpr auto kShares = RowReading::shares;

/// The text of a partition file.
std::string some_owners(std::uint64_t vertices, int processes) {
  std::string text;
  for (std::size_t v = 0; v < vertices; ++v)
    text += std::to_string(v * v % 11 % static_cast<std::size_t>(processes)) + "\n";
  return text;
}

struct Cut {
  int processes, workers;
  std::string transport = "shm";
};

/// Loads the rows of all processes, each of its own file or all of one, and compares them with those of
/// `right`. `work` (rank, rows): what else is asked.
void check_rows(const std::vector<Graph>& files, const Graph& right, const partition::Ownership& ownership,
                const Cut& cut, const partition::RowContent& content,
                const std::function<void(const partition::OwnedRows&)>& work = {}) {
  right.verify_rows(0, right.vertices());
  const auto members = launch::bootstraps(cut.processes, true);
  transport::parallel(cut.processes, [&](int p) {
    auto& bootstrap = *members[static_cast<std::size_t>(p)];
    const Graph& file = files[static_cast<std::size_t>(p) % files.size()];
    process::LocalProcess process(
        bootstrap, {.workers = cut.workers, .transport = cut.transport, .peer_timeout_s = 100});
    const auto rows = partition::load_rows(bootstrap, process, file, ownership, content);
    const auto rank = static_cast<std::uint32_t>(p);
    for (LocalNumber local{}; local < ownership.count(rank); ++local) {
      const VertexId v = ownership.vertex(rank, local);
      const graph::Row expected{right, v}, found = rows[v];
      transport::require(rows.degree(v) == expected.degree(), "another degree");
      if (content.targets)
        transport::require(std::ranges::equal(found.targets(), expected.targets()), "another row");
      if (content.weights)
        transport::require(std::ranges::equal(found.weights().bytes(), expected.weights().bytes()),
                           "other weights");
    }
    if (work) work(rows);
  });
}

TEST_CASE("processes of several hosts get the rows of their vertices, however these are owned") {
  const graph::TemporaryDirectory folder;
  constexpr std::uint32_t kVertices = 5000;
  auto edges = graph::random_edges(kVertices, 30'000, 1);
  for (std::uint32_t v = 0; v < 40'000; ++v) edges.emplace_back(77, v % kVertices, 3.5F);  // a long row
  graph::build(folder / "g.ew", kVertices, edges, {.weighted = true});
  std::vector<Graph> files;
  files.push_back(Graph::open(folder / "g.ew"));
  for (const Cut& cut : {Cut{2, 1}, Cut{3, 2}, Cut{2, 3, "tcp"}}) {
    CAPTURE(cut.processes);
    graph::write_file(folder / "parts", some_owners(kVertices, cut.processes));
    for (const auto& ownership :
         {partition::Ownership::hash(kVertices, cut.processes),
          partition::Ownership::from_file(folder / "parts", kVertices, cut.processes)})
      for (const partition::RowContent content :
           {partition::RowContent{.reading = kShares},
            partition::RowContent{.weights = true, .reading = kShares},
            partition::RowContent{.targets = false, .reading = kShares}})
        check_rows(files, files[0], ownership, cut, content,
                   [](const auto& rows) { transport::require(!rows.in_file(), "rows in the file"); });
    check_rows(files, files[0], partition::Ownership::ranges(files[0].offsets(), cut.processes), cut, {},
               [](const auto& rows) { transport::require(rows.in_file(), "rows not in the file"); });
  }
}

TEST_CASE("graphs with fewer rows than processes, and without edges") {
  for (const std::uint32_t vertices : {1U, 2U, 5U}) {
    const graph::BuiltGraph one(
        vertices, vertices == 5 ? std::vector<graph::Edge>{} : std::vector<graph::Edge>{{0, 0, 1.0F}});
    std::vector<Graph> files;
    files.push_back(Graph::open(one.graph.path()));
    check_rows(files, one.graph, partition::Ownership::hash(vertices, 3), {3, 2}, {.reading = kShares});
  }
}

/// A copy of the file whose blocks of targets are damaged where they hold no edge of [first, last), and those
/// of weights.
std::string damaged_elsewhere(const Graph& graph, const std::string& path, std::uint64_t first,
                              std::uint64_t last) {
  std::string bytes = graph::read_file(graph.path());
  graph::Header header{};
  std::memcpy(&header, bytes.data(), sizeof header);
  const auto damage = [&](graph::Section section, std::uint64_t entry_bytes) {
    const auto& entry = header.sections[section];
    const std::uint64_t begin = graph.offsets()[first] * entry_bytes,
                        end = graph.offsets()[last] * entry_bytes;
    for (std::uint64_t at = 0; at < entry.bytes; at += graph::kBlockBytes)
      if (at + graph::kBlockBytes <= begin || at >= end) bytes[entry.offset + at] ^= 1;
  };
  damage(graph::kTargets, sizeof(VertexId));
  if (graph.weighted()) damage(graph::kWeights, graph::bytes_of(graph.weights().type()));
  graph::write_file(path, bytes);
  return path;
}

TEST_CASE("each process reads its share of the rows, and nobody else does") {
  const graph::TemporaryDirectory folder;
  constexpr std::uint32_t kVertices = 300'000, kEdges = 2'000'000;
  constexpr int kProcesses = 3;
  std::vector<graph::Edge> edges;
  std::mt19937 random(5);
  for (std::uint32_t e = 0; e < kEdges; ++e)
    edges.emplace_back(random() % kVertices, random() % kVertices, static_cast<float>(random() % 9));
  graph::build(folder / "g.ew", kVertices, edges, {.weighted = true});
  const Graph whole = Graph::open(folder / "g.ew");
  // Rows and edges before a row, in thirds of all: found row by row.
  std::vector<std::uint64_t> bounds;
  const auto before = [&](std::uint64_t v) { return whole.offsets()[v] + v; };
  for (std::uint64_t v = 0; v < kVertices; ++v)
    while (bounds.size() < kProcesses && before(v) >= bounds.size() * before(kVertices) / kProcesses)
      bounds.push_back(v);
  bounds.push_back(kVertices);
  std::vector<Graph> files;
  for (std::size_t p = 0; p < kProcesses; ++p)
    files.push_back(
        Graph::open(damaged_elsewhere(whole, folder / std::to_string(p) + ".ew", bounds[p], bounds[p + 1])));
  const auto ownership = partition::Ownership::hash(kVertices, kProcesses);
  check_rows(files, whole, ownership, {kProcesses, 2}, {.weights = true, .reading = kShares});
  // The test would notice: a process that reads more finds the damage.
  for (std::size_t p = 0; p < kProcesses; ++p) {
    CHECK_THROWS_AS(files[p].verify_rows(0, kVertices), Error);
    CHECK_NOTHROW(files[p].verify_rows(bounds[p], bounds[p + 1]));
  }
}

TEST_CASE("what several processes can read is shared out, and each row is read once") {
  const graph::TemporaryDirectory folder;
  const Graph graph = graph::skewed_graph(folder, 1000, 8000);
  using partition::RowRanges;
  const std::vector<std::vector<partition::RowRanges>> cases{
      {{{0, 1000}}, {{0, 1000}}, {{0, 1000}}},
      {{{0, 400}}, {{400, 1000}}},
      {{{0, 400}, {700, 1000}}, {{300, 800}}, {{0, 1000}}},
      {{{0, 1000}}, {}},
  };
  for (const auto& here : cases) {
    std::vector<int> readers(1000);
    for (std::uint32_t p = 0; p < here.size(); ++p) {
      const partition::RowRanges mine = partition::rows_to_read(graph, here, p);
      for (const std::size_t parts : {1UL, 2UL, 7UL}) {
        std::vector<std::uint64_t> rows;
        for (const auto& part : partition::cut_rows(graph, mine, parts))
          for (const auto& one : part)
            for (std::uint64_t v = one.first; v < one.last; ++v) rows.push_back(v);
        std::vector<std::uint64_t> all;
        for (const auto& one : mine)
          for (std::uint64_t v = one.first; v < one.last; ++v) all.push_back(v);
        CHECK(rows == all);
      }
      for (const auto& one : mine) {
        CHECK(std::ranges::any_of(
            here[p], [&](const auto& range) { return range.first <= one.first && one.last <= range.last; }));
        for (std::uint64_t v = one.first; v < one.last; ++v) ++readers[v];
      }
    }
    CHECK(std::ranges::count(readers, 1) == 1000);
  }
  CHECK_THROWS_AS(
      partition::rows_to_read(graph, std::vector<partition::RowRanges>{{{0, 400}}, {{500, 1000}}}, 0), Error);
}

TEST_CASE("ranges begin where they begin when all offsets are read") {
  const graph::TemporaryDirectory folder;
  const Graph graph = graph::skewed_graph(folder, 1000, 8000);
  const graph::BuiltGraph edgeless(10, {});
  for (const Graph* file : {&graph, &edgeless.graph}) {
    const auto members = launch::bootstraps(3);
    transport::parallel(3, [&](int p) {
      const auto found = partition::make_ownership(*members[static_cast<std::size_t>(p)], *file, "ranges");
      const auto right = partition::Ownership::ranges(file->offsets(), 3);
      for (std::uint32_t q = 0; q < 3; ++q)
        transport::require(found.count(q) == right.count(q), "another range");
    });
  }
}

}  // namespace
}  // namespace edgewire::exchange
