#include "kernels/bc_levels.h"

#include <array>
#include <utility>

namespace edgewire::kernels {

namespace {

template <class T>
void move_all(std::vector<T>& from, std::vector<T>& to) {
  to.insert(to.end(), from.begin(), from.end());
  from.clear();
}

}  // namespace

template <class Number>
BcLevels<Number>::BcLevels(frontier::Job& job, bool endpoints)
    : job_(job),
      records_(job),
      endpoints_(endpoints),
      alone_(job.pool().workers() == 1),
      sigma_memory_(job.known() * sizeof(Number), -1, "numbers of paths", topology::Begin::staggered),
      shares_memory_(job.known() * sizeof(Number), -1, "dependencies", topology::Begin::staggered),
      sums_memory_(job.owned() * sizeof(Number), -1, "sums of dependencies", topology::Begin::staggered),
      sigma_(sigma_memory_.as<Number>()),
      shares_(shares_memory_.as<Number>()),
      sums_(sums_memory_.as<Number>()),
      visited_(job.known(), !alone_),
      in_level_(job.known(), !alone_),
      owned_words_((job.owned() + std::size_t{Bits::kBits} - 1) / Bits::kBits),
      workers_(static_cast<std::size_t>(job.pool().workers())) {
  job.expect_records(sizeof(frontier::WideRecord));
  job.make_rows();
}

template <class Number>
bool BcLevels<Number>::add(VertexId source, BcSums& sums) {
  out_ = &sums;
  start(source);
  if (!count_paths()) return false;
  accumulate();
  if (endpoints_) add_endpoints(source);
  return true;
}

/// Forgets the source before, and puts this one on the first level.
template <class Number>
void BcLevels<Number>::start(VertexId source) {
  for (const List list : {List(order_.items), List(boundary_), List(mirrors_.items)}) {
    for (const KnownNumber v : list) sigma_[v] = shares_[v] = Number();
    visited_.clear_words_of(list);
  }
  order_.clear();
  mirrors_.clear();
  predecessors_.clear();
  boundary_.clear();
  levels_.clear();
  unvisited_edges_ = job_.graph().edges();
  const Home home = job_.ownership().home(source);
  if (home.owner == job_.rank()) {
    sigma_[home.local] = Number(1);
    worker(0).owned.emplace_back(std::uint32_t{home.local});
  } else if (job_.boundary().knows(home)) {
    worker(0).boundary.push_back(job_.boundary().number(home));
  }
  visit(worker(0));
}

/// Puts together what the workers have reached. Returns false when that is nothing in any process, or one has
/// found too many paths.
template <class Number>
bool BcLevels<Number>::end_level() {
  std::array<std::uint64_t, 3> mine{};
  for (Worker& worker : workers_) {
    mine[0] += worker.owned.size();
    mine[1] += std::exchange(worker.edges, 0);
    mine[2] += std::exchange(worker.too_many, false) ? 1 : 0;
    move_all(worker.owned, order_.items);
    move_all(worker.boundary, boundary_);
    move_all(worker.mirrors, mirrors_.items);
    move_all(worker.predecessors, predecessors_.items);
  }
  sort(order_.open());
  const auto [vertices, edges, too_many] = job_.sum_of_all(mine);
  too_many_ = too_many != 0;
  if (vertices == 0 || too_many_) return false;
  order_.end_level();
  mirrors_.end_level();
  predecessors_.end_level();
  levels_.push_back({vertices, edges});
  unvisited_edges_ -= edges;
  return true;
}

/// Adds the ends of paths. A source lies on the paths to all that it reaches, and each of those on the paths
/// to it.
template <class Number>
void BcLevels<Number>::add_endpoints(VertexId source) {
  for (const KnownNumber v : order_.items) out_->scores[v] += 1;
  const Home home = job_.ownership().home(source);
  if (home.owner != job_.rank()) return;
  for (const Level& level : levels_) out_->scores[home.local] += static_cast<double>(level.vertices);
  out_->scores[home.local] -= 2;
}

/// Runs a superstep and adds what it did to those of the sources before.
template <class Number>
void BcLevels<Number>::record(std::vector<frontier::Superstep>& steps, std::size_t l, std::uint64_t kind,
                              const std::function<void()>& work) {
  const frontier::Meter meter(job_);
  for (Worker& worker : workers_) worker.followed = 0;
  work();
  if (steps.size() <= l) steps.resize(l + 1);
  frontier::Superstep& step = steps[l];
  step.step = l;
  step.kind = kind;
  step.frontier += order_.of(l).size();
  for (const Worker& worker : workers_) step.edges += worker.followed;
  meter.stop(step);
}

template class BcLevels<double>;
template class BcLevels<Scaled>;

}  // namespace edgewire::kernels
