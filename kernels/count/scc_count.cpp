// This file has the counts of scc.
#include <algorithm>
#include <functional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "edgewire/graph.h"
#include "kernels/check/plain.h"
#include "kernels/count/count.h"
#include "kernels/scc/giant.h"
#include "kernels/scc/scc.h"

namespace edgewire::kernels {

namespace {

/// Counts where the edges are few: each process sends those to vertices of others to their owners, and then
/// to all others the edges of its vertices that have an edge in and an edge out, loops not counted.
std::vector<CountedStep> count_few_edges(const Graph& graph, const partition::Ownership& ownership) {
  const auto processes = static_cast<std::size_t>(ownership.processes());
  CountedStep keep{"keep the edges that are left, both ways", 0, RecordLoad(processes)};
  CountedStep collect{"collect the edges that are left", 0, RecordLoad(processes)};
  std::vector<bool> has_in(graph.vertices());
  std::vector<std::uint64_t> out(graph.vertices());
  for (VertexId u{}; u < graph.vertices(); ++u) {
    for (const VertexId v : graph::Row{graph, u}.targets()) {
      if (const auto from = ownership.home(u).owner, to = ownership.home(v).owner; from != to)
        keep.load.add(from, to);
      if (u == v) continue;
      has_in[v] = true;
      ++out[u];
    }
  }
  for (VertexId u{}; u < graph.vertices(); ++u) {
    if (!has_in[u] || out[u] == 0) continue;
    ++collect.frontier;
    const std::uint32_t owner = ownership.home(u).owner;
    for (std::uint32_t peer = 0; peer < processes; ++peer)
      if (peer != owner) collect.load.add(owner, peer, out[u]);
  }
  if (collect.frontier == 0) return {keep};
  return {keep, collect};
}

/// A sequential run for processes with one worker each, which counts what they send to each other. See scc.h
/// for the method. It shares no code with the kernel but the choices that this makes: the vertex to search
/// from, when a round pays, and the colours. Memory: about 40 bytes for each vertex and 8 for each edge that
/// may be on another cycle than those of the largest component, and what count_breadth_first() takes.
class SccRun {
 public:
  SccRun(const Graph& graph, const partition::Ownership& ownership)
      : graph_(graph),
        ownership_(ownership),
        processes_(static_cast<std::uint32_t>(ownership.processes())),
        vertices_(graph.vertices()),
        load_(processes_),
        owners_(vertices_),
        labels_(vertices_, kNone),
        colours_(vertices_, PlainId{1}),
        raised_(processes_),
        stacks_(processes_) {
    for (VertexId v{}; v < vertices_; ++v) owners_[v] = ownership.home(v).owner;
  }

  /// Counts the records. Call it once.
  RecordLoad count() {
    if (processes_ == 1) return load_;
    start_with_giant();
    keep_rows();
    for (std::uint64_t left = survey(); left > 0; left = survey()) {
      if (left <= Scc::kCollected) {
        collect();
        break;
      }
      if (stacked()) {
        trim();
        continue;
      }
      spread_colours();
      gather_colours();
      tell_colours();
    }
    name_members();
    return load_;
  }

 private:
  static constexpr PlainId kNone = kNoVertex;                   // stands for no label
  static constexpr PlainId kIsGone = 0, kIsMerged = kNoVertex;  // colours of vertices that are gone or merged
  /// The edges in one direction, of all vertices.
  struct Rows {
    std::vector<std::uint64_t> begins;
    std::vector<std::uint32_t> lengths;
    std::vector<VertexId> ends;
    /// The numbers of edges that trimming has left.
    std::vector<std::uint32_t> counts;

    std::span<const VertexId> of(VertexId v) const { return {ends.data() + begins[v], lengths[v]}; }
    void add(VertexId v, VertexId end) { ends[begins[v] + lengths[v]++] = end; }
    /// Makes room for the counted lengths, which are 0 afterwards.
    void make_room() {
      std::uint64_t sum = 0;
      begins.clear();
      for (std::uint32_t& length : lengths) {
        begins.push_back(sum);
        sum += std::exchange(length, 0);
      }
      ends.resize(sum);
    }
    void leave_out(const std::vector<PlainId>& colours) {
      for (VertexId v{}; v < lengths.size(); ++v) {
        std::uint32_t kept = 0;
        for (const VertexId end : of(v))
          if (colours[v] != kIsGone && colours[end] == colours[v]) ends[begins[v] + kept++] = end;
        lengths[v] = kept;
      }
      counts = lengths;
    }
  };

