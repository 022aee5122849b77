// Runs a kernel that follows only the edges of vertices that have changed, superstep by superstep.
//
// A process knows the vertices that it owns, and its boundary vertices: those of other processes that its
// edges lead to. Both have numbers, the owned ones first, so that kernels use arrays of known() elements.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "edgewire/detail/frontier_state.h"
#include "edgewire/detail/lower.h"
#include "edgewire/detail/offers.h"
#include "edgewire/graph.h"
#include "edgewire/launch.h"
#include "edgewire/numbering.h"
#include "edgewire/options.h"

#pragma GCC visibility push(default)

namespace edgewire {

namespace detail {

/// Makes the job of a FrontierJob of one's own. Collective.
std::shared_ptr<frontier::Job> make_frontier_job(launch::Bootstrap& bootstrap, const Graph& graph,
                                                 const std::string& kernel, std::size_t record_bytes,
                                                 const JobOptions& options);

}  // namespace detail

/// One process's part of a job whose processes tell a Value, of 4, 8 or 16 bytes, to the owners of vertices.
/// All members are collective but those of FrontierState that say nothing of it, and throw Error when the job
/// fails. After an exception the job is over.
///
/// A superstep calls visit(row, tell) for each vertex of a frontier; where visit() takes a LocalNumber in
/// place of a FrontierRow, no row is read. tell(target, value) calls hear(target, value), which returns
/// whether that is news. An owned vertex that has heard news is in the next frontier. Where a boundary vertex
/// has, its owner is told: there hear() is called, too, before the superstep ends. Numbers are known numbers.
/// visit() may return false where it has nothing to tell: then it does not count that vertex as followed.
/// With several workers, they call visit() and hear() at the same time, also for the same vertex. Either may
/// have the number of the worker as one argument more, the first: it is less than JobOptions::workers. Either
/// may be copied, unless it is large.
///
/// With say(boundary vertex) an owner is told once in a superstep, at its end: the value that say() returns,
/// or nothing where that is an empty std::optional. Without it an owner is told at once, each time: the value
/// that tell() was called with.
///
/// Owners speak, too. With answer() an owner tells those processes that have told it of a vertex. With
/// broadcast() it tells all processes that know the vertex.
///
/// Where hear is an object with is_news(target, value), too, workers may hand over what they tell, see
/// hand_over(). Where is_news() says false, it will never be news. Workers ask it while others hear.
template <class Value>
requires(std::is_trivially_copyable_v<Value> &&
         (sizeof(Value) == 4 || sizeof(Value) == 8 || sizeof(Value) == 16)) class FrontierJob
    : public detail::FrontierState {
 public:
  /// The size of the job's records; a value of 16 bytes takes two.
  static constexpr std::size_t kRecordBytes =
      sizeof(std::uint32_t) + std::min(sizeof(Value), sizeof(std::uint64_t));
  /// The default of say().
  struct AtOnce {};
  /// A hear() for which nothing is news.
  struct NoNews {
    bool operator()(KnownNumber, const Value&) const noexcept { return false; }
  };

  /// `kernel`: what is computed, in words; the same in all processes. `bootstrap` and `graph` outlive it.
  /// Throws UsageError when an option makes no sense.
  FrontierJob(launch::Bootstrap& bootstrap, const Graph& graph, const std::string& kernel,
              const JobOptions& options = {})
      : FrontierState(detail::make_frontier_job(bootstrap, graph, kernel, kRecordBytes, options),
                      sizeof(std::uint32_t) + sizeof(Value), nullptr) {}
  /// Makes one of a job that has begun, and has made its rows. A record takes several of the job's where
  /// these are smaller. Notes supersteps in `log`, where there is one. A `boundary` has the known vertices in
  /// place of the job's; no rows are read then. An OwnSearch gets such a job. All outlive it.
  explicit FrontierJob(frontier::Job& within, frontier::SuperstepLog* log = nullptr,
                       const frontier::Boundary* boundary = nullptr)
      : FrontierState({std::shared_ptr<void>(), &within}, sizeof(std::uint32_t) + sizeof(Value), log,
                      boundary) {}

  /// Runs one superstep and returns the next frontier. Adds what this process has heard from others to
  /// `told`, unless that is null. Throws UsageError for a number from owned() on, and passes on what the
  /// functions throw.
  template <class Visit, class Hear, class Say = AtOnce>
  std::vector<LocalNumber> superstep(std::span<const LocalNumber> frontier, const Visit& visit,
                                     const Hear& hear, const Say& say = {},
                                     std::vector<Told>* told = nullptr) {
    return with_calls(visit, hear, say, [&](Calls& calls) {
      calls.told = told;
      if (told != nullptr) calls.naming = Naming::owned_place;
      return FrontierState::superstep(frontier, calls);
    });
  }
  /// Runs a superstep that stays in this process: visit() tells owned vertices alone; else it throws
  /// UsageError. It is not collective, and step() stays.
  template <class Visit, class Hear = NoNews>
  std::vector<LocalNumber> within(std::span<const LocalNumber> frontier, const Visit& visit,
                                  const Hear& hear = {}) {
    return with_calls(visit, hear, AtOnce{}, [&](Calls& calls) {
      calls.tells = false;
      return FrontierState::within(frontier, calls);
    });
  }
  /// Owners tell all processes that know a vertex in `which`, bits by known number, its value(vertex), or
  /// nothing where that is an empty std::optional. These call hear(boundary vertex, value). Returns the
  /// boundary vertices for which that was news, in no order. It is one superstep; step() stays.
  template <class SayOwned, class Hear>
  std::vector<KnownNumber> broadcast(std::span<const std::uint64_t> which, const SayOwned& value,
                                     const Hear& hear) {
    return with_words(value, hear,
                      [&](const Calls& calls) { return FrontierState::broadcast(which, calls); });
  }
  /// Owners tell those processes alone that have told them of a vertex: once for each record that a superstep
  /// has noted. With say() in that superstep, that is once for a vertex. It is one superstep, likewise.
  template <class SayOwned, class Hear>
  void answer(std::span<const Told> told, const SayOwned& value, const Hear& hear) {
    with_words(value, hear, [&](const Calls& calls) { FrontierState::answer(told, calls); });
  }
  /// Runs supersteps until no process has a frontier: what one superstep leaves is the frontier of the next.
  /// Where only one process has a frontier, and a small one, it goes on alone until it has to tell another.
  /// Ends, too, where more() says so, and returns the frontier that is left then. Throws as superstep().
  template <class Visit, class Hear, class Say = AtOnce>
  std::vector<LocalNumber> follow(std::vector<LocalNumber> frontier, const Visit& visit, const Hear& hear,
                                  const Say& say = {}, const More& more = {}) {
    return with_calls(visit, hear, say, [&](const Calls& calls) {
      return FrontierState::follow(std::move(frontier), calls, more);
    });
  }
  /// Does the same where it does not matter which news a vertex hears first: each process goes on as far as
  /// it can before it hears of others, in fewer supersteps. Ends after `most_supersteps`, too.
  template <class Visit, class Hear, class Say = AtOnce>
  std::vector<LocalNumber> settle(std::vector<LocalNumber> frontier, const Visit& visit, const Hear& hear,
                                  const Say& say = {}, std::uint64_t most_supersteps = ~std::uint64_t{0}) {
    return with_calls(visit, hear, say, [&](const Calls& calls) {
      return FrontierState::settle(std::move(frontier), calls, most_supersteps);
    });
  }
  /// Does what settle() does, the nearest vertices first: a vertex that has heard a value as news waits in
  /// the bucket order(vertex, value), and boundary vertices likewise, until their owners are told.
  /// order(vertex) is the one in which it belongs now. A superstep visits all of the lowest bucket of any
  /// process, whose number is step(), and then what falls into it; a vertex that is in a lower one by then
  /// was visited there, and need not be again. What a vertex tells leads to its own bucket or to higher ones,
  /// and only known vertices are told. A process that alone has vertices waiting goes on with its next
  /// buckets. As in delta stepping (Meyer, Sanders, 2003), see Dhulipala, Blelloch, Shun: Julienne (2017).
  template <class Visit, class Hear, class Order, class Say>
  void settle_in_order(std::span<const LocalNumber> frontier, const Visit& visit, const Hear& hear,
                       const Order& order, const Say& say) {
    static_assert(!std::is_same_v<Say, AtOnce>, "owners are told in turn, too");
    with_calls(
        visit, hear, say, [&](const Calls& calls) { FrontierState::settle_in_order(frontier, calls); },
        order);
  }
  /// Looks from the other side: a vertex of `wanted` looks for a vertex of the frontier at the end of one of
  /// its out-edges, and stops at the first one. That is a superstep along edges where the graph stores every
  /// edge both ways (Beamer, Asanovic, Patterson: "Direction-optimizing breadth-first search", 2012). Runs
  /// such supersteps as long as more(next frontier) says so and there is one, and returns the frontier that
  /// is left. `wanted`: bits by known number; what is in a frontier leaves it. Calls
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
  /// From here on, several workers of a process that is the only one hand over what they tell in superstep(),
  /// within(), follow() and settle(), where hear has is_news(): then one worker at a time hears what is for a
  /// vertex. It pays where many edges lead to the same vertices. hear() changes `value_bytes` of a vertex.
  void hand_over(std::size_t value_bytes) {
    if (workers() > 1 && is_only())
      offers_ = std::make_unique<Offers>(workers(), known(), std::max<std::size_t>(value_bytes, 1));
  }
  /// Runs one superstep in which each worker calls work(worker, tell) once. tell() also takes the Home of a
  /// vertex that need not be known here; hear() is called where it is owned. Returns the next frontier.
  template <class Work, class Hear>
  std::vector<LocalNumber> exchange(const Work& work, const Hear& hear) {
    Calls calls;
    const Ears<Hear, AtOnce, AtOnce> ears{*this, calls, hear, AtOnce{}};
    ears.set(AtOnce{});
    return FrontierState::exchange([&](int worker) { work(worker, tell_of(ears, worker)); }, calls);
  }

  /// Returns the values of all vertices at rank 0, in the order of their ids; elsewhere nothing. `mine`:
  /// those of the owned vertices, by local number; throws UsageError unless there are as many. Collective.
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

  /// The type in which a function is kept: a small one is copied, so that it can stay in registers.
  template <class F>
  using Kept = std::conditional_t<std::is_trivially_copyable_v<F> && sizeof(F) <= 64, const F, const F&>;

  /// Hears what is told, and notes what is news. `Order` is AtOnce where vertices do not wait in buckets.
  template <class Hear, class Say, class Order>
  struct Ears {
    static constexpr bool kAtOnce = std::is_same_v<Say, AtOnce>, kInOrder = !std::is_same_v<Order, AtOnce>;
    FrontierJob& job;
    Calls& calls;
    Kept<Hear> hear;
    const Order& order;

    [[gnu::always_inline]] void take(int worker, KnownNumber vertex, Value value) const {
      const auto news = heard(worker, vertex, value);
      if (!news) return;
      if (!kAtOnce || vertex < job.owned()) return note(worker, vertex, value, news);
      Record record{};
      set_value(record, value);
      job.tell(worker, vertex, record, calls);
    }
    /// Takes records.
    void take_all(int worker, const Named& named, std::span<const std::byte> records) const {
      for (std::size_t at = 0; at < records.size(); at += job.record_bytes()) {
        std::uint32_t name = 0;
        std::array<std::byte, sizeof(Value)> bytes;
        std::memcpy(&name, &records[at], sizeof name);
        std::memcpy(bytes.data(), &records[at + sizeof name], sizeof bytes);
        const KnownNumber vertex = named[name];
        const auto value = std::bit_cast<Value>(bytes);
        if (const auto news = heard(worker, vertex, value)) note(worker, vertex, value, news);
      }
    }
    [[gnu::always_inline]] auto heard(int worker, KnownNumber vertex, Value value) const {
      if constexpr (std::is_invocable_v<Hear, int, KnownNumber, Value>)
        return hear(worker, vertex, value);
      else
        return hear(vertex, value);
    }
    template <class News>
    void note(int worker, KnownNumber vertex, Value value, News) const {
      if constexpr (kInOrder)
        job.put(worker, vertex, order(vertex, value));
      else if constexpr (std::is_same_v<News, Once>)
        job.add_new(worker, vertex);
      else
        job.add(worker, vertex);
    }
    /// Sets what is called but visit().
    void set(const Say& say) const {
      calls.hear = [this](int worker, const Named& named, std::span<const std::byte> records) {
        take_all(worker, named, records);
      };
      calls.once = std::is_same_v<decltype(heard(0, KnownNumber{}, Value{})), Once>;
      if constexpr (kInOrder) calls.order = [this](KnownNumber vertex) { return order(vertex); };
      if constexpr (!kAtOnce)
        calls.say = [&say](KnownNumber vertex, Record& record) {
          const std::optional<Value> said = say(vertex);
          if (said) set_value(record, *said);
          return said.has_value();
        };
      if constexpr (kHandsOver<Hear>)
        if (job.offers_)
          calls.hear_offers = [this](int worker) {
            job.offers_->finish(worker, job.hearing(), [&](const detail::Offer<Value>& one) {
              take(worker, one.vertex, one.value);
            });
          };
    }
  };
  /// A worker's tell(). `kHearing`: how what it tells is heard.
  template <class OwnEars, detail::Hearing kHearing>
  struct Tell {
    const OwnEars ears;
    int worker;

    [[gnu::always_inline]] void operator()(KnownNumber vertex, Value value) const {
      if constexpr (kHearing != detail::Hearing::at_once) {
        if (kHearing == detail::Hearing::by_keepers || ears.hear.is_news(vertex, value))
          ears.job.offers_->template put<kHearing>(
              worker, {vertex, value}, [&ears = ears, worker = worker](const detail::Offer<Value>& one) {
                ears.take(worker, one.vertex, one.value);
              });
      } else {
        ears.take(worker, vertex, value);
      }
    }
    void operator()(Home vertex, Value value) const {
      if (vertex.owner == ears.job.rank()) return (*this)(KnownNumber(vertex.local), value);
      Record record{};
      set_value(record, value);
      ears.job.tell(worker, vertex, record, ears.calls);
    }
    /// Counts what was followed without a row, for the report: edges, and in exchange() vertices, too.
    void count_edges(std::uint64_t edges) const noexcept { count(0, edges); }
    void count(std::uint64_t vertices, std::uint64_t edges) const noexcept {
      ears.job.count(worker, vertices, edges);
    }
  };
  template <detail::Hearing kHearing = detail::Hearing::at_once, class OwnEars>
  static auto tell_of(const OwnEars& ears, int worker) {
    return Tell<OwnEars, kHearing>{ears, worker};
  }

  static void set_value(Record& record, Value value) noexcept {
    std::memcpy(record.data() + 1, &value, sizeof value);
  }
  /// Returns run(calls), while `calls` call these functions.
  template <class Visit, class Hear, class Say, class Run, class Order = AtOnce>
  auto with_calls(const Visit& visit, const Hear& hear, const Say& say, const Run& run,
                  const Order& order = {}) {
    Calls calls;
    const Ears<Hear, Say, Order> ears{*this, calls, hear, order};
    ears.set(say);
    using OwnTell = decltype(tell_of(ears, 0));
    constexpr bool kRows = std::is_invocable_v<Visit, const FrontierRow&, const OwnTell&> ||
                           std::is_invocable_v<Visit, int, const FrontierRow&, const OwnTell&>;
    calls.rows = kRows;
    const auto call = [](const Visit& kept, int worker, const FrontierRow& row, const auto& tell) {
      const auto& what = [&]() -> const auto& {
        if constexpr (kRows)
          return row;
        else
          return row.vertex;
      }
      ();
      const auto visited = [&] {
        if constexpr (std::is_invocable_v<Visit, int, decltype(what), decltype(tell)>)
          return kept(worker, what, tell);
        else
          return kept(what, tell);
      };
      if constexpr (std::is_same_v<decltype(visited()), bool>) {
        return visited();
      } else {
        visited();
        return true;
      }
    };
    const auto call_all = [&](int worker, std::span<const FrontierRow> rows, const auto& tell) {
      Kept<Visit> kept = visit;
      Totals visited;
      for (const FrontierRow& row : rows)
        if (call(kept, worker, row, tell)) {
          ++visited.vertices;
          visited.edges += row.targets.size();
        }
      return visited;
    };
    calls.visit = [this, &ears, &call_all](int worker, std::span<const FrontierRow> rows) {
      if constexpr (kHandsOver<Hear>) {
        using detail::Hearing;
        if (hearing() == Hearing::by_keepers)
          return call_all(worker, rows, tell_of<Hearing::by_keepers>(ears, worker));
        if (hearing() == Hearing::in_bins)
          return call_all(worker, rows, tell_of<Hearing::in_bins>(ears, worker));
      }
      return call_all(worker, rows, tell_of(ears, worker));
    };
    return run(calls);
  }

  /// Returns run(calls), while `calls` say and hear what owners tell of their vertices.
  template <class SayOwned, class Hear, class Run>
  auto with_words(const SayOwned& value, const Hear& hear, const Run& run) {
    Calls calls;
    calls.naming = Naming::boundary_place;
    const auto say = [&](KnownNumber vertex) { return value(LocalNumber(vertex)); };
    const Ears<Hear, decltype(say), AtOnce> ears{*this, calls, hear, AtOnce{}};
    ears.set(say);
    return run(calls);
  }

  std::unique_ptr<Offers> offers_;  ///< it is there after hand_over(), where there are several workers
};

}  // namespace edgewire

#pragma GCC visibility pop
