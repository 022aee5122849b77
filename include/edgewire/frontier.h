// Runs a kernel that follows only the edges of vertices that have changed, superstep by superstep.
//
// A process knows the vertices that it owns, and its boundary vertices: those of other processes that its
// edges lead to. Both have numbers, the owned ones first, so that a kernel keeps what it needs of a vertex in
// arrays of known() elements.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "edgewire/detail/offers.h"
#include "edgewire/graph.h"
#include "edgewire/launch.h"
#include "edgewire/numbering.h"
#include "edgewire/options.h"

namespace edgewire::frontier {
class Job;
class SuperstepLog;
}  // namespace edgewire::frontier

namespace edgewire {

/// The out-edges of an owned vertex, as long as work on them lasts.
struct FrontierRow {
  LocalNumber vertex;
  std::span<const KnownNumber> targets;
  graph::Weights weights;  ///< empty where none were asked for
};

/// Lowers a value that several workers may lower at the same time. Returns whether it was higher than
/// `offered`. The order of other memory accesses is not kept: the end of a superstep orders them.
template <class Value>
[[gnu::always_inline]] inline bool lower(Value& value, Value offered) noexcept {
  const std::atomic_ref shared(value);
  Value before = shared.load(std::memory_order_relaxed);
  while (offered < before)
    if (shared.compare_exchange_weak(before, offered, std::memory_order_relaxed)) return true;
  return false;
}

/// So many vertices and edges out of them, of all processes together.
struct Totals {
  std::uint64_t vertices = 0, edges = 0;
};

/// What all processes have followed since they were last asked whether they go on.
struct Followed {
  std::uint64_t supersteps = 0;
  Totals last;                     ///< in the last of these supersteps
  std::uint64_t edges_before = 0;  ///< in the earlier ones
  std::optional<Totals> next{};    ///< the frontier that is left, where it is known without asking others
};

/// What hear() may return in place of bool: no vertex has such news twice before its owner's next superstep.
struct Once {
  bool is_news;
  explicit operator bool() const noexcept { return is_news; }
};

namespace detail {

/// What a FrontierJob has whatever its values are.
class FrontierState {
 public:
  const graph::GraphFile& graph() const noexcept;
  /// The rank of this process.
  std::uint32_t rank() const noexcept { return rank_; }
  /// The number of vertices that this process owns. They have the local numbers 0 to owned() - 1, which are
  /// their known numbers, too.
  std::uint32_t owned() const noexcept { return owned_; }
  /// The number of vertices that this process knows. Boundary vertices have the known numbers owned() to
  /// known() - 1.
  std::uint32_t known() const noexcept { return known_; }
  /// Returns all owned vertices, in order.
  std::vector<LocalNumber> all() const;
  /// Returns the global id of an owned vertex, or of one that this process knows. The number is in range.
  VertexId vertex(LocalNumber local) const noexcept;
  VertexId vertex(KnownNumber number) const noexcept;
  /// Returns the process that owns a vertex of the graph, and the vertex's local number there.
  Home home(VertexId vertex) const noexcept;
  /// Returns how many edges lead out of an owned vertex.
  std::uint64_t degree(LocalNumber local) const noexcept;
  /// Returns the sum of what all processes pass. Collective, between supersteps.
  std::uint64_t sum(std::uint64_t mine);
  /// Returns the number of the superstep that goes on, or of the last one: the same in all processes. It
  /// counts from 1, and begins anew with each call of FrontierJob. Only superstep() counts on.
  std::uint64_t step() const noexcept { return step_; }
  /// Notes the supersteps from here on as being of this kind, where a kernel has several; at first 0.
  void set_kind(std::uint64_t kind) noexcept;
  /// Returns what is in the frontier. Collective, between supersteps.
  Totals totals(std::span<const LocalNumber> frontier);
  /// Returns whether several workers may hear at this time of vertices whose values lie side by side. It is
  /// for hear().
  bool is_shared() const noexcept { return shared_; }
  /// Asks after a superstep whether to go on. All processes pass the same, and must answer the same.
  using More = std::function<bool(const Followed&)>;
  using MorePulls = std::function<bool(const Totals& next)>;

