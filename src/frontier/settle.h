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

  /// Memory: 4 bytes for each vertex of the graph.
  Settling(FrontierJob& job, const Program& program)
      : job_(job),
        program_(program),
        several_(job.bootstrap().size() > 1),
        shared_(job.pool().workers() > 1),
        values_memory_(job.graph().vertices() * sizeof(Value), -1, "distances"),
        values_(values_memory_.as<std::atomic<Value>>()),
        workers_(static_cast<std::size_t>(job.pool().workers())) {
    constexpr std::uint64_t kPiece = 1 << 16;
    job_.pool().for_each((values_.size() + kPiece - 1) / kPiece, [&](int, std::uint64_t piece) {
      for (auto v = piece * kPiece; v < std::min<std::uint64_t>(values_.size(), (piece + 1) * kPiece); ++v)
        values_[v].store(program_.unreached(), std::memory_order_relaxed);
    });
  }

  /// Collective. The supersteps; values() has the result. Throws Error.
  std::vector<Superstep> run(std::uint32_t source, Value start) {
    std::vector<Superstep> supersteps;
    if (owner(source) == rank_) improve(workers_[0], source, start);
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
    for (std::uint32_t i = 0; i < all.size(); ++i)
      all[i] = values_[job_.ownership().vertex(rank_, i)].load(std::memory_order_relaxed);
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
    job_.pool().run([&](int w) { work(w, bucket, frontier, next); });
    Superstep done;
    done.step = bucket;
    for (const Worker& worker : workers_) {
      done.frontier += worker.followed;
      done.edges += worker.edges;
    }
    return done;
  }

  void work(int w, std::uint64_t bucket, std::span<const std::uint32_t> frontier,
            std::atomic<std::size_t>& next) {
    Worker& worker = workers_[static_cast<std::size_t>(w)];
    for (std::size_t at = next.fetch_add(kChunk); at < frontier.size(); at = next.fetch_add(kChunk))
      follow_all(w, worker, bucket, frontier.subspan(at, std::min(kChunk, frontier.size() - at)));
    for (auto size = worker.buckets.size(bucket); size > 0 && size < kAlone;
         size = worker.buckets.size(bucket)) {
      const auto again = worker.buckets.take(bucket);
      follow_all(w, worker, bucket, again);
    }
    if (several_) job_.records().finish(w, [&](Record record) { take(worker, record); });
  }

  /// Into the cache: the first two lines of a row, which the processor fetches on from.
  template <class Any>
  static void fetch(std::span<const Any> row) noexcept {
    __builtin_prefetch(row.data());
    if (row.size() > kAhead) __builtin_prefetch(row.data() + kAhead);
  }
  void follow_all(int w, Worker& worker, std::uint64_t bucket, std::span<const std::uint32_t> vertices) {
    const auto row = [&](std::size_t i) { return graph::Row{job_.graph(), vertices[i]}; };
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      if (vertices.size() - i > kAhead) {
        __builtin_prefetch(&job_.graph().offsets()[row(i + kAhead).vertex]);
        const auto near = row(i + kAhead / 2);
        fetch(near.targets());
        if (program_.weighted()) fetch(near.weights());
      }
      follow_edges(w, worker, bucket, vertices[i]);
    }
  }

  void follow_edges(int w, Worker& worker, std::uint64_t bucket, std::uint32_t u) {
    const Value value = values_[u].load(std::memory_order_relaxed);
    if (program_.bucket(value) < bucket) return;  // its value has fallen, and it was followed then
    const graph::Row row{job_.graph(), u};
    const auto targets = row.targets();
    const auto weights = program_.weighted() ? row.weights() : std::span<const float>();
    ++worker.followed;
    worker.edges += targets.size();
    for (std::size_t e = 0; e < targets.size(); ++e) {
      if (targets.size() - e > kAhead) __builtin_prefetch(&values_[targets[e + kAhead]]);
      const Value offered = program_.along(value, weights.empty() ? 1 : weights[e]);
      if (!fell(values_[targets[e]], offered)) continue;
      const std::uint32_t to = owner(targets[e]);
      if (to == rank_)
        worker.buckets.put(program_.bucket(offered), targets[e]);
      else
        job_.records().send(w, static_cast<int>(to), {targets[e], std::bit_cast<std::uint32_t>(offered)},
                            [&](Record record) { take(worker, record); });
    }
  }

  std::uint32_t owner(std::uint32_t v) const { return several_ ? job_.ownership().place(v).owner : 0; }
  void take(Worker& worker, Record record) {
    improve(worker, record.vertex, std::bit_cast<Value>(record.value));
  }
  void improve(Worker& worker, std::uint32_t v, Value offered) {
    if (fell(values_[v], offered)) worker.buckets.put(program_.bucket(offered), v);
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
  topology::NodeMemory values_memory_;
  /// [vertex]: of an owned one its value; of another one the lowest that this process has sent to its owner.
  std::span<std::atomic<Value>> values_;
  std::vector<Worker> workers_;
};

}  // namespace edgewire::frontier
