#include "dense/engine/iteration.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "base/error.h"
#include "dense/engine/queues.h"
#include "dense/engine/watches.h"
#include "dense/exchange/inbox.h"
#include "dense/exchange/outbox.h"
#include "edgewire/detail/memory.h"
#include "launch/agreement.h"
#include "process/barrier.h"

namespace edgewire::engine {

namespace {

/// Throws Error when slots of this encoding cannot hold the program's messages.
void check_messages(const Loops& loops, plan::Encoding encoding) {
  const std::size_t bytes = plan::message_bytes(encoding);
  if (loops.message_bytes() != bytes)
    throw Error(fmt::format("messages of {} bytes do not fit wire {}, which is for {} bytes",
                            loops.message_bytes(), plan::to_name(encoding), bytes));
  if (encoding == plan::Encoding::bit && !loops.is_one_bit())
    throw Error("encoding bit is only for programs whose messages are 0 or 1 (one_bit)");
  if (plan::is_rounded(encoding) && !loops.largest())
    throw Error(fmt::format("wire {} is only for programs that say how large their messages get",
                            plan::to_name(encoding)));
}

constexpr std::size_t kPagesCounted = 64;  // pages of a worker's accumulators that are counted
constexpr std::size_t kScratchBytes = std::size_t{2} << 20;  // fewer bytes would not get a huge page

void add(detail::PackedTotals& sum, const detail::PackedTotals& more) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
}

/// The state that the workers of a process share.
class Loop : LinkWatch {
 public:
  Loop(topology::WorkerPool& pool, exchange::Exchange& exchange, std::span<const std::uint32_t> bounds,
       NumberedBy<LocalNumber, std::span<const OwnedIndex>> indexes, Loops& loops,
       const IterationOptions& options)
      : LinkWatch(exchange, options.observer, pool.placement().oversubscribed),
        pool_(pool),
        bounds_(bounds),
        local_columns_(static_cast<std::size_t>(
            std::lower_bound(bounds.begin(), bounds.end(), static_cast<std::uint32_t>(indexes.size())) -
            bounds.begin())),
        loops_(loops),
        order_(loops.order()),
        options_(options),
        outbox_(exchange, loops, codec()),
        inbox_(exchange, loops, bounds.first(local_columns_ + 1), indexes, codec()),
        mirrors_(loops.mirrors_by_column()),
        two_hops_(std::any_of(mirrors_.begin() + static_cast<std::ptrdiff_t>(local_columns_), mirrors_.end(),
                              [](const auto& peers) { return !peers.empty(); })),
        totals_(local_columns_),
        accumulator_pages_(static_cast<std::size_t>(pool.workers())),
        mine_(options.start),
        states_(exchange, options),
        in_order_(!options.column_workers.empty()),
        groups_(takers(), in_order_) {
    for (int lane = 0; lane < exchange.lanes(); ++lane)
      queues_.emplace_back(exchange.lane_chunks(lane), exchange.outgoing(), order_, mirrors_);
  }

  IterationResult run() {
    outbox_.publish_powers();
    if (!outbox_.publish_totals(mine_, 0)) throw Error(exchange_.health().message());
    inbox_.take_powers();
    // All are ready, so that the first iteration measures itself only, and none runs more than its peers.
    const auto most = fmt::format("{}{}", options_.has_goal ? "at most " : "", options_.iterations);
    launch::check_agreement(exchange_.bootstrap(), {{"the number of iterations to run", most}});
    recorder_.emplace(exchange_, loops_.totals_bytes());
    pool_.run([this](int worker) { work(worker); });
    if (failed()) throw Error(exchange_.health().message());
    const detail::PackedTotals totals = drain();
    topology::PageCount pages;
    for (const auto& one : accumulator_pages_) pages += one;
    return {recorder_->take_records(), totals, pages};
  }

 private:
  exchange::Codec codec() const { return {exchange_.encoding(), loops_.largest().value_or(1)}; }
  /// Returns the node, or the worker, that computes each local group first, by local group.
  std::vector<int> takers() const {
    const auto& of_columns = in_order_ ? options_.column_workers : options_.column_nodes;
    std::vector<int> of_groups;
    for (std::size_t g = 0; g < order_.groups() && order_.columns(g).front() < local_columns_; ++g)
      of_groups.push_back(of_columns.empty() ? 0 : of_columns[order_.columns(g).front()]);
    return of_groups;
  }
  std::size_t width(std::size_t column) const { return bounds_[column + 1] - bounds_[column]; }

