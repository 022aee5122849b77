#include "kernels/scc/scc.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/error.h"
#include "base/release.h"
#include "kernels/scc/collected.h"
#include "kernels/scc/giant.h"

namespace edgewire::kernels {

Scc::Scc(frontier::Job& job, std::uint64_t collected)
    : job_(job),
      collected_(collected),
      rank_(job.rank()),
      labels_(job.owned(), kNone),
      workers_(static_cast<std::size_t>(job.pool().workers())),
      log_(job) {
  job.expect_records(sizeof(frontier::Record));
}

std::vector<frontier::Superstep> Scc::run() {
  if (job_.graph().symmetric()) {
    Wcc components(job_);
    auto supersteps = components.run();
    labels_ = components.labels();
    return supersteps;
  }
  job_.make_rows();
  std::vector<std::uint8_t> sides = start_with_giant();
  log_.step(kRows, workers_, [&] {
    rows_.emplace(job_, sides, merged_ ? giant_ : RestRows::kNoVertex);
    release(sides);
    colours_.resize(rows_->numbers());
    for (auto& counts : counts_) counts.resize(job_.owned());
    for_each_left([this](Worker&, LocalNumber local, VertexId) { reset_counts(local); });
  });
  for (Left left = survey(); left.edges > 0; left = survey()) {
    if (left.edges <= collected_) {
      collect();
      break;
    }
    if (left.trimmed > 0) {
      trim();
      continue;
    }
    spread_colours();
    gather_colours();
    tell_colours();
  }
  for_each_left([this](Worker&, LocalNumber local, VertexId vertex) { labels_[local] = vertex; });
  name_members();
  if (merged_) name_merged();
  job_.wait_for_all();
  return log_.take();
}

std::vector<LocalNumber> Scc::vertices_left() const {
  std::vector<LocalNumber> left;
  for (LocalNumber local{}; local < labels_.size(); ++local)
    if (labels_[local] == kNone) left.push_back(local);
  return left;
}

/// Labels a vertex. Returns whether it had no label before. Labels order nothing else: all is relaxed.
bool Scc::label(LocalNumber local, PlainId value) noexcept {
  PlainId none = kNone;
  return std::atomic_ref(labels_[local]).compare_exchange_strong(none, value, std::memory_order_relaxed);
}

LocalNumber Scc::checked(PlainId local) const {
  if (local >= labels_.size()) throw Error("a process has sent a vertex that does not exist");
  return LocalNumber(static_cast<std::uint32_t>(local));
}

/// Returns sides by the numbers of the job's boundary: the vertices that the component reaches, and the
/// others. Where not all of the component was found, the part is one vertex from here on.
std::vector<std::uint8_t> Scc::start_with_giant() {
  std::vector<std::uint8_t> sides(job_.known(), RestRows::kReached);
  if (job_.graph().edges() <= collected_) return sides;
  GiantComponent giant(job_);
  if (!giant.find(log_)) return sides;
  giant_ = giant.first();
  merged_ = !giant.complete();
  job_.for_pieces(sides.size(), [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const KnownNumber n(static_cast<std::uint32_t>(i));
      if (giant.all_reached() && !giant.reached(n)) sides[i] = RestRows::kOther;
      if (!giant.has(n)) continue;
      sides[i] = merged_ ? RestRows::kMerged : RestRows::kGone;
      if (i < labels_.size()) labels_[i] = giant_;
    }
  });
  if (const Home home = job_.ownership().home(giant_); merged_ && home.owner == rank_)
    labels_[home.local] = kNone;
  return sides;
}

void Scc::reset_counts(LocalNumber local) {
  counts_[kOut][local] = static_cast<std::uint32_t>(rows_->out(local).size());
  counts_[kIn][local] = static_cast<std::uint32_t>(rows_->in(local).size());
}

