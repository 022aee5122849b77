#include "frontier/boundary.h"

#include <mutex>
#include <set>
#include <utility>

#include "frontier_test.h"
#include "process/barrier.h"

namespace edgewire::frontier {

namespace {

/// What the processes have found out, each of its own.
struct Seen {
  std::vector<std::uint32_t> owned;                               // [rank]
  std::vector<std::vector<std::uint32_t>> known;                  // [rank][number]: the vertex
  std::vector<std::vector<std::vector<std::uint32_t>>> known_by;  // [rank][peer]: vertices
};

Seen look(const graph::BuiltGraph& built, const JobCut& cut, const Options& options) {
  const auto processes = static_cast<std::size_t>(cut.processes);
  Seen seen;
  seen.owned.resize(processes);
  seen.known.resize(processes);
  seen.known_by.resize(processes);
  run_in_each(built.graph, cut, options, [&](Job& job) {
    const Boundary& boundary = job.boundary();
    auto& known = seen.known[job.rank()];
    seen.owned[job.rank()] = boundary.owned();
    for (KnownNumber n{}; n < boundary.known(); ++n) {
      known.push_back(boundary.vertex(n));
      transport::require(boundary.number(boundary.vertex(n)) == n, "a number leads to another vertex");
      if (n >= boundary.owned()) {
        const Home home = boundary.home(n);
        transport::require(job.ownership().vertex(home.owner, home.local) == boundary.vertex(n) &&
                               n >= boundary.first(home.owner) && n < boundary.first(home.owner + 1),
                           "a boundary vertex is not among those of its owner");
      }
    }
    for (std::uint32_t peer = 0; peer < processes; ++peer) {
      auto& mine = seen.known_by[job.rank()].emplace_back();
      for (const LocalNumber local : boundary.known_by(peer))
        mine.push_back(job.ownership().vertex(job.rank(), local));
    }
    process::barrier(job.bootstrap(), job.link());  // a peer may still be connecting
  });
  return seen;
}

void check_boundaries(std::uint32_t vertices, const std::vector<graph::Edge>& edges) {
  const graph::BuiltGraph built(vertices, edges);
  for (const auto& where : {std::pair("hash", false), {"ranges", false}, {"hash", true}}) {
    const char* const ownership = where.first;
    const bool hosts = where.second;
    for (const std::size_t record_bytes : {sizeof(Record), kWideRecordBytes}) {
      CAPTURE(ownership);
      CAPTURE(hosts);
      CAPTURE(record_bytes);
      Options options;
      options.record_bytes = record_bytes;
      const Seen seen =
          look(built, {.processes = 3, .workers = 2, .ownership = ownership, .hosts = hosts}, options);
      std::vector<std::size_t> owners(vertices);
      for (std::size_t rank = 0; rank < 3; ++rank)
        for (std::uint32_t n = 0; n < seen.owned[rank]; ++n) owners[seen.known[rank][n]] = rank;
      std::vector<std::set<std::uint32_t>> ends(3);  // of edges, in other processes
      for (const auto& [u, v, weight] : edges)
        if (owners[u] != owners[v]) ends[owners[u]].insert(v);
      for (std::size_t rank = 0; rank < 3; ++rank) {
        const auto& known = seen.known[rank];
        CHECK(std::set(known.begin() + seen.owned[rank], known.end()) == ends[rank]);
        CHECK(known.size() == seen.owned[rank] + ends[rank].size());
        for (std::size_t peer = 0; peer < 3; ++peer) {
          std::vector<std::uint32_t> right;
          for (const std::uint32_t v : ends[peer])
            if (owners[v] == rank) right.push_back(v);
          CHECK(seen.known_by[rank][peer] == right);
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("a process knows its vertices and the ends of its edges, and owners know who knows theirs") {
  // Vertices below 500 have many edges to one another, the others few; so some boundaries travel as bits, and
  // some as lists.
  constexpr std::uint32_t kVertices = 5000;
  std::vector<graph::Edge> edges;
  for (std::uint32_t u = 0; u < kVertices; ++u) {
    for (std::uint32_t i = 0; i < (u < 500 ? 40U : 1U); ++i)
      edges.emplace_back(u, (u * 7919 + i * 131 + 13) % (u < 500 ? 4000 : kVertices), 0.0F);
  }
  check_boundaries(kVertices, edges);
}

TEST_CASE("so it is where most vertices have no edges") {
  constexpr std::uint32_t kVertices = 100'000;
  std::vector<graph::Edge> edges;
  for (std::uint32_t i = 0; i < 600; ++i) edges.emplace_back(i / 4 * 631, i * i % kVertices, 0.0F);
  edges.emplace_back(kVertices - 1, kVertices - 2, 0.0F);
  check_boundaries(kVertices, edges);
}

}  // namespace edgewire::frontier
