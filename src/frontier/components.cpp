#include "frontier/components.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "graph/row.h"
#include "topology/cpu_level.h"

namespace edgewire::frontier {

namespace {

constexpr std::uint32_t kAhead = 16;              // rows that are fetched before they are read
constexpr std::uint32_t kSampledVertices = 1024;  // that are looked at for the largest component
constexpr std::uint32_t kPiece = 1 << 14;
constexpr std::size_t kLinkedAtOnce =
    64;  // edges of a vertex, before it is looked up whether the rest is needed

}  // namespace

Components::Components(FrontierJob& job)
    : job_(job),
      several_(job.bootstrap().size() > 1),
      rank_(job.rank()),
      vertices_(static_cast<std::uint32_t>(job.graph().vertices())),
      above_memory_(vertices_ * sizeof(std::uint32_t), -1, "union-find trees", topology::Begin::staggered),
      above_(above_memory_.as<std::atomic<VertexId>>()),
      asked_(several_ ? vertices_ : 0),
      workers_(static_cast<std::size_t>(job.pool().workers())),
      log_(job) {
  job.expect_records(sizeof(Record));
}

/// Hangs the larger root below the smaller one, and returns it; kNone when both are the same. Workers may do
/// so at the same time: only a root is changed, and only once. The order of other accesses does not matter,
/// so all of them are relaxed. Climbs from both sides, always where the number is higher, until the trees
/// meet or a root can be hung on the other side.
inline VertexId Components::hang(VertexId u, VertexId v) noexcept {
  VertexId high = above(u), low = above(v);
  while (high != low) {
    if (high < low) std::swap(high, low);
    VertexId next = above(high);
    if (next == high && above_[high].compare_exchange_strong(next, low, std::memory_order_relaxed))
      return high;
    high = next;
  }
  return kNone;
}

inline void Components::link(Worker& worker, VertexId u, VertexId v) {
  const VertexId hung = hang(u, v);
  if (several_ && hung != kNone) worker.hung.push_back(hung);
}

inline VertexId Components::root(VertexId v) const noexcept {
  for (;;) {
    const VertexId next = above(v);
    if (next == v) return v;
    v = next;
  }
}

/// Halves the path on its way (Tarjan, van Leeuwen: "Worst-case analysis of set union algorithms", 1984):
/// answers of several processes form long paths, which would be climbed for each answer. A store cannot undo
/// what hang() does: `v` is no root, and nobody makes it one again.
inline VertexId Components::root_by_halves(VertexId v) noexcept {
  for (;;) {
    const VertexId next = above(v), top = above(next);
    if (top == next) return top;
    above_[v].store(top, std::memory_order_relaxed);
    v = top;
  }
}

std::vector<Superstep> Components::run() {
  for_each_vertex([this](VertexId first, VertexId last) {
    for (VertexId v = first; v < last; ++v) above_[v].store(v, std::memory_order_relaxed);
  });
  if (job_.on_disks()) {
    step(kAll, [this] { link_all(); });
  } else {
    step(kSample, [this] { link_sample(); });
    if (job_.graph().symmetric()) merge();
    const VertexId most = job_.graph().symmetric() ? largest() : kNone;
    step(kRest, [this, most] { link_rest(most); });
  }
  merge();
  job_.wait_for_all();
  return log_.take();
}

std::vector<std::uint32_t> Components::labels() const {
  std::vector<std::uint32_t> all(job_.owned());
  job_.for_each_range([&](int, LocalNumber first, LocalNumber last) {
    job_.ownership().visit([&](const auto& scheme) {
      for (LocalNumber local = first; local < last; ++local) all[local] = root(scheme.vertex(rank_, local));
    });
  });
  return all;
}

void Components::step(std::uint64_t kind, const std::function<void()>& work) {
  log_.step(kind, workers_, work);
}

void Components::for_each_vertex(const std::function<void(VertexId, VertexId)>& work) {
  job_.pool().for_each((std::uint64_t{vertices_} + kPiece - 1) / kPiece, [&](int, std::uint64_t piece) {
    const std::uint64_t first = piece * kPiece, last = std::min<std::uint64_t>(vertices_, first + kPiece);
    work(VertexId(static_cast<std::uint32_t>(first)), VertexId(static_cast<std::uint32_t>(last)));
  });
}

void Components::link_sample() {
  job_.for_each_range([&](int w, LocalNumber first, LocalNumber last) {
    Worker& worker = workers_[static_cast<std::size_t>(w)];
    job_.ownership().visit_for_cpu([&](const auto& scheme) {
      for (LocalNumber local = first; local < last; ++local) {
        if (last - local > kAhead)
          fetch(scheme.vertex(rank_, local + kAhead), scheme.vertex(rank_, local + kAhead / 2));
        const VertexId u = scheme.vertex(rank_, local);
        const auto sample = sample_of(u);
        for (const VertexId v : sample) link(worker, u, v);
        worker.vertices += sample.empty() ? 0 : 1;
        worker.edges += sample.size();
      }
    });
  });
  // Where find_roots() comes next it does this.
  if (!several_ || !job_.graph().symmetric()) compress();
}

std::span<const VertexId> Components::sample_of(VertexId v) const noexcept {
  const auto targets = graph::Row{job_.graph(), v}.targets();
  return targets.first(std::min(targets.size(), kSampledEdges));
}

/// Into the cache: the row of `far`, and what link() reads first for the row of `near`. Many vertices have no
/// edges, in no order that the processor could guess, so nothing here depends on how many there are: behind a
/// short row comes the next one, which this process may not have checked: an id is only fetched for.
void Components::fetch(VertexId far, VertexId near) const noexcept {
  const auto offsets = job_.graph().offsets();
  const auto targets = job_.graph().targets();
  __builtin_prefetch(targets.data() + offsets[far]);
  if (offsets[near] + kSampledEdges > targets.size()) return;
  for (const VertexId v : targets.subspan(offsets[near], kSampledEdges))
    __builtin_prefetch(above_.data() + v);
}

/// Reads the rows on the disks once. In symmetric graphs most edges need not be linked: those of a vertex
/// that already hangs with the hub, the vertex with the most edges. An edge is left out at both ends only
/// where both hang with it.
void Components::link_all() {
  const bool skips = job_.graph().symmetric();
  const VertexId top = skips ? hub() : VertexId{};
  std::atomic<std::uint32_t> next{0};
  job_.pool().run([&](int w) {
    Worker& worker = workers_[static_cast<std::size_t>(w)];
    std::vector<VertexId> taken;
    const auto take = [&] {
      const auto count = static_cast<std::uint32_t>(job_.rows_at_once());
      const std::uint32_t first = std::min(next.fetch_add(count), job_.owned());
      taken.resize(std::min(count, job_.owned() - first));
      for (std::uint32_t i = 0; i < taken.size(); ++i)
        taken[i] = job_.ownership().vertex(rank_, LocalNumber(first + i));
      return std::span<const VertexId>(taken);
    };
    job_.each_row(w, take, [&](const Edges& edges) {
      for (std::size_t e = 0; e < edges.targets.size(); ++e) {
        if (skips && e % kLinkedAtOnce == kSampledEdges && root(edges.vertex) == root(top)) break;
        link(worker, edges.vertex, edges.targets[e]);
      }
      worker.vertices += edges.targets.empty() ? 0 : 1;
      worker.edges += edges.targets.size();
    });
  });
  if (!several_) compress();  // else merge() finds the roots
}

/// The same in all processes.
VertexId Components::hub() const noexcept {
  VertexId most{};
  for (VertexId v{}; v < vertices_; ++v)
    if (graph::Row{job_.graph(), v}.degree() > graph::Row{job_.graph(), most}.degree()) most = v;
  return most;
}

void Components::link_rest(VertexId largest) {
  job_.for_each_range([&](int w, LocalNumber first, LocalNumber last) {
    Worker& worker = workers_[static_cast<std::size_t>(w)];
    job_.ownership().visit_for_cpu([&](const auto& scheme) {
      for (LocalNumber local = first; local < last; ++local) {
        const graph::Row row{job_.graph(), scheme.vertex(rank_, local)};
        const bool skipped = root(row.vertex) == largest, done = row.degree() <= kSampledEdges;
        if (static_cast<int>(skipped) | static_cast<int>(done)) continue;  // one branch, easy to guess
        for (const VertexId v : row.targets().subspan(kSampledEdges)) link(worker, row.vertex, v);
        ++worker.vertices;
        worker.edges += row.degree() - kSampledEdges;
      }
    });
  });
  if (!several_) compress();  // else merge() finds the roots
}

/// One process after the other says which component is the most frequent one among some of its vertices. All
/// must skip the same one: otherwise both ends of an edge could be skipped.
VertexId Components::largest() const {
  std::map<std::uint32_t, std::uint64_t> counts;
  const std::uint32_t stride = job_.owned() / kSampledVertices + 1;
  for (LocalNumber local{}; local < job_.owned(); local += stride)
    ++counts[root(job_.ownership().vertex(rank_, local))];
  std::array<std::uint64_t, 2> mine{kNone, 0};
  for (const auto& [label, count] : counts)
    if (count > mine[1]) mine = {label, count};
  if (!several_) return VertexId(static_cast<std::uint32_t>(mine[0]));
  const auto all = job_.records().share(mine);
  std::array<std::uint64_t, 2> most = mine = {kNone, 0};
  for (std::size_t i = 0; i < all.size(); i += 2)
    if (all[i + 1] > most[1]) most = {all[i], all[i + 1]};
  return VertexId(static_cast<std::uint32_t>(most[0]));
}

/// What all workers of all processes have done in the last superstep.
std::uint64_t Components::work_of_all() { return job_.sum_of_all(std::array{log_.last().frontier})[0]; }

void Components::merge() {
  if (!several_) return;
  do {
    step(kTell, [this] { job_.pool().run([this](int lane) { tell(lane); }); });
  } while (work_of_all() > 0);
  find_roots();
  do {
    step(kAsk, [this] { job_.pool().run([this](int lane) { ask(lane); }); });
  } while (work_of_all() > 0);
  for (Worker& worker : workers_) {
    for (const VertexId root : worker.marked) asked_[root].store(false, std::memory_order_relaxed);
    worker.marked.clear();
  }
}

void Components::tell(int lane) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  job_.ownership().visit([&](const auto& scheme) {
    const auto take = [&](Record record) {
      link(worker, checked(scheme.vertex(rank_, LocalNumber(record.vertex))), checked(record.value));
    };
    const auto hung = std::exchange(worker.hung, {});
    for (std::size_t i = 0; i < hung.size(); ++i) {
      if (hung.size() - i > kAhead) __builtin_prefetch(&above_[hung[i + kAhead]]);
      const VertexId v = hung[i];
      const plan::Place place = scheme.place(v);
      if (place.owner == rank_) continue;
      ++worker.vertices;
      job_.records().send(lane, static_cast<int>(place.owner), {place.local, root_by_halves(v)}, take);
    }
    job_.records().finish(lane, take);
  });
}

