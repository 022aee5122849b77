// Counts of lcc and tc, by a sequential run of the method. They share no code with the kernel.
#include <algorithm>
#include <numeric>
#include <tuple>

#include "edgewire/graph.h"
#include "frontier/records.h"
#include "kernels/check/plain.h"
#include "kernels/count/count.h"

namespace edgewire::kernels {

namespace {

// Number of edges up to which the kernel orders vertices by degree.
constexpr std::uint64_t kMostEdges = 1 << 20;
constexpr std::uint64_t kBits = 64;  // number of bits of a record

/// The rows of vertices, and in a directed graph of those to which edges lead back.
struct Neighbours {
  /// Neighbours, ascending, each once, without the vertex, [vertex].
  std::vector<std::vector<VertexId>> rows;
  std::vector<std::uint64_t> edges;  ///< number of edges in both directions, as in the file, [vertex]
};

Neighbours neighbours_in(const Graph& graph) {
  const PlainSources sources(graph);
  Neighbours found;
  for (VertexId v{}; v < graph.vertices(); ++v) {
    found.rows.push_back(neighbours_of(graph, sources, v));
    found.edges.push_back(graph::Row{graph, v}.degree() + (graph.symmetric() ? 0 : sources.of(v).size()));
  }
  return found;
}

std::uint64_t records_of(std::uint64_t words) { return (words + 1) / 2; }

/// A counter of the records that a run with this ownership sends.
class Sending {
 public:
  Sending(const Graph& graph, const Neighbours& neighbours, const partition::Ownership& ownership)
      : graph_(graph),
        neighbours_(neighbours),
        ownership_(ownership),
        processes_(static_cast<std::uint32_t>(ownership.processes())),
        names_(graph, ownership),
        rows_(graph.vertices()) {
    order_vertices();
  }

  /// Returns the rows with two entries or more.
  std::uint64_t searched() const {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(rows_, [](const auto& row) { return row.size() > 1; }));
  }
  /// Counts the records that order vertices. An edge of a directed graph goes to the other end's owner. Then
  /// degrees of boundary vertices go: 4 bytes each.
  void count_order(RecordLoad& load) const {
    for (VertexId u{}; u < graph_.vertices() && !graph_.symmetric(); ++u)
      for (const VertexId v : graph::Row{graph_, u}.targets())
        if (names_.owner(u) != names_.owner(v)) load.add(names_.owner(u), names_.owner(v));
    Names names = names_;
    for (std::uint32_t process = 0; process < processes_; ++process) {
      const auto known = by_owner(process, names, neighbours_.rows);
      for (std::uint32_t owner = 0; owner < processes_; ++owner)
        load.add(owner, process, records_of(known[owner].size()));
    }
  }
  /// Counts the records of rows. For each boundary vertex a bit says whether its row is wanted. First the
  /// lengths of wanted rows go, then their entries: 4 bytes each, in directed graphs with a bit for each.
  void count_rows(RecordLoad& load) const {
    constexpr std::size_t kSearched = 2;  // rows with fewer entries have no two to search for
    Names of_known = names_, of_wanted = names_;
    for (std::uint32_t process = 0; process < processes_; ++process) {
      const auto known = by_owner(process, of_known, neighbours_.rows);
      const auto wanted = by_owner(process, of_wanted, rows_, kSearched);
      std::vector<bool> is_wanted(graph_.vertices());
      for (const auto& of_one : wanted)
        for (const VertexId u : of_one) is_wanted[u] = true;
      for (std::uint32_t owner = 0; owner < processes_; ++owner) {
        load.add(process, owner, (known[owner].size() + kBits - 1) / kBits);
        load.add(owner, process, records_of(wanted[owner].size()));
        for (const VertexId u : wanted[owner]) {
          const auto needed = static_cast<std::uint64_t>(std::ranges::count_if(
              rows_[u], [&](VertexId w) { return names_.owner(w) != owner || is_wanted[w]; }));
          load.add(owner, process, records_of(needed + (graph_.symmetric() ? 0 : (needed + 31) / 32)));
        }
      }
    }
  }
  /// Counts the credits. A process sends one record for each vertex of another process that it has found in a
  /// triangle, where credits have 32 bits. Returns their number.
  std::uint64_t count_credits(RecordLoad& load) const {
    Names names = names_;
    std::uint64_t credits = 0;
    for (std::uint32_t process = 0; process < processes_; ++process)
      for (LocalNumber local{}; local < ownership_.count(process); ++local) {
        const auto& row = rows_[ownership_.vertex(process, local)];
        for (const VertexId other : row) {
          if (names.owner(other) == process || !closes_triangle(row, other) || !names.add(process, other))
            continue;
          load.add(process, names.owner(other));
          ++credits;
        }
      }
    return credits;
  }

