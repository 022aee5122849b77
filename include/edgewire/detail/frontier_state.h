// The part of a FrontierJob (edgewire/frontier.h) that does not depend on the type of its values.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "edgewire/detail/buckets.h"
#include "edgewire/detail/offers.h"
#include "edgewire/graph.h"
#include "edgewire/numbering.h"

#pragma GCC visibility push(default)

namespace edgewire::frontier {
class Boundary;
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

/// So many vertices and edges out of them, of all processes together.
struct Totals {
  std::uint64_t vertices = 0, edges = 0;
};

/// The supersteps of all processes since they were last asked whether they go on.
struct Followed {
  std::uint64_t supersteps = 0;
  Totals last;                     ///< in the last of these supersteps
  std::uint64_t edges_before = 0;  ///< in the earlier ones
  std::optional<Totals> next{};    ///< the frontier that is left, where it is known without asking others
};

/// hear() may return this in place of bool, where no vertex has such news twice in one superstep.
struct Once {
  bool is_news;
  explicit operator bool() const noexcept { return is_news; }
};

/// A record that a process has heard: who has sent it, and the place of its vertex among those that the
/// sender knows of this process. FrontierJob::answer() leads back from it.
struct Told {
  std::uint32_t teller, place;
};

namespace detail {

/// The part of a FrontierJob that does not depend on the type of its values.
class FrontierState {
 public:
  const Graph& graph() const noexcept;
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
  /// Returns the sum of `mine` over all processes. Collective, between supersteps.
  std::uint64_t sum(std::uint64_t mine);
  /// Returns the number of the superstep that goes on, or of the last one: the same in all processes. It
  /// counts from 1, and begins anew with each call of FrontierJob; only superstep() counts on. It is the
  /// bucket where vertices settle in order.
  std::uint64_t step() const noexcept { return step_; }
  /// Notes the supersteps from here on as being of this kind, where a kernel has several; at first 0.
  void set_kind(std::uint64_t kind) noexcept;
  /// Returns what is in the frontier. Collective, between supersteps.
  Totals totals(std::span<const LocalNumber> frontier);
  /// Returns whether several workers may hear at this time of vertices whose values lie side by side. It is
  /// for hear().
  bool is_shared() const noexcept { return shared_; }
  /// Says that visit() reads values[vertex], so that they are fetched into the cache ahead. They outlive
  /// this.
  template <class Value>
  void will_read(std::span<Value> values) noexcept {
    read_ = reinterpret_cast<const std::byte*>(values.data());
    read_bytes_ = sizeof(Value);
  }
  /// Returns how many edges this process has followed in all supersteps until now. It is for the time between
  /// two of them.
  std::uint64_t edges_followed() const noexcept { return edges_followed_; }
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

  /// A record names a vertex by 4 bytes, which are the engine's, and has a value then. This is room for the
  /// largest one; record_bytes() of it travel.
  using Record = std::array<std::uint32_t, 8>;
  /// The number by which a record names a vertex.
  enum class Naming {
    local,          ///< its local number at its owner, which hears of it
    owned_place,    ///< its place in the order that both processes know; its owner hears of it
    boundary_place  ///< its place in that order; a process that knows it hears of it
  };
  /// The vertices that records name.
  struct Named {
    const LocalNumber* places = nullptr;  ///< owned vertices by place; null: names are numbers, less `first`
    std::uint32_t first = 0;
    KnownNumber operator[](std::uint32_t name) const noexcept {
      return KnownNumber(places != nullptr ? std::uint32_t{places[name]} : first + name);
    }
  };
  /// A superstep calls these functions. Bytes are whole records, side by side.
  struct Calls {
    /// Returns what it has followed.
    std::function<Totals(int worker, std::span<const FrontierRow> rows)> visit;
    std::function<void(int worker, const Named& named, std::span<const std::byte> records)> hear;
    /// Sets the value of a record for a vertex, and returns whether the other process is to be told; or
    /// empty.
    std::function<bool(KnownNumber vertex, Record& record)> say{};
    /// Returns the bucket of a vertex; or empty.
    std::function<std::uint64_t(KnownNumber vertex)> order{};
    /// Hears what this worker has to hear of what was handed over; or empty.
    std::function<void(int worker)> hear_offers{};
    bool tells = true;  ///< other processes may be told of something
    bool rows = true;   ///< visit() needs the targets
    bool once = false;  ///< hear() returns Once
    Naming naming = Naming::local;
    std::vector<Told>* told = nullptr;  ///< takes the records that are heard; or null
  };