/// The roots of owned vertices are what must be asked for.
void Components::find_roots() {
  job_.for_each_range([this](int w, LocalNumber first, LocalNumber last) {
    Worker& worker = workers_[static_cast<std::size_t>(w)];
    job_.ownership().visit([&](const auto& scheme) {
      for (LocalNumber local = first; local < last; ++local) {
        if (last - local > kAhead) __builtin_prefetch(&above_[above(scheme.vertex(rank_, local + kAhead))]);
        const VertexId v = scheme.vertex(rank_, local);
        const VertexId top = root(v);
        if (top == v) continue;
        above_[v].store(top, std::memory_order_relaxed);
        mark(worker, top);
      }
    });
  });
}

void Components::mark(Worker& worker, VertexId root) {
  auto& asked = asked_[root];
  if (asked.load(std::memory_order_relaxed) || asked.exchange(true, std::memory_order_relaxed)) return;
  worker.marked.push_back(root);
  if (job_.ownership().place(root).owner != rank_) worker.to_ask.push_back(root);
}

/// No answer means that a root is one for its owner, too. Only answers count as work.
void Components::ask(int lane) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  job_.ownership().visit([&](const auto& scheme) {
    std::vector<Question> questions;
    const auto hear = [&](int peer, Record record) {
      questions.push_back({peer, checked(scheme.vertex(rank_, LocalNumber(record.vertex)))});
    };
    for (const VertexId v : std::exchange(worker.to_ask, {})) {
      const plan::Place place = scheme.place(v);
      job_.records().send(lane, static_cast<int>(place.owner), {place.local, 0}, hear);
    }
    job_.records().finish(lane, hear);
    const auto learn = [&](Record record) {
      ++worker.vertices;
      hang(checked(record.vertex), checked(record.value));  // its owner knows
      mark(worker, root_by_halves(VertexId(record.value)));
    };
    for (const Question& one : questions) {
      const VertexId top = root_by_halves(one.vertex);
      if (top != one.vertex) job_.records().send(lane, one.peer, {one.vertex, top}, learn);
    }
    job_.records().finish(lane, learn);
  });
}

VertexId Components::checked(std::uint32_t vertex) const {
  if (vertex >= vertices_) throw Error("a process has sent a vertex that does not exist");
  return VertexId(vertex);
}

void Components::compress() {
  for_each_vertex([this](VertexId first, VertexId last) {
    for (VertexId v = first; v < last; ++v) {
      if (last - v > kAhead) __builtin_prefetch(&above_[above(v + kAhead)]);
      const VertexId next = above(v), top = above(next);
      above_[v].store(top == next ? top : root(top), std::memory_order_relaxed);
    }
  });
}

}  // namespace edgewire::frontier
