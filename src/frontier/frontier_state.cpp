// The supersteps behind edgewire/frontier.h, for one process and several, for rows in memory and on disks.
//
// A superstep ends with one exchange. In it, each worker of a process says which processes may have a
// frontier next: those that it has told of a vertex, and its own process. Where that is one process alone,
// and its frontier has few edges, it goes on by itself, superstep by superstep, until it has to tell another
// one. All others wait at the end of this superstep meanwhile. There they learn how many supersteps it has
// made. They keep what arrives until they know this, and only then call hear(), which may ask for step().
#include "edgewire/frontier.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "frontier/frontier_workers.h"
#include "frontier/in_order.h"
#include "frontier/puller.h"
#include "frontier/push_note.h"
#include "frontier/superstep.h"
#include "partition/gather_values.h"

namespace edgewire::detail {

/// Runs the supersteps of a FrontierState.
class FrontierState::Engine : public Workers {
 public:
  using Workers::Workers;

  /// Runs a superstep of all processes, which makes the next frontier of this one. `next` may be its list.
  void superstep(Frontier frontier, const Calls& calls, List& next) {
    step([&](frontier::Superstep& done) {
      ++state_.step_;
      lane(0).said.vertices = frontier.size();
      if (counts_next_ && followed_.next) edges_ = followed_.next->edges;
      visit_all(frontier, calls, done, distributed_);
      edges_.reset();
      if (!distributed_) lane(0).said += {0, done.edges, 1};
      hear_all_said();
      if (calls.told != nullptr)
        for (Lane& one : lanes_) {
          calls.told->insert(calls.told->end(), one.told.begin(), one.told.end());
          one.told.clear();
        }
      if (counts_next_) followed_.next = totals_of_news();
      take_news(calls, next);
      return followed_.last.vertices > 0;
    });
  }

  List follow(List frontier, const Calls& calls, const More& more) {
    state_.step_ = 0;
    active_ = Active::several();
    followed_ = {};
    counts_next_ = more && !distributed_;
    for (bool goes_on = true; goes_on && (distributed_ ? !active_.nobody() : !frontier.empty());) {
      if (active_.is_only(state_.rank()))
        go_alone(frontier, calls);
      else if (active_.is_one())
        wait_for_one(frontier, calls);
      else
        superstep(frontier, calls, frontier);
      if (more && followed_.supersteps > 0) goes_on = more(followed_);
    }
    counts_next_ = false;
    return frontier;
  }

  Totals totals(std::span<const LocalNumber> frontier) {
    std::atomic<std::uint64_t> edges{0};
    job_->for_pieces(frontier.size(), [&](std::size_t first, std::size_t last) {
      edges += edges_out_of(frontier.subspan(first, last - first));
    });
    const auto [all, all_edges] = job_->sum_of_all(std::array{std::uint64_t{frontier.size()}, edges.load()});
    return {all, all_edges};
  }

  List pull(std::span<const LocalNumber> frontier, std::span<std::uint64_t> wanted, const Reach& reach,
            const MorePulls& more) {
    state_.step_ = 0;
    List left;
    for (bool goes_on = true; goes_on;)
      step([&](frontier::Superstep& done) {
        if (!puller_) puller_.emplace(*this);
        if (++state_.step_ == 1) puller_->start(frontier, wanted);
        const Totals next = puller_->pull(wanted, reach, done);
        goes_on = more(next) && next.vertices > 0;
        if (!goes_on) left = puller_->list();
      });
    return left;
  }

  List settle(List frontier, const Calls& calls, std::uint64_t most_supersteps) {
    active_ = Active::several();
    for (state_.step_ = 0;
         state_.step_ < most_supersteps && (distributed_ ? !active_.nobody() : !frontier.empty());)
      step([&](frontier::Superstep& done) {
        ++state_.step_;
        while (!frontier.empty()) {
          visit_all(frontier, calls, done, false);
          if (!calls.rows) visit_news(calls, done);
          take_news(calls, frontier);
        }
        if (!distributed_) return;
        end_all(calls, 1, false);
        take_news(calls, frontier);
      });
    return frontier;
  }

  void settle_in_order(std::span<const LocalNumber> frontier, const Calls& calls) {
    InOrder(*this, state_, calls).run(frontier);
  }

  /// Runs a superstep that visits rows, and hears of owned vertices only.
  List within(Frontier frontier, const Calls& calls) {
    List next;
    step([&](frontier::Superstep& done) {
      visit_all(frontier, calls, done, false);
      take_news(calls, next);
    });
    return next;
  }

