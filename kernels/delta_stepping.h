// Delta stepping (Meyer, Sanders: "Delta-stepping: a parallelizable shortest path algorithm", 2003), over all
// processes and workers. A vertex has a tentative distance, and waits in the bucket of this distance. A
// superstep takes all vertices of the lowest bucket that any process has, and relaxes their edges: the
// distance of a target falls where the way along the edge is less, and the target goes to the bucket of its
// new distance, which may be the same one again. Edges are not told apart as light or heavy ones: a vertex
// that falls back into the bucket has all its edges relaxed once more.
//
// A request, which is a distance for a vertex of another process, waits in the bucket of its distance, too.
// It is sent when this bucket is about to be taken, when lower distances of this process have replaced most
// of those that it found first.
//
// A superstep ends with one exchange: a process sends the requests of its own lowest bucket, as long as that
// is near or they are few, and says which bucket that is. Where only one process has vertices in buckets, it
// goes on with its next buckets until it has a request.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "edgewire/detail/memory.h"
#include "frontier/frontier_job.h"
#include "frontier/push_note.h"
#include "frontier/superstep.h"
#include "kernels/buckets.h"
#include "kernels/sssp.h"

namespace edgewire::kernels {

/// Distances from a source, as Sssp says what they are: `Distance` is float, double or std::uint64_t.
template <class Distance>
class DeltaStepping {
 public:
  using Record = frontier::RecordOf<Distance>;
  /// The size of a record for Options::record_bytes.
  static constexpr std::size_t kRecordBytes = sizeof(Record);

  /// Memory: a distance for each vertex that the process knows, and one more for each boundary vertex. Throws
  /// UsageError when the job has other records, or weights where the program has none.
  DeltaStepping(frontier::Job& job, const Sssp<Distance>& program)
      : job_(job),
        program_(program),
        distributed_(job.bootstrap().size() > 1),
        shared_(job.pool().workers() > 1),
        distances_memory_(job.known() * sizeof(Distance), -1, "distances", topology::Begin::staggered),
        distances_(distances_memory_.as<std::atomic<Distance>>()),
        sent_(job.known() - job.owned()),
        workers_(static_cast<std::size_t>(job.pool().workers())) {
    job.expect_records(kRecordBytes);
    job.make_rows();
    job.expect_weights(program.weighted());
    constexpr std::uint64_t kPiece = 1 << 16;
    job_.pool().for_each((distances_.size() + kPiece - 1) / kPiece, [&](int, std::uint64_t piece) {
      for (auto v = piece * kPiece; v < std::min<std::uint64_t>(distances_.size(), (piece + 1) * kPiece); ++v)
        distances_[v].store(program_.unreached(), std::memory_order_relaxed);
    });
    for (auto& sent : sent_) sent.store(program_.unreached(), std::memory_order_relaxed);
  }

  /// Runs the kernel and returns the supersteps; distances() has the result. Collective. Throws Error, also
  /// when the best distance of a vertex that a path reaches is too_long().
  std::vector<frontier::Superstep> run(VertexId source, Distance start) {
    job_.expect_vertex(source);
    frontier::SuperstepLog log(job_);
    const Home home = job_.ownership().home(source);
    if (home.owner == rank_) lower_owned(workers_[0], KnownNumber(home.local), start);
    active_.add(home.owner);
    for (auto bucket = program_.bucket(start); bucket != kNoBucket;) {
      log.step(0, workers_, [&](frontier::Superstep& done) {
        done.step = bucket;
        relax_bucket(bucket);
        bucket = distributed_ ? exchange(go_alone(bucket)) : lowest(&Worker::buckets, bucket);
      });
    }
    // Whatever got that distance was put into its bucket, the last one.
    if (log.last().step == program_.bucket(program_.too_long())) refuse_too_long();
    job_.wait_for_all();
    return log.take();
  }
  /// Returns the distances of the owned vertices, by local number.
  std::vector<Distance> distances() const {
    std::vector<Distance> all(job_.owned());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = distances_[i].load(std::memory_order_relaxed);
    return all;
  }

 private:
  struct alignas(128) Worker {
    Buckets buckets;                        ///< buckets of owned vertices
    Buckets requests;                       ///< buckets of boundary vertices, whose owners must be told
    std::uint64_t vertices = 0, edges = 0;  ///< the vertices, and their edges, that it has relaxed
    bool has_more = false;                  ///< vertices are in buckets, its own or of requests
    frontier::Active told;                  ///< processes that got requests of it in this exchange
  };
  /// A worker goes on with what falls back into the bucket, as long as it is less: that saves supersteps.
  static constexpr std::size_t kAlone = 1000;
  /// A process that is alone decides with the others again after so many buckets.
  static constexpr int kMostAlone = 256;
  /// Requests in a bucket so near are sent before it is known that it comes next; and if they are no more
  /// than so few, also those in one that is less near.
  static constexpr std::uint64_t kNext = 1;
  static constexpr std::size_t kFewRecords = 64;
  static constexpr std::uint64_t kNoVertex = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::size_t kAhead =
      16;  ///< distances that are fetched into the cache before they are read

