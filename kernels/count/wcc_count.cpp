// This file has the counts of wcc.
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "edgewire/graph.h"
#include "kernels/count/count.h"
#include "kernels/wcc/wcc.h"

namespace edgewire::kernels {

namespace {

/// The name of a component of one process: its smallest owned vertex.
using Component = PlainId;

/// A union-find forest over numbers or names, for one thread. The root of each tree is its smallest one.
class Sets {
 public:
  Component root(Component one) {
    Component top = one;
    for (auto at = parents_.find(top); at != parents_.end(); at = parents_.find(top)) top = at->second;
    for (auto at = parents_.find(one); at != parents_.end() && at->second != top; at = parents_.find(one))
      one = std::exchange(at->second, top);
    return top;
  }
  void link(Component a, Component b) {
    const auto [low, high] = std::minmax({root(a), root(b)});
    if (low != high) parents_.emplace(high, low);
  }
  /// Returns the parents of all that are no roots.
  const std::map<Component, Component>& parents() const noexcept { return parents_; }

 private:
  std::map<Component, Component> parents_;
};

/// The components that one process finds in its own rows.
struct Part {
  std::vector<PlainId> component;              ///< component of a vertex that it knows, [vertex]
  std::vector<std::vector<PlainId>> boundary;  ///< boundary vertices, ascending, [owner]
  std::optional<Component> largest;            ///< largest component that others know
  std::uint64_t largest_size = 0;              ///< number of its vertices, among those that are looked at
  std::vector<bool> in_giant;  ///< whether all know that a vertex is in the large component, [vertex]
};

/// Returns the part of a process. `edges`: the number of edges of each vertex that are linked.
Part part_of(const Graph& graph, std::uint32_t process, const partition::Ownership& ownership,
             const Names& names, std::size_t edges) {
  // An owned vertex comes before all others, so that it is the root and gives the name.
  std::vector<PlainId> parents(graph.vertices());
  std::iota(parents.begin(), parents.end(), PlainId{0});
  const auto root = [&](PlainId v) {
    while (parents[v] != v) v = parents[v] = parents[parents[v]];
    return v;
  };
  const auto order = [&](PlainId v) { return std::pair(names.owner(VertexId(v)) != process, v); };
  Part part;
  part.boundary.resize(static_cast<std::size_t>(ownership.processes()));
  for (LocalNumber local{}; local < ownership.count(process); ++local) {
    const VertexId u = ownership.vertex(process, local);
    std::size_t linked = 0;
    for (const VertexId v : graph::Row{graph, u}.targets()) {
      if (names.owner(v) != process) part.boundary[names.owner(v)].push_back(v);
      if (linked++ >= edges) continue;
      PlainId a = root(u), b = root(v);
      if (order(b) < order(a)) std::swap(a, b);
      parents[b] = a;
    }
  }
  for (auto& some : part.boundary) {
    std::ranges::sort(some);
    some.erase(std::unique(some.begin(), some.end()), some.end());
  }
  std::map<Component, std::uint64_t> sizes;
  const std::uint32_t stride = ownership.count(process) / kSampledVertices + 1;
  for (LocalNumber local{}; local < ownership.count(process); local += stride)
    ++sizes[root(ownership.vertex(process, local))];
  const auto most = std::ranges::max_element(sizes, {}, [](const auto& one) { return one.second; });
  if (most != sizes.end() &&
      most->second >= std::max(2U, (ownership.count(process) + stride - 1) / stride / 4))
    std::tie(part.largest, part.largest_size) = *most;
  part.component.resize(parents.size());
  for (PlainId v = 0; v < parents.size(); ++v) part.component[v] = root(v);
  return part;
}

/// Counts the bits. A process with a large component sends a bit for each owned vertex that a peer knows.
/// Forgets large ones that do not meet the largest one, whose process is returned.
std::uint32_t count_bits(std::vector<Part>& parts, RecordLoad& load) {
  constexpr std::uint64_t kVerticesARecord = 64;
  std::uint32_t reference = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (!parts[p].largest) continue;
    if (parts[p].largest_size > parts[reference].largest_size) reference = static_cast<std::uint32_t>(p);
    for (std::size_t peer = 0; peer < parts.size(); ++peer)
      load.add(p, peer, (parts[peer].boundary[p].size() + kVerticesARecord - 1) / kVerticesARecord);
  }
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (p == reference || !parts[p].largest) continue;
    const auto meets = [&](PlainId v) {
      return parts[p].component[v] == parts[p].largest &&
             parts[reference].component[v] == parts[reference].largest;
    };
    if (std::ranges::none_of(parts[p].boundary[reference], meets)) parts[p].largest.reset();
  }
  return reference;
}

