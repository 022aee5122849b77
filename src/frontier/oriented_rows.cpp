#include "frontier/oriented_rows.h"

#include <algorithm>
#include <numeric>

#include "frontier/in_rows.h"
#include "frontier/known_values.h"
#include "graph/row.h"

namespace edgewire::frontier {

namespace {

constexpr std::uint64_t kVerticesAtOnce = 1 << 12;  // that a worker takes
constexpr std::uint64_t kShortRow = 64;             // of a vertex: rows are short in any order

/// Vertices with more edges are in any order. There are so few of them that rows stay short.
constexpr std::uint64_t kMostEdges = 1 << 20;

}  // namespace

class OrientedRows::Builder {
 public:
  Builder(OrientedRows& rows, const ForEach& for_each)
      : rows_(rows),
        job_(rows.job_),
        graph_(rows.job_.graph()),
        for_each_(for_each),
        several_(rows.job_.bootstrap().size() > 1) {
    if (!graph_.symmetric()) {
      in_.emplace(job_);
      if (several_)
        rows_.neighbours_.emplace(graph_, job_.ownership(), job_.rank(), job_.pool(), job_.records(), &*in_);
    }
    const std::size_t known = several_ ? rows_.boundary().known() : rows_.owned_;
    rows_.heads_.resize(known);
    rows_.number_of_.resize(known);
    rows_.known_of_.resize(known);
  }

  /// Whether the rows of the file are what is wanted, but for their ends.
  bool file_will_do() const;
  void take_file();
  void number_vertices();
  void count_entries();
  void put_entries();

 private:
  static constexpr std::uint8_t kOut = 1, kIn = 2;

  /// Calls work(worker, local, vertex) for all owned vertices.
  template <class Work>
  void for_each_owned(const Work& work) const {
    for_each_((rows_.owned_ + kVerticesAtOnce - 1) / kVerticesAtOnce, [&](int worker, std::uint64_t piece) {
      const std::uint64_t last = std::min<std::uint64_t>(rows_.owned_, (piece + 1) * kVerticesAtOnce);
      job_.ownership().visit([&](const auto& scheme) {
        for (LocalNumber local(static_cast<std::uint32_t>(piece * kVerticesAtOnce)); local < last; ++local)
          work(worker, local, scheme.vertex(job_.rank(), local));
      });
    });
  }
  /// Calls work(number_of), where number_of(vertex) is the number of a known vertex.
  template <class Work>
  void with_numbers(const Work& work) const {
    if (several_)
      rows_.boundary().visit(
          [&](const auto& known) { work([&](VertexId v) { return rows_.number_of_[known.number(v)]; }); });
    else
      work([&](VertexId v) { return rows_.number_of_[KnownNumber(v)]; });
  }
  /// Calls take(number) for each vertex to which `vertex` has edges, once for each.
  template <class NumberOf, class Take>
  void for_each_target(VertexId vertex, const NumberOf& number_of, const Take& take) const {
    VertexId last = vertex;  // equal targets stand side by side
    for (const VertexId target : graph::Row{graph_, vertex}.targets()) {
      if (target == last || target == vertex) continue;
      last = target;
      take(number_of(target));
    }
  }
  /// Those in both directions; a vertex may occur several times.
  template <class NumberOf, class Take>
  void for_each_neighbour(LocalNumber local, VertexId vertex, const NumberOf& number_of,
                          const Take& take) const {
    for_each_target(vertex, number_of, [&](std::uint32_t number) { take(number, kOut); });
    for (const VertexId source : in_->sources(local))
      if (source != vertex) take(number_of(source), kIn);
  }
  std::uint32_t number_of_owned(LocalNumber local) const noexcept {
    return rows_.number_of_[KnownNumber(local)];
  }
  /// Of an owned row, in all entries.
  std::size_t begin_of(const Head& head) const noexcept {
    return static_cast<std::size_t>(head.entries - rows_.own_entries_.get());
  }
  void put_directed();