/// Labels vertices without edges in one direction, and counts edges left and vertices to trim, over all.
Scc::Left Scc::survey() {
  for (Worker& worker : workers_) worker.edges_left = 0;
  for_each_left([this](Worker& worker, LocalNumber local, VertexId vertex) {
    if (counts_[kOut][local] > 0 && counts_[kIn][local] > 0) {
      worker.edges_left += counts_[kOut][local];
      return;
    }
    label(local, vertex);
    worker.trimmed.push_back(local);
  });
  std::uint64_t edges_left = 0;
  for (Worker& worker : workers_) {
    edges_left += worker.edges_left;
    trimmed_.insert(trimmed_.end(), worker.trimmed.begin(), worker.trimmed.end());
    worker.trimmed.clear();
  }
  const auto [edges, trimmed] = job_.sum_of_all(std::array{edges_left, std::uint64_t{trimmed_.size()}});
  return {edges, trimmed};
}

void Scc::trim() {
  frontier_.set_kind(kTrim);
  const auto visit = [this](LocalNumber local, const auto& tell) {
    tell.count_edges(rows_->in(local).size() + rows_->out(local).size());
    for (const KnownNumber n : rows_->in(local)) tell_end(tell, n, kOut);
    for (const KnownNumber n : rows_->out(local)) tell_end(tell, n, kIn);
  };
  const auto hear = [this](KnownNumber v, PlainId way) {
    return lower_count(LocalNumber(v), way == kIn ? kIn : kOut);
  };
  trimmed_ = frontier_.settle(std::exchange(trimmed_, {}), visit, hear, {}, kTrimmedAtOnce);
}

/// Lowers the count of a vertex, whose neighbour was trimmed. Returns whether that trims the vertex.
bool Scc::lower_count(LocalNumber local, Way way) {
  if (std::atomic_ref(counts_[way][local]).fetch_sub(1, std::memory_order_relaxed) != 1) return false;
  return label(local, job_.ownership().vertex(rank_, local));
}

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

/// Notes that the vertex reaches one of this colour that is in the component. Returns whether this is news.
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

/// Names the members of components of colours: the root's owner is told them, and asked for the first.
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

/// Brings the edges that are left to all processes, each of which finds all their components.
void Scc::collect() {
  log_.step(kCollect, workers_, [this] {
    job_.pool().run([this](int lane) {
      Worker& worker = workers_[static_cast<std::size_t>(lane)];
      const auto take = [&](frontier::Record record) {
        if (std::max(record.vertex, record.value) >= job_.graph().vertices())
          throw Error("a process has sent a vertex that does not exist");
        worker.collected.push_back(record);
      };
      const auto [first, last] = job_.pool().part(lane, labels_.size());
      for (LocalNumber local(static_cast<std::uint32_t>(first)); local < last; ++local) {
        if (labelled(local)) continue;
        ++worker.vertices;
        worker.edges += rows_->out(local).size();
        const VertexId vertex = job_.ownership().vertex(rank_, local);
        for (const KnownNumber n : rows_->out(local)) {
          const VertexId v =
              n < labels_.size() ? job_.ownership().vertex(rank_, LocalNumber(n)) : rows_->other(n);
          take({vertex, v});
          for (int peer = 0; peer < job_.bootstrap().size(); ++peer)
            if (peer != job_.bootstrap().rank())
              job_.records().send(lane, peer, frontier::Record{vertex, v}, take);
        }
      }
      job_.records().finish(lane, take);
    });
    std::vector<frontier::Record> edges;
    for (Worker& worker : workers_) {
      edges.insert(edges.end(), worker.collected.begin(), worker.collected.end());
      release(worker.collected);
    }
    const CollectedComponents found(std::move(edges));
    for (std::size_t at = 0; at < found.vertices().size(); ++at) {
      const Home home = job_.ownership().home(VertexId(found.vertices()[at]));
      if (home.owner == rank_) label(home.local, found.labels()[at]);
    }
  });
}

/// Gives the vertices that were one with a vertex the label of that vertex.
void Scc::name_merged() {
  log_.step(kFirst, workers_, [this] {
    const Home home = job_.ownership().home(giant_);
    const std::uint64_t first = job_.min_of_all(home.owner == rank_ ? labels_[home.local] : kNone);
    job_.for_each_range([&](int, LocalNumber begin, LocalNumber end) {
      std::replace(labels_.begin() + begin, labels_.begin() + end, PlainId{giant_},
                   static_cast<PlainId>(first));
    });
  });
}

}  // namespace edgewire::kernels
