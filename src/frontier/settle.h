// Label correcting in the order of buckets: the loop of delta stepping (Meyer, Sanders: "Delta-stepping: a
// parallelizable shortest path algorithm", 2003), over all processes and workers.
//
// A superstep follows the edges of all vertices in the lowest bucket that any process has. A vertex whose
// value falls goes to the bucket of its new value, which may be the same one again. A value for a vertex of
// another process is sent to it, but only if this process has never sent it a lower or equal one.
#pragma once

#include <atomic>
#include <bit>
#include <span>
#include <type_traits>
#include <vector>

#include "exchange/barrier.h"
#include "frontier/buckets.h"
#include "frontier/frontier_job.h"
#include "frontier/superstep.h"
#include "topology/memory.h"

namespace edgewire::frontier {

/// A program has
///   using Value;                          4 bytes, compared by <
///   Value unreached();                    no value is greater
///   Value along(Value, float weight);     not less than the value; weight 1 where weighted() is false
///   bool weighted();                      edges have their weights, not 1
///   std::uint64_t bucket(Value);          grows with the value
/// along() may throw.
template <class Program>
class Settling {
 public:
  using Value = typename Program::Value;
  static_assert(sizeof(Value) == sizeof(std::uint32_t));

  /// Memory: 4 bytes for each owned vertex, and with several processes 4 for each vertex of the graph.
  Settling(FrontierJob& job, const Program& program)
      : job_(job),
        program_(program),
        several_(job.bootstrap().size() > 1),
        shared_(job.pool().workers() > 1),
        values_memory_(job.owned() * sizeof(Value), -1, "distances"),
        sent_memory_(several_ ? job.graph().vertices() * sizeof(Value) : 0, -1, "distances that were sent"),
        values_(values_memory_.as<std::atomic<Value>>()),
        sent_(sent_memory_.as<std::atomic<Value>>()),
        workers_(static_cast<std::size_t>(job.pool().workers())) {
    for (const auto values : {values_, sent_}) {
      constexpr std::uint64_t kPiece = 1 << 16;
      job_.pool().for_each((values.size() + kPiece - 1) / kPiece, [&](int, std::uint64_t piece) {
        for (auto i = piece * kPiece; i < std::min<std::uint64_t>(values.size(), (piece + 1) * kPiece); ++i)
          values[i].store(program_.unreached(), std::memory_order_relaxed);
      });
    }
  }

  /// Collective. The supersteps; values() has the result. Throws Error.
  std::vector<Superstep> run(std::uint32_t source, Value start) {
    std::vector<Superstep> supersteps;
    const plan::Place place = job_.ownership().place(source);
    if (place.owner == job_.rank()) improve(workers_[0], place.local, start);
    for (auto bucket = lowest(0); bucket != kNoBucket; bucket = lowest(bucket)) {
      const Meter meter(job_);
      Superstep done = follow(bucket);
      meter.stop(done);
      supersteps.push_back(done);
    }
    exchange::barrier(job_.bootstrap(), job_.link());
    return supersteps;
  }
  /// By local number.
  std::vector<Value> values() const {
    std::vector<Value> all(job_.owned());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = values_[i].load(std::memory_order_relaxed);
    return all;
  }

 private:
  struct alignas(128) Worker {
    Buckets buckets;
    std::uint64_t followed = 0, edges = 0;
  };
  /// A worker goes on with what falls back into the bucket, as long as it is less: that saves supersteps.
  static constexpr std::size_t kAlone = 1000;
  static constexpr std::size_t kChunk = 64;
  static constexpr std::size_t kAhead = 16;  ///< what is fetched into the cache before it is read
  /// The ownership of a single process, known to the compiler.
  struct OneOwner {
    static plan::Place place(std::uint32_t v) noexcept { return {0, v}; }
    static std::uint32_t vertex(std::uint32_t, std::uint32_t local) noexcept { return local; }
  };

  /// Of all processes.
  std::uint64_t lowest(std::uint64_t bucket) {
    std::uint64_t mine = kNoBucket;
    for (const Worker& worker : workers_) mine = std::min(mine, worker.buckets.lowest(bucket));
    return several_ ? job_.records().agree(mine) : mine;
  }

  Superstep follow(std::uint64_t bucket) {
    std::vector<std::uint32_t> frontier;
    for (Worker& worker : workers_) {
      const auto part = worker.buckets.take(bucket);
      frontier.insert(frontier.end(), part.begin(), part.end());
      worker.followed = worker.edges = 0;
    }
    std::atomic<std::size_t> next{0};
    job_.pool().run([&](int w) {
      if (!several_)
        work(w, bucket, frontier, next, OneOwner());
      else
        job_.ownership().visit([&](const auto& scheme) { work(w, bucket, frontier, next, scheme); });
    });
    Superstep done;
    done.step = bucket;
    for (const Worker& worker : workers_) {
      done.frontier += worker.followed;
      done.edges += worker.edges;
    }
    return done;
  }

