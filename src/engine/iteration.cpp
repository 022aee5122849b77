#include "engine/iteration.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "engine/column_queue.h"
#include "error.h"
#include "exchange/barrier.h"
#include "exchange/inbox.h"
#include "exchange/outbox.h"
#include "topology/memory.h"

namespace edgewire::engine {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kScratchBytes = std::size_t{2} << 20;  // less would not get a huge page

void add(exchange::Totals& sum, const exchange::Totals& more) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
}

/// The state that the workers of a process share.
class Loop {
 public:
  Loop(topology::WorkerPool& pool, exchange::Exchange& exchange, std::span<const std::uint32_t> bounds,
       std::span<const std::uint32_t> indexes, Loops& loops, const IterationOptions& options)
      : pool_(pool),
        exchange_(exchange),
        bounds_(bounds),
        local_columns_(static_cast<std::size_t>(
            std::lower_bound(bounds.begin(), bounds.end(), static_cast<std::uint32_t>(indexes.size())) -
            bounds.begin())),
        loops_(loops),
        options_(options),
        observer_(options.observer),
        outbox_(exchange, loops, codec()),
        inbox_(exchange, loops, bounds.first(local_columns_ + 1), indexes, codec()),
        totals_(local_columns_),
        mine_(options.start),
        columns_(options.column_nodes.empty() ? std::vector<int>(local_columns_) : options.column_nodes) {
    for (std::size_t c = 0; c + 1 < bounds.size(); ++c) width_ = std::max(width_, bounds[c + 1] - bounds[c]);
  }

  IterationResult run() {
    if (!outbox_.publish_totals(mine_, 0)) throw Error(exchange_.health().message());
    exchange_.bootstrap().allgather("");  // all are ready, so that the first iteration measures itself only
    began_ = Clock::now();
    sent_ = exchange_.link().counters();
    for (int p = 0; p < exchange_.size(); ++p) frames_to_.push_back(exchange_.link().frame_bytes_to(p));
    pool_.run([this](int worker) { work(worker); });
    if (failed()) throw Error(exchange_.health().message());
    const exchange::Totals totals = drain();
    return {std::move(records_), totals};
  }

 private:
  exchange::Codec codec() const { return {exchange_.encoding(), loops_.largest().value_or(1)}; }
  std::size_t width(std::size_t column) const { return bounds_[column + 1] - bounds_[column]; }
  bool failed() const { return exchange_.health().failed(); }

  /// What a worker is at.
  struct Turn {
    int worker;
    std::span<std::byte> accumulators;  ///< for one column
    std::uint64_t iteration = 0;
    std::vector<std::size_t> kept{};  ///< local columns that lack what others send
  };

  void work(int worker) {
    // Made by the worker, so that it is near; huge pages, since accumulators are touched at random.
    const topology::NodeMemory memory(std::max(width_ * loops_.accumulator_bytes(), kScratchBytes), -1,
                                      "accumulators");
    Turn turn{worker, memory.as<std::byte>()};
    if (observer_) observer_->begin(worker);
    for (std::uint64_t t = 1; t <= static_cast<std::uint64_t>(options_.iterations) && !stop_; ++t) {
      turn.iteration = t;
      turn.kept.clear();
      send_columns(turn);
      while (owned_column(turn)) continue;
      finish_all_kept(turn);
      tell(worker, Phase::wait, 0, exchange_.rank());
      pool_.barrier([this, worker, t] { end(worker, t); });
    }
    if (observer_) observer_->finish(worker);
  }

  void tell(int worker, Phase phase, std::size_t item = 0, int peer = -1) {
    if (observer_) observer_->enter(worker, phase, item, peer);
  }

  /// Progress of the link; each worker watches the chunks of the peers' lanes with its number.
  bool poll(int worker) {
    const bool well = exchange_.link().poll();
    if (observer_) tell_arrivals(worker);
    return well;
  }

  void tell_arrivals(int worker) {
    for (int p = 0; p < exchange_.size(); ++p) {
      if (p == exchange_.rank()) continue;
      observer_->arrived(worker, p, exchange_.link().signalled(p, exchange::kFirstLaneKind + worker));
    }
  }

  std::byte* compute(const Turn& turn, std::size_t column) {
    tell(turn.worker, Phase::compute, column);
    loops_.compute(column, turn.accumulators.data());
    return turn.accumulators.data();
  }

  void send_columns(Turn& turn) {
    const int worker = turn.worker;
    for (const auto& chunk : exchange_.lane_chunks(worker)) {
      const exchange::OutgoingStream& stream = exchange_.outgoing()[chunk.stream];
      const int peer = stream.peer;
      const std::uint64_t stalled_ns = exchange_.stalled_ns(worker, peer);
      if (!stream.indexes.empty()) {
        if (!stream.mirrors) work_until_room(turn, peer);
        tell(worker, Phase::send, chunk.chunk.ordinal, peer);
        if (!outbox_.publish_messages(chunk, turn.iteration)) return;
      } else {
        const std::byte* const accumulators = compute(turn, chunk.column);
        tell(worker, Phase::send, chunk.chunk.ordinal, peer);
        if (!outbox_.publish_partial_sums(chunk, accumulators, turn.iteration)) return;
      }
      if (!stream.mirrors) poll(worker);
      if (observer_) observer_->stalled(worker, peer, exchange_.stalled_ns(worker, peer) - stalled_ns);
    }
  }

