// Plans of graphs beyond 2^32 vertices and edges, by a program whose ids have 64 bits. The graph is a file
// with holes; what is expected is computed from lists of edges and bounds alone.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "base/checksum.h"
#include "dense/plan/block_routes.h"
#include "dense/plan/exchange_plan.h"
#include "frontier/row_code.h"
#include "graph/file/format.h"
#include "graph_test.h"
#include "partition/ownership.h"
#include "partition/vertex_set.h"
#include "shuffle/edge_record.h"

namespace edgewire {
namespace {

constexpr std::uint64_t k32 = std::uint64_t{1} << 32, kSixG = 6'000'000'000;

/// A graph in which vertex `hub` has an edge to vertex 0 so many times, which nobody reads, and the vertices
/// behind it have the rows that are given. Only the blocks that belong to these vertices are in the file.
class SparseGraph {
 public:
  SparseGraph(std::uint64_t vertices, std::uint64_t hub_edges,
              const std::vector<std::vector<std::uint64_t>>& rows)
      : first_(vertices - rows.size()) {
    std::uint64_t edges = hub_edges;
    for (const auto& row : rows) edges += row.size();
    header_ = graph::lay_out(vertices, edges, 0);
    file_.open(path(), std::ios::binary | std::ios::out | std::ios::in | std::ios::trunc);
    checksums_.resize(header_.checksums.bytes / 8);
    std::uint64_t edge = hub_edges;
    std::vector<std::uint64_t> offsets{edge}, targets;
    for (const auto& row : rows) {
      targets.insert(targets.end(), row.begin(), row.end());
      offsets.push_back(edge += row.size());
    }
    put(graph::kOffsets, first_, offsets);
    put(graph::kTargets, hub_edges, targets);
    const auto table = header_.checksums.offset;
    write(table, checksums_.data(), checksums_.size() * 8);
    header_.checksums_checksum = checksum(checksums_.data(), checksums_.size() * 8);
    header_.checksum = graph::header_checksum(header_);
    write(0, &header_, sizeof header_);
    file_.close();
  }
  std::string path() const { return folder_ / "sparse.ew"; }
  std::uint64_t first() const { return first_; }

 private:
  void write(std::uint64_t at, const void* data, std::uint64_t bytes) {
    file_.seekp(static_cast<std::streamoff>(at));
    file_.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
    REQUIRE(file_.good());
  }
  /// Elements from number `first` on to the end of the section, in whole blocks.
  void put(std::uint32_t section, std::uint64_t first, const std::vector<std::uint64_t>& values) {
    const auto& entry = header_.sections[section];
    REQUIRE((first + values.size()) * 8 == entry.bytes);
    const std::uint64_t begin = first * 8 / graph::kBlockBytes * graph::kBlockBytes;
    std::vector<char> bytes(padded(entry.bytes) - begin);
    std::memcpy(bytes.data() + (first * 8 - begin), values.data(), values.size() * 8);
    write(entry.offset + begin, bytes.data(), bytes.size());
    for (std::uint64_t at = 0; at < bytes.size(); at += graph::kBlockBytes)
      checksums_[graph::first_block(header_, section) + (begin + at) / graph::kBlockBytes] =
          checksum(bytes.data() + at, std::min(graph::kBlockBytes, bytes.size() - at));
  }