  bool labelled(VertexId v) const { return labels_[v] != kNone; }

  /// Starts with the giant component, and does nothing where no process proposes a vertex to search from.
  void start_with_giant() {
    GiantComponent::Candidate best;
    for (std::uint32_t p = 0; p < processes_; ++p) {
      const auto one = GiantComponent::candidate(graph_, ownership_, p);
      if (one.product > best.product) best = one;
    }
    if (best.product == 0) return;
    const VertexId pivot(static_cast<PlainId>(best.vertex));
    bool all_reached = true, all_joined = true;
    const auto reached = search_forward(pivot, all_reached);
    const auto joined = search_backward(pivot, reached, all_joined);
    const bool merged = !all_reached || !all_joined;
    giant_ = VertexId(static_cast<PlainId>(std::ranges::find(joined, true) - joined.begin()));
    for (VertexId v{}; v < vertices_; ++v) {
      colours_[v] = reached[v] || !all_reached ? 1 : 2;
      if (!joined[v] || (merged && v == giant_)) continue;
      colours_[v] = merged ? kIsMerged : kIsGone;
      labels_[v] = giant_;
    }
  }

  std::vector<bool> search_forward(VertexId pivot, bool& all_reached) {
    const auto levels = plain_breadth_first(graph_, pivot);
    const auto steps = count_breadth_first(graph_, pivot).count(ownership_);
    std::vector<bool> reached(vertices_);
    std::uint64_t thin = 0;
    for (std::size_t l = 0; l < levels.count(); ++l) {
      for (const VertexId v : levels.of(l)) reached[v] = true;
      thin = levels.of(l).size() < GiantComponent::kThin ? thin + 1 : 0;
      all_reached = thin <= GiantComponent::kThinLevels;
      if (!all_reached) break;
      load_.add(steps[l].load);
    }
    return reached;
  }

  /// Searches backward. A process sees at once which of its vertices have joined, and others' a round later.
  std::vector<bool> search_backward(VertexId pivot, const std::vector<bool>& reached, bool& all_joined) {
    const RecordLoad bits = bits_of_known(graph_, ownership_);
    std::vector<bool> joined(vertices_), waits = reached;
    joined[pivot] = true;
    for (VertexId v{}; v < vertices_; ++v)
      if (v == pivot || graph::Row{graph_, v}.degree() == 0) waits[v] = false;
    for (std::uint64_t round = 1;; ++round) {
      load_.add(bits);
      const std::vector<bool> told = joined;
      std::uint64_t found = 0, edges = 0;
      for (std::uint32_t p = 0; p < processes_; ++p) {
        for (LocalNumber local{}; local < ownership_.count(p); ++local) {
          const VertexId v = ownership_.vertex(p, local);
          if (!waits[v]) continue;
          for (const VertexId target : graph::Row{graph_, v}.targets()) {
            ++edges;
            if (!(owners_[target] == p ? joined : told)[target]) continue;
            joined[v] = true;
            waits[v] = false;
            ++found;
            break;
          }
        }
      }
      const auto left = static_cast<std::uint64_t>(std::ranges::count(waits, true));
      all_joined = found == 0 || left == 0;
      if (all_joined || !GiantComponent::pays(round, found, left, edges, vertices_)) return joined;
    }
  }

  /// Calls visit(at, u, v) for edges u to v, in the row of `at`, that may be on a cycle. The joined are one.
  template <class Visit>
  void each_edge(const Visit& visit) const {
    const auto one_with = [&](VertexId v) { return colours_[v] == kIsMerged ? giant_ : v; };
    for (VertexId at{}; at < vertices_; ++at) {
      if (colours_[at] == kIsGone) continue;
      const VertexId u = one_with(at);
      for (const VertexId target : graph::Row{graph_, at}.targets())
        if (const VertexId v = one_with(target); colours_[v] == colours_[u] && v != u) visit(at, u, v);
    }
  }

