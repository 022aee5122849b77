#include "frontier/label_propagation.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "exchange/barrier.h"
#include "graph/row.h"

namespace edgewire::frontier {

namespace {

constexpr std::size_t kFew = 64;  // labels that are sorted sooner than counted
constexpr unsigned kPeerBits = 64;

}  // namespace

LabelPropagation::LabelPropagation(FrontierJob& job)
    : job_(job),
      several_(job.bootstrap().size() > 1),
      labels_(job.graph().vertices()),
      next_(job.owned()),
      peers_(several_ ? job.owned() : 0),
      news_(job.graph().vertices(), job.pool().workers() > 1),
      workers_(static_cast<std::size_t>(job.pool().workers())) {
  if (!job.graph().symmetric()) in_rows_.emplace(job);
  std::iota(labels_.begin(), labels_.end(), 0U);
  for (Worker& worker : workers_) worker.counts.resize(labels_.size());
  for (std::uint32_t local = 0; local < job.owned(); ++local)
    next_[local] = job.ownership().vertex(job.rank(), local);
  if (several_) find_peers();
}

void LabelPropagation::find_peers() {
  job_.for_each_range([this](int, std::uint32_t first, std::uint32_t last) {
    job_.ownership().visit([&](const auto& scheme) {
      for (std::uint32_t local = first; local < last; ++local) {
        const auto add = [&](std::uint32_t u) {
          peers_[local] |= std::uint64_t{1} << scheme.place(u).owner % kPeerBits;
        };
        const auto out = graph::Row{job_.graph(), scheme.vertex(job_.rank(), local)}.targets();
        std::ranges::for_each(out, add);
        std::ranges::for_each(in(local), add);
      }
    });
  });
}

std::vector<Superstep> LabelPropagation::run(std::uint64_t rounds) {
  std::vector<Superstep> supersteps;
  for (bool changed = true; changed && supersteps.size() < rounds;) {
    const Meter meter(job_);
    Superstep done = round();
    changed = changed_anywhere();
    done.step = supersteps.size();
    meter.stop(done);
    supersteps.push_back(done);
  }
  exchange::barrier(job_.bootstrap(), job_.link());
  return supersteps;
}

Superstep LabelPropagation::round() {
  for (Worker& worker : workers_) worker.vertices = worker.edges = worker.changed = 0;
  job_.for_each_range([this](int w, std::uint32_t first, std::uint32_t last) {
    vote(workers_[static_cast<std::size_t>(w)], first, last);
  });
  news_.clear();
  first_ = false;
  job_.pool().run([this](int lane) { adopt(lane); });
  Superstep done;
  for (const Worker& worker : workers_) {
    done.frontier += worker.vertices;
    done.edges += worker.edges;
  }
  return done;
}

void LabelPropagation::vote(Worker& worker, std::uint32_t first, std::uint32_t last) {
  job_.ownership().visit([&](const auto& scheme) {
    for (std::uint32_t local = first; local < last; ++local) {
      const auto out = graph::Row{job_.graph(), scheme.vertex(job_.rank(), local)}.targets();
      const auto in = this->in(local);
      if (out.empty() && in.empty()) continue;
      if (!first_ && !has_news(out) && !has_news(in)) continue;
      next_[local] = winner(worker, out, in);
    }
  });
}

bool LabelPropagation::has_news(std::span<const std::uint32_t> neighbours) const noexcept {
  return std::ranges::any_of(neighbours, [this](std::uint32_t u) { return news_.test(u); });
}

std::uint32_t LabelPropagation::winner(Worker& worker, std::span<const std::uint32_t> out,
                                       std::span<const std::uint32_t> in) const {
  ++worker.vertices;
  worker.edges += out.size() + in.size();
  if (out.size() + in.size() > kFew) return winner_of_many(worker, out, in);
  worker.few.clear();
  for (const std::uint32_t u : out) worker.few.push_back(labels_[u]);
  for (const std::uint32_t u : in) worker.few.push_back(labels_[u]);
  return winner_of_few(worker);
}

std::uint32_t LabelPropagation::winner_of_few(Worker& worker) const {
  const auto& few = worker.few;
  std::ranges::sort(worker.few);
  std::uint32_t best = few[0];
  std::size_t most = 0;
  for (std::size_t at = 0; at < few.size();) {
    const std::size_t first = at;
    while (at < few.size() && few[at] == few[first]) ++at;
    if (at - first > most) most = at - first, best = few[first];
  }
  return best;
}

std::uint32_t LabelPropagation::winner_of_many(Worker& worker, std::span<const std::uint32_t> out,
                                               std::span<const std::uint32_t> in) const {
  const auto count = [&](std::uint32_t u) {
    const std::uint32_t label = labels_[u];
    if (worker.counts[label]++ == 0) worker.met.push_back(label);
  };
  std::ranges::for_each(out, count);
  std::ranges::for_each(in, count);
  std::uint32_t best = worker.met[0], most = 0;
  for (const std::uint32_t label : worker.met) {
    const std::uint32_t votes = std::exchange(worker.counts[label], 0);
    if (votes > most || (votes == most && label < best)) most = votes, best = label;
  }
  worker.met.clear();
  return best;
}

/// The new labels become those that neighbours see. Each worker has a part of the vertices.
void LabelPropagation::adopt(int lane) {
  Worker& worker = workers_[static_cast<std::size_t>(lane)];
  const std::uint64_t owned = job_.owned(), lanes = workers_.size(), i = static_cast<std::uint64_t>(lane);
  const auto take = [this](Record record) {
    labels_[record.vertex] = record.value;
    news_.add(record.vertex);
  };
  for (auto local = static_cast<std::uint32_t>(owned * i / lanes); local < owned * (i + 1) / lanes; ++local) {
    const std::uint32_t v = job_.ownership().vertex(job_.rank(), local);
    if (labels_[v] == next_[local]) continue;
    labels_[v] = next_[local];
    news_.add(v);
    ++worker.changed;
    if (!several_) continue;
    for (int peer = 0; peer < job_.bootstrap().size(); ++peer) {
      if (peer != job_.bootstrap().rank() &&
          (peers_[local] >> static_cast<unsigned>(peer) % kPeerBits & 1) != 0)
        job_.records().send(lane, peer, {v, labels_[v]}, take);
    }
  }
  if (several_) job_.records().finish(lane, take);
}

bool LabelPropagation::changed_anywhere() {
  std::uint64_t changed = 0;
  for (const Worker& worker : workers_) changed += worker.changed;
  if (!several_) return changed > 0;
  const auto all = job_.records().share(std::span(&changed, 1));
  return std::ranges::any_of(all, [](std::uint64_t theirs) { return theirs > 0; });
}

}  // namespace edgewire::frontier