/// Links the large component: those components of a process that are in the large one elsewhere.
void link_giant(std::vector<Part>& parts, std::uint32_t process) {
  Part& part = parts[process];
  Sets sets;
  for (std::uint32_t owner = 0; owner < parts.size(); ++owner)
    for (const PlainId v : part.boundary[owner]) {
      if (!parts[owner].in_giant[v]) continue;
      if (!part.largest) part.largest = part.component[v];
      sets.link(*part.largest, part.component[v]);
    }
  for (auto& one : part.component) one = sets.root(one);
  if (part.largest) part.largest = sets.root(*part.largest);
}

/// Returns q's boundary vertices that are open in p, and p's in q; one of both suffices in symmetric graphs.
std::array<std::vector<PlainId>, 2> open_between(const Graph& graph, const std::vector<Part>& parts,
                                                 std::uint32_t p, std::uint32_t q) {
  const auto open = [&](std::uint32_t knows, std::uint32_t owner) {
    std::vector<PlainId> some;
    for (const PlainId v : parts[knows].boundary[owner])
      if (!parts[owner].in_giant[v]) some.push_back(v);
    return some;
  };
  std::array both{open(p, q), open(q, p)};
  if (graph.symmetric()) both[both[0].size() <= both[1].size() ? 1 : 0].clear();
  return both;
}

/// A link: the components `of_p` of p and `of_q` of q are one.
struct Link {
  std::uint32_t p, q;
  Component of_p, of_q;
  bool named;  ///< whether both name them for a boundary vertex
};

/// Returns the components that are linked. A pair of processes links the names that both have for a boundary
/// vertex, once for each vertex. Parts of the large component are linked with that of `reference`.
std::vector<Link> links_of(const Graph& graph, const std::vector<Part>& parts, std::uint32_t reference) {
  std::vector<Link> links;
  const auto processes = static_cast<std::uint32_t>(parts.size());
  for (std::uint32_t p = 0; p < processes; ++p)
    if (parts[p].largest)
      links.push_back({p, reference, *parts[p].largest, *parts[reference].largest, false});
  for (std::uint32_t p = 0; p < processes; ++p)
    for (std::uint32_t q = p + 1; q < processes; ++q)
      for (const auto& some : open_between(graph, parts, p, q))
        for (const PlainId v : some)
          links.push_back({p, q, parts[p].component[v], parts[q].component[v], true});
  return links;
}

/// The list that each process sends to process 0, where that one has room to link all components.
struct Lists {
  std::vector<std::set<Component>> components;  ///< components, [process]
  /// Number of boundary vertices whose component a process names, [process].
  std::vector<std::uint64_t> names;

  /// Returns the values of 4 bytes that a process sends: a head, the vertices that name components, and names
  /// with as many bits as its components and none need.
  std::uint64_t values(std::uint32_t p, const partition::Ownership& ownership) const {
    const auto packed = [](std::uint64_t count, std::uint64_t largest) {
      std::uint64_t bits = 1;
      while (largest >> bits != 0) ++bits;
      return (count * bits + 31) / 32;
    };
    const std::uint64_t owned = ownership.count(p), count = components[p].size();
    return 1 + components.size() + std::min((owned + 31) / 32, packed(count, owned)) +
           packed(names[p], count);
  }
};

Lists lists_of(const std::vector<Link>& links, std::uint32_t processes) {
  Lists lists{std::vector<std::set<Component>>(processes), std::vector<std::uint64_t>(processes)};
  for (const Link& one : links) {
    lists.components[one.p].insert(one.of_p);
    lists.components[one.q].insert(one.of_q);
    if (!one.named) continue;
    ++lists.names[one.p];
    ++lists.names[one.q];
  }
  return lists;
}

/// Returns the label that answers need not name with the fewest records, two names in each. A run may take
/// another one, and it has at least as many components of each label, since it skips rows.
Component cheapest_label(const std::vector<std::set<Component>>& components, Sets& sets) {
  std::map<Component, std::uint64_t> saved;  // number of records saved, [label]
  for (std::size_t p = 1; p < components.size(); ++p) {
    std::map<Component, std::uint64_t> counts;
    for (const Component one : components[p]) ++counts[sets.root(one)];
    const std::uint64_t all = components[p].size();
    for (const auto& [label, count] : counts) saved[label] += (all + 1) / 2 - (all - count + 1) / 2;
  }
  const auto best = std::ranges::max_element(saved, {}, [](const auto& one) { return one.second; });
  return best == saved.end() ? Component{} : best->first;
}

