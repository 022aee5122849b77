#include "kernels/lcc/oriented_rows.h"

#include <atomic>
#include <cstring>
#include <numeric>

#include "frontier/both_rows.h"
#include "frontier/known_values.h"

namespace edgewire::kernels {

namespace {

constexpr std::uint64_t kVerticesAtOnce = 1 << 12;  // number of vertices that a worker takes
constexpr std::uint64_t kShortRow = 64;             // number of edges up to which rows are short in any order

/// The degree above which vertices are in any order. There are so few of them that rows stay short.
constexpr std::uint64_t kMostEdges = 1 << 20;

std::size_t words_of_bytes(std::size_t bytes) {
  return (bytes + sizeof(std::uint32_t) - 1) / sizeof(std::uint32_t);
}

}  // namespace

class OrientedRows::Builder {
 public:
  Builder(OrientedRows& rows, const ForEach& for_each)
      : rows_(rows), job_(rows.job_), graph_(rows.job_.graph()), for_each_(for_each) {
    if (!graph_.symmetric()) {
      in_.emplace(job_);
      frontier::make_boundary_of_both(job_, *in_, rows_.neighbours_);
    }
    const std::size_t known = rows_.boundary().known();
    rows_.heads_.resize(known);
    rows_.number_of_.resize(known);
    rows_.known_of_.resize(known);
  }

  /// Returns whether the rows of the file can serve, but for their ends. Those with ids of 64 bits cannot.
  bool file_will_do() const {
    if (kIds64 || !job_.is_only() || !graph_.symmetric() || !graph_.simple()) return false;
    const auto offsets = graph_.offsets();
    for (std::uint64_t v = 0; v < rows_.owned_; ++v)
      if (offsets[v + std::size_t{1}] - offsets[v] > kShortRow) return false;
    return true;
  }
  void take_file() {
    rows_.entries_ = graph_.edges();
    std::iota(rows_.number_of_.begin(), rows_.number_of_.end(), 0U);
    std::iota(rows_.known_of_.begin(), rows_.known_of_.end(), KnownNumber{});
    for_each_owned([&](LocalNumber, VertexId v) {
      const auto targets = job_.owned_rows().row(v);
      const auto smaller = std::lower_bound(targets.begin(), targets.end(), v) - targets.begin();
      rows_.heads_[v] = {reinterpret_cast<const std::uint32_t*>(targets.data()),
                         static_cast<std::uint32_t>(smaller), static_cast<std::uint32_t>(targets.size())};
    });
  }
  /// Numbers the vertices by counting sort: the highest degree first.
  void number_vertices() {
    const auto degrees = known_degrees();
    const std::size_t most = degrees.empty() ? 0 : std::ranges::max(degrees);
    std::vector<std::uint32_t> counts(most + 1);  // number of vertices of a degree, [degree]
    for (const std::uint32_t degree : degrees) ++counts[degree];
    std::vector<std::uint32_t> next_numbers(most + 1);  // number of the next vertex of a degree, [degree]
    std::exclusive_scan(counts.rbegin(), counts.rend(), next_numbers.rbegin(), 0U);
    const auto number = [&](std::uint32_t first, std::uint32_t count) {
      for (KnownNumber known(first); known < first + count; ++known) {
        rows_.number_of_[known] = next_numbers[degrees[known]]++;
        rows_.known_of_[rows_.number_of_[known]] = known;
      }
    };
    for (std::uint32_t owner = 0; owner < static_cast<std::uint32_t>(job_.bootstrap().size()); ++owner) {
      if (owner == job_.rank())
        number(0, rows_.owned_);
      else
        number(rows_.boundary().first(owner), rows_.boundary().count(owner));
    }
  }
  /// Puts the entries, piece by piece of the owned vertices.
  void put_entries() {
    rows_.by_degree_ = true;
    rows_.own_.resize((rows_.owned_ + kVerticesAtOnce - 1) / kVerticesAtOnce);
    std::vector<Worker> workers(static_cast<std::size_t>(job_.pool().workers()));
    std::atomic<std::uint64_t> entries{0};
    with_known([&](const auto& known_of) {
      for_each_piece(for_each_, rows_.owned_, kVerticesAtOnce,
                     [&](int w, std::uint32_t first, std::uint32_t last) {
                       Worker& worker = workers[static_cast<std::size_t>(w)];
                       worker.entries.clear();
                       for_each_in(first, last, [&](LocalNumber local, VertexId v) {
                         if (in_)
                           add_directed_row(worker, known_of, local, v);
                         else
                           add_row(worker, known_of, local, v);
                       });
                       entries += keep_piece(worker.entries, first, last);
                     });
    });
    rows_.entries_ = entries;
  }

