// The work of a FrontierState's workers in a superstep: they visit, tell, hear, and end it.
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

#include "base/bits.h"
#include "base/error.h"
#include "edgewire/frontier.h"
#include "frontier/frontier_job.h"
#include "frontier/push_note.h"
#include "frontier/records.h"
#include "frontier/row_batch.h"
#include "frontier/superstep.h"

namespace edgewire::detail {

class FrontierState::Workers {
 public:
  using List = std::vector<LocalNumber>;
  using Frontier = std::span<const LocalNumber>;

  /// Makes the workers. `boundary` outlives them.
  Workers(FrontierState& state, std::shared_ptr<frontier::Job> job, frontier::SuperstepLog* log,
          const frontier::Boundary& boundary)
      : state_(state),
        job_(std::move(job)),
        log_(log),
        boundary_(boundary),
        distributed_(!job_->is_only()),
        lanes_(static_cast<std::size_t>(job_->pool().workers())) {
    for (Lane& one : lanes_) one.parts.resize(static_cast<std::size_t>(job_->bootstrap().size()));
  }

  frontier::Job& job() noexcept { return *job_; }
  const frontier::Boundary& boundary() const noexcept { return boundary_; }
  void set_kind(std::uint64_t kind) noexcept { kind_ = kind; }
  /// Checks the first frontier; called before the first superstep with a frontier.
  void expect(std::span<const LocalNumber> frontier) {
    job_->make_rows();
    const auto other = std::ranges::find_if(frontier, [&](LocalNumber v) { return v >= state_.owned(); });
    if (other != frontier.end())
      throw UsageError(fmt::format("frontier: {} is no local number of rank {}, which owns {} vertices",
                                   std::uint32_t{*other}, state_.rank(), state_.owned()));
  }

  /// Runs work(worker) in all workers, or in the first `one` alone. One that throws ends the job.
  template <class Work>
  void run_workers(const Work& work, bool one = false) {
    const auto run = [&](int worker) {
      try {
        work(worker);
      } catch (const std::exception& error) {
        job_->bootstrap().health().fail(-1, error.what());
        throw;
      }
    };
    if (one)
      run(0);
    else
      job_->pool().run(run);
  }

  /// Hears the records of a peer. A record that is several of the stream waits until it is whole.
  void hear(int worker, int peer, std::span<const std::byte> records, const Calls& calls) {
    if (state_.record_bytes() == job_->record_bytes()) return hear_whole(worker, peer, records, calls);
    auto& parts = lane(worker).parts[static_cast<std::size_t>(peer)];
    parts.insert(parts.end(), records.begin(), records.end());
    const std::size_t whole = parts.size() / state_.record_bytes() * state_.record_bytes();
    hear_whole(worker, peer, std::span(parts).first(whole), calls);
    parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(whole));
  }
  void hear_whole(int worker, int peer, std::span<const std::byte> records, const Calls& calls) {
    const auto sender = static_cast<std::uint32_t>(peer);
    const auto [named, end] = names_of(sender, calls.naming);
    for (std::size_t at = 0; at < records.size(); at += state_.record_bytes()) {
      std::uint32_t name = 0;
      std::memcpy(&name, &records[at], sizeof name);
      if (name >= end) throw Error("a process has sent a vertex that does not exist");
      if (calls.told != nullptr) lane(worker).told.push_back({sender, name});
    }
    calls.hear(worker, named, records);
  }
  /// Throws Error where a peer has ended a superstep within a record.
  void expect_whole(int worker) const {
    const auto& parts = lanes_[static_cast<std::size_t>(worker)].parts;
    if (!std::ranges::all_of(parts, [](const auto& part) { return part.empty(); }))
      throw Error("a process has sent a part of a record");
  }
  /// Returns the vertices that the records of a peer name, and their number.
  std::pair<Named, std::uint32_t> names_of(std::uint32_t peer, Naming naming) const {
    if (naming == Naming::boundary_place) return {{nullptr, boundary_.first(peer)}, boundary_.count(peer)};
    if (naming == Naming::local) return {{}, state_.owned()};
    const auto known = boundary_.known_by(peer);
    return {{known.data()}, static_cast<std::uint32_t>(known.size())};
  }

