// This file has the loop of the search.
#include "kernels/bfs.h"

#include <algorithm>
#include <array>

#include "edgewire/graph.h"

namespace edgewire::kernels {

namespace {

// A pull pays when the frontier has more than 1/15 of the edges of vertices not reached yet, and as long as
// it has more than 1/18 of all vertices: the values that the paper found.
constexpr std::uint64_t kPullEdges = 15, kPullVertices = 18;
// Frontiers with fewer edges are few: this part of the graph, within bounds.
constexpr std::uint64_t kFewEdgesOf = 1024, kLeastFew = 64, kMostFew = 4096;

}  // namespace

Bfs::Bfs(frontier::Job& job, Parents parents)
    : job_(job),
      distributed_(job.bootstrap().size() > 1),
      rank_(job.rank()),
      owned_words_((job.owned() + std::size_t{kBits} - 1) / kBits),
      levels_(job.owned()),
      parents_(parents == Parents::none ? 0 : job.owned()),
      workers_(static_cast<std::size_t>(job.pool().workers())) {
  job.expect_records(sizeof(frontier::Record));
  job.make_rows();
  // One word more: add_to_frontier() may touch it.
  unseen_memory_ =
      topology::NodeMemory((job.known() / kBits + std::size_t{2}) * sizeof(Word), -1, "vertices not reached");
  unseen_ = unseen_memory_.as<std::atomic<Word>>();
  if (parents == Parents::smallest) candidates_ = std::vector<std::atomic<PlainId>>(job.known());
  // Elsewhere a vertex of another process is sent as soon as it is found.
  if (workers_.size() > 1 && (!distributed_ || job.on_disks()))
    bins_ = std::make_unique<Bins<PlainId>>(
        job.pool().workers(), job.known(),
        sizeof(std::uint32_t) + (parents == Parents::none ? 0 : sizeof(PlainId)));
}

void Bfs::reset() {
  job_.for_each_range([&](int, LocalNumber first, LocalNumber last) {
    std::fill(levels_.begin() + first, levels_.begin() + last, kNone);
    if (!parents_.empty()) std::fill(parents_.begin() + first, parents_.begin() + last, kNoParent);
  });
  for (auto& candidate : candidates_) candidate.store(kNoParent, std::memory_order_relaxed);
  std::uint32_t left = job_.known();  // bits behind the last vertex stay clear: a pull would look for them
  for (auto& word : unseen_) {
    word.store(left >= kBits ? ~Word{0} : (Word{1} << left) - 1, std::memory_order_relaxed);
    left -= std::min(left, kBits);
  }
  for (Worker& worker : workers_) worker.vertices = worker.edges = worker.noted = 0, worker.reached.clear();
  in_bits_ = has_pulled_ = false;
  level_ = 0;
  state_ = {};
  state_.unseen_edges = job_.graph().edges();
}

void Bfs::start(VertexId source) {
  const Home home = job_.ownership().home(source);
  if (!distributed_ || job_.boundary().knows(home))
    claim(distributed_ ? job_.boundary().number(home) : source, false);
  if (home.owner == rank_) {
    levels_[home.local] = 0;
    if (!parents_.empty()) parents_[home.local] = source;
    workers_[0].reached.push_back(home.local);
    workers_[0].vertices = 1;
    workers_[0].edges = job_.degree(home.local);
  }
  next_lists();
  total();
}

std::vector<frontier::Superstep> Bfs::run(VertexId source, const std::function<bool(const State&)>& enough) {
  job_.expect_vertex(source);
  reset();
  start(source);
  std::vector<frontier::Superstep> supersteps;
  const auto ended = [&] { return counted_ ? state_.frontier == 0 : active_.nobody(); };
  while (!ended() && !(enough && enough(state_))) superstep(supersteps);
  job_.wait_for_all();
  return supersteps;
}

bool Bfs::wants_pull(const graph::GraphFile& graph, const State& state) {
  if (!graph.symmetric()) return false;
  if (state.pulled)
    return state.frontier >= state.before || state.frontier > graph.vertices() / kPullVertices;
  return state.frontier_edges > state.unseen_edges / kPullEdges;
}

bool Bfs::wants_pull_from_disks(const graph::GraphFile& graph, const State& state) {
  return graph.symmetric() && state.unseen_edges < state.frontier_edges;
}

bool Bfs::goes_on(const graph::GraphFile& graph, const State& state) {
  return state.frontier_edges <= std::clamp(graph.edges() / kFewEdgesOf, kLeastFew, kMostFew);
}

/// Begins a level: from here on workers count what they reach, and `mine` has what they had reached before.
frontier::Superstep Bfs::begin_level(frontier::PushNote& mine) noexcept {
  mine.edges_before += mine.edges;
  mine.vertices = 0;
  mine.edges = 0;
  ++mine.levels;
  for (Worker& worker : workers_) {
    mine.vertices += static_cast<std::uint32_t>(worker.vertices);
    mine.edges += worker.edges;
    worker.vertices = worker.edges = worker.followed = 0;
    worker.told = {};
  }
  frontier::Superstep done;
  done.step = level_++;
  done.kind = state_.pulled ? kPull : kPush;
  done.frontier = mine.vertices;
  return done;
}

/// Adds one superstep to `all`, or those of all levels that a process follows alone.
void Bfs::superstep(std::vector<frontier::Superstep>& all) {
  state_.pulled = counted_ && (job_.on_disks() ? wants_pull_from_disks(job_.graph(), state_)
                                               : wants_pull(job_.graph(), state_));
  const bool one = distributed_ && !counted_ && active_.is_one(), alone = one && active_.is_only(rank_);
  noted_at_once_ = one && !alone ? ~std::size_t{0} : kNotedAtOnce;
  frontier::PushNote mine;
  mine.levels = 0;
  for (bool ends = false; !ends;) {
    const frontier::Meter meter(job_);
    frontier::Superstep done = begin_level(mine);
    ends = true;
    if (state_.pulled)
      pull();
    else
      ends = push(mine, alone);
    for (const Worker& worker : workers_) done.edges += worker.followed;
    bool followed = true;
    if (state_.pulled || !distributed_)
      total();
    else if (ends)
      followed = end_push(mine, done, all);
    if (!followed) {
      meter.add_to(all.back());  // records had led to vertices that were reached before, and nobody knew
      continue;
    }
    meter.stop(done);
    all.push_back(done);
  }
}

/// Puts together what all processes have said. `done`: the last level; the others, which another process has
/// followed alone, are added to `all`. Returns whether any process had vertices to follow in the last level.
bool Bfs::end_push(const frontier::PushNote& mine, frontier::Superstep& done,
                   std::vector<frontier::Superstep>& all) {
  const frontier::PushNote sum = sum_of_notes(mine);
  for (std::uint32_t level = mine.levels; level < sum.levels; ++level) {
    all.push_back(done);
    job_.tell(all.back());
    done.step = level_++;
  }
  if (noted_at_once_ != kNotedAtOnce) note_held_back();
  if (!counted_) {
    state_.unseen_edges -= sum.edges_before;
    state_.levels += sum.levels - 1;
    state_.advance(sum.vertices, sum.edges);
  }
  active_ = sum.next;
  counted_ = false;
  if (!goes_on(job_.graph(), state_)) total();
  return sum.vertices > 0;
}

/// Counts what all workers of all processes have reached.
void Bfs::total() {
  std::array<std::uint64_t, 2> mine{};
  for (const Worker& worker : workers_) {
    mine[0] += worker.vertices;
    mine[1] += worker.edges;
  }
  const auto [vertices, edges] = job_.sum_of_all(mine);
  state_.advance(vertices, edges);
  counted_ = true;
}

/// Makes the vertices that were reached the frontier.
void Bfs::next_lists() {
  for (Worker& worker : workers_) {
    worker.list.swap(worker.reached);
    worker.reached.clear();
    worker.noted = 0;
    worker.next.store(0, std::memory_order_relaxed);
  }
}

bool Bfs::claim(std::size_t number, bool shared) noexcept {
  std::atomic<Word>& word = unseen_[number / kBits];
  const Word bit = Word{1} << number % kBits, before = word.load(std::memory_order_relaxed);
  if ((before & bit) == 0) return false;
  if (shared) return (word.fetch_and(~bit, std::memory_order_relaxed) & bit) != 0;
  word.store(before & ~bit, std::memory_order_relaxed);
  return true;
}

void Bfs::list_to_bits() {
  const auto mine = std::span(bits_).first(owned_words_);
  std::ranges::fill(mine, 0);
  for (Worker& worker : workers_) {
    for (const LocalNumber local : worker.list) mine[local / kBits] |= Word{1} << local % kBits;
    worker.list.clear();
  }
  in_bits_ = true;
}

void Bfs::bits_to_list() {
  for (std::size_t w = 0; w < owned_words_; ++w)
    for (Word left = bits_[w] & owned_bits(w); left != 0; left &= left - 1)
      workers_[0].list.push_back(lowest(w, left));
  in_bits_ = false;
}

}  // namespace edgewire::kernels
