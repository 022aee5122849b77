// This file has the work of Scc with colours, where many vertices are left.
#include <algorithm>
#include <functional>
#include <utility>

#include "base/error.h"
#include "kernels/scc/scc.h"

namespace edgewire::kernels {

/// Raises the colour of a vertex. Returns false where its colour is not lower, or it is gone.
bool Scc::raise(std::uint32_t number, PlainId value) noexcept {
  PlainId old = colour(number).load(std::memory_order_relaxed);
  while (old != kGone && old < value)
    if (colour(number).compare_exchange_weak(old, value, std::memory_order_relaxed)) return true;
  return false;
}

/// Spreads colours. All start with colours of their own. A worker spreads the largest colour that it has as
/// far as it can alone, then the next one, so that few vertices are coloured more than once.
void Scc::spread_colours() {
  std::ranges::fill(colours_, kGone);
  for_each_left([this](Worker&, LocalNumber local, VertexId vertex) { colours_[local] = colour_of(vertex); });
  for (KnownNumber n(static_cast<std::uint32_t>(labels_.size())); n < colours_.size(); ++n)
    colours_[n] = colour_of(rows_->other(n));
  frontier_.set_kind(kColour);
  auto vertices = vertices_left();
  do {
    vertices = frontier_.exchange(
        [&](int lane, const auto& tell) {
          const auto [first, last] = job_.pool().part(lane, vertices.size());
          spread(std::span(vertices).subspan(first, last - first), tell);
        },
        [this](KnownNumber v, PlainId value) { return raise(v, value); });
  } while (frontier_.sum(vertices.size()) > 0);
}

template <class Tell>
void Scc::spread(std::span<const LocalNumber> vertices, const Tell& tell) {
  const auto colour_here = [this](LocalNumber local) {
    return colour(local).load(std::memory_order_relaxed);
  };
  std::vector<std::pair<PlainId, LocalNumber>> starts;  // vertices to start from, by colour
  for (const LocalNumber local : vertices) starts.emplace_back(colour_here(local), local);
  std::ranges::sort(starts, std::greater<>());
  std::vector<LocalNumber> stack;
  std::vector<KnownNumber> others;  // vertices of other processes whose colours have risen
  for (const auto& [own, start] : starts) {
    if (colour_here(start) != own) continue;  // the worker that has raised it follows it
    for (stack.push_back(start); !stack.empty();) {
      const LocalNumber local = stack.back();
      const PlainId value = colour_here(local);
      stack.pop_back();
      tell.count(1, rows_->out(local).size());
      for (const KnownNumber n : rows_->out(local)) {
        if (!raise(n, value)) continue;
        if (n < labels_.size())
          stack.emplace_back(n);
        else
          others.push_back(n);
      }
    }
  }
  std::ranges::sort(others);
  others.erase(std::unique(others.begin(), others.end()), others.end());
  for (const KnownNumber n : others) tell_end(tell, n, colour(n).load(std::memory_order_relaxed));
}

/// Finds roots, which have kept their own colours. A vertex of this colour is in the component of the root
/// where it reaches it: this goes backward from the roots, within their colours.
void Scc::gather_colours() {
  std::vector<LocalNumber> roots;
  for (const LocalNumber local : vertices_left()) {
    const PlainId own = colour_of(job_.ownership().vertex(rank_, local));
    if (colours_[local] == own && join(workers_[0], local, own)) roots.push_back(local);
  }
  frontier_.set_kind(kGather);
  frontier_.settle(
      roots,
      [this](LocalNumber local, const auto& tell) {
        tell.count_edges(rows_->in(local).size());
        for (const KnownNumber n : rows_->in(local)) tell_end(tell, n, colours_[local]);
      },
      [this](int worker, KnownNumber v, PlainId value) {
        return join(workers_[static_cast<std::size_t>(worker)], LocalNumber(v), value);
      });
}

/// Notes that the vertex reaches one of this colour that is in the component. Returns whether it is in it,
/// and this is new.
bool Scc::join(Worker& worker, LocalNumber local, PlainId value) {
  if (colours_[local] != value || !label(local, vertex_of(value))) return false;
  worker.members.push_back(local);
  return true;
}

/// Tells colours to the processes that own neighbours. Then edges between colours are left out, at both ends.
void Scc::tell_colours() {
  step_in_lanes(kTell, [this](int lane, const auto& scheme) {
    Worker& worker = workers_[static_cast<std::size_t>(lane)];
    std::vector<LocalNumber> told(static_cast<std::size_t>(job_.bootstrap().size()),
                                  LocalNumber(0xffffffffU));  // last vertex told, [peer]
    const auto take = [&](frontier::Record record) {
      colour(rows_->number_of_other(VertexId(record.vertex))).store(record.value, std::memory_order_relaxed);
    };
    const auto [first, last] = job_.pool().part(lane, labels_.size());
    for (LocalNumber local(static_cast<std::uint32_t>(first)); local < last; ++local) {
      const VertexId vertex = scheme.vertex(rank_, local);
      if (labelled(local)) colour(local).store(kGone, std::memory_order_relaxed);
      if (rows_->numbers() == labels_.size()) continue;  // no other process has neighbours
      const PlainId value = colour(local).load(std::memory_order_relaxed);
      for (const auto ends : {rows_->out(local), rows_->in(local)}) {
        for (const KnownNumber n : ends) {
          if (n < labels_.size()) continue;
          const std::uint32_t peer = scheme.home(rows_->other(n)).owner;
          if (std::exchange(told[peer], local) == local) continue;
          ++worker.vertices;
          job_.records().send(lane, static_cast<int>(peer), {vertex, value}, take);
        }
      }
    }
    job_.records().finish(lane, take);
  });
  job_.for_each_range([this](int, LocalNumber first, LocalNumber last) {
    for (LocalNumber local = first; local < last; ++local) {
      rows_->leave_out(local, colours_, kGone);
      reset_counts(local);
    }
  });
}

/// Names the members of the other components that colours have found: the owner of the root is told the
/// vertices, and asked for the first one.
void Scc::name_members() {
  std::uint64_t members = 0;
  for (const Worker& worker : workers_) members += worker.members.size();
  if (job_.sum_of_all(members) == 0) return;
  std::vector<PlainId> firsts(labels_.size(), kNone);  // first vertices, [local number of a root]
  frontier_.set_kind(kFirst);
  frontier_.exchange(
      [this](int lane, const auto& tell) {
        for (const LocalNumber local : workers_[static_cast<std::size_t>(lane)].members)
          tell(job_.ownership().home(VertexId(labels_[local])), job_.ownership().vertex(rank_, local));
      },
      [&firsts](KnownNumber root, PlainId vertex) {
        lower(firsts[root], vertex);
        return false;
      });
  step_in_lanes(kFirst, [&](int lane, const auto& scheme) {
    // questions: peer, local number of a root here, of a vertex there.
    std::vector<std::pair<int, frontier::Record>> questions;
    const auto hear = [&](int peer, frontier::Record record) { questions.emplace_back(peer, record); };
    for (const LocalNumber local : std::exchange(workers_[static_cast<std::size_t>(lane)].members, {})) {
      const Home root = scheme.home(VertexId(labels_[local]));
      if (root.owner == rank_)
        labels_[local] = firsts[root.local];
      else
        job_.records().send(lane, static_cast<int>(root.owner), {root.local, local}, hear);
    }
    job_.records().finish(lane, hear);
    const auto learn = [&](frontier::Record record) { labels_[checked(record.vertex)] = record.value; };
    for (const auto& [peer, asked] : questions)
      job_.records().send(lane, peer, {asked.value, firsts[checked(asked.vertex)]}, learn);
    job_.records().finish(lane, learn);
  });
}

}  // namespace edgewire::kernels