  /// Returns a function that takes arriving records.
  auto hears(int worker, const Calls& calls) {
    return [this, worker, &calls](int peer, std::span<const std::byte> records) {
      hear(worker, peer, records, calls);
    };
  }
  void send(int worker, std::uint32_t peer, std::uint32_t name, Record& record, const Calls& calls) {
    record[0] = name;
    if (!calls.tells) throw UsageError("within: visit() has told of a boundary vertex");
    job_->records().send_bytes(worker, static_cast<int>(peer), record.data(), state_.record_bytes(),
                               hears(worker, calls));
  }
  /// Tells the owner of any vertex of another process.
  void tell(int worker, Home home, Record& record, const Calls& calls) {
    if (calls.naming == Naming::owned_place) {
      if (!boundary_.knows(home)) throw UsageError("tell: this process does not know the vertex");
      return tell(worker, boundary_.number(home), record, calls);
    }
    lane(worker).said.next.add(home.owner);
    send(worker, home.owner, home.local, record, calls);
  }
  /// Tells the owner of a boundary vertex.
  void tell(int worker, KnownNumber vertex, Record& record, const Calls& calls) {
    if (calls.naming == Naming::local) return tell(worker, boundary_.home(vertex), record, calls);
    const std::uint32_t owner = boundary_.owner(vertex);
    lane(worker).said.next.add(owner);
    send(worker, owner, vertex - boundary_.first(owner), record, calls);
  }

  /// Runs work(done), which counts a superstep, and notes it where there is a log.
  template <class Work>
  void step(const Work& work) {
    if (log_ != nullptr) return log_->step(kind_, work);
    frontier::Superstep done;
    work(done);
  }
  void count(frontier::Superstep& done) noexcept {
    for (News& one : state_.news_) {
      state_.edges_followed_ += one.edges;
      done.frontier += std::exchange(one.vertices, 0);
      done.edges += std::exchange(one.edges, 0);
    }
  }

  /// Visits the rows of a list that workers share, see Job::each_shared_row(), and returns their counts.
  Totals visit_shared(int worker, std::span<const KnownNumber> list, std::atomic<std::size_t>& next,
                      const Calls& calls) {
    RowBatch batch(worker, calls, !job_->on_disks());
    job_->each_shared_row(
        worker, list, next, [&](const FrontierRow& row) { batch.add(row); },
        [&](KnownNumber v) { state_.fetch(v); });
    return batch.finish();
  }
  /// Does the same for the rows of vertices in memory.
  Totals visit_own(int worker, std::span<const LocalNumber> vertices, const Calls& calls) {
    RowBatch batch(worker, calls, !job_->on_disks());
    job_->each_row(
        worker, [&] { return std::exchange(vertices, {}); }, [&](const FrontierRow& row) { batch.add(row); });
    return batch.finish();
  }

  /// Returns whether one worker follows the edges of a frontier sooner than the others wake up.
  bool is_for_one(Frontier frontier) const {
    const bool blocked = job_->pool().placement().oversubscribed;
    return lanes_.size() == 1 || !follows_edges(frontier, blocked ? kOneWorkerBlocked : kOneWorker);
  }

  bool is_distributed() const noexcept { return distributed_; }
  /// Returns the processes that a worker has told of vertices since the last call.
  frontier::Active take_told(int worker) noexcept { return std::exchange(lane(worker).said, {}).next; }

 protected:
  static void visit_vertex(int worker, LocalNumber v, const Calls& calls) {
    const FrontierRow row{v, {}, {}};
    calls.visit(worker, {&row, 1});
  }
  using Active = frontier::Active;
  using PushNote = frontier::PushNote;
  // Number of supersteps that a process makes alone, until all decide again.
  static constexpr std::uint32_t kMostAlone = 64;
  // Edges that one worker follows sooner than the others wake up; and where workers that wait block at once.
  static constexpr std::uint64_t kOneWorker = 1 << 10, kOneWorkerBlocked = 1 << 12;
  // Number of the graph's vertices for each edge along which keepers are told.
  static constexpr std::uint64_t kKeptOf = 8;

  struct alignas(128) Lane {
    PushNote said;  ///< note of the worker at the end of a superstep
    std::vector<std::pair<int, std::vector<std::byte>>> held;  ///< records of peers, to be heard later
    std::vector<std::vector<std::byte>> parts;  ///< begin of a record by peer, whose rest has yet to come
    std::vector<Told> told;                     ///< records that it has heard
    Bits marks{0};                              ///< set by which boundary vertices are sorted
    std::uint64_t next_edges = 0;               ///< number of edges out of its news, where that is counted
  };
  /// The workers that follow the edges of a frontier, one or all, and those that hear the records.
  struct Deal {
    bool one;
    Hearing hearing = Hearing::at_once;
  };