  /// Supersteps are noted in `log`, unless it is null.
  /// Without a `boundary` it has the job's.
  FrontierState(const std::shared_ptr<frontier::Job>& job, std::size_t record_bytes,
                frontier::SuperstepLog* log, const frontier::Boundary* boundary = nullptr);
  ~FrontierState();
  FrontierState(const FrontierState&) = delete;
  FrontierState& operator=(const FrontierState&) = delete;

  std::vector<LocalNumber> superstep(std::span<const LocalNumber> frontier, const Calls& calls);
  std::vector<LocalNumber> follow(std::vector<LocalNumber> frontier, const Calls& calls, const More& more);
  std::vector<LocalNumber> settle(std::vector<LocalNumber> frontier, const Calls& calls,
                                  std::uint64_t most_supersteps);
  void settle_in_order(std::span<const LocalNumber> frontier, const Calls& calls);
  std::vector<LocalNumber> within(std::span<const LocalNumber> frontier, const Calls& calls);
  std::vector<KnownNumber> broadcast(std::span<const std::uint64_t> which, const Calls& calls);
  void answer(std::span<const Told> told, const Calls& calls);
  std::vector<LocalNumber> exchange(const std::function<void(int worker)>& work, const Calls& calls);
  /// Adds a vertex to those that have heard news, unless it is there.
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
  /// Puts a vertex that has heard news into its bucket.
  void put(int worker, KnownNumber vertex, std::uint64_t bucket) {
    Waiting& waiting = waiting_in_order_[static_cast<std::size_t>(worker)];
    (vertex < owned_ ? waiting.owned : waiting.others).put(bucket, vertex);
  }
  Hearing hearing() const noexcept { return hearing_; }
  /// Tells the owner of a boundary vertex, or of any vertex of another process.
  void tell(int worker, KnownNumber vertex, Record& record, const Calls& calls);
  void tell(int worker, Home vertex, Record& record, const Calls& calls);
  void fetch(KnownNumber vertex) const noexcept { __builtin_prefetch(read_ + vertex * read_bytes_); }
  /// Returns whether no other process takes part.
  bool is_only() const noexcept;
  int workers() const noexcept { return static_cast<int>(news_.size()); }
  /// The size of a record: a multiple of the size of the job's records, with room for a value.
  std::size_t record_bytes() const noexcept { return record_bytes_; }
  void count(int worker, std::uint64_t vertices, std::uint64_t edges) noexcept {
    news_[static_cast<std::size_t>(worker)].vertices += vertices;
    news_[static_cast<std::size_t>(worker)].edges += edges;
  }
  void gather(std::span<const std::byte> mine, std::size_t value_bytes,
              const std::function<std::byte*(std::uint64_t vertices)>& room);

 private:
  class Workers;
  class Engine;
  class Puller;
  class RowBatch;
  class InOrder;
  /// What a worker has found in a superstep.
  struct alignas(128) News {
    std::vector<LocalNumber> owned;         ///< a part of the next frontier
    std::vector<KnownNumber> others;        ///< boundary vertices whose owners are to be told
    std::uint64_t vertices = 0, edges = 0;  ///< what it has followed
  };

  /// What waits for its turn, as a worker has heard it: boundary vertices for their owners to be told.
  struct alignas(128) Waiting {
    Buckets owned, others;
  };

  std::uint32_t rank_ = 0, owned_ = 0, known_ = 0;
  std::size_t record_bytes_ = 0;
  std::uint64_t step_ = 0, edges_followed_ = 0;
  const std::byte* read_ = nullptr;  ///< what will_read() has said
  std::size_t read_bytes_ = 0;
  Hearing hearing_ = Hearing::at_once;
  bool shared_ = false;
  std::vector<std::uint64_t> waiting_;     ///< a bit for each vertex that this process knows: it is in news_
  std::vector<News> news_;                 ///< [worker]
  std::vector<Waiting> waiting_in_order_;  ///< [worker]
  std::unique_ptr<Engine> engine_;
};

}  // namespace detail

}  // namespace edgewire

#pragma GCC visibility pop
