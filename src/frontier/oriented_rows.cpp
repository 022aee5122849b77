#include "frontier/oriented_rows.h"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "graph/row.h"

namespace edgewire::frontier {

namespace {

constexpr std::uint64_t kVerticesAtOnce = 1 << 12;  // that a worker takes
constexpr std::uint64_t kShortRow = 64;             // of a vertex: rows are short in any order
constexpr auto kRelaxed = std::memory_order_relaxed;

}  // namespace

/// Where the graph is not symmetric, a row has two parts while it is built: entries whose edges lead from its
/// vertex, then those whose edges lead to it, which workers put there from other rows.
class OrientedRows::Builder {
 public:
  Builder(OrientedRows& rows, const graph::GraphFile& graph, const ForEach& for_each)
      : rows_(rows),
        graph_(graph),
        for_each_(for_each),
        vertices_(static_cast<std::uint32_t>(graph.vertices())),
        directed_(!graph.symmetric()),
        into_(new std::atomic<std::uint64_t>[directed_ ? vertices_ : 0]) {
    for_each_range([&](std::uint64_t first, std::uint64_t last) { graph_.verify_rows(first, last); });
    rows_.heads_.resize(vertices_ + std::size_t{1});
    rows_.number_of_.resize(vertices_);
    rows_.vertex_of_.resize(vertices_);
    for (std::uint32_t v = 0; directed_ && v < vertices_; ++v) into_[v].store(0, kRelaxed);
  }

  /// Whether the rows of the file are what is wanted, but for their ends.
  bool file_will_do() const;
  void take_file();
  void number_vertices();
  void count_entries();
  void put_entries();
  void merge_parts();
  void count_neighbours();

 private:
  /// Calls work(first, last).
  template <class Work>
  void for_each_range(const Work& work) const {
    for_each_((std::uint64_t{vertices_} + kVerticesAtOnce - 1) / kVerticesAtOnce,
              [&](int, std::uint64_t piece) {
                const std::uint64_t first = piece * kVerticesAtOnce;
                work(first, std::min<std::uint64_t>(vertices_, first + kVerticesAtOnce));
              });
  }
  template <class Work>
  void for_each_vertex(const Work& work) const {
    for_each_range([&](std::uint64_t first, std::uint64_t last) {
      for (std::uint64_t v = first; v < last; ++v) work(VertexId(static_cast<std::uint32_t>(v)));
    });
  }
  /// Calls smaller(n) or larger(n) with the number of each vertex to which `vertex` has edges, once for each.
  template <class Smaller, class Larger>
  void for_each_target(VertexId vertex, const Smaller& smaller, const Larger& larger) const {
    const std::uint32_t own = rows_.number_of_[vertex];
    VertexId last = vertex;  // equal targets stand side by side
    for (const VertexId target : graph::Row{graph_, vertex}.targets()) {
      if (target == last || target == vertex) continue;
      last = target;
      const std::uint32_t number = rows_.number_of_[target];
      if (number < own)
        smaller(number);
      else
        larger(number);
    }
  }