  OrientedRows& rows_;
  FrontierJob& job_;
  const graph::GraphFile& graph_;
  const ForEach& for_each_;
  bool several_;
  std::optional<InRows> in_;  ///< where the graph is not symmetric
};

OrientedRows::OrientedRows(FrontierJob& job, const ForEach& for_each) : job_(job), owned_(job.owned()) {
  Builder builder(*this, for_each);
  if (builder.file_will_do()) {
    builder.take_file();
    return;
  }
  builder.number_vertices();
  builder.count_entries();
  builder.put_entries();
}

bool OrientedRows::Builder::file_will_do() const {
  if (several_ || !graph_.symmetric() || !graph_.simple()) return false;
  const auto offsets = graph_.offsets();
  for (std::uint32_t v = 0; v < rows_.owned_; ++v)
    if (offsets[v + std::size_t{1}] - offsets[v] > kShortRow) return false;
  return true;
}

void OrientedRows::Builder::take_file() {
  rows_.entries_ = graph_.edges();
  std::iota(rows_.number_of_.begin(), rows_.number_of_.end(), 0U);
  std::iota(rows_.known_of_.begin(), rows_.known_of_.end(), KnownNumber{});
  for_each_owned([&](int, LocalNumber, VertexId v) {
    const auto targets = graph::Row{graph_, v}.targets();
    const auto smaller = std::lower_bound(targets.begin(), targets.end(), v) - targets.begin();
    rows_.heads_[v] = {plain(targets).data(), static_cast<std::uint32_t>(smaller),
                       static_cast<std::uint32_t>(targets.size())};
  });
}

/// By counting sort. Edges that occur several times and self loops count here, which changes the order, but
/// not the bound on the length of rows.
void OrientedRows::Builder::number_vertices() {
  std::vector<std::uint32_t> edges(rows_.known());  // of each known vertex
  for_each_owned([&](int, LocalNumber local, VertexId v) {
    const std::uint64_t both = graph::Row{graph_, v}.degree() + (in_ ? in_->sources(local).size() : 0);
    edges[local] = static_cast<std::uint32_t>(std::min(both, kMostEdges));
  });
  if (several_)
    tell_known(
        job_, rows_.boundary(), [&](LocalNumber local) { return edges[local]; },
        [&](KnownNumber known, std::uint32_t told) {
          edges[known] = static_cast<std::uint32_t>(std::min<std::uint64_t>(told, kMostEdges));
        });
  const std::uint32_t most = edges.empty() ? 0 : std::ranges::max(edges);
  std::vector<std::uint32_t> next(most + std::size_t{2});  // [most - edges]
  for (const std::uint32_t one : edges) ++next[most - one + std::size_t{1}];
  for (std::size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
  const auto number = [&](std::uint32_t first, std::uint32_t count) {
    for (KnownNumber known(first); known < first + count; ++known) {
      const std::uint32_t one = next[most - edges[known]]++;
      rows_.number_of_[known] = one;
      rows_.known_of_[one] = known;
    }
  };
  for (std::uint32_t owner = 0; owner < static_cast<std::uint32_t>(job_.bootstrap().size()); ++owner) {
    if (owner == job_.rank())
      number(0, rows_.owned_);
    else
      number(rows_.boundary().first(owner), rows_.boundary().count(owner));
  }
}

/// Of directed graphs at most so many.
void OrientedRows::Builder::count_entries() {
  with_numbers([&](const auto& number_of) {
    for_each_owned([&](int, LocalNumber local, VertexId v) {
      const std::uint32_t own = number_of_owned(local);
      Head& head = rows_.heads_[own];
      const auto count = [&](std::uint32_t number) {
        ++head.degree;
        if (number < own) ++head.length;
      };
      if (in_)
        for_each_neighbour(local, v, number_of, [&](std::uint32_t number, std::uint8_t) { count(number); });
      else
        for_each_target(v, number_of, count);
    });
  });
  for (const Head& head : rows_.heads_) rows_.entries_ += head.length;
  rows_.own_entries_.reset(new std::uint32_t[rows_.entries_]);
  const std::uint32_t* next = rows_.own_entries_.get();
  for (Head& head : rows_.heads_) {
    head.entries = next;
    next += head.length;
  }
}

void OrientedRows::Builder::put_entries() {
  if (in_) return put_directed();
  with_numbers([&](const auto& number_of) {
    for_each_owned([&](int, LocalNumber local, VertexId v) {
      const std::uint32_t own = number_of_owned(local);
      std::uint32_t* const begin = rows_.own_entries_.get() + begin_of(rows_.heads_[own]);
      std::uint32_t* end = begin;
      for_each_target(v, number_of, [&](std::uint32_t number) {
        if (number < own) *end++ = number;
      });
      std::sort(begin, end);
    });
  });
}

/// A neighbour may have edges to a vertex, from it, or both.
void OrientedRows::Builder::put_directed() {
  rows_.both_ways_.reset(new std::uint8_t[rows_.entries_]);
  struct Worker {
    std::vector<std::uint8_t> directions;  ///< [number]: of edges that were seen
    std::vector<std::uint32_t> seen;       ///< numbers
  };
  std::vector<Worker> workers(static_cast<std::size_t>(job_.pool().workers()));
  with_numbers([&](const auto& number_of) {
    for_each_owned([&](int w, LocalNumber local, VertexId v) {
      auto& [directions, seen] = workers[static_cast<std::size_t>(w)];
      directions.resize(rows_.known());
      const std::uint32_t own = number_of_owned(local);
      Head& head = rows_.heads_[own];
      const std::size_t at = begin_of(head);
      std::uint32_t* const begin = rows_.own_entries_.get() + at;
      std::uint32_t* end = begin;
      for_each_neighbour(local, v, number_of, [&](std::uint32_t number, std::uint8_t direction) {
        if (directions[number] == 0) {
          seen.push_back(number);
          if (number < own) *end++ = number;
        }
        directions[number] |= direction;
      });
      std::sort(begin, end);
      head.length = static_cast<std::uint32_t>(end - begin);
      head.degree = static_cast<std::uint32_t>(seen.size());
      for (std::uint32_t i = 0; i < head.length; ++i)
        rows_.both_ways_[at + i] = directions[begin[i]] == (kOut | kIn) ? 1 : 0;
      for (const std::uint32_t number : seen) directions[number] = 0;
      seen.clear();
    });
  });
}

}  // namespace edgewire::frontier
