#include "kernels/scc/rest_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/release.h"

namespace edgewire::kernels {

RestRows::RestRows(frontier::Job& job, std::span<const std::uint8_t> sides, VertexId merged)
    : job_(job),
      sides_(sides),
      merged_(merged),
      rank_(job.rank()),
      owned_(job.owned()),
      others_of_(job.known() - job.owned()) {
  if (merged_ != kNoVertex) merged_home_ = job.ownership().home(merged_);
  for (Rows* rows : {&out_, &in_}) {
    rows->begins.resize(owned_);
    rows->lengths.resize(owned_);
  }
  const auto lanes = static_cast<std::size_t>(job.pool().workers());
  Came in(lanes), out(lanes);
  exchange(in_, in, [this](const End& from, const End& to) { count(from, to); });
  // Only edges of `merged` travel.
  if (merged_ != kNoVertex) exchange(out_, out, [](const End&, const End&) {});
  out_.make_room();
  in_.make_room();
  number_others(in, out);
  fill(in, out);
  release(others_of_);
  sides_ = {};
}

/// Calls work(from, to) for all kept edges of owned vertices in the lane's part.
template <class Work>
void RestRows::each_edge(int lane, const Work& work) const {
  const frontier::KnownRows rows = job_.rows();
  const auto end_of = [this](KnownNumber n) {
    const bool merged = sides_[n] == kMerged;
    const Home home = merged       ? merged_home_
                      : n < owned_ ? Home{rank_, LocalNumber(n)}
                                   : job_.boundary().home(n);
    return End{home, n, merged};
  };
  const auto part = job_.pool().part(lane, owned_);
  for (LocalNumber local(static_cast<std::uint32_t>(part.first)); local < part.last; ++local) {
    if (sides_[local] == kGone) continue;
    const auto side_of = [this](std::uint32_t n) { return sides_[n] == kMerged ? kReached : sides_[n]; };
    for (const KnownNumber n : rows[local]) {
      if (side_of(n) != side_of(local)) continue;
      if (n == std::uint32_t{local} || (sides_[n] == kMerged && sides_[local] == kMerged)) continue;
      work(end_of(KnownNumber(local)), end_of(n));
    }
  }
}

VertexId RestRows::vertex(const End& end) const {
  if (end.merged) return merged_;
  return end.known < owned_ ? job_.ownership().vertex(rank_, LocalNumber(end.known))
                            : job_.boundary().vertex(end.known);
}

KnownNumber RestRows::number(const End& end) const {
  if (end.home.owner == rank_) return KnownNumber(end.home.local);
  if (end.merged) return number_of_other(merged_);
  return KnownNumber(others_of_[end.known - owned_]);
}

KnownNumber RestRows::number_of_other(VertexId vertex) const {
  const auto at = std::ranges::lower_bound(others_, vertex);
  if (at == others_.end() || *at != vertex)
    throw Error("a process has sent a vertex that no edge leads to or comes from");
  return KnownNumber(owned_ + static_cast<std::uint32_t>(at - others_.begin()));
}

/// Marks an end that gets a number.
void RestRows::mark(const End& end) noexcept {
  if (end.home.owner != rank_ && !end.merged)
    std::atomic_ref(others_of_[end.known - owned_]).store(1, std::memory_order_relaxed);
}

/// Brings the rows' edges of other processes to them, and calls count(from, to) for all edges of this one.
template <class Count>
void RestRows::exchange(Rows& rows, Came& came, const Count& count) {
  const bool is_out = &rows == &out_;
  job_.pool().run([&](int lane) {
    auto& mine = came[static_cast<std::size_t>(lane)];
    const auto take = [&](frontier::Record edge) {
      if (edge.vertex >= owned_ || edge.value >= job_.graph().vertices())
        throw Error("a process has sent an edge of a vertex that does not exist");
      rows.count(frontier::local_of(edge));
      mine.push_back(edge);
    };
    each_edge(lane, [&](const End& from, const End& to) {
      count(from, to);
      const End &here = is_out ? from : to, &there = is_out ? to : from;
      if (here.home.owner == rank_) return;
      job_.records().send(lane, static_cast<int>(here.home.owner),
                          frontier::Record{here.home.local, vertex(there)}, take);
    });
    if (job_.bootstrap().size() > 1) job_.records().finish(lane, take);
  });
}

/// Counts an edge where its ends are owned, and marks the other end for a number.
void RestRows::count(const End& from, const End& to) {
  if (from.home.owner == rank_) {
    out_.count(from.home.local);
    mark(to);
  }
  if (to.home.owner == rank_) {
    in_.count(to.home.local);
    mark(from);
  }
}

/// Gives numbers to the vertices of other processes at the ends of edges that are kept.
void RestRows::number_others(const Came& in, const Came& out) {
  for (std::uint32_t i = 0; i < others_of_.size(); ++i)
    if (others_of_[i] != 0) others_.push_back(job_.boundary().vertex(KnownNumber(owned_ + i)));
  if (merged_ != kNoVertex && merged_home_.owner != rank_) others_.push_back(merged_);
  for (const Came* came : {&in, &out})
    for (const auto& edges : *came)
      for (const frontier::Record edge : edges) {
        const VertexId other(edge.value);
        if ((others_.empty() || others_.back() != other) && job_.ownership().home(other).owner != rank_)
          others_.push_back(other);
      }
  std::ranges::sort(others_);
  others_.erase(std::unique(others_.begin(), others_.end()), others_.end());
  others_.shrink_to_fit();
  if (std::uint64_t{owned_} + others_.size() > kMostOfAProcess)
    throw Error(fmt::format("edges of one process have {} vertices, more than {}: use more processes",
                            owned_ + others_.size(), kMostOfAProcess));
  for (std::uint32_t i = 0; i < others_of_.size(); ++i)
    if (others_of_[i] != 0) others_of_[i] = number_of_other(job_.boundary().vertex(KnownNumber(owned_ + i)));
}

void RestRows::fill(const Came& in, const Came& out) {
  const auto number_of = [this](VertexId vertex) {
    const Home home = job_.ownership().home(vertex);
    return home.owner == rank_ ? KnownNumber(home.local) : number_of_other(vertex);
  };
  job_.pool().run([&](int lane) {
    each_edge(lane, [&](const End& from, const End& to) {
      if (from.home.owner == rank_) out_.add(from.home.local, number(to));
      if (to.home.owner == rank_) in_.add(to.home.local, number(from));
    });
    for (const auto& [rows, came] : {std::pair(&in_, &in), std::pair(&out_, &out)})
      for (const frontier::Record edge : (*came)[static_cast<std::size_t>(lane)])
        rows->add(frontier::local_of(edge), number_of(VertexId(edge.value)));
  });
}

/// Makes room for the counted lengths, which are 0 afterwards.
void RestRows::Rows::make_room() {
  std::uint64_t sum = 0;
  for (std::size_t local = 0; local < lengths.size(); ++local) {
    begins[local] = sum;
    sum += lengths[local];
    lengths[local] = 0;
  }
  ends.resize(sum);
}

/// Counts an edge of the vertex. Several workers may do so for the same vertex. Returns how many were there.
std::uint32_t RestRows::Rows::count(LocalNumber local) {
  const std::uint32_t before = std::atomic_ref(lengths[local]).fetch_add(1, std::memory_order_relaxed);
  if (before == std::numeric_limits<std::uint32_t>::max())
    throw Error(
        "more than 4294967295 edges lead to or from one vertex or component, which is more than scc "
        "can count");
  return before;
}

void RestRows::Rows::leave_out(LocalNumber local, std::span<const PlainId> colours, PlainId gone) {
  std::uint32_t kept = 0;
  const std::span row(ends.data() + begins[local], lengths[local]);
  const PlainId colour = colours[local];
  if (colour != gone)
    for (const KnownNumber other : row)
      if (colours[other] == colour) row[kept++] = other;
  lengths[local] = kept;
}

}  // namespace edgewire::kernels