  /// A local column that lacks values of others.
  struct Incomplete {
    std::size_t column;
    bool has_mirrors;  ///< whether its mirrors have been added
  };
  /// The state of a worker in an iteration.
  struct Turn {
    int worker;
    std::span<std::byte> accumulators;  ///< accumulators for the columns of one group
    std::uint64_t iteration;
    std::vector<Incomplete> incomplete{};
  };

  void work(int worker) {
    // Huge pages, since accumulators are touched at random.
    const auto w = static_cast<std::size_t>(worker);
    const int node = options_.worker_nodes.empty() ? -1 : options_.worker_nodes[w];
    const topology::NodeMemory memory(std::max(order_.most() * loops_.accumulator_bytes(), kScratchBytes),
                                      node, "accumulators", topology::Begin::staggered);
    if (observer_) observer_->begin(worker);
    for (std::uint64_t t = 1; t <= static_cast<std::uint64_t>(options_.iterations) && !stop_; ++t) {
      send_mirrors(worker, t);
      fill_bins(worker);
      Turn turn{worker, memory.as<std::byte>(), t};
      send_columns(turn);
      while (owned_group(turn)) continue;
      finish_all_incomplete(turn);
      tell(worker, Phase::wait, 0, exchange_.rank());
      pool_.barrier([this, worker, t] { end(worker, t); });
    }
    if (observer_) observer_->finish(worker);
    const topology::PlacedMemory placed{std::as_bytes(memory.as<std::byte>()), {&node, node < 0 ? 0U : 1U}};
    accumulator_pages_[w] = topology::count_pages({&placed, 1}, kPagesCounted);
  }

  /// Computes a group of columns. Returns false once the job has failed, perhaps for want of tiles.
  bool compute(const Turn& turn, std::size_t group) {
    tell(turn.worker, Phase::compute, order_.columns(group).front());
    loops_.compute(turn.worker, group, turn.accumulators.data());
    return !failed();
  }
  std::byte* accumulators(const Turn& turn, std::size_t column) const {
    return turn.accumulators.data() + order_.begin(column) * loops_.accumulator_bytes();
  }
  /// Adds mirrors in the order of ranks, so that the result does not depend on the order of arrival.
  void add_mirrors(const Turn& turn, std::size_t column) {
    for (const int peer : mirrors_[column])
      loops_.add_mirrors(peer, inbox_.mirrors(peer, turn.iteration), column, accumulators(turn, column));
  }

  /// Sends a chunk by publish(). Returns false once the job has failed.
  template <class Publish>
  bool send(const exchange::OutgoingChunk& chunk, int worker, const Publish& publish) {
    const int peer = exchange_.outgoing()[chunk.stream].peer;
    const std::uint64_t stalled_ns = exchange_.stalled_ns(worker, peer);
    tell(worker, Phase::send, chunk.chunk.ordinal, peer);
    if (!publish()) return false;
    if (observer_)
      observer_->aside(worker, Phase::wait, peer, exchange_.stalled_ns(worker, peer) - stalled_ns);
    return true;
  }

  void send_mirrors(int worker, std::uint64_t t) {
    for (const auto& chunk : exchange_.lane_chunks(worker)) {
      if (!exchange_.outgoing()[chunk.stream].mirrors) return;  // mirrors go first
      if (!send(chunk, worker, [&] { return outbox_.publish_messages(chunk, t); })) return;
    }
  }

  /// Fills the bins of thin cells, if they have any. All workers wait here until all bins are filled.
  void fill_bins(int worker) {
    const std::size_t strips = order_.bins().strips();
    if (strips == 0) return;
    tell(worker, Phase::compute);
    for (std::size_t s; (s = strips_filled_.fetch_add(1, std::memory_order_relaxed)) < strips;) {
      loops_.scatter(s);
      poll(worker);
    }
    tell(worker, Phase::wait, 0, exchange_.rank());
    pool_.barrier();
  }

  /// Sums wait for the mirrors that they need, but for nothing else: all processes send all mirrors before
  /// anything of theirs waits.
  void send_columns(Turn& turn) {
    LaneQueue& queue = queues_[turn.worker];
    const auto lacks = [&](const LaneRun& run) {
      return inbox_.awaited_mirrors(run.mirrors, turn.iteration);
    };
    const auto ready = [&](const LaneRun& run) { return lacks(run) < 0; };
    for (queue.refill(); !queue.empty(); poll(turn.worker)) {
      const LaneRun* run = nullptr;
      const auto taken = [&] { return run != nullptr || (run = queue.take(ready)) != nullptr; };
      if (!work_until(turn, taken, [&] { return lacks(queue.first()); })) return;
      if (!(run->sums ? send_sums(turn, *run) : send_messages(turn, run->chunks.front()))) return;
    }
  }