 protected:
  /// A vertex, and the one of the frontier that it has found.
  struct Found {
    LocalNumber vertex;
    KnownNumber of_frontier;
  };
  using Reach = std::function<void(std::span<const Found>)>;
  std::vector<LocalNumber> pull(std::span<const LocalNumber> frontier, std::span<std::uint64_t> wanted,
                                const Reach& reach, const MorePulls& more);

  /// A record has the local number of a vertex at its owner, which is the engine's, and then a value. This is
  /// room for the largest one; record_bytes() of it travel.
  using Record = std::array<std::uint32_t, 4>;
  /// What a superstep calls. Bytes are whole records, side by side.
  struct Calls {
    std::function<void(int worker, const FrontierRow& row)> visit;
    std::function<void(int worker, std::span<const std::byte> records)> hear;
    /// Sets the value of a record for a boundary vertex; or empty.
    std::function<void(KnownNumber vertex, Record& record)> say{};
    /// Hears what this worker has to hear of what was handed over; or empty.
    std::function<void(int worker)> hear_offers{};
    bool rows = true;   ///< visit() needs the targets
    bool once = false;  ///< hear() returns Once
  };

  /// Supersteps are noted in `log`, unless it is null.
  FrontierState(const std::shared_ptr<frontier::Job>& job, std::size_t record_bytes,
                frontier::SuperstepLog* log);
  ~FrontierState();
  FrontierState(const FrontierState&) = delete;
  FrontierState& operator=(const FrontierState&) = delete;

  std::vector<LocalNumber> superstep(std::span<const LocalNumber> frontier, const Calls& calls);
  std::vector<LocalNumber> follow(std::span<const LocalNumber> frontier, const Calls& calls,
                                  const More& more);
  std::vector<LocalNumber> settle(std::span<const LocalNumber> frontier, const Calls& calls,
                                  std::uint64_t most_supersteps);
  std::vector<LocalNumber> exchange(const std::function<void(int worker)>& work, const Calls& calls);
  /// Adds a vertex to those that have heard news, where it is once.
  void add(int worker, KnownNumber vertex) {
    constexpr std::uint32_t kBits = 64;
    const std::atomic_ref word(waiting_[vertex / kBits]);
    const std::uint64_t bit = std::uint64_t{1} << vertex % kBits;
    const std::uint64_t before = word.load(std::memory_order_relaxed);
    if ((before & bit) != 0) return;
    if (news_.size() == 1)
      word.store(before | bit, std::memory_order_relaxed);
    else if ((word.fetch_or(bit, std::memory_order_relaxed) & bit) != 0)
      return;
    add_new(worker, vertex);
  }
  /// Does the same for a vertex that is not there.
  void add_new(int worker, KnownNumber vertex) {
    News& news = news_[static_cast<std::size_t>(worker)];
    if (vertex < owned_)
      news.owned.emplace_back(std::uint32_t{vertex});
    else
      news.others.push_back(vertex);
  }
  Hearing hearing() const noexcept { return hearing_; }
  /// Tells the owner of a boundary vertex, or of any vertex of another process.
  void tell(int worker, KnownNumber vertex, Record& record, const Calls& calls);
  void tell(int worker, Home vertex, Record& record, const Calls& calls);
  int workers() const noexcept { return static_cast<int>(news_.size()); }
  /// The size of the job's records, which have room for a value.
  std::size_t record_bytes() const noexcept { return record_bytes_; }
  void count(int worker, std::uint64_t vertices, std::uint64_t edges) noexcept {
    news_[static_cast<std::size_t>(worker)].vertices += vertices;
    news_[static_cast<std::size_t>(worker)].edges += edges;
  }
  void gather(std::span<const std::byte> mine, std::size_t value_bytes,
              const std::function<std::byte*(std::uint64_t vertices)>& room);

 private:
  class Engine;
  class Puller;
  /// What a worker has found in a superstep.
  struct alignas(128) News {
    std::vector<LocalNumber> owned;         ///< a part of the next frontier
    std::vector<KnownNumber> others;        ///< boundary vertices whose owners are to be told
    std::uint64_t vertices = 0, edges = 0;  ///< what it has followed
  };

