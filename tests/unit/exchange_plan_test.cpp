#include "dense/plan/exchange_plan.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "graph_test.h"
#include "partition/column_addresses.h"

namespace edgewire::plan {
namespace {

using graph::error_of;
using graph::skewed_graph;
using graph::TemporaryDirectory;

const ForEach kOneWorker = graph::in_turn;

/// What both sides of one ordered pair of processes know in the end.
struct Side {
  ExchangePlan plan;
  std::vector<Arrivals> arrivals;  ///< [stream at the sender], made by its receiver

  const OwnedVertices& owned() const { return plan.owned(); }
};

std::vector<Side> make_plans(const Graph& graph, const partition::Ownership& ownership, Strategy strategy,
                             int workers, Layout layout) {
  std::vector<ExchangePlan> plans;
  std::vector<std::vector<Arrivals>> arrivals(static_cast<std::size_t>(ownership.processes()));
  for (int p = 0; p < ownership.processes(); ++p)
    plans.emplace_back(graph, ownership, p, OwnedVertices(graph, ownership, p, layout, kOneWorker), strategy,
                       workers, kOneWorker);
  for (std::size_t p = 0; p < plans.size(); ++p) {
    for (std::size_t s = 0; s < plans[p].streams().size(); ++s) {
      const int peer = plans[p].streams()[s].peer;
      arrivals[p].push_back(order_arrivals(plans[static_cast<std::size_t>(peer)].owned(), plans[p].entries(s),
                                           plans[p].slots_of(s), peer));
    }
  }
  std::vector<Side> sides;
  for (std::size_t p = 0; p < plans.size(); ++p) {
    const auto positions = [&](std::size_t s) {
      return std::span<const std::uint32_t>(arrivals[p][s].positions);
    };
    plans[p].put_in_order(positions, kOneWorker);
    sides.push_back({std::move(plans[p]), std::move(arrivals[p])});
  }
  return sides;
}

/// Strategy `edge`: the slots hold every edge to another process, where the receiver adds it to the right
/// vertex.
void check_slots(const Graph& graph, const partition::Ownership& ownership, const std::vector<Side>& sides,
                 int rank) {
  const Side& side = sides[static_cast<std::size_t>(rank)];
  using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  Edges edges, found;
  for (const auto v : side.owned().ids())
    for (std::uint64_t e = graph.offsets()[v]; e < graph.offsets()[v + 1]; ++e)
      if (ownership.home(graph.targets()[e]).owner != static_cast<std::uint32_t>(rank))
        edges.emplace_back(v, graph.targets()[e]);
  for (std::size_t s = 0; s < side.plan.streams().size(); ++s) {
    const Stream& stream = side.plan.streams()[s];
    const auto peer = static_cast<std::uint32_t>(stream.peer);
    const auto sources = side.plan.slot_sources(s);
    const auto ids = side.plan.slot_ids(s);
    REQUIRE(sources.size() == stream.slots);
    for (Slot slot{}; slot < stream.slots; ++slot) {
      REQUIRE(side.arrivals[s].targets.at(slot) == sides[peer].owned().indexes()[ids.at(slot)]);
      found.emplace_back(side.owned().ids()[sources[slot]], ownership.vertex(peer, ids[slot]));
    }
  }
  std::sort(edges.begin(), edges.end());
  std::sort(found.begin(), found.end());
  CHECK(found == edges);
}

/// Every edge that the process computes ends where the receiver adds it to the right vertex, and every slot
/// of sums is used.
void check_edges(const Graph& graph, const partition::Ownership& ownership, const std::vector<Side>& sides,
                 int rank, Strategy strategy) {
  const Side& side = sides[static_cast<std::size_t>(rank)];
  const ExchangePlan& plan = side.plan;
  std::set<std::uint32_t> used;
  for (std::uint32_t first = 0; first < plan.sources(); first += kRowBlock) {
    const std::uint32_t last = std::min(plan.sources(), first + kRowBlock);
    EdgeRows rows;
    plan.read(first, last, rows);
    const auto &destinations = rows.destinations, &ends = rows.ends;
    REQUIRE(ends.size() == last - first);
    std::size_t next = 0;
    for (OwnedIndex i(first); i < last; ++i) {
      const VertexId v = side.owned().ids()[i];
      for (std::uint64_t e = graph.offsets()[v]; e < graph.offsets()[v + 1]; ++e) {
        const Home home = ownership.home(graph.targets()[e]);
        if (strategy == Strategy::edge && home.owner != static_cast<std::uint32_t>(rank)) continue;
        REQUIRE(next < ends[i - first]);
        const std::uint32_t destination = destinations[next++];
        REQUIRE(destination < plan.destinations());
        const auto index = sides[home.owner].owned().indexes()[home.local];
        if (home.owner == static_cast<std::uint32_t>(rank)) {
          REQUIRE(destination == index);
          continue;
        }
        const auto stream =
            std::find_if(plan.streams().begin(), plan.streams().end(), [&](const Stream& one) {
              return destination >= one.first_destination && destination - one.first_destination < one.slots;
            });
        REQUIRE(stream != plan.streams().end());
        REQUIRE(stream->peer == static_cast<int>(home.owner));
        const auto s = static_cast<std::size_t>(stream - plan.streams().begin());
        const std::uint32_t slot = destination - stream->first_destination;
        REQUIRE(side.arrivals[s].targets.at(slot) == index);
        REQUIRE(plan.slot_ids(s).at(slot) == home.local);
        used.insert(destination);
      }
      REQUIRE(next == ends[i - first]);
    }
    REQUIRE(next == destinations.size());
  }
  if (strategy == Strategy::edge)
    check_slots(graph, ownership, sides, rank);
  else
    CHECK(used.size() == plan.destinations() - plan.sources());
}

TEST_CASE("every edge reaches its destination by way of a slot that both sides know") {
  const TemporaryDirectory directory;
  const auto graph = skewed_graph(directory, 300, 1500);
  for (const auto strategy : {Strategy::edge, Strategy::worker, Strategy::process, Strategy::slots}) {
    for (const auto layout : {Layout::given, Layout::degree}) {
      for (const int processes : {1, 2, 3, 7}) {
        CAPTURE(static_cast<int>(strategy));
        CAPTURE(processes);
        const auto ownership = partition::Ownership::hash(graph.vertices(), processes);
        const auto sides = make_plans(graph, ownership, strategy, 3, layout);
        for (int p = 0; p < processes; ++p) check_edges(graph, ownership, sides, p, strategy);
      }
    }
  }
}

TEST_CASE("no strategy sends more values than the one before it") {
  const TemporaryDirectory directory;
  const auto graph = skewed_graph(directory, 1000, 8000);
  const auto ownership = partition::Ownership::ranges(graph.offsets(), 4);
  std::vector<std::uint64_t> values;
  std::uint64_t crossing = 0;
  for (VertexId v{}; v < graph.vertices(); ++v) {
    for (std::uint64_t e = graph.offsets()[v]; e < graph.offsets()[v + 1]; ++e)
      crossing += ownership.home(v).owner != ownership.home(graph.targets()[e]).owner ? 1 : 0;
  }
  for (const auto strategy : {Strategy::edge, Strategy::worker, Strategy::process, Strategy::slots}) {
    std::uint64_t sum = 0;
    for (const Side& side : make_plans(graph, ownership, strategy, 4, Layout::degree))
      for (const Stream& stream : side.plan.streams()) sum += stream.slots;
    values.push_back(sum);
  }
  CHECK(values[0] == crossing);
  CHECK(values[1] < values[0]);
  CHECK(values[2] < values[1]);
  CHECK(values[3] == values[2]);
}

TEST_CASE("columns cover all destinations and no column mixes peers") {
  const TemporaryDirectory directory;
  const auto graph = skewed_graph(directory, 2000, 9000);
  const auto ownership = partition::Ownership::hash(graph.vertices(), 3);
  const auto sides = make_plans(graph, ownership, Strategy::slots, 1, Layout::degree);
  const ExchangePlan& plan = sides[1].plan;
  const auto bounds = plan.cut_columns(128, 500, kOneWorker);
  REQUIRE(bounds.front() == 0);
  REQUIRE(bounds.back() == plan.destinations());
  REQUIRE(std::is_sorted(bounds.begin(), bounds.end()));
  for (std::size_t c = 0; c + 1 < bounds.size(); ++c) CHECK(bounds[c + 1] - bounds[c] <= 128);
  CHECK(std::find(bounds.begin(), bounds.end(), plan.sources()) != bounds.end());
  for (const Stream& stream : plan.streams())
    if (stream.slots > 0)
      CHECK(std::find(bounds.begin(), bounds.end(), stream.first_destination) != bounds.end());
}

TEST_CASE("addresses name the column and the place in it") {
  const TemporaryDirectory directory;
  const auto graph = skewed_graph(directory, 2000, 9000);
  for (const int processes : {1, 3}) {
    const auto ownership = partition::Ownership::hash(graph.vertices(), processes);
    for (const auto strategy : {Strategy::edge, Strategy::worker, Strategy::slots, Strategy::cover}) {
      CAPTURE(to_name(strategy));
      auto sides = make_plans(graph, ownership, strategy, 2, Layout::degree);
      ExchangePlan& plan = sides[0].plan;
      const auto bounds = plan.cut_columns(100, 300, kOneWorker);
      EdgeRows rows;
      std::vector<std::vector<std::uint32_t>> blocks;
      for (std::uint32_t i = 0; i < plan.sources(); i += kRowBlock) {
        plan.read(i, std::min(i + kRowBlock, plan.sources()), rows);
        blocks.push_back(rows.destinations);
      }
      const auto before = plan.owned().indexes();
      const std::vector<std::uint32_t> indexes(before.begin(), before.end());
      plan.to_addresses(bounds, kOneWorker);
      for (std::uint32_t i = 0; i < plan.sources(); i += kRowBlock) {
        plan.read(i, std::min(i + kRowBlock, plan.sources()), rows);
        for (auto& address : rows.destinations) {
          REQUIRE((address >> partition::kOffsetBits) + 1 < bounds.size());
          address = bounds[address >> partition::kOffsetBits] + (address & 0xffff);
        }
        REQUIRE(rows.destinations == blocks[i / kRowBlock]);
      }
      const OwnedVertices owned = std::move(plan).take_owned(bounds, kOneWorker);
      CHECK(std::equal(indexes.begin(), indexes.end(), owned.indexes().begin(), owned.indexes().end()));
    }
  }
}

TEST_CASE("with covers every edge is computed once, by its sender or by the peer to which it moved") {
  const TemporaryDirectory directory;
  const auto graph = skewed_graph(directory, 500, 6000);
  using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // by global ids
  Edges all;
  for (std::uint32_t v = 0; v < graph.vertices(); ++v)
    for (std::uint64_t e = graph.offsets()[v]; e < graph.offsets()[v + 1]; ++e)
      all.emplace_back(v, graph.targets()[e]);
  std::sort(all.begin(), all.end());
  for (const std::uint64_t share : {0, 2, 1}) {  // of the free edges: none, half, all
    CAPTURE(share);
    const auto ownership = partition::Ownership::hash(graph.vertices(), 3);
    Edges found;
    std::uint64_t free = 0;
    for (int p = 0; p < 3; ++p) {
      std::vector<std::uint64_t> free_edges;
      ExchangePlan plan(graph, ownership, p, OwnedVertices(graph, ownership, p, Layout::degree, kOneWorker),
                        Strategy::cover, 1, kOneWorker, false, [&](const PairCovers& covers, std::uint64_t) {
                          for (std::size_t q = 0; q < 3; ++q)
                            free_edges.push_back(share == 0 ? 0 : covers[q].free_edges / share);
                          return free_edges;
                        });
      std::vector<MovedEdges> moved_to;
      for (int q = 0; q < 3; ++q) moved_to.emplace_back(plan.moved(q).begin(), plan.moved(q).end());
      std::vector<std::vector<LocalNumber>> entries;
      for (std::size_t s = 0; s < plan.streams().size(); ++s) entries.push_back(plan.entries(s));
      std::vector<std::uint32_t> as_they_are(graph.vertices());  // slots stay in the order of entries
      std::iota(as_they_are.begin(), as_they_are.end(), 0U);
      plan.put_in_order(
          [&](std::size_t s) { return std::span<const std::uint32_t>(as_they_are).first(entries[s].size()); },
          kOneWorker);
      const OwnedVertices& owned = plan.owned();
      for (int q = 0; q < 3; ++q) {
        std::uint64_t edges = 0;
        const MovedRows rows(moved_to[static_cast<std::size_t>(q)], p,
                             static_cast<std::uint32_t>(plan.mirrors(q).size()),
                             ownership.count(static_cast<std::uint32_t>(q)), false);
        for (Slot m{}; m < rows.sources(); ++m) {
          edges += rows.row(m).size();
          for (const auto local : rows.row(m))
            found.emplace_back(owned.ids()[plan.mirrors(q)[m]],
                               ownership.vertex(static_cast<std::uint32_t>(q), local));
        }
        CHECK(rows.edges(0, rows.sources()) == edges);
        const PairCover& cover = plan.covers()[static_cast<std::size_t>(q)];
        free += cover.free_edges;
        CHECK(edges >= cover.moved_edges);
        CHECK(edges <= cover.moved_edges + free_edges[static_cast<std::size_t>(q)]);
        if (share == 1) CHECK(edges == cover.moved_edges + cover.free_edges);
      }
      EdgeRows rows;
      const auto &destinations = rows.destinations, &ends = rows.ends;
      for (OwnedIndex i{}; i < owned.count(); ++i) {
        if (i % kRowBlock == 0) plan.read(i, std::min<std::uint32_t>(i + kRowBlock, owned.count()), rows);
        const std::size_t row = i % kRowBlock;
        for (std::uint32_t e = row == 0 ? 0 : ends[row - 1]; e < ends[row]; ++e) {
          VertexId target = owned.ids()[OwnedIndex(destinations[e] % owned.count())];
          for (std::size_t s = 0; s < plan.streams().size(); ++s) {
            const Stream& stream = plan.streams()[s];
            const std::uint32_t slot = destinations[e] - stream.first_destination;
            if (destinations[e] >= owned.count() && !stream.mirrors && slot < stream.slots &&
                destinations[e] >= stream.first_destination)
              target = ownership.vertex(static_cast<std::uint32_t>(stream.peer), entries[s][slot]);
          }
          found.emplace_back(owned.ids()[i], target);
        }
      }
    }
    CHECK(free > 0);
    std::sort(found.begin(), found.end());
    CHECK(found == all);
  }
}

TEST_CASE("owned vertices are ordered as asked") {
  const TemporaryDirectory directory;
  const auto graph = skewed_graph(directory, 500, 4000);
  const auto ownership = partition::Ownership::hash(graph.vertices(), 3);
  const auto degree = [&](std::uint32_t v) { return graph.offsets()[v + 1] - graph.offsets()[v]; };
  std::uint64_t edges = 0;
  for (int p = 0; p < 3; ++p) {
    const OwnedVertices given(graph, ownership, p, Layout::given, kOneWorker);
    const OwnedVertices sorted(graph, ownership, p, Layout::degree, kOneWorker);
    CHECK(std::is_sorted(given.ids().begin(), given.ids().end()));
    CHECK(std::is_sorted(sorted.ids().begin(), sorted.ids().end(), [&](std::uint32_t a, std::uint32_t b) {
      return degree(a) != degree(b) ? degree(a) > degree(b) : a < b;
    }));
    CHECK(given.edges() == sorted.edges());
    for (const auto* owned : {&given, &sorted}) {
      for (OwnedIndex i{}; i < owned->count(); ++i)
        REQUIRE(owned->indexes()[ownership.home(owned->ids()[i]).local] == i);
    }
    edges += given.edges();
  }
  CHECK(edges == graph.edges());
}

TEST_CASE("the order by degree is the same whichever piece is sorted first") {
  const TemporaryDirectory directory;
  constexpr std::uint32_t kVertices = 300'000;  // several pieces for each of two processes
  std::mt19937 random(1);
  std::vector<graph::Edge> list;
  for (std::uint32_t v = 0; v < kVertices; v += 1 + static_cast<std::uint32_t>(random() % 3))
    for (auto edges = random() % 8; edges > 0; --edges)
      list.push_back({v, static_cast<std::uint32_t>(random() % kVertices), 0.0F});
  for (std::uint32_t hub = 0; hub < 9; ++hub)  // around the highest degree that is counted
    for (std::uint32_t i = 0; i < 4090 + hub * 5 % 9; ++i) list.push_back({hub * 33'000 + 7, i, 0.0F});
  graph::build(directory / "g.ew", kVertices, list, {});
  const auto graph = Graph::open(directory / "g.ew");
  const ForEach backwards = [](std::uint64_t count, const std::function<void(int, std::uint64_t)>& work) {
    while (count > 0) work(0, --count);
  };
  const auto degree = [&](std::uint32_t v) { return graph.offsets()[v + 1] - graph.offsets()[v]; };
  for (const int processes : {1, 2}) {
    const auto ownership = partition::Ownership::hash(graph.vertices(), processes);
    for (const auto layout : {Layout::given, Layout::degree}) {
      const OwnedVertices owned(graph, ownership, processes - 1, layout, backwards);
      std::vector<VertexId> expected(owned.count());
      for (LocalNumber i{}; i < owned.count(); ++i)
        expected[i] = ownership.vertex(static_cast<std::uint32_t>(processes - 1), i);
      if (layout == Layout::degree)
        std::stable_sort(expected.begin(), expected.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return degree(a) > degree(b); });
      REQUIRE(std::equal(expected.begin(), expected.end(), owned.ids().begin(), owned.ids().end()));
      std::uint64_t edges = 0;
      for (OwnedIndex i{}; i < owned.count(); ++i) {
        REQUIRE(owned.indexes()[ownership.home(expected[i]).local] == i);
        edges += degree(expected[i]);
        if (i + 1 == owned.count() || (i + 1) % kRowBlock == 0) REQUIRE(owned.edges(0, i + 1) == edges);
      }
      CHECK(owned.edges() == edges);
    }
  }
}

TEST_CASE("a peer's faulty plan is refused, naming the peer") {
  const TemporaryDirectory directory;
  const auto graph = skewed_graph(directory, 100, 300);
  const auto ownership = partition::Ownership::hash(graph.vertices(), 2);
  const OwnedVertices owned(graph, ownership, 0, Layout::degree, kOneWorker);
  for (const auto& entries : {std::vector<LocalNumber>{50}, {1, 2, 1}, {LocalNumber(0xFFFFFFFF)}}) {
    CHECK(error_of([&] { order_arrivals(owned, entries, {}, 1); }).find("rank 1 sent a faulty") == 0);
  }
  for (const MovedEdges& edges :
       {MovedEdges{0, 1}, {5, 1, 0}, {0, 0, 0}, {0, 2, 9}, {0, 1, 10}, {0, 1, 1, 0, 1, 1}, {0, 1, 1, 4}}) {
    CHECK(error_of([&] { MovedRows(edges, 1, 5, 10, 0); }).find("rank 1 sent a faulty") == 0);
  }
  for (const std::size_t weight_bytes : {sizeof(float), sizeof(double)})
    for (const MovedEdges& cut_short : {MovedEdges{0, 2, 1, 2}, {0, 1, 1}, {0, 2, 1, 2, 0}})
      CHECK(error_of([&] { MovedRows(cut_short, 1, 5, 10, weight_bytes); }).find("rank 1 sent a faulty") ==
            0);
  for (const bool too_large : {false, true}) {
    ExchangePlan plan(graph, ownership, 0, owned, Strategy::slots, 1, kOneWorker);
    std::vector<std::uint32_t> positions(plan.streams()[1].entries);
    REQUIRE(positions.size() > 1);
    if (too_large) positions[0] = static_cast<std::uint32_t>(positions.size());
    const auto place = [&] {
      plan.put_in_order([&](std::size_t) { return std::span<const std::uint32_t>(positions); }, kOneWorker);
    };
    CHECK(error_of(place).find("rank 1 sent a faulty") == 0);
  }
}

}  // namespace
}  // namespace edgewire::plan
