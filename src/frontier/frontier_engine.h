// The supersteps behind edgewire/frontier.h: one primitive for one process and for several, for rows in
// memory and on disks.
//
// A superstep ends with one exchange. In it, each worker of a process says which processes may have a
// frontier next: those that it has told of a vertex, and its own. Where that is one process alone, and its
// frontier has few edges, it goes on by itself, superstep by superstep, until it has to tell another one. All
// others wait at the end of this superstep meanwhile. There they learn how many supersteps it has made. They
// keep what arrives until they know this, and only then call hear(), which may ask for step().
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "edgewire/frontier.h"
#include "frontier/frontier_job.h"
#include "frontier/push_note.h"
#include "frontier/records.h"
#include "frontier/superstep.h"

namespace edgewire::detail {

/// Runs the supersteps of a FrontierState.
class FrontierState::Engine {
  using Active = frontier::Active;
  using PushNote = frontier::PushNote;
  // Frontiers with fewer edges are few, for going on alone: this part of the graph, within bounds.
  static constexpr std::uint64_t kFewEdgesOf = 1024, kLeastFew = 64, kMostFew = 4096;
  // Supersteps that a process makes alone, until all decide again.
  static constexpr std::uint32_t kMostAlone = 64;
  // Edges that one worker follows sooner than the others wake up; and where workers that wait block at once.
  static constexpr std::uint64_t kOneWorker = 1 << 10, kOneWorkerBlocked = 1 << 12;

 public:
  using List = std::vector<LocalNumber>;

  Engine(FrontierState& state, std::shared_ptr<frontier::Job> job, frontier::SuperstepLog* log)
      : state_(state),
        job_(std::move(job)),
        log_(log),
        distributed_(job_->bootstrap().size() > 1),
        lanes_(static_cast<std::size_t>(job_->pool().workers())) {}

  frontier::Job& job() noexcept { return *job_; }
  void set_kind(std::uint64_t kind) noexcept { kind_ = kind; }

  /// Runs a superstep of all processes, which makes the next frontier of this one. Returns who may have one.
  Active superstep(List& frontier, const Calls& calls) {
    Active next;
    step([&](frontier::Superstep& done) {
      ++state_.step_;
      visit_all(frontier, calls, done, distributed_);
      next = said_by_all({}).next;
      frontier = take_news();
    });
    return next;
  }

  void follow(List frontier, const Calls& calls) {
    state_.step_ = 0;
    Active active = Active::several();
    while (distributed_ ? !active.nobody() : !frontier.empty()) {
      if (active.is_only(state_.rank()))
        active = go_alone(frontier, calls);
      else if (active.is_one())
        active = wait_for_one(frontier, calls);
      else
        active = superstep(frontier, calls);
    }
  }

  List settle(List frontier, const Calls& calls, std::uint64_t most_supersteps) {
    Active active = Active::several();
    for (state_.step_ = 0;
         state_.step_ < most_supersteps && (distributed_ ? !active.nobody() : !frontier.empty());)
      step([&](frontier::Superstep& done) {
        ++state_.step_;
        while (!frontier.empty()) {
          visit_all(frontier, calls, done, false);
          if (!calls.rows) visit_news(calls, done);
          frontier = take_news();
        }
        if (!distributed_) return;
        active = end_all(PushNote(), calls, false).next;
        frontier = take_news();
      });
    return frontier;
  }

  List exchange(const std::function<void(int)>& work, const Calls& calls) {
    List next;
    step([&](frontier::Superstep& done) {
      state_.step_ = 1;
      run_workers([&](int worker) {
        work(worker);
        if (distributed_) end(worker, PushNote(), calls, false);
      });
      said_by_all({});
      next = take_news();
      count(done);
    });
    return next;
  }

  void tell(int worker, Home home, Record& record, const Calls& calls);
  /// Called before the first superstep with a frontier.
  void expect(std::span<const LocalNumber> frontier) {
    job_->make_rows();
    const auto other = std::ranges::find_if(frontier, [&](LocalNumber v) { return v >= state_.owned(); });
    if (other != frontier.end())
      throw UsageError(fmt::format("frontier: {} is no local number of rank {}, which owns {} vertices",
                                   std::uint32_t{*other}, state_.rank(), state_.owned()));
  }

 private:
  struct alignas(128) Lane {
    Active told;                  ///< processes that it has told of vertices; its own where it has news
    std::vector<std::byte> held;  ///< records that wait to be heard
  };

  Lane& lane(int worker) noexcept { return lanes_[static_cast<std::size_t>(worker)]; }
  News& news(int worker) noexcept { return state_.news_[static_cast<std::size_t>(worker)]; }
  /// Says who has this part of a frontier. Many edges are not followed alone.
  Active who_has(const List& frontier) const {
    Active active;
    if (!frontier.empty()) active.add(state_.rank());
    return frontier.empty() || is_few(frontier) ? active : Active::several();
  }
  /// Runs work(worker) in all workers. One that throws ends the job, so that no other one waits for it.
  template <class Work>
  void run_workers(const Work& work) {
    job_->pool().run([&](int worker) {
      try {
        work(worker);
      } catch (const std::exception& error) {
        job_->bootstrap().health().fail(-1, error.what());
        throw;
      }
    });
  }