  Lane& lane(int worker) noexcept { return lanes_[static_cast<std::size_t>(worker)]; }
  News& news(int worker) noexcept { return state_.news_[static_cast<std::size_t>(worker)]; }
  /// Returns who has this part of a frontier. Many edges are not followed alone.
  Active who_has(Frontier frontier) const {
    Active active;
    if (!frontier.empty()) active.add(state_.rank());
    return frontier.empty() || is_few(frontier) ? active : Active::several();
  }
  /// Visits the vertices of the frontier. `ends`: each worker ends the superstep then, in all processes.
  void visit_all(Frontier frontier, const Calls& calls, frontier::Superstep& done, bool ends) {
    List in_order;
    if (job_->on_disks() && !std::ranges::is_sorted(frontier)) {
      in_order.assign(frontier.begin(), frontier.end());
      std::ranges::sort(in_order);
      frontier = in_order;
    }
    const Deal deal = this->deal(frontier, calls, ends);
    const std::size_t workers = deal.one ? 1 : lanes_.size();
    state_.hearing_ = deal.hearing;
    state_.shared_ = workers > 1 && deal.hearing == Hearing::at_once;
    std::atomic<std::size_t> next{0}, arrived{0};
    const auto work = [&](int worker) {
      {
        const Arrival arrival(arrived);
        if (calls.rows)
          news(worker).edges +=
              visit_shared(worker, numbered<KnownNumber>(plain(frontier)), next, calls).edges;
        else
          visit_vertices(worker, frontier, next, calls);
        if (deal.hearing == Hearing::in_bins) calls.hear_offers(worker);
      }
      // With say(), the news of owners are complete when all have arrived.
      if (distributed_ && calls.tells && (!ends || calls.say)) hear_until(arrived, workers, worker, calls);
      if (deal.hearing == Hearing::by_keepers) {
        job_->pool().barrier();
        calls.hear_offers(worker);
      }
      if (counts_next_) lane(worker).next_edges = edges_out_of(news(worker).owned);
      if (ends) end(worker, calls, 1, false);
    };
    run_workers(work, deal.one);
    state_.hearing_ = Hearing::at_once;
    done.frontier += frontier.size();
    count(done);
  }
  /// Returns who works. Many edges wake all workers, which hand over news of few vertices of a graph to the
  /// workers that keep them, and of many to bins.
  Deal deal(Frontier frontier, const Calls& calls, bool ends) const {
    if (lanes_.size() == 1) return {!ends};
    if (!ends && is_for_one(frontier)) return {true};
    if (distributed_ || !calls.hear_offers) return {false};
    const bool few = !job_->on_disks() && !follows_edges(frontier, job_->graph().vertices() / kKeptOf);
    return {false, few ? Hearing::by_keepers : Hearing::in_bins};
  }
  /// A guard that says that a worker has arrived, also where it throws.
  struct Arrival {
    std::atomic<std::size_t>& arrived;
    explicit Arrival(std::atomic<std::size_t>& counter) noexcept : arrived(counter) {}
    Arrival(const Arrival&) = delete;
    Arrival& operator=(const Arrival&) = delete;
    ~Arrival() { ++arrived; }
  };
  /// Waits for other workers, and hears arriving records meanwhile: another process may wait for room, on
  /// this lane alone, before it hears the records that those workers wait to send.
  void hear_until(const std::atomic<std::size_t>& arrived, std::size_t workers, int worker,
                  const Calls& calls) {
    while (arrived < workers)
      if (job_->records().take_bytes(worker, hears(worker, calls)) == 0) std::this_thread::yield();
  }
  void visit_vertices(int worker, Frontier frontier, std::atomic<std::size_t>& next, const Calls& calls) {
    constexpr std::size_t kAtOnce = 64;
    for (auto at = next.fetch_add(kAtOnce); at < frontier.size(); at = next.fetch_add(kAtOnce))
      for (const LocalNumber v : frontier.subspan(at, std::min(kAtOnce, frontier.size() - at)))
        visit_vertex(worker, v, calls);
  }

