#include "kernels/bc/levels.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "frontier/superstep.h"

namespace edgewire::kernels {

/// Returns whether a level is pulled. A pull sends vertices of the frontier to all processes that know them.
bool betweenness_pulls(std::uint64_t frontier, std::uint64_t edges, std::uint64_t unseen, int processes) {
  constexpr std::uint64_t kRecordEdges = 5;  // edges that are followed in the time of a record to a process
  return unseen + frontier * static_cast<std::uint64_t>(processes - 1) * kRecordEdges < edges;
}

template <class Number>
BcLevels<Number>::BcLevels(frontier::Job& job, bool endpoints)
    : job_(job),
      steps_(job),
      endpoints_(endpoints),
      alone_(job.pool().workers() == 1),
      sigma_memory_(job.known() * sizeof(Number), -1, "numbers of paths", topology::Begin::staggered),
      shares_memory_(job.known() * sizeof(Number), -1, "dependencies", topology::Begin::staggered),
      sums_memory_(job.owned() * sizeof(Number), -1, "sums of dependencies", topology::Begin::staggered),
      sigma_(sigma_memory_.as<Number>()),
      shares_(shares_memory_.as<Number>()),
      sums_(sums_memory_.as<Number>()),
      visited_(job.known(), !alone_),
      in_level_(job.known(), !alone_) {
  job.expect_records(frontier::kWideRecordBytes);
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

/// Goes forward, level by level: sigma of a vertex on level l + 1 is the sum of sigma over its predecessors
/// on level l. Returns false where there are too many paths.
template <class Number>
bool BcLevels<Number>::count_paths() {
  for (bool more = true; more;) {
    Level& level = levels_.back();
    record(out_->forward, levels_.size() - 1, Bc::kForward, [&] {
      level.pulled = job_.graph().symmetric() && betweenness_pulls(level.in_all, level.out_edges,
                                                                   unvisited_edges_, job_.bootstrap().size());
      more = open_level(level.pulled ? pull_paths(level) : push_paths(level));
    });
  }
  unvisited_.reset();
  return !too_many_;
}

/// Adds to numbers that several workers share, unless there is one `alone`, and returns the value before.
template <class Number>
struct Adder {
  Number* numbers;
  bool alone;

  [[gnu::always_inline]] Number operator()(KnownNumber v, const Number& more) const noexcept {
    if (!alone) return add_shared(numbers[v], more);
    const Number before = numbers[v];
    numbers[v] = before + more;
    return before;
  }
};

/// Pushes a level: each vertex adds its sigma to its unvisited targets; owners get what was added elsewhere.
/// A vertex that its owner has visited before is no news there, and has no share on the way back.
template <class Number>
auto BcLevels<Number>::push_paths(Level& level) -> List {
  struct Hear {
    std::span<const Bits::Word> visited;
    Adder<Number> add;
    [[gnu::always_inline]] Once operator()(KnownNumber v, const Number& paths) const noexcept {
      return Once{!test_bit(visited, v) && is_zero(add(v, paths))};
    }
  };
  return steps_.superstep(
      level.vertices,
      [sigma = sigma_](const FrontierRow& row, const auto& tell) {
        const auto targets = row.targets;
        const Number paths = sigma[row.vertex];
        for (std::size_t e = 0; e < targets.size(); ++e) {
          if (targets.size() - e > kAhead) __builtin_prefetch(&sigma[targets[e + kAhead]], 1);
          tell(targets[e], paths);
        }
      },
      Hear{visited_.all_words(), {sigma_.data(), alone_}},
      [this](KnownNumber v) {
        visited_.add(v);
        return sigma_[v];
      },
      &level.told);
}

/// Pulls a level: each unvisited vertex adds up sigma of its predecessors on the level. Its targets are its
/// sources, too, since the graph stores every edge both ways.
template <class Number>
auto BcLevels<Number>::pull_paths(Level& level) -> List {
  in_level_.add_all(level.vertices);
  level.mirrors = steps_.broadcast(
      in_level_.all_words(), [this](LocalNumber v) { return sigma_[v]; },
      [this](KnownNumber v, const Number& paths) {
        sigma_[v] = paths;
        visited_.add(v);
        in_level_.add(v);
        return Once{true};
      });
  auto next = steps_.within(
      unvisited(),
      [sigma = sigma_, in_level = in_level_.all_words()](const FrontierRow& row, const auto& tell) {
        Number paths{};
        for (const KnownNumber u : row.targets)
          if (test_bit(in_level, u)) paths += sigma[u];
        if (!is_zero(paths)) tell(KnownNumber(row.vertex), paths);
      },
      [sigma = sigma_](KnownNumber v, const Number& paths) {
        sigma[v] = paths;
        return Once{true};
      });
  unmark_level(level);
  return next;
}

/// Goes backward, level by level: the share of a path to a vertex v on level l is 1 / sigma[v], since v is a
/// target itself, and the sum of the shares of the paths that go on from v to level l + 1. No path ends
/// behind the last level, or leads over the source.
template <class Number>
void BcLevels<Number>::accumulate() {
  for (const LocalNumber v : levels_.back().vertices) shares_[v] = Number(1) / sigma_[v];
  for (std::size_t l = levels_.size() - 1; l-- > 1;)
    record(out_->backward, l, Bc::kBackward, [&] {
      if (pushes_back(levels_[l], levels_[l + 1]))
        push_shares(levels_[l], levels_[l + 1].vertices);
      else
        pull_shares(levels_[l]);
    });
}

/// Returns whether the next level pushes its shares into the level. Processes go back the way that they have
/// come, so nothing more must be told. A process alone takes the side with fewer edges.
template <class Number>
bool BcLevels<Number>::pushes_back(const Level& level, const Level& next) const {
  if (!job_.is_only()) return level.pulled;
  return job_.graph().symmetric() && next.out_edges < level.out_edges;
}

/// Pushes shares: each vertex of the next level adds its share to its predecessors, owned ones or mirrors.
template <class Number>
void BcLevels<Number>::push_shares(const Level& level, const List& next) {
  in_level_.add_all(level.vertices);
  in_level_.add_all(level.mirrors);
  struct Hear {
    Adder<Number> add;
    std::uint32_t owned;
    [[gnu::always_inline]] Once operator()(KnownNumber v, const Number& sum) const noexcept {
      const Number before = add(v, sum);
      if (v < owned) return Once{false};
      return Once{is_zero(before)};
    }
  };
  steps_.superstep(
      next,
      [shares = shares_, in_level = in_level_.all_words()](const FrontierRow& row, const auto& tell) {
        const Number share = shares[row.vertex];
        for (const KnownNumber v : row.targets)
          if (test_bit(in_level, v)) tell(v, share);
      },
      Hear{{shares_.data(), alone_}, job_.owned()},
      [this](KnownNumber v) { return std::exchange(shares_[v], Number()); });
  unmark_level(level);
  set_shares(level.vertices, shares_);  // until now, they were sums
}

/// Pulls shares: each vertex of the level adds up the shares of its targets, which owners have sent. Those
/// targets that have shares by now are on the next level: no edge leads farther.
template <class Number>
void BcLevels<Number>::pull_shares(const Level& level) {
  steps_.answer(
      level.told,
      [this](LocalNumber v) { return is_zero(shares_[v]) ? std::nullopt : std::optional(shares_[v]); },
      [this](KnownNumber v, const Number& share) {
        shares_[v] = share;
        return false;
      });
  steps_.within(level.vertices, [shares = shares_, sums = sums_](const FrontierRow& row, const auto&) {
    const auto targets = row.targets;
    Number sum{};
    for (std::size_t e = 0; e < targets.size(); ++e) {
      if (targets.size() - e > kAhead) __builtin_prefetch(&shares[targets[e + kAhead]]);
      sum += shares[targets[e]];
    }
    sums[row.vertex] = sum;
  });
  set_shares(level.vertices, sums_);  // until now, no vertex of this level had a share
}

/// Makes shares of the sums of a level, and adds delta to its scores.
template <class Number>
void BcLevels<Number>::set_shares(const List& level, std::span<const Number> sums) {
  job_.for_pieces(level.size(), [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const LocalNumber v = level[i];
      const Number sum = sums[v];
      shares_[v] = Number(1) / sigma_[v] + sum;
      out_->scores[v] += static_cast<double>(sigma_[v] * sum);
    }
  });
}

/// Adds the ends of paths. A source lies on the paths to all that it reaches, and these on the paths to it.
template <class Number>
void BcLevels<Number>::add_endpoints(VertexId source) {
  const Home home = job_.ownership().home(source);
  const bool is_here = home.owner == job_.rank();
  if (is_here) out_->scores[home.local] -= 2;
  for (const Level& level : levels_) {
    for (const LocalNumber v : level.vertices) out_->scores[v] += 1;
    if (is_here) out_->scores[home.local] += static_cast<double>(level.in_all);
  }
}

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

/// Makes these vertices the next level. Returns false when it is empty everywhere, or has too many paths.
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

template class BcLevels<double>;
template class BcLevels<Scaled>;

}  // namespace edgewire::kernels