  /// Values that were filled in while the link has no room would leave from memory that is no longer in the
  /// cache: other work goes first.
  void work_until_room(Turn& turn, int peer) {
    const auto room = [&] { return exchange_.link().takes_more(turn.worker, peer); };
    while (!room() && poll(turn.worker) && !room()) {
      if (owned_column(turn)) continue;
      const auto room_or_work = [&] { return room() || finish_kept(turn); };
      wait_until(turn.worker, room_or_work, [peer] { return peer; });
    }
  }

  /// Computes a local column, and finishes it if all that it needs is here. False when there is none left.
  bool owned_column(Turn& turn) {
    if (failed()) return false;
    const auto taken = columns_.take(pool_.placement().workers[static_cast<std::size_t>(turn.worker)].node);
    if (!taken) return false;
    const std::size_t column = *taken;
    std::byte* const accumulators = compute(turn, column);
    if (exchange_.size() > 1) tell(turn.worker, Phase::send);
    poll(turn.worker);
    // As keep() and take() would: whether a column is kept depends on timing, the result must not.
    if (exchange_.size() > 1) loops_.round(accumulators, width(column));
    if (ready(column, turn.iteration)) {
      finish(turn, column);
    } else {
      tell(turn.worker, Phase::apply, column);
      loops_.keep(bounds_[column], accumulators, width(column));
      turn.kept.push_back(column);
    }
    return true;
  }

  /// Finishes a column that was kept, in the order in which what they need comes in. False when none can be.
  bool finish_kept(Turn& turn) {
    const auto one = std::ranges::find_if(turn.kept, [&](std::size_t c) { return ready(c, turn.iteration); });
    if (one == turn.kept.end()) return false;
    const std::size_t column = *one;
    turn.kept.erase(one);
    tell(turn.worker, Phase::apply, column);
    loops_.take(bounds_[column], turn.accumulators.data(), width(column));
    finish(turn, column);
    return true;
  }

  void finish_all_kept(Turn& turn) {
    const auto finish_one = [&] { return finish_kept(turn); };
    const auto awaited = [&] { return inbox_.awaited(turn.kept.front(), turn.iteration); };
    while (!turn.kept.empty() && wait_until(turn.worker, finish_one, awaited)) continue;
  }

  /// Makes progress until done() holds; false once the job has failed. awaited(): the peer that is lacking.
  template <class Done, class Awaited>
  bool wait_until(int worker, const Done& done, const Awaited& awaited) {
    if (done()) return true;
    tell(worker, Phase::wait);
    for (int turns = 0; turns == 0 || !done(); ++turns) {
      if (observer_) observer_->waits_for(worker, awaited());
      const bool spin = !pool_.placement().oversubscribed && turns < 100000;
      if (!spin && !exchange_.link().wait(std::chrono::microseconds(1000))) return false;
      if (!poll(worker) || failed()) return false;
    }
    return true;
  }

  bool ready(std::size_t column, std::uint64_t t) const {
    return inbox_.awaited_scalars(t - 1) < 0 && inbox_.ready(column, t);
  }

  /// The worker's accumulators are those of `column`.
  void finish(const Turn& turn, std::size_t column) {
    tell(turn.worker, Phase::apply, column);
    std::byte* const accumulators = turn.accumulators.data();
    const std::uint64_t t = turn.iteration;
    for (int p = 0; p < exchange_.size(); ++p) {
      if (const std::byte* mirrors = inbox_.mirrors(p, t); mirrors != nullptr)
        loops_.add_mirrors(p, mirrors, column, accumulators);
    }
    inbox_.add(column, t, accumulators);
    totals_[column] = loops_.apply(bounds_[column], accumulators, width(column), totals_after(t - 1));
  }

  /// Over all processes, added in the order of ranks; all must have arrived.
  exchange::Totals totals_after(std::uint64_t t) const {
    exchange::Totals sum{};
    for (int p = 0; p < exchange_.size(); ++p) add(sum, p == exchange_.rank() ? mine_ : inbox_.totals(p, t));
    return sum;
  }

  /// One worker, the others rest.
  void end(int worker, std::uint64_t t) {
    if (failed()) {
      stop_ = true;
      return;
    }
    tell(worker, Phase::apply);
    mine_ = {};
    for (const auto& one : totals_) add(mine_, one);
    loops_.advance();
    columns_.refill();
    if (!outbox_.publish_totals(mine_, t) || !keep(static_cast<int>(t))) {
      stop_ = true;
      return;
    }
    if (options_.has_goal) {
      const auto awaited = [&] { return inbox_.awaited_scalars(t); };
      stop_ = !wait_until(
                  worker, [&] { return awaited() < 0; }, awaited) ||
              loops_.done(totals_after(t));
    }
    record();
    if (observer_) observer_->end_iteration(t);
    if (options_.progress) options_.progress(static_cast<int>(t));
  }