  template <class Scheme>
  void work(int w, std::uint64_t bucket, std::span<const std::uint32_t> frontier,
            std::atomic<std::size_t>& next, const Scheme& scheme) {
    Worker& worker = workers_[static_cast<std::size_t>(w)];
    for (std::size_t at = next.fetch_add(kChunk); at < frontier.size(); at = next.fetch_add(kChunk))
      follow_all(w, worker, bucket, frontier.subspan(at, std::min(kChunk, frontier.size() - at)), scheme);
    for (auto size = worker.buckets.size(bucket); size > 0 && size < kAlone;
         size = worker.buckets.size(bucket)) {
      const auto again = worker.buckets.take(bucket);
      follow_all(w, worker, bucket, again, scheme);
    }
    if (several_) job_.records().finish(w, [&](Record record) { take(worker, record); });
  }

  /// Into the cache: the first two lines of a row, which the processor fetches on from.
  template <class Any>
  static void fetch(std::span<const Any> row) noexcept {
    __builtin_prefetch(row.data());
    if (row.size() > kAhead) __builtin_prefetch(row.data() + kAhead);
  }
  template <class Scheme>
  void follow_all(int w, Worker& worker, std::uint64_t bucket, std::span<const std::uint32_t> vertices,
                  const Scheme& scheme) {
    const auto row = [&](std::size_t i) {
      return graph::Row{job_.graph(), scheme.vertex(rank_, vertices[i])};
    };
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      if (vertices.size() - i > kAhead) {
        __builtin_prefetch(&job_.graph().offsets()[row(i + kAhead).vertex]);
        const auto near = row(i + kAhead / 2);
        fetch(near.targets());
        if (program_.weighted()) fetch(near.weights());
      }
      follow_edges(w, worker, bucket, vertices[i], scheme);
    }
  }

  template <class Scheme>
  void follow_edges(int w, Worker& worker, std::uint64_t bucket, std::uint32_t u, const Scheme& scheme) {
    const Value value = values_[u].load(std::memory_order_relaxed);
    if (program_.bucket(value) < bucket) return;  // its value has fallen, and it was followed then
    const graph::Row row{job_.graph(), scheme.vertex(rank_, u)};
    const auto targets = row.targets();
    const auto weights = program_.weighted() ? row.weights() : std::span<const float>();
    ++worker.followed;
    worker.edges += targets.size();
    constexpr bool kAllMine = std::is_same_v<Scheme, OneOwner>;
    for (std::size_t e = 0; e < targets.size(); ++e) {
      if (kAllMine && targets.size() - e > kAhead) __builtin_prefetch(&values_[targets[e + kAhead]]);
      const Value offered = program_.along(value, weights.empty() ? 1 : weights[e]);
      const plan::Place place = scheme.place(targets[e]);
      if (kAllMine || place.owner == rank_)
        improve(worker, place.local, offered);
      else if (fell(sent_[targets[e]], offered))
        job_.records().send(w, static_cast<int>(place.owner),
                            {place.local, std::bit_cast<std::uint32_t>(offered)},
                            [&](Record record) { take(worker, record); });
    }
  }

  void take(Worker& worker, Record record) {
    improve(worker, record.vertex, std::bit_cast<Value>(record.value));
  }
  void improve(Worker& worker, std::uint32_t local, Value offered) {
    if (fell(values_[local], offered)) worker.buckets.put(program_.bucket(offered), local);
  }
  /// Lowers a value. False: it is not higher. Values order nothing else, so all accesses are relaxed; the end
  /// of a superstep orders them. A worker that is alone needs no exchange.
  bool fell(std::atomic<Value>& value, Value offered) const {
    Value old = value.load(std::memory_order_relaxed);
    if (!shared_ && offered < old) {
      value.store(offered, std::memory_order_relaxed);
      return true;
    }
    while (offered < old)
      if (value.compare_exchange_weak(old, offered, std::memory_order_relaxed)) return true;
    return false;
  }

  FrontierJob& job_;
  const Program& program_;
  bool several_;
  bool shared_;  ///< several workers lower values
  std::uint32_t rank_ = job_.rank();
  topology::NodeMemory values_memory_, sent_memory_;
  std::span<std::atomic<Value>> values_;  ///< [local number]
  std::span<std::atomic<Value>> sent_;    ///< [vertex]: the lowest that was sent to its owner
  std::vector<Worker> workers_;
};

}  // namespace edgewire::frontier