  /// Runs a superstep in which owners tell who knows a vertex. Returns the boundary vertices with news.
  std::vector<KnownNumber> broadcast(std::span<const std::uint64_t> which, const Calls& calls) {
    return say_all(calls, [&](int worker) {
      const auto size = static_cast<std::uint32_t>(job_->bootstrap().size());
      for (std::uint32_t turn = 1; turn < size; ++turn) {
        const std::uint32_t peer = (state_.rank() + turn) % size;
        const auto known = boundary_.known_by(peer);
        const auto [first, last] = job_->pool().part(worker, known.size());
        for (auto i = static_cast<std::uint32_t>(first); i < last; ++i)
          if (test_bit(which, known[i])) say(worker, peer, i, known[i], calls);
      }
    });
  }
  /// Runs a superstep in which owners answer the processes that have told them of a vertex.
  void answer(std::span<const Told> told, const Calls& calls) {
    say_all(calls, [&](int worker) {
      const auto [first, last] = job_->pool().part(worker, told.size());
      for (const auto& [teller, place] : told.subspan(first, last - first))
        say(worker, teller, place, boundary_.known_by(teller)[place], calls);
    });
  }

  List exchange(const std::function<void(int)>& work, const Calls& calls) {
    List next;
    step([&](frontier::Superstep& done) {
      state_.step_ = 1;
      state_.shared_ = lanes_.size() > 1;
      run_workers([&](int worker) {
        work(worker);
        if (distributed_) end(worker, calls, 1, false);
      });
      hear_all_said();
      take_news(calls, next);
      count(done);
    });
    return next;
  }

 private:
  /// Runs a superstep in which workers call say(). Returns the boundary vertices that have heard news.
  template <class Work>
  std::vector<KnownNumber> say_all(const Calls& calls, const Work& work) {
    std::vector<KnownNumber> heard;
    if (!distributed_) return heard;
    step([&](frontier::Superstep&) {
      state_.shared_ = lanes_.size() > 1;
      run_workers([&](int worker) {
        work(worker);
        job_->records().finish_bytes(worker, hears(worker, calls));
        expect_whole(worker);
      });
    });
    for (News& one : state_.news_) {
      heard.insert(heard.end(), one.others.begin(), one.others.end());
      one.others.clear();
    }
    if (!calls.once)
      for (const KnownNumber v : heard) no_longer_waits(v);
    return heard;
  }
  /// Says something of an owned vertex to a peer that knows it by this place.
  void say(int worker, std::uint32_t peer, std::uint32_t place, LocalNumber vertex, const Calls& calls) {
    Record record{};
    if (calls.say(KnownNumber(vertex), record)) send(worker, peer, place, record, calls);
  }
  /// Visits the news of worker 0, one vertex after the other, as long as they are few, which follows a chain.
  void visit_news(const Calls& calls, frontier::Superstep& done) {
    constexpr std::size_t kLittle = 256, kMostAtOnce = 1 << 16;
    List& queue = news(0).owned;
    std::size_t at = 0;
    for (; at < queue.size() && queue.size() - at < kLittle && at < kMostAtOnce; ++at) {
      const LocalNumber v = queue[at];
      no_longer_waits(v);
      visit_vertex(0, v, calls);
    }
    queue.erase(queue.begin(), queue.begin() + static_cast<std::ptrdiff_t>(at));
    done.frontier += at;
    count(done);
  }

  Totals totals_of_news() noexcept {
    Totals all;
    for (const News& one : state_.news_) all.vertices += one.owned.size();
    for (Lane& one : lanes_) all.edges += std::exchange(one.next_edges, 0);
    return all;
  }