  /// Returns a function that takes what arrives.
  auto hears(int worker, const Calls& calls) const {
    return [this, worker, &calls](int, std::span<const std::byte> records) { hear(worker, records, calls); };
  }
  void hear(int worker, std::span<const std::byte> records, const Calls& calls) const {
    for (std::size_t at = 0; at < records.size(); at += state_.record_bytes()) {
      std::uint32_t local = 0;
      std::memcpy(&local, &records[at], sizeof local);
      if (local >= state_.owned()) throw Error("a process has sent a vertex that does not exist");
    }
    calls.hear(worker, records);
  }

  /// Runs work(done), which counts a superstep, and notes it where somebody wants to know.
  template <class Work>
  void step(const Work& work) {
    if (log_ != nullptr) return log_->step(kind_, work);
    frontier::Superstep done;
    work(done);
  }
  void count(frontier::Superstep& done) noexcept {
    for (News& one : state_.news_) {
      done.frontier += std::exchange(one.vertices, 0);
      done.edges += std::exchange(one.edges, 0);
    }
  }

  /// Visits the vertices of the frontier. `ends`: each worker ends the superstep then, in all processes.
  void visit_all(List& frontier, const Calls& calls, frontier::Superstep& done, bool ends) {
    if (job_->on_disks()) std::ranges::sort(frontier);
    const std::uint64_t many = job_->pool().placement().oversubscribed ? kOneWorkerBlocked : kOneWorker;
    const bool one = !ends && (lanes_.size() == 1 || !has_edges(frontier, many));
    std::atomic<std::size_t> next{0}, arrived{0};
    const auto work = [&](int worker) {
      {
        const Arrival arrival(arrived);
        if (calls.rows)
          visit_rows(worker, frontier, next, calls);
        else
          visit_vertices(worker, frontier, next, calls);
      }
      // With say(), what owners are told is complete when all have arrived.
      if (distributed_ && (!ends || calls.say)) hear_until(arrived, one ? 1 : lanes_.size(), worker, calls);
      if (ends) end(worker, PushNote(), calls, false);
    };
    if (one)
      work(0);
    else
      run_workers(work);
    done.frontier += frontier.size();
    count(done);
  }
  /// Says that a worker has arrived, also where it throws.
  struct Arrival {
    std::atomic<std::size_t>& arrived;
    explicit Arrival(std::atomic<std::size_t>& counter) noexcept : arrived(counter) {}
    Arrival(const Arrival&) = delete;
    Arrival& operator=(const Arrival&) = delete;
    ~Arrival() { ++arrived; }
  };
  /// Waits for other workers, and hears meanwhile what arrives: another process may wait for room, on this
  /// lane alone, before it hears of what those workers wait to send.
  void hear_until(const std::atomic<std::size_t>& arrived, std::size_t workers, int worker,
                  const Calls& calls) {
    while (arrived < workers)
      if (job_->records().take_bytes(worker, hears(worker, calls)) == 0) std::this_thread::yield();
  }
  void visit_rows(int worker, const List& frontier, std::atomic<std::size_t>& next, const Calls& calls) {
    std::uint64_t edges = 0;
    const auto list = numbered<KnownNumber>(plain(std::span(frontier)));
    job_->each_shared_row(worker, list, next, [&](const FrontierRow& row) {
      edges += row.targets.size();
      calls.visit(worker, row);
    });
    news(worker).edges += edges;
  }
  void visit_vertices(int worker, const List& frontier, std::atomic<std::size_t>& next, const Calls& calls) {
    constexpr std::size_t kAtOnce = 64;
    for (auto at = next.fetch_add(kAtOnce); at < frontier.size(); at = next.fetch_add(kAtOnce))
      for (const LocalNumber v : std::span(frontier).subspan(at, std::min(kAtOnce, frontier.size() - at)))
        calls.visit(worker, {v, {}, {}});
  }

  /// Visits what worker 0 has news of, one after the other, as long as that is little: a chain is
  /// followed without a frontier for each vertex.
  void visit_news(const Calls& calls, frontier::Superstep& done) {
    constexpr std::size_t kLittle = 256, kMostAtOnce = 1 << 16;
    List& queue = news(0).owned;
    std::size_t at = 0;
    for (; at < queue.size() && queue.size() - at < kLittle && at < kMostAtOnce; ++at) {
      const LocalNumber v = queue[at];
      no_longer_waits(v);
      calls.visit(0, {v, {}, {}});
    }
    queue.erase(queue.begin(), queue.begin() + static_cast<std::ptrdiff_t>(at));
    done.frontier += at;
    count(done);
  }

