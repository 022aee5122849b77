// This file has the lists of levels: how one begins, and the vertices that are not visited yet.
#include <array>
#include <atomic>
#include <bit>
#include <map>
#include <mutex>
#include <utility>

#include "frontier/superstep.h"
#include "kernels/bc/levels.h"

namespace edgewire::kernels {

/// Forgets the source before, and puts this one on the first level.
template <class Number>
void BcLevels<Number>::start(VertexId source) {
  for (std::size_t w = 0; w < visited_.words(); ++w)
    for (Bits::Word left = visited_.word(w); left != 0; left &= left - 1) {
      const std::size_t v = w * Bits::kBits + static_cast<std::size_t>(std::countr_zero(left));
      sigma_[v] = shares_[v] = Number();
    }
  visited_.clear();
  levels_.clear();
  unvisited_.reset();
  unvisited_edges_ = job_.graph().edges();
  List first;
  const Home home = job_.ownership().home(source);
  if (home.owner == job_.rank()) {
    sigma_[home.local] = Number(1);
    first.push_back(home.local);
  } else if (job_.boundary().knows(home)) {
    visited_.add(job_.boundary().number(home));
  }
  open_level(std::move(first));
}

/// Makes these vertices the next level. Returns false when it is empty in all processes, or one has found too
/// many paths.
template <class Number>
bool BcLevels<Number>::open_level(List vertices) {
  // Its rows and sums are read in their order in memory. A short list matters only where rows are on disks.
  if (!sort_many(std::span(vertices), in_level_, 0, job_.owned()) && job_.on_disks())
    std::ranges::sort(vertices);
  std::atomic<std::uint64_t> edges{0}, too_many{0};
  job_.for_pieces(vertices.size(), [&](std::size_t first, std::size_t last) {
    std::uint64_t out_edges = 0;
    for (std::size_t i = first; i < last; ++i) {
      if (last - i > kAhead) {
        job_.rows().fetch_begin(vertices[i + kAhead]);
        __builtin_prefetch(&sigma_[vertices[i + kAhead]]);
      }
      const LocalNumber v = vertices[i];
      visited_.add(v);
      out_edges += job_.degree(v);
      if (is_too_many(sigma_[v])) too_many = 1;
    }
    edges += out_edges;
  });
  const auto sums =
      job_.sum_of_all(std::array{std::uint64_t{vertices.size()}, edges.load(), too_many.load()});
  too_many_ = sums[2] != 0;
  if (sums[0] == 0 || too_many_) return false;
  levels_.push_back({std::move(vertices), sums[0], sums[1]});
  unvisited_edges_ -= sums[1];
  return true;
}

/// Returns the owned vertices that have edges and are not visited yet.
template <class Number>
auto BcLevels<Number>::unvisited() -> const List& {
  if (unvisited_) {
    std::erase_if(*unvisited_, [&](LocalNumber v) { return visited_.test(v); });
    return *unvisited_;
  }
  std::map<std::size_t, List> pieces;  // pieces by their first vertex
  std::mutex mutex;
  job_.for_pieces(job_.owned(), [&](std::size_t first, std::size_t last) {
    List some;
    for (LocalNumber v(static_cast<std::uint32_t>(first)); v < last; ++v)
      if (!visited_.test(v) && job_.degree(v) > 0) some.push_back(v);
    const std::lock_guard lock(mutex);
    pieces[first] = std::move(some);
  });
  unvisited_.emplace();
  for (const auto& [first, some] : pieces) unvisited_->insert(unvisited_->end(), some.begin(), some.end());
  return *unvisited_;
}

template <class Number>
void BcLevels<Number>::unmark_level(const Level& level) {
  in_level_.clear_words_of(level.vertices);
  in_level_.clear_words_of(level.mirrors);
}

/// Runs a superstep and adds its figures to those of the sources before.
template <class Number>
void BcLevels<Number>::record(std::vector<frontier::Superstep>& steps, std::size_t l, std::uint64_t kind,
                              const std::function<void()>& work) {
  const frontier::Meter meter(job_);
  const std::uint64_t before = steps_.edges_followed(), vertices = levels_[l].vertices.size();
  work();
  if (steps.size() <= l) steps.resize(l + 1);
  frontier::Superstep& step = steps[l];
  step.step = l;
  step.kind = kind;
  step.frontier += vertices;
  step.edges += steps_.edges_followed() - before;
  meter.stop(step);
}

template void BcLevels<double>::start(VertexId);
template bool BcLevels<double>::open_level(List);
template auto BcLevels<double>::unvisited() -> const List&;
template void BcLevels<double>::unmark_level(const Level&);
template void BcLevels<double>::record(std::vector<frontier::Superstep>&, std::size_t, std::uint64_t,
                                       const std::function<void()>&);
template void BcLevels<Scaled>::start(VertexId);
template bool BcLevels<Scaled>::open_level(List);
template auto BcLevels<Scaled>::unvisited() -> const List&;
template void BcLevels<Scaled>::unmark_level(const Level&);
template void BcLevels<Scaled>::record(std::vector<frontier::Superstep>&, std::size_t, std::uint64_t,
                                       const std::function<void()>&);

}  // namespace edgewire::kernels
