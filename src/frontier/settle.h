// Label correcting in the order of buckets: the loop of delta stepping (Meyer, Sanders: "Delta-stepping: a
// parallelizable shortest path algorithm", 2003), over all processes and workers.
//
// A superstep follows the edges of all vertices in the lowest bucket that any process has. A vertex whose
// value falls goes to the bucket of its new value, which may be the same one again. A value for a vertex of
// another process waits in its bucket, too: it is sent just before this bucket is followed, when lower values
// of this process have replaced most of those that it found first.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "frontier/buckets.h"
#include "frontier/frontier_job.h"
#include "frontier/superstep.h"
#include "topology/memory.h"

namespace edgewire::frontier {

/// A program has
///   using Value;                          4 or 8 bytes, compared by <
///   Value unreached();                    no value is greater
///   Value too_long();                     less than unreached(), greater than all values that are right
///   Value along(Value, Weight);           not less than the value, for weights of all types that
///                                         graph::Weights has; weight 1 where weighted() is false;
///                                         too_long() at most
///   bool weighted();                      edges have their weights, not 1
///   std::uint64_t bucket(Value);          grows with the value, and is less than kNoBucket
///   void refuse(graph, vertex);           throws what is said of a vertex that ends with too_long()
template <class Program>
class Settling {
 public:
  using Value = typename Program::Value;
  using Record = RecordOf<Value>;
  /// For Options::record_bytes.
  static constexpr std::size_t kRecordBytes = sizeof(Record);

  /// Memory: a value for each vertex of the graph, two where there are several processes. Throws UsageError
  /// when the job has other records, or weights where the program has none.
  Settling(FrontierJob& job, const Program& program)
      : job_(job),
        program_(program),
        several_(job.bootstrap().size() > 1),
        shared_(job.pool().workers() > 1),
        values_memory_(job.graph().vertices() * sizeof(Value), -1, "distances", topology::Begin::staggered),
        values_(values_memory_.as<std::atomic<Value>>()),
        sent_(several_ ? values_.size() : 0),
        workers_(static_cast<std::size_t>(job.pool().workers())) {
    job.expect_records(kRecordBytes);
    job.expect_weights(program.weighted());
    constexpr std::uint64_t kPiece = 1 << 16;
    job_.pool().for_each((values_.size() + kPiece - 1) / kPiece, [&](int, std::uint64_t piece) {
      for (auto v = piece * kPiece; v < std::min<std::uint64_t>(values_.size(), (piece + 1) * kPiece); ++v)
        values_[v].store(program_.unreached(), std::memory_order_relaxed);
    });
    for (auto& sent : sent_) sent.store(program_.unreached(), std::memory_order_relaxed);
  }

  /// Collective. The supersteps; values() has the result. Throws Error, also when the best value of a vertex
  /// that a path reaches is too_long().
  std::vector<Superstep> run(VertexId source, Value start) {
    job_.expect_vertex(source);
    std::vector<Superstep> supersteps;
    if (owner(source) == rank_) improve(workers_[0], source, start);
    for (auto bucket = lowest(0); bucket != kNoBucket; bucket = lowest(bucket)) {
      const Meter meter(job_);
      Superstep done = follow(bucket);
      meter.stop(done);
      supersteps.push_back(done);
    }
    // Whatever got that value was put into its bucket, the last one.
    if (supersteps.back().step == program_.bucket(program_.too_long())) refuse_too_long();
    job_.wait_for_all();
    return supersteps;
  }
  /// By local number.
  std::vector<Value> values() const {
    std::vector<Value> all(job_.owned());
    for (LocalNumber i{}; i < all.size(); ++i)
      all[i] = values_[job_.ownership().vertex(rank_, i)].load(std::memory_order_relaxed);
    return all;
  }

 private:
  struct alignas(128) Worker {
    Buckets buckets;  ///< of owned vertices
    Buckets others;   ///< of vertices of other processes, whose owners must be told
    std::uint64_t followed = 0, edges = 0;
  };
  /// A worker goes on with what falls back into the bucket, as long as it is less: that saves supersteps.
  static constexpr std::size_t kAlone = 1000;
  static constexpr std::uint64_t kNoVertex = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::size_t kAhead = 16;  ///< values that are fetched into the cache before they are read

  /// All processes throw the same.
  void refuse_too_long() {
    std::uint64_t vertex = kNoVertex;
    for (LocalNumber local{}; vertex == kNoVertex && local < job_.owned(); ++local)
      if (const VertexId v = job_.ownership().vertex(rank_, local);
          values_[v].load(std::memory_order_relaxed) == program_.too_long())
        vertex = v;
    if (several_) vertex = job_.records().agree(vertex);
    if (vertex != kNoVertex) program_.refuse(job_.graph(), VertexId(static_cast<std::uint32_t>(vertex)));
  }