  /// Sends a group of sums. Returns false once the job has failed, as the next function does.
  bool send_sums(const Turn& turn, const LaneRun& run) {
    if (!compute(turn, order_.group_of(run.chunks.front().column))) return false;
    return std::ranges::all_of(run.chunks, [&](const exchange::OutgoingChunk& chunk) {
      add_mirrors(turn, chunk.column);
      const std::byte* const sums = accumulators(turn, chunk.column);
      return send(chunk, turn.worker,
                  [&] { return outbox_.publish_partial_sums(chunk, sums, turn.iteration); });
    });
  }

  /// Sends a chunk of messages. Values that are filled in while the link has no room would leave from memory
  /// that is no longer in the cache: other work goes first.
  bool send_messages(Turn& turn, const exchange::OutgoingChunk& chunk) {
    const int peer = exchange_.outgoing()[chunk.stream].peer;
    const auto room = [&] { return exchange_.link().takes_more(turn.worker, peer); };
    return work_until(turn, room, [peer] { return peer; }) &&
           send(chunk, turn.worker, [&] { return outbox_.publish_messages(chunk, turn.iteration); });
  }

  /// Computes and finishes local columns until done() holds, and waits only when there are none; false once
  /// the job has failed. awaited(): the peer that it waits for.
  template <class Done, class Awaited>
  bool work_until(Turn& turn, const Done& done, const Awaited& awaited) {
    while (!done() && poll(turn.worker) && !done()) {
      if (!in_order_ && owned_group(turn)) continue;
      const auto done_or_work = [&] { return done() || finish_incomplete(turn); };
      if (!wait_until(turn.worker, done_or_work, awaited)) return false;
    }
    return !failed();
  }

  /// Computes local columns, and finishes those that are complete. Returns false when there are none left.
  bool owned_group(Turn& turn) {
    if (failed()) return false;
    const auto taken = groups_.take(in_order_ ? turn.worker : pool_.placement().workers[turn.worker].node);
    if (!taken || !compute(turn, *taken)) return false;
    if (exchange_.size() > 1) tell(turn.worker, Phase::send);
    poll(turn.worker);
    for (const std::uint32_t column : order_.columns(*taken)) {
      // Accumulators are rounded as store() and load() would: whether a column is kept depends on timing, the
      // result must not.
      if (exchange_.size() > 1) loops_.round(accumulators(turn, column), width(column));
      const bool complete = awaited(column, turn.iteration) < 0;
      tell(turn.worker, Phase::apply, column);
      const bool has_mirrors = add_mirrors_early(turn, column, complete);
      if (complete) {
        finish(turn, column);
      } else {
        loops_.store(bounds_[column], accumulators(turn, column), width(column));
        turn.incomplete.push_back({column, has_mirrors});
      }
    }
    return true;
  }

  /// Adds the mirrors of a local column if they are there, and it is complete or would else wait for partial
  /// sums that its peers can only send when they have mirrors themselves. The sum is then rounded once more,
  /// at once and always, as a column that is kept again would be.
  bool add_mirrors_early(const Turn& turn, std::size_t column, bool complete) {
    if (!complete && (!two_hops_ || inbox_.awaited_mirrors(mirrors_[column], turn.iteration) >= 0))
      return false;
    add_mirrors(turn, column);
    if (two_hops_) loops_.round(accumulators(turn, column), width(column));
    return true;
  }

  /// Finishes a column that was kept, or adds its mirrors, in the order in which their needs arrive. Returns
  /// false when nothing can be done.
  bool finish_incomplete(Turn& turn) {
    const std::uint64_t t = turn.iteration;
    auto one =
        std::ranges::find_if(turn.incomplete, [&](const Incomplete& k) { return awaited(k.column, t) < 0; });
    const bool complete = one != turn.incomplete.end();
    if (!complete && two_hops_)
      one = std::ranges::find_if(turn.incomplete, [&](const Incomplete& k) {
        return !k.has_mirrors && inbox_.awaited_mirrors(mirrors_[k.column], t) < 0;
      });
    if (one == turn.incomplete.end()) return false;
    const std::size_t column = one->column;
    tell(turn.worker, Phase::apply, column);
    loops_.load(bounds_[column], accumulators(turn, column), width(column));
    one->has_mirrors = one->has_mirrors || add_mirrors_early(turn, column, complete);
    if (complete) {
      turn.incomplete.erase(one);
      finish(turn, column);
    } else {
      loops_.store(bounds_[column], accumulators(turn, column), width(column));
    }
    return true;
  }