  /// Tells the owners of boundary vertices that have heard news, each once; and where there are many, in the
  /// order in which both processes have them in memory.
  void tell_others(int worker, const Calls& calls) {
    auto& others = news(worker).others;
    if (!calls.say || others.empty()) return;
    sort_many(std::span(others), lane(worker).marks, state_.owned(), state_.known());
    Record record{};
    for (const KnownNumber v : others) {
      if (!calls.once)
        std::atomic_ref(state_.waiting_[v / 64])
            .fetch_and(~(std::uint64_t{1} << v % 64), std::memory_order_relaxed);
      if (calls.say(v, record)) tell(worker, v, record, calls);
    }
    others.clear();
  }
  /// Ends the superstep of a worker. `holds`: whether arriving records are held, to be heard later.
  void end(int worker, const Calls& calls, std::uint32_t levels, bool holds) {
    tell_others(worker, calls);
    PushNote& said = lane(worker).said;
    said += {0, news(worker).edges, levels, 0, who_has(news(worker).owned)};
    job_->records().finish_bytes(
        worker,
        [&](int peer, std::span<const std::byte> records) {
          if (!holds) return hear(worker, peer, records, calls);
          lane(worker).held.push_back({peer, {records.begin(), records.end()}});
        },
        said.words());
    if (!holds) expect_whole(worker);
  }
  /// Hears the records that were held.
  void hear_held(int worker, const Calls& calls) {
    for (const auto& [peer, records] : std::exchange(lane(worker).held, {}))
      hear(worker, peer, records, calls);
    expect_whole(worker);
  }
  /// Ends the superstep of all workers, in which `levels` were followed.
  void end_all(const Calls& calls, std::uint32_t levels, bool holds) {
    state_.shared_ = lanes_.size() > 1;
    run_workers([&](int worker) { end(worker, calls, levels, holds); });
    hear_all_said();
  }
  /// Sums up the notes of all processes at the end of a superstep.
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
  /// Returns whether at least `least` edges lead out of the vertices; a vertex counts as one more.
  bool has_edges(Frontier vertices, std::uint64_t least) const {
    std::uint64_t edges = 0;
    for (std::size_t i = 0; i < vertices.size() && edges < least; ++i) edges += 1 + job_->degree(vertices[i]);
    return edges >= least;
  }
  /// Returns the same for a frontier, whose edges may be counted.
  bool follows_edges(Frontier frontier, std::uint64_t least) const {
    return edges_ ? *edges_ >= least : has_edges(frontier, least);
  }
  std::uint64_t edges_out_of(Frontier vertices) const {
    constexpr std::size_t kAhead = 16;
    std::uint64_t edges = 0;
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      if (vertices.size() - i > kAhead) job_->rows().fetch_begin(vertices[i + kAhead]);
      edges += job_->degree(vertices[i]);
    }
    return edges;
  }
  bool is_few(Frontier frontier) const { return !has_edges(frontier, frontier::few_edges(job_->graph())); }

  /// Takes the vertex out of the news. Other workers rest.
  template <class Number>
  void no_longer_waits(Number v) noexcept {
    state_.waiting_[v / 64] &= ~(std::uint64_t{1} << v % 64);
  }
  /// Makes a list the next frontier. Its memory goes on to the lists of news.
  void take_news(const Calls& calls, List& next) {
    next.clear();
    for (News& one : state_.news_) {
      if (next.empty())
        next.swap(one.owned);
      else
        next.insert(next.end(), one.owned.begin(), one.owned.end());
      one.owned.clear();
    }
    if (!calls.once)
      for (const LocalNumber v : next) no_longer_waits(v);
  }

  FrontierState& state_;
  std::shared_ptr<frontier::Job> job_;
  frontier::SuperstepLog* log_;  ///< log of supersteps, or null
  const frontier::Boundary& boundary_;
  bool distributed_;
  std::uint64_t kind_ = 0;
  std::optional<std::uint64_t> edges_;  ///< number of edges out of the frontier, where they are counted
  bool counts_next_ = false;            ///< whether a process alone counts the edges out of its news
  frontier::Active active_;             ///< processes that have a frontier, by the end of the last superstep
  Followed followed_;                   ///< edges followed, likewise
  std::vector<Lane> lanes_;
};

}  // namespace edgewire::detail