  /// Goes on while this process alone has a frontier.
  void go_alone(List& frontier, const Calls& calls) {
    PushNote& said = lane(0).said;
    std::uint32_t levels = 0;
    for (bool ends = false; !ends;)
      step([&](frontier::Superstep& done) {
        if (is_few(frontier)) {
          ++levels;
          ++state_.step_;
          said.vertices = frontier.size();
          said.edges_before += std::exchange(said.edges, 0);
          visit_all(frontier, calls, done, false);
          said.edges = done.edges;
          take_news(calls, frontier);
        }
        ends = frontier.empty() || !is_few(frontier) || levels == kMostAlone || has_told();
        if (!ends) return true;
        said.next.add(who_has(frontier));
        end_all(calls, levels, false);
        return followed_.last.vertices > 0;
      });
  }
  /// Waits while another process alone has a frontier.
  void wait_for_one(List& frontier, const Calls& calls) {
    step([&](frontier::Superstep&) {
      end_all(calls, 0, true);
      state_.step_ += followed_.supersteps;
      for (int worker = 0; worker < job_->pool().workers(); ++worker) hear_held(worker, calls);
      take_news(calls, frontier);
      return followed_.last.vertices > 0;
    });
    for (std::uint64_t level = 1; level < followed_.supersteps; ++level) step([](frontier::Superstep&) {});
  }
  /// Returns whether another process is told of something in this superstep.
  bool has_told() const noexcept {
    return std::ranges::any_of(lanes_, [](const Lane& one) { return !one.said.next.nobody(); }) ||
           std::ranges::any_of(state_.news_, [](const News& one) { return !one.others.empty(); });
  }
  std::optional<Puller> puller_;
};

FrontierState::FrontierState(const std::shared_ptr<frontier::Job>& job, std::size_t record_bytes,
                             frontier::SuperstepLog* log, const frontier::Boundary* boundary)
    : rank_(job->rank()),
      owned_(job->owned()),
      known_(boundary != nullptr ? boundary->known() : job->known()),
      record_bytes_((record_bytes + job->record_bytes() - 1) / job->record_bytes() * job->record_bytes()),
      waiting_(known_ / 64 + std::size_t{1}),
      news_(static_cast<std::size_t>(job->pool().workers())) {
  job->expect_records(job->record_bytes());
  engine_ = std::make_unique<Engine>(*this, job, log, boundary != nullptr ? *boundary : job->boundary());
}

FrontierState::~FrontierState() = default;

bool FrontierState::is_only() const noexcept { return engine_->job().is_only(); }

const Graph& FrontierState::graph() const noexcept { return engine_->job().graph(); }

std::vector<LocalNumber> FrontierState::all() const {
  std::vector<std::uint32_t> numbers(owned());
  std::iota(numbers.begin(), numbers.end(), 0U);
  return {numbers.begin(), numbers.end()};
}

VertexId FrontierState::vertex(LocalNumber local) const noexcept {
  return engine_->job().ownership().vertex(rank(), local);
}

VertexId FrontierState::vertex(KnownNumber number) const noexcept {
  return number < owned() ? vertex(LocalNumber(number)) : engine_->boundary().vertex(number);
}

Home FrontierState::home(VertexId vertex) const noexcept { return engine_->job().ownership().home(vertex); }

std::uint64_t FrontierState::degree(LocalNumber local) const noexcept { return engine_->job().degree(local); }

std::uint64_t FrontierState::sum(std::uint64_t mine) { return engine_->job().sum_of_all(mine); }

Totals FrontierState::totals(std::span<const LocalNumber> frontier) {
  engine_->expect(frontier);
  return engine_->totals(frontier);
}

std::vector<LocalNumber> FrontierState::pull(std::span<const LocalNumber> frontier,
                                             std::span<std::uint64_t> wanted, const Reach& reach,
                                             const MorePulls& more) {
  engine_->expect(frontier);
  if (wanted.size() * 64 < known())
    throw UsageError(fmt::format("pull: {} words have no room for {} vertices", wanted.size(), known()));
  return engine_->pull(frontier, wanted, reach, more);
}

void FrontierState::set_kind(std::uint64_t kind) noexcept { engine_->set_kind(kind); }

std::vector<LocalNumber> FrontierState::superstep(std::span<const LocalNumber> frontier, const Calls& calls) {
  engine_->expect(frontier);
  std::vector<LocalNumber> next;
  engine_->superstep(frontier, calls, next);
  return next;
}

std::vector<LocalNumber> FrontierState::follow(std::vector<LocalNumber> frontier, const Calls& calls,
                                               const More& more) {
  engine_->expect(frontier);
  return engine_->follow(std::move(frontier), calls, more);
}

std::vector<LocalNumber> FrontierState::settle(std::vector<LocalNumber> frontier, const Calls& calls,
                                               std::uint64_t most_supersteps) {
  engine_->expect(frontier);
  return engine_->settle(std::move(frontier), calls, most_supersteps);
}

void FrontierState::settle_in_order(std::span<const LocalNumber> frontier, const Calls& calls) {
  engine_->expect(frontier);
  engine_->settle_in_order(frontier, calls);
}

std::vector<LocalNumber> FrontierState::within(std::span<const LocalNumber> frontier, const Calls& calls) {
  engine_->expect(frontier);
  return engine_->within(frontier, calls);
}

std::vector<KnownNumber> FrontierState::broadcast(std::span<const std::uint64_t> which, const Calls& calls) {
  if (which.size() * 64 < owned())
    throw UsageError(fmt::format("broadcast: {} words have no room for {} vertices", which.size(), owned()));
  return engine_->broadcast(which, calls);
}

void FrontierState::answer(std::span<const Told> told, const Calls& calls) { engine_->answer(told, calls); }

std::vector<LocalNumber> FrontierState::exchange(const std::function<void(int)>& work, const Calls& calls) {
  return engine_->exchange(work, calls);
}

void FrontierState::tell(int worker, KnownNumber vertex, Record& record, const Calls& calls) {
  engine_->tell(worker, vertex, record, calls);
}

void FrontierState::tell(int worker, Home vertex, Record& record, const Calls& calls) {
  engine_->tell(worker, vertex, record, calls);
}

void FrontierState::gather(std::span<const std::byte> mine, std::size_t value_bytes,
                           const std::function<std::byte*(std::uint64_t)>& room) {
  if (mine.size() != owned() * value_bytes)
    throw UsageError(fmt::format("gather: rank {} owns {} vertices, and has {} values", rank(), owned(),
                                 mine.size() / value_bytes));
  partition::gather_bytes(engine_->job().bootstrap(), engine_->job().ownership(), mine, value_bytes, room);
}

}  // namespace edgewire::detail