  /// Keeps rows: the owner of a row sends its edges to the owners of their ends.
  void keep_rows() {
    for (Rows* rows : {&out_, &in_}) rows->lengths.resize(vertices_);
    each_edge([&](VertexId at, VertexId u, VertexId v) {
      for (const VertexId end : {u, v})
        if (owners_[end] != owners_[at]) load_.add(owners_[at], owners_[end]);
      ++out_.lengths[u];
      ++in_.lengths[v];
    });
    for (Rows* rows : {&out_, &in_}) rows->make_room();
    each_edge([&](VertexId, VertexId u, VertexId v) {
      out_.add(u, v);
      in_.add(v, u);
    });
    for (Rows* rows : {&out_, &in_}) rows->counts = rows->lengths;
  }

  /// Returns the edges left of vertices with edges in both directions; the others go onto the stacks.
  std::uint64_t survey() {
    std::uint64_t edges = 0;
    for (VertexId v{}; v < vertices_; ++v) {
      if (labelled(v)) continue;
      if (out_.counts[v] > 0 && in_.counts[v] > 0) {
        edges += out_.counts[v];
        continue;
      }
      labels_[v] = v;
      stacks_[owners_[v]].push_back(v);
    }
    return edges;
  }

  bool stacked() const {
    return std::ranges::any_of(stacks_, [](const auto& stack) { return !stack.empty(); });
  }

  void trim() {
    for (int done = 0; done < Scc::kTrimmedAtOnce && stacked(); ++done) {
      for (std::uint32_t p = 0; p < processes_; ++p) {
        const auto tell = [&](std::span<const VertexId> ends, Rows& rows) {
          for (const VertexId v : ends) {
            if (owners_[v] == p) {
              lower(rows, v);
              continue;
            }
            load_.add(p, owners_[v]);
            messages_.emplace_back(v, &rows == &in_ ? 1U : 0U);
          }
        };
        while (!stacks_[p].empty()) {
          const VertexId v = stacks_[p].back();
          stacks_[p].pop_back();
          tell(in_.of(v), out_);
          tell(out_.of(v), in_);
        }
      }
      for (const auto& [v, is_in] : std::exchange(messages_, {})) lower(is_in != 0 ? in_ : out_, v);
    }
  }

  void lower(Rows& rows, VertexId v) {
    if (--rows.counts[v] > 0 || labelled(v)) return;
    labels_[v] = v;
    stacks_[owners_[v]].push_back(v);
  }

  void spread_colours() {
    for (auto& raised : raised_) raised.clear();
    for (VertexId v{}; v < vertices_; ++v) {
      colours_[v] = labelled(v) ? kIsGone : Scc::colour_of(v);
      if (!labelled(v)) stacks_[owners_[v]].push_back(v);
    }
    while (stacked()) {
      for (std::uint32_t p = 0; p < processes_; ++p) spread(p);
      for (const auto& [v, colour] : std::exchange(messages_, {}))
        if (raise(colours_[v], colour)) stacks_[owners_[v]].push_back(v);
    }
  }

  bool raise(PlainId& colour, PlainId value) const {
    if (colour == kIsGone || colour >= value) return false;
    colour = value;
    return true;
  }

  /// Spreads colours as far as a process can alone, the largest first; then it tells owners what has risen.
  void spread(std::uint32_t process) {
    std::vector<std::pair<PlainId, VertexId>> starts;
    for (const VertexId v : std::exchange(stacks_[process], {})) starts.emplace_back(colours_[v], v);
    std::ranges::sort(starts, std::greater<>());
    std::vector<VertexId> stack, others;
    auto& raised = raised_[process];
    for (const auto& [own, start] : starts) {
      if (colours_[start] != own) continue;
      for (stack.push_back(start); !stack.empty();) {
        const VertexId u = stack.back();
        const PlainId value = colours_[u];
        stack.pop_back();
        for (const VertexId v : out_.of(u)) {
          if (owners_[v] == process) {
            if (raise(colours_[v], value)) stack.push_back(v);
          } else if (raise(raised.try_emplace(v, Scc::colour_of(v)).first->second, value)) {
            others.push_back(v);
          }
        }
      }
    }
    std::ranges::sort(others);
    others.erase(std::unique(others.begin(), others.end()), others.end());
    for (const VertexId v : others) {
      load_.add(process, owners_[v]);
      messages_.emplace_back(v, raised[v]);
    }
  }

