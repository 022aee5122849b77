#include "kernels/bfs/bfs.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/error.h"
#include "edgewire/graph.h"
#include "launch/packing.h"

namespace edgewire::kernels {

namespace {

// A pull pays when the frontier has more than 1/15 of the edges of vertices not reached yet, and as long as
// it has more than 1/18 of all vertices: the values that the paper found.
constexpr std::uint64_t kPullEdges = 15, kPullVertices = 18;

void refuse_circle() { throw Error("the parents of vertices lead round in a circle"); }

/// Returns the vertices before `vertex` as far as this process knows them: the last one is the source, a
/// vertex of another process, or kNoVertex. In a circle they are more than the graph has.
std::vector<VertexId> follow(const frontier::Job& job, std::span<const PlainId> parents, VertexId source,
                             VertexId vertex) {
  std::vector<VertexId> piece;
  while (vertex != source && vertex != kNoVertex && piece.size() <= job.graph().vertices()) {
    const Home home = job.ownership().home(vertex);
    if (home.owner != job.rank()) break;
    piece.push_back(vertex = VertexId(parents[home.local]));
  }
  return piece;
}

}  // namespace

Bfs::Bfs(frontier::Job& job, Parents parents)
    : job_(job),
      smallest_(parents == Parents::smallest),
      log_(job),
      search_(job, &log_),
      levels_(job.owned()),
      parents_(parents == Parents::none ? 0 : job.owned()),
      others_(smallest_ ? job.known() - job.owned() : 0) {
  job.expect_records(sizeof(frontier::Record));
  job.make_rows();
  unseen_memory_ =
      topology::NodeMemory((job.known() / kBits + std::size_t{1}) * sizeof(Word), -1, "vertices not reached");
  unseen_ = unseen_memory_.as<Word>();
  search_.hand_over(sizeof(std::uint32_t) + (parents_.empty() ? 0 : sizeof(PlainId)));
}

std::vector<frontier::Superstep> Bfs::run(VertexId source, const std::function<bool(const State&)>& enough) {
  job_.expect_vertex(source);
  enough_ = enough;
  reset();
  List frontier = start(source);
  for (state_.advance(search_.totals(frontier)); !ends();) {
    state_.pulled = wants_pull();
    level_ = static_cast<std::uint32_t>(state_.levels - 1);
    frontier = state_.pulled ? pull(frontier) : push(std::move(frontier));
  }
  job_.wait_for_all();
  return log_.take();
}

void Bfs::reset() {
  job_.for_each_range([&](int, LocalNumber first, LocalNumber last) {
    std::fill(levels_.begin() + first, levels_.begin() + last, kNone);
    if (!parents_.empty()) std::fill(parents_.begin() + first, parents_.begin() + last, kNoParent);
  });
  std::ranges::fill(others_, Reached{});
  std::uint32_t left = job_.known();  // bits behind the last vertex stay clear: a pull would look for them
  for (Word& word : unseen_) {
    word = left >= kBits ? ~Word{0} : (Word{1} << left) - 1;
    left -= std::min(left, kBits);
  }
  for (std::size_t w = 0; w < isolated_.size(); ++w) unseen_[w] &= ~isolated_[w];
  state_ = {};
  state_.unseen_edges = job_.graph().edges();
}

/// Returns the first frontier.
Bfs::List Bfs::start(VertexId source) {
  const Home home = job_.ownership().home(source);
  const bool mine = home.owner == job_.rank();
  if (!mine && !job_.boundary().knows(home)) return {};
  const KnownNumber number = mine ? KnownNumber(home.local) : job_.boundary().number(home);
  claim(number);
  if (!mine) {
    if (smallest_) others_[number - job_.owned()].level = 0;
    return {};
  }
  levels_[home.local] = 0;
  if (!parents_.empty()) parents_[home.local] = source;
  return {home.local};
}

/// A worker's reaction to an edge from the frontier to a vertex. `kSmallest`: see Parents.
template <bool kSmallest>
struct Bfs::Hear {
  Bfs& bfs;