  bool keep(int done) {
    try {
      if (!options_.keeps) return true;
      const bool begins = options_.keeps(done);
      see_kept(begins);
      if (begins) options_.keep(done, mine_);
      return true;
    } catch (const std::exception& error) {
      exchange_.health().fail(-1, error.what());
      return false;
    }
  }

  /// No process waits for another here, but rank 0 before the next one: peers may by then be an iteration
  /// ahead, and need to know that the last one is named before they write over an older one.
  void see_kept(bool wait) {
    const std::uint64_t own = options_.kept(wait);
    if (exchange_.rank() != 0) {
      if (own != kept_ && !exchange_.signal(0, 0, exchange::kKeptKind, own))
        throw Error(exchange_.health().message());
      kept_ = own;
      return;
    }
    const auto by_all = [&] {
      for (int p = 1; p < exchange_.size(); ++p) {
        if (exchange_.link().signalled(p, exchange::kKeptKind) < own) return false;
      }
      return true;
    };
    if (own == kept_) return;
    if (wait) exchange_.wait_until(by_all);
    if (!by_all()) return;
    kept_ = own;
    options_.all_kept();
  }

  void record() {
    const auto now = Clock::now();
    const auto counters = exchange_.link().counters();
    IterationRecord record;
    record.seconds = std::chrono::duration<double>(now - began_).count();
    const std::uint64_t scalars = static_cast<std::uint64_t>(exchange_.size() - 1) * loops_.totals_bytes();
    record.payload_bytes = counters.payload_bytes - sent_.payload_bytes - scalars;
    // An iteration ends with a pause: its last segment carries nothing of the next one.
    for (int p = 0; p < exchange_.size(); ++p) {
      const std::uint64_t frames = exchange_.link().frame_bytes_to(p);
      auto& before = frames_to_[static_cast<std::size_t>(p)];
      record.wire_bytes += exchange_.link().wire_bytes_of(frames - before);
      before = frames;
    }
    records_.push_back(record);
    began_ = now;
    sent_ = counters;
  }

  /// Until all that was queued has left, and all have what they need. Returns the totals of all processes.
  exchange::Totals drain() {
    const auto done = static_cast<std::uint64_t>(records_.size());
    exchange_.wait_until([&] {
      for (int lane = 0; lane < exchange_.lanes(); ++lane) {
        for (int p = 0; p < exchange_.size(); ++p) {
          if (p != exchange_.rank() && exchange_.link().completed(lane, p) < exchange_.writes(lane, p))
            return false;
        }
      }
      return inbox_.awaited_scalars(done) < 0;
    });
    exchange::barrier(exchange_.bootstrap(), exchange_.link());
    return totals_after(done);
  }

  topology::WorkerPool& pool_;
  exchange::Exchange& exchange_;
  std::span<const std::uint32_t> bounds_;
  std::size_t local_columns_;
  Loops& loops_;
  const IterationOptions& options_;
  Observer* const observer_;
  exchange::Outbox outbox_;
  exchange::Inbox inbox_;
  std::uint32_t width_ = 0;
  std::vector<exchange::Totals> totals_;  ///< [local column]
  exchange::Totals mine_;
  bool stop_ = false;       ///< set behind the barrier
  std::uint64_t kept_ = 0;  ///< states; at rank 0 those that all have kept
  ColumnQueue columns_;
  alignas(64) Clock::time_point began_;
  transport::Counters sent_;
  std::vector<std::uint64_t> frames_to_;  ///< [peer]: frame bytes before this iteration
  std::vector<IterationRecord> records_;
};

}  // namespace

namespace {

/// Throws Error when slots cannot hold the program's messages.
void check_messages(const Loops& loops, plan::Encoding encoding) {
  const std::size_t bytes = plan::message_bytes(encoding);
  if (loops.message_bytes() != bytes) {
    throw Error(fmt::format("messages of {} bytes do not fit encoding {}, which is for {} bytes",
                            loops.message_bytes(), plan::to_name(encoding), bytes));
  }
  if (plan::is_rounded(encoding) && !loops.largest()) {
    throw Error(fmt::format("encoding {} is only for programs that say how large their messages get",
                            plan::to_name(encoding)));
  }
}

}  // namespace

IterationResult iterate(topology::WorkerPool& pool, exchange::Exchange& exchange,
                        std::span<const std::uint32_t> column_bounds, std::span<const std::uint32_t> indexes,
                        Loops& loops, const IterationOptions& options) {
  check_messages(loops, exchange.encoding());
  return Loop(pool, exchange, column_bounds, indexes, loops, options).run();
}

}  // namespace edgewire::engine