  /// Tells the owners of boundary vertices that have heard news, each once.
  void tell_others(int worker, const Calls& calls) {
    if (!calls.say) return;
    Record record{};
    for (const KnownNumber v : std::exchange(news(worker).others, {})) {
      std::atomic_ref(state_.waiting_[v / 64])
          .fetch_and(~(std::uint64_t{1} << v % 64), std::memory_order_relaxed);
      calls.say(v, record);
      tell(worker, job_->boundary().home(v), record, calls);
    }
  }
  /// Ends the superstep of a worker. `holds`: what arrives is not heard yet.
  void end(int worker, PushNote said, const Calls& calls, bool holds) {
    tell_others(worker, calls);
    Active& told = lane(worker).told;
    told.add(who_has(news(worker).owned));
    said.next.add(told);
    job_->records().finish_bytes(
        worker,
        [&](int, std::span<const std::byte> records) {
          if (!holds) return hear(worker, records, calls);
          auto& held = lane(worker).held;
          held.insert(held.end(), records.begin(), records.end());
        },
        said.words());
  }
  /// Ends the superstep of all workers.
  PushNote end_all(const PushNote& mine, const Calls& calls, bool holds) {
    run_workers([&](int worker) { end(worker, worker == 0 ? mine : PushNote(), calls, holds); });
    return said_by_all(mine);
  }
  /// Returns the sum of what this process and all others have said at the end of a superstep.
  PushNote said_by_all(const PushNote& mine) {
    PushNote sum = mine;
    for (Lane& one : lanes_) sum.next.add(std::exchange(one.told, {}));
    for (int peer = 0; peer < job_->bootstrap().size(); ++peer) {
      if (peer == job_->bootstrap().rank()) continue;
      for (int worker = 0; worker < job_->pool().workers(); ++worker)
        sum.next.add(PushNote::of(job_->records().note(worker, peer)).next);
      sum.levels = std::max(sum.levels, PushNote::of(job_->records().note(0, peer)).levels);
    }
    if (sum.levels > kMostAlone) throw Error("a process has gone on alone for too long");
    return sum;
  }

  /// This process alone has a frontier. Returns who may have one next.
  Active go_alone(List& frontier, const Calls& calls) {
    PushNote said{.levels = 0};
    Active next;
    for (bool ends = false; !ends;)
      step([&](frontier::Superstep& done) {
        if (is_few(frontier)) {
          ++said.levels;
          ++state_.step_;
          visit_all(frontier, calls, done, false);
          frontier = take_news();
        }
        ends = frontier.empty() || !is_few(frontier) || said.levels == kMostAlone || has_told();
        if (!ends) return;
        said.next = who_has(frontier);
        next = end_all(said, calls, false).next;
      });
    return next;
  }
  /// Another process alone has a frontier.
  Active wait_for_one(List& frontier, const Calls& calls) {
    PushNote said;
    step([&](frontier::Superstep&) {
      said = end_all({.levels = 0}, calls, true);
      state_.step_ += said.levels;
      for (int worker = 0; worker < job_->pool().workers(); ++worker)
        hear(worker, std::exchange(lane(worker).held, {}), calls);
      frontier = take_news();
    });
    for (std::uint32_t level = 1; level < said.levels; ++level) step([](frontier::Superstep&) {});
    return said.next;
  }
  /// Returns whether another process is told of something in this superstep.
  bool has_told() const noexcept {
    return std::ranges::any_of(lanes_, [](const Lane& one) { return !one.told.nobody(); }) ||
           std::ranges::any_of(state_.news_, [](const News& one) { return !one.others.empty(); });
  }
  /// Returns whether at least so many edges lead out of the vertices; a vertex counts as one more.
  bool has_edges(const List& vertices, std::uint64_t least) const {
    std::uint64_t edges = 0;
    for (std::size_t i = 0; i < vertices.size() && edges < least; ++i) edges += 1 + job_->degree(vertices[i]);
    return edges >= least;
  }
  bool is_few(const List& frontier) const {
    return !has_edges(frontier, std::clamp(job_->graph().edges() / kFewEdgesOf, kLeastFew, kMostFew));
  }

  /// Says that the vertex is not in news any more. Other workers rest.
  void no_longer_waits(LocalNumber v) noexcept { state_.waiting_[v / 64] &= ~(std::uint64_t{1} << v % 64); }
  /// Returns the next frontier.
  List take_news() {
    List all;
    for (News& one : state_.news_) {
      if (all.empty())
        all.swap(one.owned);
      else
        all.insert(all.end(), one.owned.begin(), one.owned.end());
      one.owned.clear();
    }
    for (const LocalNumber v : all) no_longer_waits(v);
    return all;
  }

  FrontierState& state_;
  std::shared_ptr<frontier::Job> job_;
  frontier::SuperstepLog* log_;  ///< null: nobody wants to know
  bool distributed_;
  std::uint64_t kind_ = 0;
  std::vector<Lane> lanes_;
};

inline void FrontierState::Engine::tell(int worker, Home home, Record& record, const Calls& calls) {
  record[0] = home.local;
  lane(worker).told.add(home.owner);
  job_->records().send_bytes(worker, static_cast<int>(home.owner), record.data(),
                             [&](int, std::span<const std::byte> records) { hear(worker, records, calls); });
}

}  // namespace edgewire::detail
