// What the workers of a FrontierState do in a superstep: they visit, tell, hear, and end it.
// frontier_engine.h says in which order.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
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

class FrontierState::Workers {
 public:
  Workers(FrontierState& state, std::shared_ptr<frontier::Job> job, frontier::SuperstepLog* log)
      : state_(state),
        job_(std::move(job)),
        log_(log),
        distributed_(!job_->is_only()),
        lanes_(static_cast<std::size_t>(job_->pool().workers())) {}

  frontier::Job& job() noexcept { return *job_; }
  void set_kind(std::uint64_t kind) noexcept { kind_ = kind; }
  /// Called before the first superstep with a frontier.
  void expect(std::span<const LocalNumber> frontier) {
    job_->make_rows();
    const auto other = std::ranges::find_if(frontier, [&](LocalNumber v) { return v >= state_.owned(); });
    if (other != frontier.end())
      throw UsageError(fmt::format("frontier: {} is no local number of rank {}, which owns {} vertices",
                                   std::uint32_t{*other}, state_.rank(), state_.owned()));
  }

  // The parts of a superstep.

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

  void hear(int worker, std::span<const std::byte> records, const Calls& calls) const {
    for (std::size_t at = 0; at < records.size(); at += state_.record_bytes()) {
      std::uint32_t local = 0;
      std::memcpy(&local, &records[at], sizeof local);
      if (local >= state_.owned()) throw Error("a process has sent a vertex that does not exist");
    }
    calls.hear(worker, records);
  }