  std::uint32_t rank_ = 0, owned_ = 0, known_ = 0;
  std::size_t record_bytes_ = 0;
  std::uint64_t step_ = 0;
  Hearing hearing_ = Hearing::at_once;
  bool shared_ = false;
  std::vector<std::uint64_t> waiting_;  ///< a bit for each vertex that this process knows: it is in news_
  std::vector<News> news_;              ///< [worker]
  std::unique_ptr<Engine> engine_;
};

/// Makes the job of a FrontierJob of one's own. Collective.
std::shared_ptr<frontier::Job> make_frontier_job(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                                                 const std::string& kernel, std::size_t record_bytes,
                                                 const JobOptions& options);

}  // namespace detail

/// One process's part of a job whose processes tell a Value, of 4 or 8 bytes, to the owners of vertices. All
/// members are collective but those of FrontierState that say nothing of it, and throw Error when the job
/// fails. After an exception the job is over.
///
/// A superstep calls visit(row, tell) for each vertex of a frontier; where visit() takes a LocalNumber in
/// place of a FrontierRow, no row is read. tell(target, value) calls hear(target, value), which returns
/// whether that is news. An owned vertex that has heard news is in the next frontier. Where a boundary vertex
/// has, its owner is told: there hear() is called, too, before the superstep ends. Numbers are known numbers.
/// With several workers, they call visit() and hear() at the same time, also for the same vertex. Either may
/// have the number of the worker as one argument more, the first: it is less than JobOptions::workers.
///
/// With say(boundary vertex) an owner is told once in a superstep, at its end: the value that say() returns.
/// Without it an owner is told at once, each time: the value that tell() was called with.
///
/// Where hear is an object with is_news(target, value), too, workers may hand over what they tell, see
/// hand_over(). Where is_news() says false, it will never be news.
template <class Value>
requires(std::is_trivially_copyable_v<Value> && (sizeof(Value) == 4 || sizeof(Value) == 8)) class FrontierJob
    : public detail::FrontierState {
 public:
  static constexpr std::size_t kRecordBytes = sizeof(std::uint32_t) + sizeof(Value);
  /// The default of say().
  struct AtOnce {};

  /// `kernel`: what is computed, in words; the same in all processes. `bootstrap` and `graph` outlive it.
  /// Throws UsageError when an option makes no sense.
  FrontierJob(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const std::string& kernel,
              const JobOptions& options = {})
      : FrontierState(detail::make_frontier_job(bootstrap, graph, kernel, kRecordBytes, options),
                      kRecordBytes, nullptr) {}
  /// Makes one of a job that has begun, and has made its rows; its records have kRecordBytes at least.
  /// Supersteps are noted in `log`, where there is one. An OwnSearch gets such a job. `within` and `log`
  /// outlive it.
  explicit FrontierJob(frontier::Job& within, frontier::SuperstepLog* log = nullptr)
      : FrontierState({std::shared_ptr<void>(), &within}, kRecordBytes, log) {}

  /// Runs one superstep and returns the next frontier. Throws UsageError where a number in `frontier` is not
  /// less than owned(), and passes on what the functions throw.
  template <class Visit, class Hear, class Say = AtOnce>
  std::vector<LocalNumber> superstep(std::span<const LocalNumber> frontier, const Visit& visit,
                                     const Hear& hear, const Say& say = {}) {
    return with_calls(visit, hear, say,
                      [&](const Calls& calls) { return FrontierState::superstep(frontier, calls); });
  }
  /// Runs supersteps until no process has a frontier: what one superstep leaves is the frontier of the next.
  /// Where only one process has a frontier, and a small one, it goes on alone until it has to tell another
  /// process. Ends, too, where more() says that it is not to go on, and returns the frontier that is left
  /// then. Throws what superstep() throws.
  template <class Visit, class Hear, class Say = AtOnce>
  std::vector<LocalNumber> follow(std::span<const LocalNumber> frontier, const Visit& visit, const Hear& hear,
                                  const Say& say = {}, const More& more = {}) {
    return with_calls(visit, hear, say,
                      [&](const Calls& calls) { return FrontierState::follow(frontier, calls, more); });
  }
  /// Does the same where it does not matter which news a vertex hears first: each process goes on as far as
  /// it can before it hears of others. So there are fewer supersteps. Ends after so many, too, and returns
  /// the frontier that is left then.
  template <class Visit, class Hear, class Say = AtOnce>
  std::vector<LocalNumber> settle(std::span<const LocalNumber> frontier, const Visit& visit, const Hear& hear,
                                  const Say& say = {}, std::uint64_t most_supersteps = ~std::uint64_t{0}) {
    return with_calls(visit, hear, say, [&](const Calls& calls) {
      return FrontierState::settle(frontier, calls, most_supersteps);
    });
  }
  /// Looks from the other side: a vertex of `wanted` looks for a vertex of the frontier at the end of one of
  /// its out-edges, and stops at the first one. That is a superstep along edges where the graph stores every
  /// edge both ways (Beamer, Asanovic, Patterson: "Direction-optimizing breadth-first search", 2012). Runs
  /// such supersteps as long as more(next frontier) says so and there is one, and returns the frontier that is
  /// left. `wanted`: bits by known number, and one word more; what is in a frontier leaves it. Calls
  /// reach(vertex, the one of the frontier); with several workers, at the same time.
  template <class Reached>
  std::vector<LocalNumber> pull(std::span<const LocalNumber> frontier, std::span<std::uint64_t> wanted,
                                const Reached& reach, const MorePulls& more) {
    return FrontierState::pull(
        frontier, wanted,
        [&](std::span<const Found> found) {
          for (const Found& one : found) reach(one.vertex, one.of_frontier);
        },
        more);
  }
  /// From here on, several workers of a single process hand over what they tell of vertices, where hear has
  /// is_news(): then one worker at a time hears what is for a vertex. It pays where many edges lead to the
  /// same vertices. `value_bytes`: what hear() changes for a vertex.
  void hand_over(std::size_t value_bytes) {
    if (workers() > 1) offers_ = std::make_unique<Offers>(workers(), known(), value_bytes);
  }
  /// Runs one superstep in which each worker calls work(worker, tell) once. tell() also takes the Home of a
  /// vertex that need not be known here; hear() is called where it is owned. Returns the next frontier.
  template <class Work, class Hear>
  std::vector<LocalNumber> exchange(const Work& work, const Hear& hear) {
    Calls calls;
    set(calls, hear, AtOnce{});
    return FrontierState::exchange(
        [&](int worker) {
          work(worker, Tell<Hear, AtOnce>{*this, calls, hear, worker});
        },
        calls);
  }

  /// Returns the values of all vertices at rank 0, in the order of their ids; elsewhere nothing. `mine`:
  /// those of the owned vertices, by local number. Collective; throws UsageError where there are more or
  /// fewer.
  template <class Any>
  std::vector<Any> gather(const std::vector<Any>& mine) {
    std::vector<Any> all;
    FrontierState::gather(std::as_bytes(std::span(mine)), sizeof(Any), [&](std::uint64_t vertices) {
      all.resize(vertices);
      return std::as_writable_bytes(std::span(all)).data();
    });
    return all;
  }

 private:
  using Offers = detail::Offers<Value>;
  template <class Hear>
  static constexpr bool kHandsOver = requires(const Hear& hear, KnownNumber vertex, Value value) {
    hear.is_news(vertex, value);
  };
  /// A worker's tell(). `kOffers`: it hands over what it tells.
  template <class Hear, class Say, bool kOffers = false>
  struct Tell {
    FrontierJob& job;
    const Calls& calls;
    const Hear& hear;
    int worker;

    void operator()(KnownNumber vertex, Value value) const {
      if constexpr (kOffers) {
        if (job.hearing() == detail::Hearing::by_keepers || hear.is_news(vertex, value))
          job.offers_->put(worker, job.hearing(), {vertex, value},
                           [this](const detail::Offer<Value>& one) { take(one.vertex, one.value); });
      } else {
        take(vertex, value);
      }
    }
    void take(KnownNumber vertex, Value value) const {
      const auto news = heard(hear, worker, vertex, value);
      if (!news) return;
      if (!std::is_same_v<Say, AtOnce> || vertex < job.owned()) return job.note(worker, vertex, news);
      Record record{};
      set_value(record, value);
      job.tell(worker, vertex, record, calls);
    }
    void operator()(Home vertex, Value value) const {
      if (vertex.owner == job.rank()) return (*this)(KnownNumber(vertex.local), value);
      Record record{};
      set_value(record, value);
      job.tell(worker, vertex, record, calls);
    }
    /// Counts what was followed without a row, for the report: edges, and in exchange() vertices, too.
    void count_edges(std::uint64_t edges) const noexcept { count(0, edges); }
    void count(std::uint64_t vertices, std::uint64_t edges) const noexcept {
      job.count(worker, vertices, edges);
    }
  };

  static void set_value(Record& record, Value value) noexcept {
    std::memcpy(record.data() + 1, &value, sizeof value);
  }
  void note(int worker, KnownNumber vertex, bool) { add(worker, vertex); }
  void note(int worker, KnownNumber vertex, Once) { add_new(worker, vertex); }
  template <class Hear>
  static auto heard(const Hear& hear, int worker, KnownNumber vertex, Value value) {
    if constexpr (std::is_invocable_v<Hear, int, KnownNumber, Value>)
      return hear(worker, vertex, value);
    else
      return hear(vertex, value);
  }
  template <class Hear, class Say>
  void set(Calls& calls, const Hear& hear, const Say& say) {
    calls.hear = [this, &hear](int worker, std::span<const std::byte> records) {
      for (std::size_t at = 0; at < records.size(); at += record_bytes()) {
        std::uint32_t local = 0;
        std::array<std::byte, sizeof(Value)> bytes;
        std::memcpy(&local, &records[at], sizeof local);
        std::memcpy(bytes.data(), &records[at + sizeof local], sizeof bytes);
        const KnownNumber vertex(local);
        if (const auto news = heard(hear, worker, vertex, std::bit_cast<Value>(bytes)))
          note(worker, vertex, news);
      }
    };
    calls.once = std::is_same_v<decltype(heard(hear, 0, KnownNumber{}, Value{})), Once>;
    if constexpr (!std::is_same_v<Say, AtOnce>)
      calls.say = [&say](KnownNumber vertex, Record& record) { set_value(record, say(vertex)); };
  }
  /// Returns run(calls), while `calls` call these functions.
  template <class Visit, class Hear, class Say, class Run>
  auto with_calls(const Visit& visit, const Hear& hear, const Say& say, const Run& run) {
    using OwnTell = Tell<Hear, Say>;
    Calls calls;
    set(calls, hear, say);
    if constexpr (kHandsOver<Hear>)
      if (offers_)
        calls.hear_offers = [this, &calls, &hear](int worker) {
          const OwnTell tell{*this, calls, hear, worker};
          offers_->finish(worker, hearing(),
                          [&](const detail::Offer<Value>& one) { tell.take(one.vertex, one.value); });
        };
    constexpr bool kRows = std::is_invocable_v<Visit, const FrontierRow&, const OwnTell&> ||
                           std::is_invocable_v<Visit, int, const FrontierRow&, const OwnTell&>;
    calls.rows = kRows;
    const auto call = [&visit](int worker, const FrontierRow& row, const auto& tell) {
      const auto& what = [&]() -> const auto& {
        if constexpr (kRows)
          return row;
        else
          return row.vertex;
      }
      ();
      if constexpr (std::is_invocable_v<Visit, int, decltype(what), decltype(tell)>)
        visit(worker, what, tell);
      else
        visit(what, tell);
    };
    calls.visit = [this, &calls, &hear, &call](int worker, const FrontierRow& row) {
      if constexpr (kHandsOver<Hear>)
        if (hearing() != detail::Hearing::at_once)
          return call(worker, row, Tell<Hear, Say, true>{*this, calls, hear, worker});
      call(worker, row, OwnTell{*this, calls, hear, worker});
    };
    return run(calls);
  }

  std::unique_ptr<Offers> offers_;  ///< it is there after hand_over(), where there are several workers
};

}  // namespace edgewire