  /// Of all processes.
  std::uint64_t lowest(std::uint64_t bucket) {
    std::uint64_t mine = kNoBucket;
    for (const Worker& worker : workers_)
      mine = std::min({mine, worker.buckets.lowest(bucket), worker.others.lowest(bucket)});
    return several_ ? job_.records().agree(mine) : mine;
  }

  Superstep follow(std::uint64_t bucket) {
    for (Worker& worker : workers_) worker.followed = worker.edges = 0;
    std::vector<VertexId> frontier;
    std::atomic<std::size_t> next{0};
    if (!several_) frontier = collect(bucket);
    job_.pool().run([&](int w) {
      if (several_) {
        tell_owners(w, bucket);
        job_.pool().barrier([&] { frontier = collect(bucket); });
      }
      work(w, bucket, frontier, next);
    });
    Superstep done;
    done.step = bucket;
    for (const Worker& worker : workers_) {
      done.frontier += worker.followed;
      done.edges += worker.edges;
    }
    return done;
  }

  /// What all workers have in the bucket.
  std::vector<VertexId> collect(std::uint64_t bucket) {
    std::vector<VertexId> frontier;
    for (Worker& worker : workers_) {
      const auto part = worker.buckets.take(bucket);
      frontier.insert(frontier.end(), part.begin(), part.end());
    }
    if (job_.on_disks()) read_once(bucket, frontier);
    return frontier;
  }

  /// Leaves out what need not be read, and brings the rest into the order on the disks.
  void read_once(std::uint64_t bucket, std::vector<VertexId>& frontier) const {
    std::erase_if(frontier, [&](VertexId v) {
      return program_.bucket(values_[v].load(std::memory_order_relaxed)) < bucket;
    });
    std::ranges::sort(frontier);
    frontier.erase(std::unique(frontier.begin(), frontier.end()), frontier.end());
  }

  /// Sends the values in the bucket that belong to other processes, and takes theirs.
  void tell_owners(int w, std::uint64_t bucket) {
    Worker& worker = workers_[static_cast<std::size_t>(w)];
    const auto take = [&](const Record& record) {
      improve(worker, VertexId(record.vertex), std::bit_cast<Value>(record.value));
    };
    for (const VertexId v : worker.others.take(bucket)) {
      const Value value = values_[v].load(std::memory_order_relaxed);
      if (fell(sent_[v], value))
        job_.records().send(w, static_cast<int>(owner(v)),
                            Record{v, std::bit_cast<decltype(Record::value)>(value)}, take);
    }
    job_.records().template finish<Record>(w, take);
  }

  void work(int w, std::uint64_t bucket, std::span<const VertexId> frontier, std::atomic<std::size_t>& next) {
    Worker& worker = workers_[static_cast<std::size_t>(w)];
    const auto follow = [&](const Edges& edges) { follow_edges(worker, bucket, edges); };
    const std::size_t count = job_.rows_at_once();
    job_.each_row(
        w,
        [&] {
          const std::size_t at = std::min(next.fetch_add(count), frontier.size());
          return frontier.subspan(at, std::min(count, frontier.size() - at));
        },
        follow);
    for (auto size = worker.buckets.size(bucket); size > 0 && size < kAlone;
         size = worker.buckets.size(bucket)) {
      const auto again = worker.buckets.take(bucket);
      std::span<const VertexId> left = again;
      job_.each_row(
          w, [&] { return std::exchange(left, {}); }, follow);
    }
  }

  void follow_edges(Worker& worker, std::uint64_t bucket, const Edges& edges) {
    const Value value = values_[edges.vertex].load(std::memory_order_relaxed);
    if (program_.bucket(value) < bucket) return;  // its value has fallen, and it was followed then
    ++worker.followed;
    worker.edges += edges.targets.size();
    if (edges.weights.empty()) {
      offer(worker, edges.targets, [&](std::size_t) { return program_.along(value, std::uint32_t{1}); });
    } else {
      edges.weights.visit([&](const auto of_edges) {
        offer(worker, edges.targets, [&](std::size_t e) { return program_.along(value, of_edges[e]); });
      });
    }
  }
  template <class Offered>
  void offer(Worker& worker, std::span<const VertexId> targets, const Offered& offered_along) {
    for (std::size_t e = 0; e < targets.size(); ++e) {
      if (targets.size() - e > kAhead) __builtin_prefetch(&values_[targets[e + kAhead]]);
      const Value offered = offered_along(e);
      if (!fell(values_[targets[e]], offered)) continue;
      (owner(targets[e]) == rank_ ? worker.buckets : worker.others).put(program_.bucket(offered), targets[e]);
    }
  }

  std::uint32_t owner(VertexId v) const { return several_ ? job_.ownership().place(v).owner : 0; }
  void improve(Worker& worker, VertexId v, Value offered) {
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
  std::span<std::atomic<Value>> values_;  ///< [vertex]: the lowest that is known here
  std::vector<std::atomic<Value>> sent_;  ///< [vertex]: the lowest that its owner was told
  std::vector<Worker> workers_;
};

}  // namespace edgewire::frontier