  OrientedRows& rows_;
  const graph::GraphFile& graph_;
  const ForEach& for_each_;
  std::uint32_t vertices_;
  bool directed_;
  /// Of edges that lead to a vertex: their number, and by number of the vertex the end of its second part.
  std::unique_ptr<std::atomic<std::uint64_t>[]> into_;
};

OrientedRows::OrientedRows(const graph::GraphFile& graph, const ForEach& for_each) {
  Builder builder(*this, graph, for_each);
  if (builder.file_will_do()) {
    builder.take_file();
    return;
  }
  builder.number_vertices();
  builder.count_entries();
  builder.put_entries();
  if (graph.symmetric()) return;
  builder.merge_parts();
  builder.count_neighbours();
}

bool OrientedRows::Builder::file_will_do() const {
  if (directed_ || !graph_.simple()) return false;
  const auto offsets = graph_.offsets();
  for (std::uint32_t v = 0; v < vertices_; ++v)
    if (offsets[v + std::size_t{1}] - offsets[v] > kShortRow) return false;
  return true;
}

void OrientedRows::Builder::take_file() {
  rows_.entries_ = plain(graph_.targets()).data();
  std::iota(rows_.number_of_.begin(), rows_.number_of_.end(), 0U);
  std::iota(rows_.vertex_of_.begin(), rows_.vertex_of_.end(), VertexId{});
  for_each_vertex([&](VertexId v) {
    const auto targets = graph::Row{graph_, v}.targets();
    const auto smaller = std::lower_bound(targets.begin(), targets.end(), v) - targets.begin();
    rows_.heads_[v] = {graph_.offsets()[v], static_cast<std::uint32_t>(smaller),
                       static_cast<std::uint32_t>(targets.size())};
  });
}

/// By counting sort. Edges that occur several times and self loops count here, which changes the order, but
/// not the bound on the length of rows.
void OrientedRows::Builder::number_vertices() {
  const std::uint64_t most = vertices_;
  std::vector<std::uint32_t> keys(vertices_);
  if (directed_) {
    for_each_vertex([&](VertexId v) {
      for (const std::uint32_t target : graph::Row{graph_, v}.targets()) into_[target].fetch_add(1, kRelaxed);
    });
  }
  for_each_vertex([&](VertexId v) {
    std::uint64_t degree = graph::Row{graph_, v}.degree();
    if (directed_) degree += into_[v].exchange(0, kRelaxed);
    keys[v] = static_cast<std::uint32_t>(most - std::min(degree, most));
  });
  std::vector<std::uint32_t> next(most + 2);
  for (const std::uint32_t key : keys) ++next[key + std::size_t{1}];
  for (std::size_t key = 1; key < next.size(); ++key) next[key] += next[key - 1];
  for (VertexId v{}; v < vertices_; ++v) {
    const std::uint32_t number = next[keys[v]]++;
    rows_.number_of_[v] = number;
    rows_.vertex_of_[number] = v;
  }
}

void OrientedRows::Builder::count_entries() {
  for_each_vertex([&](VertexId v) {
    Head& head = rows_.heads_[rows_.number_of_[v]];
    std::uint32_t larger_ones = 0;
    for_each_target(
        v, [&](std::uint32_t) { ++head.length; },
        [&](std::uint32_t larger) {
          ++larger_ones;
          if (directed_) into_[larger].fetch_add(1, kRelaxed);
        });
    head.degree = head.length + larger_ones;
  });
  for (std::uint32_t number = 0; number < vertices_; ++number) {
    const std::uint64_t second = rows_.heads_[number].begin + rows_.heads_[number].length;
    std::uint64_t& next = rows_.heads_[number + std::size_t{1}].begin;
    next = second;
    if (directed_) next += into_[number].exchange(second, kRelaxed);
  }
}

void OrientedRows::Builder::put_entries() {
  std::uint32_t* const entries = new std::uint32_t[rows_.heads_.back().begin];
  rows_.own_entries_.reset(entries);
  rows_.entries_ = entries;
  for_each_vertex([&](VertexId v) {
    const std::uint32_t own = rows_.number_of_[v];
    std::uint32_t* const begin = entries + rows_.heads_[own].begin;
    std::uint32_t* end = begin;
    for_each_target(
        v, [&](std::uint32_t smaller) { *end++ = smaller; },
        [&](std::uint32_t larger) {
          if (directed_) entries[into_[larger].fetch_add(1, kRelaxed)] = own;
        });
    std::sort(begin, end);
  });
}

void OrientedRows::Builder::merge_parts() {
  rows_.both_ways_.reset(new std::uint8_t[rows_.heads_.back().begin]);
  for_each_vertex([&](std::uint32_t number) {
    Head& head = rows_.heads_[number];
    std::uint32_t* const begin = rows_.own_entries_.get() + head.begin;
    std::uint32_t* const end = rows_.own_entries_.get() + rows_.heads_[number + std::size_t{1}].begin;
    std::uint32_t* const second = begin + head.length;
    std::sort(second, end);
    std::inplace_merge(begin, second, end);
    std::uint8_t* both = rows_.both_ways_.get() + head.begin;
    std::uint32_t* to = begin;
    for (const std::uint32_t* from = begin; from < end; ++both) {
      const std::uint32_t entry = *from++;
      *both = from < end && *from == entry ? 1 : 0;
      from += *both;
      *to++ = entry;
    }
    head.length = static_cast<std::uint32_t>(to - begin);
  });
}

/// A neighbour may have edges to a vertex, from it, or both.
void OrientedRows::Builder::count_neighbours() {
  for_each_vertex([&](std::uint32_t number) { rows_.heads_[number].degree = rows_.heads_[number].length; });
  for_each_vertex([&](std::uint32_t number) {
    for (const std::uint32_t entry : rows_.row(number))
      std::atomic_ref(rows_.heads_[entry].degree).fetch_add(1, kRelaxed);
  });
}

}  // namespace edgewire::frontier