  void finish_all_incomplete(Turn& turn) {
    const auto finish_one = [&] { return finish_incomplete(turn); };
    const auto lacking = [&] { return awaited(turn.incomplete.front().column, turn.iteration); };
    while (!turn.incomplete.empty() && wait_until(turn.worker, finish_one, lacking)) continue;
  }

  /// Returns a peer that has not sent everything that a local column needs, or -1 if there is none. The
  /// totals of the last iteration are part of it. So a process has ended iteration t only if all have ended
  /// t - 1, and overwrites no slot that is still read: slots are written again after two iterations. (One
  /// without vertices sends only sums of mirrors, which come from those that have some.)
  int awaited(std::size_t column, std::uint64_t t) const {
    int peer = inbox_.awaited_scalars(t - 1);
    if (peer < 0) peer = inbox_.awaited_mirrors(mirrors_[column], t);
    return peer < 0 ? inbox_.awaited(column, t) : peer;
  }

  void finish(const Turn& turn, std::size_t column) {
    tell(turn.worker, Phase::apply, column);
    std::byte* const sums = accumulators(turn, column);
    const std::uint64_t t = turn.iteration;
    inbox_.add(column, t, sums);
    totals_[column] = loops_.apply(bounds_[column], sums, width(column), totals_after(t - 1));
  }

  /// Returns the totals over all processes, added in the order of ranks. All must have arrived.
  detail::PackedTotals totals_after(std::uint64_t t) const {
    detail::PackedTotals sum{};
    for (int p = 0; p < exchange_.size(); ++p) add(sum, p == exchange_.rank() ? mine_ : inbox_.totals(p, t));
    return sum;
  }

  /// Ends an iteration. One worker calls it while the others rest.
  void end(int worker, std::uint64_t t) {
    if (failed()) {
      stop_ = true;
      return;
    }
    tell(worker, Phase::apply);
    mine_ = {};
    for (const auto& one : totals_) add(mine_, one);
    loops_.advance();
    groups_.refill();
    strips_filled_.store(0, std::memory_order_relaxed);
    if (!outbox_.publish_totals(mine_, t) || !states_.after(static_cast<int>(t), mine_)) {
      stop_ = true;
      return;
    }
    if (options_.has_goal) {
      const auto awaited = [&] { return inbox_.awaited_scalars(t); };
      stop_ = !wait_until(
                  worker, [&] { return awaited() < 0; }, awaited) ||
              loops_.done(totals_after(t));
    }
    recorder_->end_iteration();
    if (observer_) observer_->end_iteration(t);
    if (options_.progress) options_.progress(static_cast<int>(t));
  }

  /// Waits until all that was queued has left and all processes have what they need. Returns all totals.
  detail::PackedTotals drain() {
    const std::uint64_t done = recorder_->iterations();
    exchange_.wait_until([&] {
      for (int lane = 0; lane < exchange_.lanes(); ++lane) {
        if (!exchange_.all_have_left(lane)) return false;
      }
      return inbox_.awaited_scalars(done) < 0;
    });
    process::barrier(exchange_.bootstrap(), exchange_.link());
    return totals_after(done);
  }

  topology::WorkerPool& pool_;
  std::span<const std::uint32_t> bounds_;
  std::size_t local_columns_;
  Loops& loops_;
  const tiles::TileOrder& order_;
  const IterationOptions& options_;
  exchange::Outbox outbox_;
  exchange::Inbox inbox_;
  std::vector<std::vector<int>> mirrors_;               ///< peers whose mirrors a column needs, [column]
  bool two_hops_;                                       ///< whether some partial sums need mirrors
  std::vector<LaneQueue> queues_;                       ///< queues, [lane]
  std::vector<detail::PackedTotals> totals_;            ///< totals, [local column]
  std::vector<topology::PageCount> accumulator_pages_;  ///< pages, [worker]
  detail::PackedTotals mine_;
  bool stop_ = false;  ///< whether to stop; set behind the barrier
  CheckpointWatch states_;
  bool in_order_;  ///< whether each worker computes columns in an order that is known before
  GroupQueue groups_;
  alignas(64) std::atomic<std::size_t> strips_filled_{0};  ///< strips taken in this iteration
  alignas(64) std::optional<Recorder> recorder_;
};

}  // namespace

IterationResult iterate(topology::WorkerPool& pool, exchange::Exchange& exchange,
                        std::span<const std::uint32_t> column_bounds,
                        NumberedBy<LocalNumber, std::span<const OwnedIndex>> indexes, Loops& loops,
                        const IterationOptions& options) {
  check_messages(loops, exchange.encoding());
  return Loop(pool, exchange, column_bounds, indexes, loops, options).run();
}

}  // namespace edgewire::engine
