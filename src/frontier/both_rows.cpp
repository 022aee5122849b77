#include "frontier/both_rows.h"

#include <atomic>

#include "base/error.h"
#include "edgewire/graph.h"
#include "frontier/records.h"

namespace edgewire::frontier {

namespace {

/// Calls take(u, place of v) for all edges from the owned vertices [first, last) to any v.
template <class Take>
void each_edge(Job& job, std::uint64_t first, std::uint64_t last, const Take& take) {
  std::vector<VertexId> room;
  job.ownership().visit([&](const auto& scheme) {
    for (LocalNumber local(static_cast<std::uint32_t>(first)); local < last; ++local) {
      const VertexId u = scheme.vertex(job.rank(), local);
      for (const VertexId v : job.ids_of(local, room)) take(u, scheme.home(v));
    }
  });
}

}  // namespace

InRows::InRows(Job& job) {
  // Behind the entry that stays 0: counts of edges at first, then ends of rows that move on with each edge.
  rows_.begins.resize(job.owned() + std::size_t{1});
  const auto count = [this](LocalNumber local) {
    return std::atomic_ref(rows_.begins[local + std::size_t{1}]).fetch_add(1, std::memory_order_relaxed);
  };
  // Edges from other processes.
  std::vector<std::vector<Record>> came(static_cast<std::size_t>(job.pool().workers()));
  job.pool().run([&](int lane) {
    auto& mine = came[static_cast<std::size_t>(lane)];
    const auto take = [&](Record edge) {
      if (edge.vertex >= job.owned() || edge.value >= job.graph().vertices())
        throw Error("a process has sent an edge of a vertex that does not exist");
      count(local_of(edge));
      mine.push_back(edge);
    };
    const auto part = job.pool().part(lane, job.owned());
    each_edge(job, part.first, part.last, [&](VertexId u, Home v) {
      if (v.owner == job.rank())
        count(v.local);
      else
        job.records().send(lane, static_cast<int>(v.owner), Record{v.local, u}, take);
    });
    job.records().finish(lane, take);
  });
  std::uint64_t sum = 0;
  for (std::uint64_t& end : std::span(rows_.begins).subspan(1)) end = std::exchange(sum, sum + end);
  rows_.entries = topology::NodeMemory(sum * sizeof(VertexId), -1, "edges to vertices");
  const auto sources = rows_.entries.as<VertexId>();
  job.pool().run([&](int lane) {
    const auto part = job.pool().part(lane, job.owned());
    each_edge(job, part.first, part.last, [&](VertexId u, Home v) {
      if (v.owner == job.rank()) sources[count(v.local)] = u;
    });
    for (const Record edge : std::exchange(came[static_cast<std::size_t>(lane)], {}))
      sources[count(local_of(edge))] = VertexId(edge.value);
  });
}

void make_boundary_of_both(Job& job, const InRows& in, std::optional<Boundary>& boundary) {
  if (!job.is_only())
    boundary.emplace(job.graph(), job.all_ids(), job.ownership(), job.rank(), job.pool(), job.records(), &in);
}

BothRows::BothRows(Job& job) {
  job.expect_records(sizeof(Record));
  boundary_ = &job.boundary();
  if (job.graph().symmetric()) {
    job.make_rows();
    out_ = job.rows();
    return;
  }
  InRows in(job);
  make_boundary_of_both(job, in, own_boundary_);
  if (own_boundary_) {
    boundary_ = &*own_boundary_;
    own_out_.emplace(job.copy_rows(boundary_));
    out_ = own_out_->rows();
  } else {
    job.make_rows();
    out_ = job.rows();
  }
  own_in_.emplace(std::move(in).take(), own_boundary_ ? boundary_ : nullptr, job.pool());
  in_ = own_in_->rows();
}

}  // namespace edgewire::frontier
