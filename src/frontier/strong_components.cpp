#include "frontier/strong_components.h"

#include <algorithm>
#include <utility>

#include "error.h"
#include "frontier/collected_components.h"
#include "frontier/giant_component.h"

namespace edgewire::frontier {

StrongComponents::StrongComponents(FrontierJob& job, std::uint64_t collected)
    : job_(job),
      collected_(collected),
      several_(job.bootstrap().size() > 1),
      rank_(job.rank()),
      labels_(job.owned(), kNone),
      colour_memory_(job.graph().symmetric() ? 0 : job.graph().vertices() * sizeof(std::uint32_t), -1,
                     "colours", topology::Begin::staggered),
      colours_(colour_memory_.as<std::uint32_t>()),
      workers_(static_cast<std::size_t>(job.pool().workers())),
      log_(job) {
  job.expect_records(sizeof(Record));
}

std::vector<Superstep> StrongComponents::run() {
  if (job_.graph().symmetric()) {
    Components components(job_);
    auto supersteps = components.run();
    labels_ = components.labels();
    return supersteps;
  }
  std::ranges::fill(colours_, 1U);
  if (job_.graph().edges() > collected_) start_with_giant();
  step(kRows, [this] {
    rows_.emplace(job_, colours_, giant_);
    for (auto& counts : counts_) counts.resize(job_.owned());
    for_each_left([this](Worker&, LocalNumber local, VertexId) { reset_counts(local); });
  });
  for (Left left = survey(); left.edges > 0; left = survey()) {
    if (left.edges <= collected_) {
      collect();
      break;
    }
    if (left.stacked > 0) {
      trim();
      continue;
    }
    spread_colours();
    find_roots();
    gather_colours();
    tell_colours();
  }
  for_each_left([this](Worker&, LocalNumber local, VertexId vertex) { labels_[local] = vertex; });
  name_members();
  if (merged_) name_merged();
  job_.wait_for_all();
  return log_.take();
}

/// Vertices on the stacks of all processes.
std::uint64_t StrongComponents::stacked() {
  std::array<std::uint64_t, 1> mine{};
  for (const Worker& worker : workers_) mine[0] += worker.stack.size();
  return job_.sum_of_all(mine)[0];
}

bool StrongComponents::labelled(LocalNumber local) const noexcept {
  return std::atomic_ref(const_cast<std::uint32_t&>(labels_[local])).load(std::memory_order_relaxed) != kNone;
}

/// Whether it had no label before. Labels order nothing else, so all accesses are relaxed.
bool StrongComponents::label(LocalNumber local, std::uint32_t value) noexcept {
  std::uint32_t none = kNone;
  return std::atomic_ref(labels_[local]).compare_exchange_strong(none, value, std::memory_order_relaxed);
}

LocalNumber StrongComponents::checked(std::uint32_t local) const {
  if (local >= labels_.size()) throw Error("a process has sent a vertex that does not exist");
  return LocalNumber(local);
}

/// What can be reached from the component and what cannot have two colours. Where not all of the component
/// was found, what was found is one vertex from here on: the first one.
void StrongComponents::start_with_giant() {
  GiantComponent giant(job_);
  if (!giant.find(log_, {.forward = kForward, .backward = kBackward})) return;
  giant_ = giant.first();
  merged_ = !giant.complete();
  constexpr std::uint32_t kReached = 1, kOther = 2, kPiece = 1 << 14;
  const std::uint64_t vertices = job_.graph().vertices();
  job_.pool().for_each((vertices + kPiece - 1) / kPiece, [&](int, std::uint64_t piece) {
    job_.ownership().visit([&](const auto& scheme) {
      const std::uint64_t last = std::min<std::uint64_t>(vertices, (piece + 1) * kPiece);
      for (VertexId v(static_cast<std::uint32_t>(piece * kPiece)); v < last; ++v) {
        const plan::Place place = scheme.place(v);
        colours_[v] = giant.reached(place) || !giant.all_reached() ? kReached : kOther;
        if (!giant.has(place) || (merged_ && v == giant_)) continue;
        colours_[v] = merged_ ? RestRows::kMerged : kGone;
        if (place.owner == rank_) labels_[place.local] = giant_;
      }
    });
  });
}

void StrongComponents::reset_counts(LocalNumber local) {
  counts_[kOut][local] = static_cast<std::uint32_t>(rows_->out(local).size());
  counts_[kIn][local] = static_cast<std::uint32_t>(rows_->in(local).size());
}

/// Puts on the stacks what has no edges in one direction, and counts the edges that are left and the vertices
/// on the stacks, over all processes.
StrongComponents::Left StrongComponents::survey() {
  for (Worker& worker : workers_) worker.edges_left = 0;
  for_each_left([this](Worker& worker, LocalNumber local, VertexId vertex) {
    if (counts_[kOut][local] > 0 && counts_[kIn][local] > 0) {
      worker.edges_left += counts_[kOut][local];
      return;
    }
    label(local, vertex);
    worker.stack.push_back(local);
  });
  std::array<std::uint64_t, 2> mine{};
  for (const Worker& worker : workers_) {
    mine[0] += worker.edges_left;
    mine[1] += worker.stack.size();
  }
  const auto [edges, stacked] = job_.sum_of_all(mine);
  return {edges, stacked};
}

void StrongComponents::trim() {
  for (int done = 0; done == 0 || (done < kTrimmedAtOnce && stacked() > 0); ++done) {
    step_in_lanes(kTrim, [this](int lane, const auto& scheme) {
      Worker& worker = workers_[static_cast<std::size_t>(lane)];
      const auto take = [&](Record record) {
        lower(worker, checked(record.vertex), record.value == kIn ? kIn : kOut);
      };
      const auto tell = [&](std::span<const VertexId> ends, Way way) {
        worker.edges += ends.size();
        for (const VertexId v : ends) {
          const plan::Place place = scheme.place(v);
          if (place.owner == rank_)
            lower(worker, place.local, way);
          else
            job_.records().send(lane, static_cast<int>(place.owner), {place.local, way}, take);
        }
      };
      while (!worker.stack.empty()) {
        const LocalNumber local = worker.stack.back();
        worker.stack.pop_back();
        ++worker.vertices;
        tell(rows_->in(local), kOut);
        tell(rows_->out(local), kIn);
      }
      if (several_) job_.records().finish(lane, take);
    });
  }
}

/// A vertex at the other end of an edge has been trimmed.
void StrongComponents::lower(Worker& worker, LocalNumber local, Way way) {
  if (std::atomic_ref(counts_[way][local]).fetch_sub(1, std::memory_order_relaxed) != 1) return;
  if (label(local, job_.ownership().vertex(rank_, local))) worker.stack.push_back(local);
}

/// Brings the edges that are left to all processes, each of which finds all their components.
void StrongComponents::collect() {
  step(kCollect, [this] {
    job_.pool().run([this](int lane) {
      Worker& worker = workers_[static_cast<std::size_t>(lane)];
      const auto take = [&](Record record) {
        if (std::max(record.vertex, record.value) >= colours_.size())
          throw Error("a process has sent a vertex that does not exist");
        worker.collected.push_back(record);
      };
      const auto [first, last] = job_.pool().part(lane, labels_.size());
      for (LocalNumber local(static_cast<std::uint32_t>(first)); local < last; ++local) {
        if (labelled(local)) continue;
        ++worker.vertices;
        worker.edges += rows_->out(local).size();
        const VertexId vertex = job_.ownership().vertex(rank_, local);
        for (const VertexId v : rows_->out(local)) {
          take({vertex, v});
          for (int peer = 0; peer < job_.bootstrap().size(); ++peer)
            if (peer != job_.bootstrap().rank()) job_.records().send(lane, peer, Record{vertex, v}, take);
        }
      }
      if (several_) job_.records().finish(lane, take);
    });
    std::vector<Record> edges;
    for (Worker& worker : workers_) {
      edges.insert(edges.end(), worker.collected.begin(), worker.collected.end());
      worker.collected = {};
    }
    const CollectedComponents found(std::move(edges));
    for (std::size_t at = 0; at < found.vertices().size(); ++at) {
      const plan::Place place = job_.ownership().place(VertexId(found.vertices()[at]));
      if (place.owner == rank_) label(place.local, found.labels()[at]);
    }
  });
}

/// Gives those that were one with a vertex the label of that vertex.
void StrongComponents::name_merged() {
  step(kFirst, [this] {
    const plan::Place place = job_.ownership().place(giant_);
    std::uint64_t first = place.owner == rank_ ? labels_[place.local] : kNone;
    if (several_) first = job_.records().agree(first);
    job_.for_each_range([&](int, LocalNumber begin, LocalNumber end) {
      std::replace(labels_.begin() + begin, labels_.begin() + end, std::uint32_t{giant_},
                   static_cast<std::uint32_t>(first));
    });
  });
}

}  // namespace edgewire::frontier
