// Label correcting in the order of buckets: the loop of delta stepping (Meyer, Sanders: "Delta-stepping: a
// parallelizable shortest path algorithm", 2003), over all processes and workers.
//
// A superstep follows the edges of all vertices in the lowest bucket that any process has. A vertex whose
// value falls goes to the bucket of its new value, which may be the same one again. A value for a vertex of
// another process is sent to it, but only if this process has never sent it a lower or equal one.
#pragma once

#include <atomic>
#include <bit>
#include <memory>
#include <span>
#include <vector>

#include "exchange/barrier.h"
#include "frontier/buckets.h"
#include "frontier/frontier_job.h"
#include "frontier/superstep.h"

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
        values_(new std::atomic<Value>[job.owned()]),
        sent_(several_ ? new std::atomic<Value>[job.graph().vertices()] : nullptr),
        workers_(static_cast<std::size_t>(job.pool().workers())) {
    const auto fill = [&](std::atomic<Value>* from, std::uint64_t count) {
      constexpr std::uint64_t kPiece = 1 << 16;
      job_.pool().for_each((count + kPiece - 1) / kPiece, [&](int, std::uint64_t piece) {
        for (auto i = piece * kPiece; i < std::min(count, (piece + 1) * kPiece); ++i)
          from[i].store(program_.unreached(), std::memory_order_relaxed);
      });
    };
    fill(values_.get(), job.owned());
    if (several_) fill(sent_.get(), job.graph().vertices());
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
    for (std::size_t at = next.fetch_add(kChunk); at < frontier.size(); at = next.fetch_add(kChunk)) {
      for (const std::uint32_t u : frontier.subspan(at, std::min(kChunk, frontier.size() - at)))
        follow_edges(w, worker, bucket, u, scheme);
    }
    for (auto size = worker.buckets.size(bucket); size > 0 && size < kAlone;
         size = worker.buckets.size(bucket)) {
      for (const std::uint32_t u : worker.buckets.take(bucket)) follow_edges(w, worker, bucket, u, scheme);
    }
    if (several_) job_.records().finish(w, [&](Record record) { take(worker, record); });
  }

  template <class Scheme>
  void follow_edges(int w, Worker& worker, std::uint64_t bucket, std::uint32_t u, const Scheme& scheme) {
    const Value value = values_[u].load(std::memory_order_relaxed);
    if (program_.bucket(value) < bucket) return;  // its value has fallen, and it was followed then
    const graph::Row row{job_.graph(), scheme.vertex(job_.rank(), u)};
    const auto targets = row.targets();
    const auto weights = program_.weighted() ? row.weights() : std::span<const float>();
    ++worker.followed;
    worker.edges += targets.size();
    for (std::size_t e = 0; e < targets.size(); ++e) {
      const Value offered = program_.along(value, weights.empty() ? 1 : weights[e]);
      const plan::Place place = scheme.place(targets[e]);
      if (place.owner == job_.rank())
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
  /// of a superstep orders them.
  static bool fell(std::atomic<Value>& value, Value offered) {
    for (Value old = value.load(std::memory_order_relaxed); offered < old;)
      if (value.compare_exchange_weak(old, offered, std::memory_order_relaxed)) return true;
    return false;
  }

  FrontierJob& job_;
  const Program& program_;
  bool several_;
  std::unique_ptr<std::atomic<Value>[]> values_;  ///< [local number]
  std::unique_ptr<std::atomic<Value>[]> sent_;    ///< [vertex]: the lowest that was sent to its owner
  std::vector<Worker> workers_;
};

}  // namespace edgewire::frontier