  /// Throws the same in all processes.
  void refuse_too_long() {
    std::uint64_t vertex = kNoVertex;
    for (LocalNumber local{}; vertex == kNoVertex && local < job_.owned(); ++local)
      if (distances_[local].load(std::memory_order_relaxed) == program_.too_long())
        vertex = job_.ownership().vertex(rank_, local);
    vertex = job_.min_of_all(vertex);
    if (vertex != kNoVertex) program_.refuse(job_.graph(), VertexId(static_cast<PlainId>(vertex)));
  }

  /// Returns the lowest bucket of this process, from `bucket` on, that holds something: its own or one of
  /// requests.
  std::uint64_t lowest(Buckets Worker::*which, std::uint64_t bucket) const {
    std::uint64_t least = kNoBucket;
    for (const Worker& worker : workers_) least = std::min(least, (worker.*which).lowest(bucket));
    return least;
  }

  /// Relaxes the edges of all vertices in the bucket.
  void relax_bucket(std::uint64_t bucket) {
    const auto vertices = take_bucket(bucket);
    std::atomic<std::size_t> next{0};
    job_.pool().run([&](int w) { relax_rows(w, bucket, vertices, next); });
  }
  /// Returns what all workers have in the bucket. From disks, each row is read once, in the order there, and
  /// none that need not be read.
  std::vector<KnownNumber> take_bucket(std::uint64_t bucket) {
    std::vector<KnownNumber> vertices;
    for (Worker& worker : workers_) {
      const auto part = worker.buckets.take(bucket);
      vertices.insert(vertices.end(), part.begin(), part.end());
    }
    if (!job_.on_disks()) return vertices;
    std::erase_if(vertices, [&](KnownNumber v) {
      return program_.bucket(distances_[v].load(std::memory_order_relaxed)) < bucket;
    });
    std::ranges::sort(vertices);
    vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
    return vertices;
  }
  void relax_rows(int w, std::uint64_t bucket, std::span<const KnownNumber> vertices,
                  std::atomic<std::size_t>& next) {
    Worker& worker = workers_[static_cast<std::size_t>(w)];
    const auto relax = [&](const FrontierRow& edges) { relax_row(worker, bucket, edges); };
    job_.each_shared_row(w, vertices, next, relax);
    for (auto size = worker.buckets.size(bucket); size > 0 && size < kAlone;
         size = worker.buckets.size(bucket)) {
      const auto again = worker.buckets.take(bucket);
      auto left = numbered<LocalNumber>(plain(std::span<const KnownNumber>(again)));
      job_.each_row(
          w, [&] { return std::exchange(left, {}); }, relax);
    }
  }
  void relax_row(Worker& worker, std::uint64_t bucket, const FrontierRow& edges) {
    const Distance distance = distances_[edges.vertex].load(std::memory_order_relaxed);
    if (program_.bucket(distance) < bucket)
      return;  // its distance has fallen, and its edges were relaxed then
    ++worker.vertices;
    worker.edges += edges.targets.size();
    if (edges.weights.empty()) {
      relax_edges(worker, edges.targets,
                  [&](std::size_t) { return program_.along(distance, std::uint32_t{1}); });
    } else {
      edges.weights.visit([&](const auto weights) {
        relax_edges(worker, edges.targets,
                    [&](std::size_t e) { return program_.along(distance, weights[e]); });
      });
    }
  }
  template <class Along>
  void relax_edges(Worker& worker, std::span<const KnownNumber> targets, const Along& along) {
    for (std::size_t e = 0; e < targets.size(); ++e) {
      if (targets.size() - e > kAhead) __builtin_prefetch(&distances_[targets[e + kAhead]]);
      const Distance offered = along(e);
      if (!lower(distances_[targets[e]], offered)) continue;
      (targets[e] < owned_ ? worker.buckets : worker.requests).put(program_.bucket(offered), targets[e]);
    }
  }