  /// Returns a function that takes what arrives.
  auto hears(int worker, const Calls& calls) const {
    return [this, worker, &calls](int, std::span<const std::byte> records) { hear(worker, records, calls); };
  }
  void tell(int worker, Home home, Record& record, const Calls& calls) {
    record[0] = home.local;
    lane(worker).said.next.add(home.owner);
    job_->records().send_bytes(worker, static_cast<int>(home.owner), record.data(), hears(worker, calls));
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

  bool is_distributed() const noexcept { return distributed_; }
  /// Returns which processes a worker has told of vertices since the last call.
  frontier::Active take_told(int worker) noexcept { return std::exchange(lane(worker).said, {}).next; }

 protected:
  using Active = frontier::Active;
  using PushNote = frontier::PushNote;
  // Supersteps that a process makes alone, until all decide again.
  static constexpr std::uint32_t kMostAlone = 64;
  // Edges that one worker follows sooner than the others wake up; and where workers that wait block at once.
  static constexpr std::uint64_t kOneWorker = 1 << 10, kOneWorkerBlocked = 1 << 12;
  // Vertices of the graph for each edge along which something is told to keepers.
  static constexpr std::uint64_t kKeptOf = 8;

  using List = std::vector<LocalNumber>;

  struct alignas(128) Lane {
    PushNote said;                 ///< what it says at the end of a superstep
    std::vector<std::byte> held;   ///< records that wait to be heard
    std::uint64_t next_edges = 0;  ///< out of its news, where that is counted
  };
  /// Who follows the edges of a frontier: one worker, or all; and who hears what is told.
  struct Deal {
    bool one;
    Hearing hearing = Hearing::at_once;
  };

  Lane& lane(int worker) noexcept { return lanes_[static_cast<std::size_t>(worker)]; }
  News& news(int worker) noexcept { return state_.news_[static_cast<std::size_t>(worker)]; }
  /// Says who has this part of a frontier. Many edges are not followed alone.
  Active who_has(const List& frontier) const {
    Active active;
    if (!frontier.empty()) active.add(state_.rank());
    return frontier.empty() || is_few(frontier) ? active : Active::several();
  }
  /// Visits the vertices of the frontier. `ends`: each worker ends the superstep then, in all processes.
  void visit_all(List& frontier, const Calls& calls, frontier::Superstep& done, bool ends) {
    if (job_->on_disks()) std::ranges::sort(frontier);
    const Deal deal = this->deal(frontier, calls, ends);
    const std::size_t workers = deal.one ? 1 : lanes_.size();
    state_.hearing_ = deal.hearing;
    state_.shared_ = workers > 1 && deal.hearing == Hearing::at_once;
    std::atomic<std::size_t> next{0}, arrived{0};
    const auto work = [&](int worker) {
      {
        const Arrival arrival(arrived);
        if (calls.rows)
          visit_rows(worker, frontier, next, calls);
        else
          visit_vertices(worker, frontier, next, calls);
        if (deal.hearing == Hearing::in_bins) calls.hear_offers(worker);
      }
      // With say(), what owners are told is complete when all have arrived.
      if (distributed_ && (!ends || calls.say)) hear_until(arrived, workers, worker, calls);
      if (deal.hearing == Hearing::by_keepers) {
        job_->pool().barrier();
        calls.hear_offers(worker);
      }
      if (counts_next_) lane(worker).next_edges = edges_out_of(news(worker).owned);
      if (ends) end(worker, calls, 1, false);
    };
    if (deal.one)
      work(0);
    else
      run_workers(work);
    state_.hearing_ = Hearing::at_once;
    done.frontier += frontier.size();
    count(done);
  }
  /// Many edges wake all workers, which hand over what they tell of few vertices of a graph to those who keep
  /// them, and of many to bins.
  Deal deal(const List& frontier, const Calls& calls, bool ends) const {
    if (lanes_.size() == 1) return {!ends};
    const bool blocked = job_->pool().placement().oversubscribed;
    if (!ends && !follows_edges(frontier, blocked ? kOneWorkerBlocked : kOneWorker)) return {true};
    if (distributed_ || !calls.hear_offers) return {false};
    const bool few = !job_->on_disks() && !follows_edges(frontier, job_->graph().vertices() / kKeptOf);
    return {false, few ? Hearing::by_keepers : Hearing::in_bins};
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
    const auto visit = [&](const FrontierRow& row) {
      if (calls.visit(worker, row)) edges += row.targets.size();
    };
    job_->each_shared_row(worker, list, next, visit, [&](KnownNumber v) { state_.fetch(v); });
    news(worker).edges += edges;
  }
  void visit_vertices(int worker, const List& frontier, std::atomic<std::size_t>& next, const Calls& calls) {
    constexpr std::size_t kAtOnce = 64;
    for (auto at = next.fetch_add(kAtOnce); at < frontier.size(); at = next.fetch_add(kAtOnce))
      for (const LocalNumber v : std::span(frontier).subspan(at, std::min(kAtOnce, frontier.size() - at)))
        calls.visit(worker, {v, {}, {}});
  }

  /// Tells the owners of boundary vertices that have heard news, each once.
  void tell_others(int worker, const Calls& calls) {
    if (!calls.say) return;
    Record record{};
    for (const KnownNumber v : std::exchange(news(worker).others, {})) {
      if (!calls.once)
        std::atomic_ref(state_.waiting_[v / 64])
            .fetch_and(~(std::uint64_t{1} << v % 64), std::memory_order_relaxed);
      if (calls.say(v, record)) tell(worker, job_->boundary().home(v), record, calls);
    }
  }
  /// Ends the superstep of a worker. `holds`: what arrives is not heard yet.
  void end(int worker, const Calls& calls, std::uint32_t levels, bool holds) {
    tell_others(worker, calls);
    PushNote& said = lane(worker).said;
    said += {0, news(worker).edges, levels, 0, who_has(news(worker).owned)};
    job_->records().finish_bytes(
        worker,
        [&](int, std::span<const std::byte> records) {
          if (!holds) return hear(worker, records, calls);
          auto& held = lane(worker).held;
          held.insert(held.end(), records.begin(), records.end());
        },
        said.words());
  }
  /// Ends the superstep of all workers, in which so many levels were followed.
  void end_all(const Calls& calls, std::uint32_t levels, bool holds) {
    state_.shared_ = lanes_.size() > 1;
    run_workers([&](int worker) { end(worker, calls, levels, holds); });
    hear_all_said();
  }
  /// Sums up what this process and all others have said at the end of a superstep.
  void hear_all_said() {
    PushNote sum;
    for (Lane& one : lanes_) sum += std::exchange(one.said, {});
    for (int peer = 0; peer < job_->bootstrap().size(); ++peer) {
      if (peer == job_->bootstrap().rank()) continue;
      for (int worker = 0; worker < job_->pool().workers(); ++worker)
        sum += PushNote::of(job_->records().note(worker, peer));
    }
    if (sum.levels > kMostAlone) throw Error("a process has gone on alone for too long");
    if (sum.levels > 1 && !active_.is_one())
      throw Error("a process has gone on alone while others had vertices to follow");
    active_ = sum.next;
    followed_ = {sum.levels, {sum.vertices, sum.edges}, sum.edges_before};
    if (distributed_ && active_.nobody()) followed_.next.emplace();
  }
  /// Returns whether at least so many edges lead out of the vertices; a vertex counts as one more.
  bool has_edges(const List& vertices, std::uint64_t least) const {
    std::uint64_t edges = 0;
    for (std::size_t i = 0; i < vertices.size() && edges < least; ++i) edges += 1 + job_->degree(vertices[i]);
    return edges >= least;
  }
  /// Returns the same of a frontier, whose edges may be counted.
  bool follows_edges(const List& frontier, std::uint64_t least) const {
    return edges_ ? *edges_ >= least : has_edges(frontier, least);
  }
  std::uint64_t edges_out_of(std::span<const LocalNumber> vertices) const {
    constexpr std::size_t kAhead = 16;
    std::uint64_t edges = 0;
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      if (vertices.size() - i > kAhead) job_->rows().fetch_begin(vertices[i + kAhead]);
      edges += job_->degree(vertices[i]);
    }
    return edges;
  }
  bool is_few(const List& frontier) const { return !has_edges(frontier, frontier::few_edges(job_->graph())); }

  /// Says that the vertex is not in news any more. Other workers rest.
  void no_longer_waits(LocalNumber v) noexcept { state_.waiting_[v / 64] &= ~(std::uint64_t{1} << v % 64); }
  /// Returns the next frontier.
  List take_news(const Calls& calls) {
    List all;
    for (News& one : state_.news_) {
      if (all.empty())
        all.swap(one.owned);
      else
        all.insert(all.end(), one.owned.begin(), one.owned.end());
      one.owned.clear();
    }
    if (!calls.once)
      for (const LocalNumber v : all) no_longer_waits(v);
    return all;
  }

  FrontierState& state_;
  std::shared_ptr<frontier::Job> job_;
  frontier::SuperstepLog* log_;  ///< null: nobody wants to know
  bool distributed_;
  std::uint64_t kind_ = 0;
  std::optional<std::uint64_t> edges_;  ///< out of the frontier, where they are counted
  bool counts_next_ = false;            ///< a process alone counts the edges out of its news
  frontier::Active active_;             ///< who has a frontier, as the end of the last superstep says
  Followed followed_;                   ///< likewise
  std::vector<Lane> lanes_;
};

}  // namespace edgewire::detail