  graph::TemporaryDirectory folder_;
  std::uint64_t first_;
  graph::Header header_{};
  std::vector<std::uint64_t> checksums_;
  std::fstream file_;
};

VertexId id(std::uint64_t v) { return VertexId(v); }

}  // namespace

TEST_CASE("hashes give each of 6 G vertices one place") {
  for (const std::uint64_t processes : {2, 2047, 2048, 4096}) {
    const auto ownership = partition::Ownership::hash(kSixG, static_cast<int>(processes));
    std::uint64_t all = 0;
    for (std::uint32_t p = 0; p < processes; ++p) all += ownership.count(p);
    CHECK(all == kSixG);
    std::mt19937_64 random(processes);
    for (const std::uint64_t some :
         {std::uint64_t{0}, k32 - 1, k32, k32 + 1, kSixG - processes, random() % kSixG}) {
      // A block of as many ids as processes has one vertex of each, and is their local number.
      const std::uint64_t block = some / processes;
      std::set<std::uint32_t> owners;
      for (std::uint64_t v = block * processes; v < std::min(kSixG, (block + 1) * processes); ++v) {
        const Home home = ownership.home(id(v));
        REQUIRE(home.owner < processes);
        REQUIRE(home.local == block);
        REQUIRE(ownership.vertex(home.owner, home.local) == v);
        REQUIRE(owners.insert(home.owner).second);
      }
    }
  }
  CHECK(graph::error_of([] { partition::Ownership::hash(kSixG, 1); }) ==
        "one process would own 6000000000 vertices, more than 4290772992: use more processes");
}

TEST_CASE("ranges of 6 G vertices on 2,048 processes") {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> bounds{0, kSixG};
  for (int p = 1; p < 2048; ++p) bounds.push_back(random() % kSixG);
  std::ranges::sort(bounds);
  const partition::RangeOwnership ranges(bounds);
  for (int i = 0; i < 10000; ++i) {
    const std::uint64_t v = random() % kSixG;
    const auto after = std::ranges::upper_bound(bounds, v);
    const Home home = ranges.home(id(v));
    REQUIRE(home.owner == static_cast<std::uint32_t>(after - bounds.begin() - 1));
    REQUIRE(home.local == v - *std::prev(after));
    REQUIRE(ranges.vertex(home.owner, home.local) == v);
    REQUIRE(ranges.count(home.owner) == *after - *std::prev(after));
  }
}

TEST_CASE("a set of vertices beyond 2^32 knows their places") {
  std::mt19937_64 random(2);
  std::set<std::uint64_t> ids{0, k32 - 1, k32, kSixG - 1};
  while (ids.size() < 3000) ids.insert(random() % 2 == 0 ? random() % kSixG : kSixG - 1 - random() % 5000);
  const partition::VertexSet set(kSixG, 3000, [&](const auto& take) {
    for (const std::uint64_t v : ids) take(id(v));
  });
  CHECK(set.count() == ids.size());
  CHECK(std::ranges::equal(set.members(), ids, {}, [](VertexId v) { return std::uint64_t{v}; }));
  std::uint32_t place = 0;
  for (const std::uint64_t v : ids) {
    REQUIRE(set.place(id(v)) == ++place);
    if (!ids.contains(v + 1) && v + 1 < kSixG) REQUIRE(!set.has(id(v + 1)));
  }
  const partition::VertexNumbers numbers(set, kSixG, 3'000'000'000);  // there would be room for a number each
  CHECK(numbers.all().size() == ids.size() + 1);
}

TEST_CASE("rows on disks have ids beyond 2^32") {
  for (const std::uint64_t vertex : {std::uint64_t{0}, k32 - 1, kSixG}) {
    const std::vector<VertexId> targets{id(0),   id(5),     id(k32 - 1),  id(k32),
                                        id(k32), id(kSixG), id(k32 << 14)};
    std::vector<std::byte> code;
    frontier::encode_row(id(vertex), targets, code);
    const std::size_t bytes = code.size();
    code.resize(bytes + frontier::kCodeSlack);
    std::vector<VertexId> found(targets.size());
    CHECK(frontier::decode_row(id(vertex), std::span(code).first(bytes), (k32 << 14) + 1, found));
    CHECK(found == targets);
    CHECK(!frontier::decode_row(id(vertex), std::span(code).first(bytes), k32 << 14, found));
  }
}

TEST_CASE("records of edges order as their ids do beyond 2^32") {
  const auto low = shuffle::store({k32 - 1, kSixG, {}}), high = shuffle::store({k32, 0, {}});
  CHECK(std::memcmp(low.data(), high.data(), low.size()) < 0);
  const auto edge = shuffle::load(low.data(), true);
  CHECK(edge.source == k32 - 1);
  CHECK(edge.target == kSixG);
}

TEST_CASE("edges of blocks travel with ids beyond 2^32") {
  plan::BlockEdges edges;
  edges.add(id(3), id(k32), 0.25);
  edges.add(id(kSixG - 1), id(k32 - 1), -1);
  edges.add(id(kSixG - 1), id(kSixG - 2), 1e300);
  const auto words = plan::pack(edges);
  const auto found = plan::unpack(words, true, 0, kSixG);
  CHECK(found.sources == edges.sources);
  CHECK(found.ends == edges.ends);
  CHECK(std::ranges::equal(found.targets, edges.targets));
  CHECK(std::ranges::equal(found.weights, edges.weights));
  CHECK_THROWS_AS(plan::unpack(words, true, 0, kSixG - 1), Error);
  // A process lists what it needs of each owner, by local numbers.
  const auto owners = partition::Ownership::hash(kSixG, 64);
  const std::uint32_t rank = owners.home(id(3)).owner;
  auto lists = plan::lists_for(edges, owners, rank);
  for (std::uint32_t peer = 0; peer < 64; ++peer) {
    for (const VertexId v : lists[peer].sums_to) CHECK(owners.home(v).owner == peer);
    plan::PeerLists told;
    plan::take_announced(told, plan::announce(lists[peer], owners), owners, peer, rank);
    CHECK(told.mirrors_to == lists[peer].mirrors_from);
    CHECK(told.sums_from == lists[peer].sums_to);
  }
}

TEST_CASE("the plan of a process whose vertices and edges are all beyond 2^32") {
  constexpr std::uint64_t kVertices = k32 + (1 << 24), kHubEdges = k32 + 77, kOwned = 100;
  constexpr int kProcesses = 64;
  // Two vertices of this process lead to each destination elsewhere, so that its sum is what is sent.
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> others{1, k32 - 1, k32, k32 + 1};
  for (int i = 0; i < 20; ++i) others.push_back(random() % (kVertices - kOwned));
  std::vector<std::vector<std::uint64_t>> rows(kOwned);
  for (std::size_t i = 0; i < others.size(); ++i)
    for (const std::size_t from : {3 * i, 3 * i + 1}) {
      rows[from].push_back(others[i]);
      rows[from].push_back(kVertices - kOwned + from % 7);
    }
  for (auto& row : rows) std::ranges::sort(row);
  const SparseGraph file(kVertices, kHubEdges, rows);
  const auto graph = Graph::open(file.path());
  CHECK(graph.vertices() == kVertices);
  CHECK(graph.offsets()[kVertices - kOwned] == kHubEdges);

  // Ranges that a table of bounds gives; the last process has the vertices with rows.
  const auto ownership = partition::Ownership::even_ranges(graph.offsets(), kProcesses);
  std::vector<std::uint64_t> bounds{0};
  for (std::uint32_t p = 0; p < kProcesses; ++p) bounds.push_back(bounds.back() + ownership.count(p));
  REQUIRE(bounds.back() == kVertices);
  const std::uint32_t rank = ownership.home(id(kVertices - 1)).owner;
  REQUIRE(bounds[rank] == kVertices - kOwned);
  CHECK(graph::error_of([&] {
          partition::Ownership::ranges(graph.offsets(), kProcesses);
        }).find("use more processes") != std::string::npos);

  plan::OwnedVertices owned(graph, ownership, static_cast<int>(rank), plan::Layout::degree, graph::in_turn);
  REQUIRE(owned.count() == kOwned);
  std::map<std::uint64_t, std::uint32_t> index_of;
  for (OwnedIndex i{}; i < owned.count(); ++i) index_of[owned.ids()[i]] = i;
  for (OwnedIndex i(1); i < owned.count(); ++i)
    CHECK(rows[owned.ids()[OwnedIndex(i - 1)] - bounds[rank]].size() >=
          rows[owned.ids()[i] - bounds[rank]].size());

  plan::ExchangePlan plan(graph, ownership, static_cast<int>(rank), std::move(owned), plan::Strategy::cover,
                          1, graph::in_turn);
  // What is sent to each process: the sums of its vertices, in order.
  std::map<std::uint32_t, std::set<std::uint64_t>> expected;
  for (const std::uint64_t v : others)
    expected[static_cast<std::uint32_t>(std::ranges::upper_bound(bounds, v) - bounds.begin() - 1)].insert(v);
  std::map<std::uint64_t, std::uint32_t> destination_of;
  std::uint32_t next = kOwned;
  std::vector<std::vector<std::uint32_t>> positions(plan.streams().size());
  for (std::size_t s = 0; s < plan.streams().size(); ++s) {
    const auto& stream = plan.streams()[s];
    const auto peer = static_cast<std::uint32_t>(stream.peer);
    if (stream.mirrors) {
      REQUIRE(stream.slots == 0);
      continue;
    }
    std::vector<std::uint64_t> locals;
    if (expected.contains(peer))
      for (const std::uint64_t v : expected[peer]) locals.push_back(v - bounds[peer]);
    REQUIRE(std::ranges::equal(plan.entries(s), locals, {}, [](LocalNumber l) { return std::uint64_t{l}; }));
    for (std::uint32_t e = 0; e < locals.size(); ++e) {
      positions[s].push_back(e);
      destination_of[bounds[peer] + locals[e]] = next++;
    }
  }
  plan.put_in_order([&](std::size_t s) { return std::span<const std::uint32_t>(positions[s]); },
                    graph::in_turn);
  CHECK(plan.destinations() == next);
  plan::EdgeRows read;
  for (std::uint32_t first = 0; first < kOwned; first += plan::kRowBlock) {
    const std::uint32_t last = std::min<std::uint32_t>(kOwned, first + plan::kRowBlock);
    plan.read(first, last, read);
    std::size_t at = 0;
    for (OwnedIndex i(first); i < last; ++i) {
      for (const std::uint64_t v : rows[plan.owned().ids()[i] - bounds[rank]])
        REQUIRE(read.destinations.at(at++) == (v < bounds[rank] ? destination_of.at(v) : index_of.at(v)));
      REQUIRE(read.ends[i - first] == at);
    }
  }
}

}  // namespace edgewire