  /// Relaxes this process's next buckets, too, while no other one has vertices in buckets or gets requests.
  /// The bucket of too_long() is a superstep of its own, of which all processes know. Returns the last
  /// bucket.
  std::uint64_t go_alone(std::uint64_t bucket) {
    for (int more = 0; active_.is_only(rank_) && more < kMostAlone; ++more) {
      const std::uint64_t own = lowest(&Worker::buckets, bucket);
      if (own == kNoBucket || own == program_.bucket(program_.too_long()) ||
          lowest(&Worker::requests, bucket) <= own)
        break;
      bucket = own;
      relax_bucket(bucket);
    }
    return bucket;
  }
  /// Returns the lowest bucket of all processes, after all requests in it have been sent.
  std::uint64_t exchange(std::uint64_t bucket) {
    for (Worker& worker : workers_)
      worker.has_more = std::min(worker.buckets.lowest(bucket), worker.requests.lowest(bucket)) != kNoBucket;
    const std::uint64_t mine = std::min(lowest(&Worker::buckets, bucket), lowest(&Worker::requests, bucket));
    const bool early = is_early(bucket, mine);
    active_ = {};
    send_requests(early ? mine : kNoBucket, bucket, {mine, early ? 1U : 0U});
    std::uint64_t next = mine;
    bool complete = early;  // all requests in `next` have been sent
    for (int peer = 0; peer < job_.bootstrap().size(); ++peer) {
      if (peer == job_.bootstrap().rank()) continue;
      const auto& said = job_.records().note(0, peer);
      if (said[0] <= next) complete = said[1] != 0 && (said[0] < next || complete);
      next = std::min(next, said[0]);
    }
    if (next != kNoBucket && !complete) send_requests(next, next, {});
    return next;
  }
  /// Returns whether to send the requests of a bucket, the lowest one here, before it is known whether it
  /// comes next.
  bool is_early(std::uint64_t bucket, std::uint64_t mine) const {
    if (mine == kNoBucket || mine - bucket > Buckets::kEarly) return false;
    std::size_t requests = 0;
    for (const Worker& worker : workers_) requests += worker.requests.size(mine);
    return mine - bucket <= kNext || requests <= kFewRecords;
  }
  /// Sends the requests in the bucket to the owners, and takes theirs. No bucket below `base` gets anything
  /// from now on. `note`: what this process says; a lane adds who has vertices in buckets.
  void send_requests(std::uint64_t bucket, std::uint64_t base, const frontier::Records::Note& note) {
    job_.pool().run([&](int w) { send_requests(w, bucket, base, note); });
    for (int lane = 0; lane < job_.pool().workers(); ++lane) {
      active_.add(workers_[static_cast<std::size_t>(lane)].told);
      for (int peer = 0; peer < job_.bootstrap().size(); ++peer)
        if (peer != job_.bootstrap().rank())
          active_.add(
              frontier::Active::of_code(static_cast<std::uint32_t>(job_.records().note(lane, peer)[2])));
    }
  }
  void send_requests(int w, std::uint64_t bucket, std::uint64_t base, frontier::Records::Note note) {
    Worker& worker = workers_[static_cast<std::size_t>(w)];
    worker.told = {};
    if (worker.has_more) worker.told.add(rank_);
    const auto take = [&](const Record& record) {
      if (record.vertex >= job_.owned()) throw Error("a process has sent a vertex that does not exist");
      lower_owned(worker, KnownNumber(record.vertex), std::bit_cast<Distance>(record.value));
    };
    const auto waiting =
        bucket == kNoBucket ? std::vector<KnownNumber>() : worker.requests.take(bucket, base);
    for (const KnownNumber number : waiting) {
      const Distance distance = distances_[number].load(std::memory_order_relaxed);
      if (!lower(sent_[number - owned_], distance)) continue;
      const Home home = job_.boundary().home(number);
      worker.told.add(home.owner);
      job_.records().send(w, static_cast<int>(home.owner),
                          Record{home.local, std::bit_cast<decltype(Record::value)>(distance)}, take);
    }
    note[2] = worker.told.code();
    job_.records().template finish<Record>(w, take, note);
  }

  void lower_owned(Worker& worker, KnownNumber owned, Distance offered) {
    if (lower(distances_[owned], offered)) worker.buckets.put(program_.bucket(offered), owned);
  }
  /// Lowers a distance. Returns false where it is not higher. Distances order nothing else, so all accesses
  /// are relaxed; the end of a superstep orders them. A worker that is alone needs no exchange.
  /// It is always inline: where the compiler chose otherwise, sssp took 8 % longer (Zen 4).
  [[gnu::always_inline]] bool lower(std::atomic<Distance>& distance, Distance offered) const {
    Distance old = distance.load(std::memory_order_relaxed);
    if (!shared_ && offered < old) {
      distance.store(offered, std::memory_order_relaxed);
      return true;
    }
    while (offered < old)
      if (distance.compare_exchange_weak(old, offered, std::memory_order_relaxed)) return true;
    return false;
  }

  frontier::Job& job_;
  const Sssp<Distance>& program_;
  bool distributed_;
  bool shared_;  ///< several workers lower distances
  std::uint32_t rank_ = job_.rank(), owned_ = job_.owned();
  topology::NodeMemory distances_memory_;
  std::span<std::atomic<Distance>> distances_;  ///< [KnownNumber]: tentative, the lowest that is known here
  /// [KnownNumber of a boundary vertex, from 0]: the lowest distance that its owner was told.
  std::vector<std::atomic<Distance>> sent_;
  frontier::Active active_;  ///< the processes that have vertices in buckets, or requests
  std::vector<Worker> workers_;
};

extern template class DeltaStepping<float>;
extern template class DeltaStepping<double>;
extern template class DeltaStepping<std::uint64_t>;

}  // namespace edgewire::kernels