  bool is_news(KnownNumber v, PlainId parent) const {
    if constexpr (kSmallest) return !was_reached(v) && parent < shared(parent_of(v)).load(kRelaxed);
    return (shared(bfs.unseen_[v / kBits]).load(kRelaxed) >> v % kBits & 1) != 0;
  }
  Once operator()(KnownNumber v, PlainId parent) const {
    if constexpr (kSmallest) {
      if (was_reached(v)) return {false};
      lower(parent_of(v), parent, bfs.search_.is_shared());
    }
    if (!bfs.claim(v)) return {false};
    if (kSmallest || is_owned(v)) shared(level_of(v)).store(level(), kRelaxed);
    if (!is_owned(v)) return {true};
    if (parent >= bfs.vertices_) throw Error("a process has sent a vertex that does not exist");
    if (!kSmallest && !bfs.parents_.empty()) bfs.parents_[v] = parent;
    return {true};
  }

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;
  template <class Value>
  static std::atomic_ref<Value> shared(Value& value) noexcept {
    return std::atomic_ref(value);
  }
  bool is_owned(KnownNumber v) const noexcept { return v < bfs.levels_.size(); }
  std::uint32_t& level_of(KnownNumber v) const noexcept {
    return is_owned(v) ? bfs.levels_[v] : bfs.others_[v - bfs.levels_.size()].level;
  }
  PlainId& parent_of(KnownNumber v) const noexcept {
    return is_owned(v) ? bfs.parents_[v] : bfs.others_[v - bfs.levels_.size()].parent;
  }
  std::uint32_t level() const noexcept { return bfs.level_ + static_cast<std::uint32_t>(bfs.search_.step()); }
  /// Returns whether an earlier superstep has reached it.
  bool was_reached(KnownNumber v) const noexcept { return shared(level_of(v)).load(kRelaxed) < level(); }
};

/// Follows the edges of the frontier, and of the next ones as long as these have few.
Bfs::List Bfs::push(List frontier) {
  counted_ = true;
  search_.set_kind(kPush);
  const auto visit = [this](const FrontierRow& row, const auto& tell) {
    const PlainId u = search_.vertex(row.vertex);
    for (const KnownNumber v : row.targets) tell(v, u);
  };
  const auto goes_on = [this](const Followed& done) { return goes_on_after(done); };
  const auto smallest = [this](KnownNumber v) { return others_[v - job_.owned()].parent; };
  List next = smallest_ ? search_.follow(std::move(frontier), visit, Hear<true>{*this}, smallest, goes_on)
                        : search_.follow(std::move(frontier), visit, Hear<false>{*this}, {}, goes_on);
  if (!counted_) log_.extend([&] { state_.advance(search_.totals(next)); });
  return next;
}

bool Bfs::claim(KnownNumber v) noexcept {
  const std::atomic_ref word(unseen_[v / kBits]);
  const Word bit = Word{1} << v % kBits, before = word.load(std::memory_order_relaxed);
  if ((before & bit) == 0) return false;
  if (search_.is_shared()) return (word.fetch_and(~bit, std::memory_order_relaxed) & bit) != 0;
  word.store(before & ~bit, std::memory_order_relaxed);
  return true;
}

/// Counts a superstep, and returns whether the next one should push, too. Where the number of its edges is
/// not known, few edges before are reason enough.
bool Bfs::goes_on_after(const Followed& done) {
  if (!counted_) {
    state_.unseen_edges -= done.edges_before;
    state_.levels += done.supersteps - 1;
    state_.advance(done.last);
  }
  counted_ = done.next.has_value();
  if (!counted_) return goes_on(job_.graph(), state_) && !is_enough();
  state_.advance(*done.next);
  return !ends() && !wants_pull();
}

/// Lets vertices that are not reached look for one in the frontier, as long as that is less work.
Bfs::List Bfs::pull(const List& frontier) {
  if (isolated_.empty()) log_.extend([this] { find_isolated(); });
  search_.set_kind(kPull);
  const auto reach = [this](LocalNumber v, KnownNumber parent) {
    levels_[v] = level_ + static_cast<std::uint32_t>(search_.step());
    if (!parents_.empty()) parents_[v] = search_.vertex(parent);
  };
  return search_.pull(frontier, unseen_, reach, [this](const Totals& next) {
    state_.advance(next);
    return !ends() && wants_pull();
  });
}

bool Bfs::wants_pull(const Graph& graph, const State& state, bool on_disks) {
  if (!graph.symmetric()) return false;
  // From disks a row is read as a whole, even if its first edge leads to the frontier.
  if (on_disks) return state.unseen_edges < state.frontier_edges;
  if (state.pulled)
    return state.frontier >= state.before || state.frontier > graph.vertices() / kPullVertices;
  return state.frontier_edges > state.unseen_edges / kPullEdges;
}

/// Finds the vertices without edges, and leaves them out: each pull would look for them in vain.
void Bfs::find_isolated() {
  isolated_.resize((job_.owned() + std::size_t{kBits} - 1) / kBits);
  job_.for_each_range([&](int, LocalNumber first, LocalNumber last) {
    for (LocalNumber begin = first; begin < last; begin += kBits) {
      Word isolated = 0;
      for (LocalNumber i = begin; i < std::min(last, begin + kBits); ++i)
        isolated |= Word{job_.degree(i) == 0} << (i - begin);
      isolated_[begin / kBits] = isolated;
      unseen_[begin / kBits] &= ~isolated;
    }
  });
}

/// Returns the path. In each round the owner of the last vertex that is known sends the ones before it.
std::vector<VertexId> path_to(frontier::Job& job, std::span<const PlainId> parents, VertexId source,
                              VertexId target) {
  job.expect_vertex(source);
  job.expect_vertex(target);
  std::vector<VertexId> path{target};
  while (path.back() != source) {
    const std::uint32_t owner = job.ownership().home(path.back()).owner;
    const auto mine = follow(job, parents, source, path.back());
    const auto pieces = job.bootstrap().allgather(launch::pack(mine));
    const auto piece = launch::unpack<VertexId>(pieces[owner], owner);
    if (piece.empty() || path.size() + piece.size() > job.graph().vertices() + 1) refuse_circle();
    path.insert(path.end(), piece.begin(), piece.end());
    if (path.back() == kNoVertex) return {};
    job.expect_vertex(path.back());
  }
  std::ranges::reverse(path);
  return path;
}

std::vector<VertexId> path_to(std::span<const PlainId> parents, VertexId source, VertexId target) {
  std::vector<VertexId> path{target};
  while (path.back() != source) {
    const VertexId before(parents[path.back()]);
    if (before == kNoVertex) return {};
    if (path.size() > parents.size()) refuse_circle();
    path.push_back(before);
  }
  std::ranges::reverse(path);
  return path;
}

BfsAnswer answer_of(frontier::Job& job, const Bfs& search, VertexId source, const BfsQuestion& question) {
  const auto& levels = search.levels();
  process::TopK<std::uint64_t> highest(question.farthest);
  for (LocalNumber local{}; question.farthest > 0 && local < levels.size(); ++local)
    if (levels[local] != Bfs::kNone) highest.add({levels[local], job.ownership().vertex(job.rank(), local)});
  BfsAnswer answer{.farthest = highest.take()};
  // A search that is a task does this within its measured time. So there is no branch to predict.
  std::uint32_t reached = 0, levels_reached = 0;
  for (const std::uint32_t level : levels) {
    const std::uint32_t above = level + 1;  // this is 0 for kNone
    levels_reached = std::max(levels_reached, above);
    reached += std::uint32_t{above != 0};
  }
  answer.reached = reached;
  answer.depth = levels_reached == 0 ? 0 : levels_reached - 1;
  answer.edges = job.rank() == 0 ? search.reached_edges() : 0;
  if (question.target) answer.path = path_to(job, search.parents(), source, *question.target);
  if (job.rank() > 0) answer.path.clear();
  return answer;
}

BfsAnswer join_answers(launch::Bootstrap& bootstrap, const BfsAnswer& mine, std::uint64_t farthest) {
  BfsAnswer all;
  all.reached = launch::allreduce(bootstrap, mine.reached, std::plus<>());
  all.depth = launch::allreduce(bootstrap, mine.depth, std::ranges::max);
  all.edges = launch::allreduce(bootstrap, mine.edges, std::plus<>());
  all.farthest = process::top_k_of_all(bootstrap, farthest, mine.farthest);
  const auto paths = bootstrap.gather(launch::pack(mine.path));
  for (std::size_t p = 0; p < paths.size(); ++p)
    if (!paths[p].empty()) all.path = launch::unpack<VertexId>(paths[p], p);
  return all;
}

}  // namespace edgewire::kernels