  /// Goes backward from the vertices that have kept their colours, within these.
  void gather_colours() {
    std::vector<VertexId> stack;
    for (VertexId v{}; v < vertices_; ++v)
      if (!labelled(v) && colours_[v] == Scc::colour_of(v)) join(v, colours_[v], stack);
    while (!stack.empty()) {
      const VertexId u = stack.back();
      stack.pop_back();
      for (const VertexId v : in_.of(u)) {
        if (owners_[v] != owners_[u]) load_.add(owners_[u], owners_[v]);
        join(v, colours_[u], stack);
      }
    }
  }

  void join(VertexId v, PlainId colour, std::vector<VertexId>& stack) {
    if (colours_[v] != colour || labelled(v)) return;
    labels_[v] = Scc::vertex_of(colour);
    stack.push_back(v);
    members_.push_back(v);
  }

  /// Tells each vertex to all processes that own neighbours.
  void tell_colours() {
    std::vector<PlainId> told(processes_, kNone);
    for (VertexId v{}; v < vertices_; ++v) {
      if (labelled(v)) colours_[v] = kIsGone;
      told[owners_[v]] = v;
      for (const Rows* rows : {&out_, &in_})
        for (const VertexId end : rows->of(v))
          if (std::exchange(told[owners_[end]], v) != v) load_.add(owners_[v], owners_[end]);
    }
    for (Rows* rows : {&out_, &in_}) rows->leave_out(colours_);
  }

  void collect() {
    for (VertexId v{}; v < vertices_; ++v) {
      if (labelled(v)) continue;
      for (std::uint32_t peer = 0; peer < processes_; ++peer)
        if (peer != owners_[v]) load_.add(owners_[v], peer, out_.lengths[v]);
    }
  }

  /// Names members: the owner of a root is told each member, asked by its owner, and answers.
  void name_members() {
    for (const VertexId v : members_) {
      const std::uint32_t mine = owners_[v], other = owners_[labels_[v]];
      if (mine == other) continue;
      load_.add(mine, other);
      load_.add(mine, other);
      load_.add(other, mine);
    }
  }

  const Graph& graph_;
  const partition::Ownership& ownership_;
  std::uint32_t processes_;
  std::uint64_t vertices_;
  RecordLoad load_;
  std::vector<std::uint32_t> owners_;  ///< owners, [vertex]
  std::vector<PlainId> labels_;        ///< labels, likewise
  std::vector<PlainId> colours_;       ///< colours as the owners know them, [vertex]
  /// Colours of other processes' vertices that a process has raised, [process].
  std::vector<std::unordered_map<PlainId, PlainId>> raised_;
  std::vector<std::vector<VertexId>> stacks_;  ///< stacks, [process]
  std::vector<VertexId> members_;
  Rows out_, in_;
  VertexId giant_{kNone};
  /// Messages (vertex, value) of the end of a superstep, which reach their vertices in the next one.
  std::vector<std::pair<VertexId, PlainId>> messages_;
};

}  // namespace

FrontierCount count_strong_components(const Graph& graph) {
  if (graph.symmetric()) return count_components(graph);
  if (graph.edges() <= Scc::kCollected)
    return {"scc", Exactness::exact, sizeof(frontier::Record),
            [&graph](const auto& ownership) { return count_few_edges(graph, ownership); }};
  // With more workers than one in each process other vertices may join in a round, and other rounds pay.
  return {"scc", Exactness::about, sizeof(frontier::Record),
          [&graph](const auto& ownership) -> std::vector<CountedStep> {
            return {{"all components", graph.vertices(), SccRun(graph, ownership).count()}};
          }};
}

}  // namespace edgewire::kernels
