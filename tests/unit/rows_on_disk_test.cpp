// Rows on disks: codes that keep every row, and readers that give back what the graph has, or say what is
// damaged.
#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "bootstraps.h"
#include "frontier/frontier_job.h"
#include "frontier/row_code.h"
#include "graph_test.h"
#include "process/barrier.h"

namespace edgewire::frontier {

namespace {

constexpr std::uint64_t kMostVertices = std::numeric_limits<std::uint32_t>::max() - std::uint64_t{1};

std::vector<std::byte> code_of(VertexId vertex, const std::vector<VertexId>& targets) {
  std::vector<std::byte> code{std::byte{0x5a}};  // codes are appended
  encode_row(vertex, targets, code);
  REQUIRE(code[0] == std::byte{0x5a});
  code.erase(code.begin());
  return code;
}

bool decode(VertexId vertex, std::vector<std::byte> code, std::uint64_t vertices,
            std::vector<VertexId>& targets) {
  const std::size_t bytes = code.size();
  code.resize(bytes + kCodeSlack, std::byte{0xff});
  return decode_row(vertex, std::span(code).first(bytes), vertices, targets);
}

void check_round_trip(VertexId vertex, std::vector<VertexId> targets, std::uint64_t vertices) {
  CAPTURE(std::uint32_t{vertex});
  CAPTURE(targets.size());
  std::ranges::sort(targets);
  std::vector<VertexId> found(targets.size());
  REQUIRE(decode(vertex, code_of(vertex, targets), vertices, found));
  REQUIRE((found == targets));
}

constexpr std::uint32_t kVertices = 3000;

/// Rows of all lengths, one of them longer than a stripe; loops, duplicates, vertices without edges.
std::vector<graph::Edge> make_edges() {
  std::mt19937 random(3);
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  std::vector<graph::Edge> edges;
  const auto add = [&](std::uint32_t u, std::uint32_t v) {
    edges.emplace_back(u, v, 0.25F * static_cast<float>(below(9)));
  };
  for (std::uint32_t u = 0; u < kVertices; ++u) {
    if (u % 7 == 0) continue;
    for (std::uint32_t e = below(60); e > 0; --e) add(u, below(kVertices));
  }
  for (std::uint32_t e = 0; e < 60000; ++e) add(1234, below(kVertices));
  return edges;
}

struct Scratch {
  graph::TemporaryDirectory folder;
  RowDisks disks;
  Scratch() {
    for (const char* const name : {"a", "b"}) {
      std::filesystem::create_directory(folder / name);
      disks.devices.push_back(folder / name);
    }
  }
  Graph graph(bool weighted) {
    graph::build(folder / "g.ew", kVertices, make_edges(), {.weighted = weighted});
    return Graph::open(folder / "g.ew");
  }
};

using Rows = std::map<std::uint32_t, std::pair<std::vector<std::uint32_t>, std::vector<double>>>;

/// What each_row() gives for these vertices, in two workers.
Rows read(Job& job, const std::vector<LocalNumber>& vertices) {
  const bool several = job.bootstrap().size() > 1;
  std::vector<Rows> found(2);
  std::atomic<std::size_t> next{0};
  job.pool().run([&](int w) {
    const auto take = [&] {
      constexpr std::size_t kAtOnce = 17;
      const std::size_t at = std::min(next.fetch_add(kAtOnce), vertices.size());
      return std::span(vertices).subspan(at, std::min(kAtOnce, vertices.size() - at));
    };
    job.each_row(w, take, [&](const FrontierRow& edges) {
      auto& [targets, weights] =
          found[static_cast<std::size_t>(w)][job.ownership().vertex(job.rank(), edges.vertex)];
      for (const KnownNumber n : edges.targets)
        targets.push_back(several ? job.boundary().vertex(n) : VertexId(n));
      for (std::size_t e = 0; e < edges.weights.size(); ++e)
        weights.push_back(static_cast<float>(edges.weights[e]));
    });
  });
  for (auto& [vertex, row] : found[1]) REQUIRE(found[0].emplace(vertex, row).second);
  return found[0];
}

/// Why all rows cannot be read; or "".
std::string failure(launch::Bootstrap& bootstrap, const Graph& graph, const RowDisks& disks) {
  std::vector<LocalNumber> all(kVertices);
  std::iota(all.begin(), all.end(), LocalNumber{});
  try {
    Job job(bootstrap, graph, {.process = {.workers = 2}, .disks = disks, .kernel = "test"});
    read(job, all);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("codes of rows keep all targets") {
  std::mt19937_64 random(1);
  for (const std::uint64_t vertices :
       {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{1000}, std::uint64_t{1} << 24, kMostVertices}) {
    CAPTURE(vertices);
    const VertexId last(static_cast<std::uint32_t>(vertices - 1));
    for (const VertexId vertex : {VertexId{}, VertexId(last / 2), last}) {
      check_round_trip(vertex, {0}, vertices);
      check_round_trip(vertex, {last}, vertices);
      check_round_trip(vertex, {0, last}, vertices);
      check_round_trip(vertex, {0, 0, last, last, last}, vertices);
      check_round_trip(vertex, std::vector<VertexId>(500, vertex), vertices);
      for (const std::size_t edges : {1U, 2U, 15U, 200U, 3000U}) {
        std::vector<VertexId> targets(edges), near;
        for (auto& target : targets) target = VertexId(static_cast<std::uint32_t>(random() % vertices));
        check_round_trip(vertex, targets, vertices);
        // Mostly neighbours, and a few that are far away, whose gaps are long for the rest.
        for (std::size_t e = 0; e < edges; ++e)
          near.emplace_back(e % 50 == 0
                                ? std::uint32_t{targets[e]}
                                : static_cast<std::uint32_t>(std::min<std::uint64_t>(last, vertex / 2 + e)));
        check_round_trip(vertex, near, vertices);
      }
    }
  }
}

TEST_CASE("what is no code of so many targets is refused") {
  const std::vector<VertexId> targets{3, 900, 901, 40000, 41000};
  const auto code = code_of(7, targets);
  std::vector<VertexId> found(targets.size()), more(targets.size() + 40), fewer(targets.size() - 2);
  CHECK(decode(7, code, 41001, found));
  CHECK(!decode(7, code, 41000, found));  // the last target is no vertex
  CHECK(!decode(7, code, 50000, more));
  CHECK(!decode(7, code, 50000, fewer));
  std::mt19937 random(2);
  for (int i = 0; i < 20000; ++i) {  // whatever it is, it is refused, or gives vertices
    std::vector<std::byte> any(1 + random() % 30);
    for (auto& byte : any) byte = static_cast<std::byte>(random() % 3 == 0 ? 0 : random());
    std::vector<VertexId> out(1 + random() % 20);
    if (decode(500, any, 1000, out)) CHECK(std::ranges::all_of(out, [](VertexId v) { return v < 1000; }));
  }
}

TEST_CASE("rows from disks are those of the graph") {
  for (const bool weighted : {false, true}) {
    CAPTURE(weighted);
    Scratch scratch;
    scratch.disks.weighted = weighted;
    const auto graph = scratch.graph(weighted);
    Rows right;
    for (const auto& [u, v, weight] : graph::edges_of(graph)) {
      right[u].first.push_back(v);
      if (weighted) right[u].second.push_back(weight);
    }
    for (const std::string ownership : {"hash", "ranges"}) {
      CAPTURE(ownership);
      for (const std::uint64_t memory : {std::uint64_t{0}, 20 * graph.vertices()}) {
        scratch.disks.memory_bytes = memory;
        Rows found;
        auto bootstraps = launch::bootstraps(2);
        std::mutex mutex;
        const auto process = [&](std::size_t p) {
          Job job(
              *bootstraps[p], graph,
              {.process = {.workers = 2}, .ownership = ownership, .disks = scratch.disks, .kernel = "test"});
          std::vector<LocalNumber> mine(job.owned());
          std::iota(mine.begin(), mine.end(), LocalNumber{});
          const auto all = read(job, mine);
          std::ranges::shuffle(mine, std::mt19937(5));  // in any order, and again
          CHECK((read(job, mine) == all));
          {
            const std::scoped_lock lock(mutex);
            found.insert(all.begin(), all.end());
          }
          process::barrier(*bootstraps[p], job.link());
        };
        std::thread other(process, 1);
        process(0);
        other.join();
        std::erase_if(found, [](const auto& row) { return row.second.first.empty(); });
        CHECK((found == right));
      }
    }
  }
}

TEST_CASE("rows that were found are read without the graph's targets") {
  Scratch scratch;
  const auto boundary = [&] {
    const auto graph = Graph::open(scratch.folder / "g.ew");
    std::vector<std::vector<std::uint32_t>> ids(2);
    auto bootstraps = launch::bootstraps(2);
    const auto process = [&](std::size_t p) {
      Job job(*bootstraps[p], graph, {.process = {.workers = 2}, .disks = scratch.disks, .kernel = "test"});
      for (KnownNumber n(job.owned()); n < job.known(); ++n) ids[p].push_back(job.boundary().vertex(n));
      process::barrier(*bootstraps[p], job.link());
    };
    std::thread other(process, 1);
    process(0);
    other.join();
    return ids;
  };
  std::string file;
  {
    const auto graph = scratch.graph(false);
    file = graph.path();
  }
  const auto right = boundary();
  CHECK(right[0].size() + right[1].size() > kVertices / 2);
  const auto owners = partition::Ownership::hash(kVertices, 2);
  std::vector<std::set<std::uint32_t>> ends(2);
  for (const auto& [u, v, weight] : make_edges())
    if (const auto owner = owners.home(VertexId(u)).owner; owner != owners.home(VertexId(v)).owner)
      ends[owner].insert(v);
  for (std::size_t p = 0; p < 2; ++p) CHECK(std::set(right[p].begin(), right[p].end()) == ends[p]);
  std::string damaged = graph::read_file(file);
  const std::size_t targets = 4096 + ((kVertices + 1) * 8 + 4095) / 4096 * 4096;
  std::fill_n(damaged.begin() + targets, 4096, '\xff');
  graph::write_file(file, damaged);
  CHECK((boundary() == right));
}

TEST_CASE("damaged rows end the job with file and byte") {
  Scratch scratch;
  const auto graph = scratch.graph(false);
  const std::string file = scratch.folder / "b" + "/g.ew.rows-0-of-1-disk-1";
  const auto fails = [&] { return failure(*launch::bootstraps(1)[0], graph, scratch.disks); };
  REQUIRE(fails().empty());
  const std::string whole = graph::read_file(file);
  std::string changed = whole;
  changed[4096 + 100] ^= 1;
  graph::write_file(file, changed);
  CHECK(graph::contains(fails(), file + ": byte 4096: the file is damaged here"));
  graph::write_file(file, whole.substr(0, whole.size() - 4096));  // of another length: all is written again
  CHECK(fails().empty());
  CHECK(graph::read_file(file) == whole);
  std::filesystem::remove(file);
  CHECK(fails().empty());
  CHECK(graph::read_file(file) == whole);
}

}  // namespace edgewire::frontier