/// Counts the lists that process 0 gets, and its answers.
void count_gathered(const std::vector<Link>& links, const Lists& lists, const partition::Ownership& ownership,
                    RecordLoad& load) {
  const auto processes = static_cast<std::uint32_t>(ownership.processes());
  const auto& components = lists.components;
  Sets sets;
  for (const Link& one : links) sets.link(one.of_p, one.of_q);
  const Component most = cheapest_label(components, sets);
  for (std::uint32_t p = 1; p < processes; ++p) {
    load.add(p, 0, (lists.values(p, ownership) + 1) / 2);
    const auto others = static_cast<std::uint64_t>(
        std::ranges::count_if(components[p], [&](Component one) { return sets.root(one) != most; }));
    load.add(0, p, (components[p].size() + 63) / 64 + (others + 1) / 2);
  }
}

/// Returns whether process 0 has room for the components and names that all processes tell it.
bool fits(const std::vector<Part>& parts, const Lists& lists, const partition::Ownership& ownership) {
  std::uint64_t bytes = 0, known = ownership.count(0);
  for (std::uint32_t p = 0; p < parts.size(); ++p) {
    bytes += 4 * (lists.values(p, ownership) + 1) + (4 + sizeof(VertexId)) * lists.components[p].size();
    known += parts[0].boundary[p].size();
  }
  const GatheredRoom room;
  return parts.size() == 2 || bytes <= std::max(room.bytes, room.bytes_a_vertex * known);
}

/// Counts the records with names, two in each, that one of two processes receives; then those with parents:
/// half of the components have one and send it to their owners, or more.
void count_join(const std::vector<Link>& links, const Names& names, RecordLoad& load) {
  // Number of names, [sender, receiver].
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> counts;
  Sets all;
  for (const Link& one : links) {
    all.link(one.of_p, one.of_q);
    if (!one.named) continue;
    const std::uint32_t receiver = (one.p + one.q) % 2 == 1 ? one.p : one.q,
                        sender = one.p + one.q - receiver;
    if (counts[{sender, receiver}]++ % 2 == 0) load.add(sender, receiver);
  }
  std::uint64_t with_parent = 0;
  for (const auto& [component, parent] : all.parents())
    if (const std::uint32_t owner = names.owner(VertexId(component)); owner != 0 && with_parent++ % 2 == 0)
      load.add(0, owner);
}

/// Counts the method of WccMerge.
std::vector<CountedStep> count_steps(const Graph& graph, bool on_disks,
                                     const partition::Ownership& ownership) {
  const auto processes = static_cast<std::uint32_t>(ownership.processes());
  CountedStep whole{"all labels", graph.vertices(), RecordLoad(processes)};
  if (processes == 1) return {whole};
  const Names names(graph, ownership);
  const auto parts_of = [&](std::size_t edges) {
    std::vector<Part> parts;
    for (std::uint32_t p = 0; p < processes; ++p) parts.push_back(part_of(graph, p, ownership, names, edges));
    return parts;
  };
  // Where rows are to be skipped, bits travel before all edges are linked.
  std::vector<Part> parts = parts_of(SIZE_MAX),
                    early = graph.symmetric() && !on_disks ? parts_of(Wcc::kSampledEdges) : parts;
  if (std::ranges::none_of(early, [](const Part& part) { return part.largest.has_value(); })) early = parts;
  const std::uint32_t reference = count_bits(early, whole.load);
  for (std::uint32_t p = 0; p < processes; ++p) {
    parts[p].in_giant.resize(graph.vertices());
    for (PlainId v = 0; early[p].largest && v < graph.vertices(); ++v)
      parts[p].in_giant[v] = early[p].component[v] == early[p].largest;
    parts[p].largest = early[p].largest;
    if (parts[p].largest) parts[p].largest = parts[p].component[*parts[p].largest];
  }
  for (std::uint32_t p = 0; p < processes; ++p) link_giant(parts, p);
  const auto links = links_of(graph, parts, reference);
  const Lists lists = lists_of(links, processes);
  if (fits(parts, lists, ownership))
    count_gathered(links, lists, ownership, whole.load);
  else
    count_join(links, names, whole.load);
  return {whole};
}

}  // namespace

FrontierCount count_components(const Graph& graph, bool on_disks) {
  return {"wcc", Exactness::at_least, sizeof(frontier::Record),
          [&graph, on_disks](const auto& ownership) { return count_steps(graph, on_disks, ownership); }};
}

}  // namespace edgewire::kernels