 private:
  /// Orders vertices by degree, then by owner and local number; one process takes a simple file without long
  /// rows as it is. Each row keeps the vertices that come before its own.
  void order_vertices() {
    constexpr std::uint64_t kShortRow = 64;
    const bool as_is =
        ownership_.processes() == 1 && graph_.symmetric() && graph_.simple() &&
        std::ranges::all_of(neighbours_.edges, [](std::uint64_t edges) { return edges <= kShortRow; });
    std::vector<VertexId> order(graph_.vertices());
    std::iota(order.begin(), order.end(), VertexId{});
    if (!as_is)
      std::ranges::sort(order, {}, [&](VertexId v) {
        const Home home = ownership_.home(v);
        return std::tuple(kMostEdges - std::min(kMostEdges, neighbours_.edges[v]), home.owner,
                          std::uint32_t{home.local});
      });
    ranks_.resize(order.size());
    for (PlainId i = 0; i < order.size(); ++i) ranks_[order[i]] = i;
    for (VertexId v{}; v < graph_.vertices(); ++v)
      for (const VertexId u : neighbours_.rows[v])
        if (ranks_[u] < ranks_[v]) rows_[v].push_back(u);
  }
  /// Returns whether an edge leads from `other`, which is in the row, to a vertex of the row.
  bool closes_triangle(const std::vector<VertexId>& row, VertexId other) const {
    return std::ranges::any_of(
        row, [&](VertexId third) { return std::ranges::binary_search(neighbours_.rows[other], third); });
  }
  /// Returns, by owner, vertices of others in the process's rows of `entries` or more, each once.
  std::vector<std::vector<VertexId>> by_owner(std::uint32_t process, Names& names,
                                              const std::vector<std::vector<VertexId>>& rows,
                                              std::size_t entries = 0) const {
    std::vector<std::vector<VertexId>> found(processes_);
    for (LocalNumber local{}; local < ownership_.count(process); ++local) {
      const auto& row = rows[ownership_.vertex(process, local)];
      if (row.size() < entries) continue;
      for (const VertexId u : row)
        if (names.add(process, u)) found[names.owner(u)].push_back(u);
    }
    return found;
  }

  const Graph& graph_;
  const Neighbours& neighbours_;
  const partition::Ownership& ownership_;
  std::uint32_t processes_;
  Names names_;                              ///< names; none is named yet
  std::vector<std::vector<VertexId>> rows_;  ///< neighbours that come before a vertex, [vertex]
  std::vector<PlainId> ranks_;               ///< place of a vertex in the order, [vertex]
};

/// Counts the steps. A triangle is found by the owner of the corner that comes last.
std::vector<CountedStep> count_steps(const Graph& graph, const Neighbours& neighbours,
                                     const partition::Ownership& ownership, bool credited) {
  const RecordLoad nothing(static_cast<std::size_t>(ownership.processes()));
  const Sending sending(graph, neighbours, ownership);
  std::vector<CountedStep> steps{{"order vertices by degree, keep each edge once", graph.vertices(), nothing},
                                 {"intersect rows", sending.searched(), nothing}};
  if (ownership.processes() == 1) return steps;
  sending.count_order(steps[0].load);
  sending.count_rows(steps[1].load);
  if (!credited) return steps;
  steps.push_back({"send credits to owners", 0, nothing});
  steps[2].frontier = sending.count_credits(steps[2].load);
  return steps;
}

}  // namespace

FrontierCount count_triangles(const Graph& graph, std::string_view kernel, bool credited) {
  return {kernel, Exactness::exact, sizeof(frontier::Record),
          [&graph, credited, neighbours = neighbours_in(graph)](const auto& ownership) {
            return count_steps(graph, neighbours, ownership, credited);
          }};
}

}  // namespace edgewire::kernels