 private:
  static constexpr std::uint8_t kOut = 1, kIn = 2;

  /// The memory in which a worker puts rows together.
  struct Worker {
    std::vector<std::uint32_t> entries;    ///< all rows of a piece, one after the other
    std::vector<std::uint8_t> both_ways;   ///< flags of a row
    std::vector<std::uint8_t> directions;  ///< directions of edges that were seen, [number]
    std::vector<std::uint32_t> seen;       ///< numbers that have directions
    std::vector<VertexId> ids;             ///< memory of Job::ids_of()
  };

  /// Calls work(local, vertex) for the owned vertices [first, last).
  template <class Work>
  void for_each_in(std::uint32_t first, std::uint32_t last, const Work& work) const {
    job_.ownership().visit([&](const auto& scheme) {
      for (LocalNumber local(first); local < last; ++local) work(local, scheme.vertex(job_.rank(), local));
    });
  }
  template <class Work>
  void for_each_owned(const Work& work) const {
    for_each_piece(for_each_, rows_.owned_, kVerticesAtOnce,
                   [&](int, std::uint32_t first, std::uint32_t last) { for_each_in(first, last, work); });
  }
  /// Returns, by known number, the number of edges in both directions. Edges that occur several times and
  /// self loops count here, which changes the order, but not the bound on the length of rows.
  std::vector<std::uint32_t> known_degrees() const {
    std::vector<std::uint32_t> degrees(rows_.known());
    const auto bounded = [](std::uint64_t degree) {
      return static_cast<std::uint32_t>(std::min(degree, kMostEdges));
    };
    for_each_owned([&](LocalNumber local, VertexId v) {
      degrees[local] = bounded(job_.owned_rows().degree(v) + (in_ ? in_->sources(local).size() : 0));
    });
    const frontier::Boundary& boundary = rows_.boundary();
    job_.pool().run([&](int lane) {
      frontier::exchange_lists(
          job_, lane, [&](std::uint32_t peer) { return boundary.known_by(peer).size(); },
          [&](std::uint32_t peer) { return boundary.count(peer); },
          [&](std::uint32_t peer, std::uint64_t i) { return degrees[boundary.known_by(peer)[i]]; },
          [&](std::uint32_t peer, std::uint64_t i, std::uint32_t degree) {
            degrees[boundary.first(peer) + i] = bounded(degree);
          });
    });
    return degrees;
  }
  /// Calls work(known_of), where known_of(vertex) is the KnownNumber of a known vertex.
  template <class Work>
  void with_known(const Work& work) const {
    const auto visit = [&](const auto& known) { work([&](VertexId v) { return known.number(v); }); };
    if (rows_.neighbours_)
      rows_.neighbours_->visit(visit);
    else
      job_.visit_known(visit);
  }
  /// Calls take(known) for each vertex of the row of `vertex`, once for each.
  template <class KnownOf, class Take>
  void for_each_target(std::span<const VertexId> row, VertexId vertex, const KnownOf& known_of,
                       const Take& take) const {
    VertexId last = vertex;  // equal targets stand side by side
    for (const VertexId target : row) {
      if (target == last || target == vertex) continue;
      last = target;
      take(known_of(target));
    }
  }
  /// Copies the rows of a piece, which lie side by side, and makes the heads of its vertices [first, last)
  /// point to them. Behind each row of a directed graph are its bytes of both_ways(). Returns their entries.
  std::uint64_t keep_piece(const std::vector<std::uint32_t>& entries, std::uint32_t first,
                           std::uint32_t last) {
    auto& own = rows_.own_[first / kVerticesAtOnce];
    own.reset(new std::uint32_t[entries.size()]);
    std::ranges::copy(entries, own.get());
    const std::uint32_t* next = own.get();
    std::uint64_t length = 0;
    for (LocalNumber local(first); local < last; ++local) {
      Head& head = rows_.heads_[rows_.number_of_[KnownNumber(local)]];
      head.entries = next;
      next += head.length + (in_ ? words_of_bytes(head.length) : 0);
      length += head.length;
    }
    return length;
  }
  /// Adds a row of a symmetric graph, in three steps that use the same memory. Two of them are loops of their
  /// own, since most time goes by until memory answers: each prefetches much at the same time.
  template <class KnownOf>
  void add_row(Worker& worker, const KnownOf& known_of, LocalNumber local, VertexId v) const {
    const std::uint32_t own = rows_.number_of_[KnownNumber(local)];
    Head& head = rows_.heads_[own];
    const std::size_t begin = worker.entries.size();
    const auto ids = job_.ids_of(local, worker.ids);
    worker.entries.resize(begin + ids.size());
    std::uint32_t* const row = worker.entries.data() + begin;
    head.degree = put_neighbours(ids, v, known_of, row);
    head.length = orient_row(own, head.degree, row);
    std::sort(row, row + head.length);
    worker.entries.resize(begin + head.length);
  }
  /// Puts the KnownNumbers of the neighbours of `v` into `row`. Returns their number: the degree.
  template <class KnownOf>
  std::uint32_t put_neighbours(std::span<const VertexId> ids, VertexId v, const KnownOf& known_of,
                               std::uint32_t* row) const {
    std::uint32_t degree = 0;
    for_each_target(ids, v, known_of, [&](KnownNumber known) { row[degree++] = known; });
    return degree;
  }
  /// Turns the KnownNumbers in `row` into numbers, keeps those below `own`, and returns how many these are.
  std::uint32_t orient_row(std::uint32_t own, std::uint32_t degree, std::uint32_t* row) const {
    std::uint32_t length = 0;
    for (std::uint32_t i = 0; i < degree; ++i) {
      const std::uint32_t number = rows_.number_of_[KnownNumber(row[i])];
      row[length] = number;
      length += number < own ? 1 : 0;  // no branch, which could not be predicted
    }
    return length;
  }
  /// Adds a row of a directed graph. A neighbour may have edges to a vertex, from it, or both.
  template <class KnownOf>
  void add_directed_row(Worker& worker, const KnownOf& known_of, LocalNumber local, VertexId v) const {
    auto& entries = worker.entries;
    auto& directions = worker.directions;
    auto& seen = worker.seen;
    directions.resize(rows_.known());
    const std::uint32_t own = rows_.number_of_[KnownNumber(local)];
    const std::size_t begin = entries.size();
    const auto take = [&](KnownNumber known, std::uint8_t direction) {
      const std::uint32_t number = rows_.number_of_[known];
      if (directions[number] == 0) {
        seen.push_back(number);
        if (number < own) entries.push_back(number);
      }
      directions[number] |= direction;
    };
    for_each_target(job_.ids_of(local, worker.ids), v, known_of,
                    [&](KnownNumber known) { take(known, kOut); });
    for (const VertexId source : in_->sources(local))
      if (source != v) take(known_of(source), kIn);
    Head& head = rows_.heads_[own];
    head.degree = static_cast<std::uint32_t>(seen.size());
    head.length = static_cast<std::uint32_t>(entries.size() - begin);
    const auto row = std::span(entries).subspan(begin);
    std::sort(row.begin(), row.end());
    worker.both_ways.resize(words_of_bytes(head.length) * sizeof(std::uint32_t));
    for (std::size_t i = 0; i < row.size(); ++i)
      worker.both_ways[i] = directions[row[i]] == (kOut | kIn) ? 1 : 0;
    entries.resize(entries.size() + words_of_bytes(head.length));
    if (head.length > 0)
      std::memcpy(&entries[begin + head.length], worker.both_ways.data(), worker.both_ways.size());
    for (const std::uint32_t number : seen) directions[number] = 0;
    seen.clear();
  }

  OrientedRows& rows_;
  frontier::Job& job_;
  const Graph& graph_;
  const ForEach& for_each_;
  std::optional<frontier::InRows> in_;  ///< in-edges, where the graph is not symmetric
};

OrientedRows::OrientedRows(frontier::Job& job, const ForEach& for_each) : job_(job), owned_(job.owned()) {
  Builder builder(*this, for_each);
  if (builder.file_will_do()) {
    builder.take_file();
    return;
  }
  builder.number_vertices();
  builder.put_entries();
}

}  // namespace edgewire::kernels
