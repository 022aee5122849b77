// Supersteps in which vertices wait in buckets, see FrontierJob::settle_in_order().
//
// A superstep ends with one exchange: a process tells the owners of the boundary vertices in its own lowest
// bucket, as long as that is near or they are few, and says which bucket that is. Vertices of other buckets
// wait until their bucket comes next: by then lower values have replaced most of the first ones. Where only
// one process has vertices in buckets, it goes on with its next buckets until it has to tell another one.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "base/rooms.h"
#include "edgewire/detail/buckets.h"
#include "frontier/frontier_workers.h"

namespace edgewire::detail {

/// The supersteps of one call.
class FrontierState::InOrder {
 public:
  InOrder(Workers& workers, FrontierState& state, const Calls& calls)
      : workers_(workers), state_(state), calls_(calls), job_(workers.job()) {}

  void run(std::span<const LocalNumber> frontier) {
    state_.waiting_in_order_.clear();  // bases of buckets only rise
    state_.waiting_in_order_.resize(state_.news_.size());
    state_.shared_ = state_.news_.size() > 1;
    for (const LocalNumber v : frontier) state_.put(0, KnownNumber(v), calls_.order(KnownNumber(v)));
    for (std::uint64_t bucket = lowest_of_all(); bucket != kNoBucket;)
      workers_.step([&](frontier::Superstep& done) {
        done.step = bucket;
        visit_bucket(bucket);
        bucket = exchange(go_alone(bucket));
        workers_.count(done);
      });
  }

 private:
  /// The number of vertices below which a worker goes on with those that fall back into the bucket.
  static constexpr std::size_t kByItself = 1000;
  /// The number of buckets after which a process that is alone decides with the others again.
  static constexpr int kMostAlone = 256;
  /// The distance of a bucket of which owners are told before it is known that it comes next; if they are
  /// told of few vertices, also of one that is less near.
  static constexpr std::uint64_t kNext = 1;
  static constexpr std::size_t kFewRecords = 64;

  /// Returns the lowest bucket of this process, from `bucket` on, that holds vertices.
  std::uint64_t lowest(Buckets Waiting::*which, std::uint64_t bucket) const {
    std::uint64_t least = kNoBucket;
    for (const Waiting& one : state_.waiting_in_order_) least = std::min(least, (one.*which).lowest(bucket));
    return least;
  }
  std::uint64_t lowest(std::uint64_t bucket) const {
    return std::min(lowest(&Waiting::owned, bucket), lowest(&Waiting::others, bucket));
  }
  /// Returns the lowest bucket of all processes at the start, and notes which processes have one.
  std::uint64_t lowest_of_all() {
    const std::array mine{lowest(0)};
    if (!workers_.is_distributed()) return mine[0];
    const auto all = job_.records().allgather(mine);
    for (std::uint32_t p = 0; p < all.size(); ++p)
      if (all[p] != kNoBucket) active_.add(p);
    return std::ranges::min(all);
  }

  /// Visits all vertices of the bucket: with one worker where they are few and cores are shared.
  void visit_bucket(std::uint64_t bucket) {
    state_.step_ = bucket;
    const auto vertices = take_bucket(bucket);
    const auto numbers = numbered<LocalNumber>(plain(std::span<const KnownNumber>(vertices)));
    std::atomic<std::size_t> next{0};
    const bool one = job_.pool().placement().oversubscribed && workers_.is_for_one(numbers);
    state_.shared_ = !one && state_.news_.size() > 1;
    workers_.run_workers([&](int worker) { visit_rows(worker, bucket, vertices, next); }, one);
    state_.shared_ = state_.news_.size() > 1;
  }
  /// Returns the vertices of all workers in the bucket. From disks, needed rows are read once, in order.
  std::vector<KnownNumber> take_bucket(std::uint64_t bucket) {
    std::vector<KnownNumber> vertices;
    for (Waiting& one : state_.waiting_in_order_) {
      const auto part = one.owned.take(bucket);
      vertices.insert(vertices.end(), part.begin(), part.end());
    }
    if (!job_.on_disks()) return vertices;
    std::erase_if(vertices, [&](KnownNumber v) { return calls_.order(v) < bucket; });
    std::ranges::sort(vertices);
    vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
    return vertices;
  }
  void visit_rows(int worker, std::uint64_t bucket, std::span<const KnownNumber> vertices,
                  std::atomic<std::size_t>& next) {
    const auto count = [&](const Totals& visited) { state_.count(worker, visited.vertices, visited.edges); };
    count(workers_.visit_shared(worker, vertices, next, calls_));
    Buckets& own = waiting(worker).owned;
    for (auto size = own.size(bucket); size > 0 && size < kByItself; size = own.size(bucket)) {
      const auto again = own.take(bucket);
      count(workers_.visit_own(worker, numbered<LocalNumber>(plain(std::span<const KnownNumber>(again))),
                               calls_));
    }
  }

  /// Visits this process's next buckets, too, while no other has any, or has to be told. Returns the last.
  std::uint64_t go_alone(std::uint64_t bucket) {
    for (int more = 0; active_.is_only(state_.rank()) && more < kMostAlone; ++more) {
      const std::uint64_t own = lowest(&Waiting::owned, bucket);
      if (own == kNoBucket || lowest(&Waiting::others, bucket) <= own) break;
      visit_bucket(bucket = own);
    }
    return bucket;
  }
  /// Returns the lowest bucket of all processes, after all owners of vertices in it have been told.
  std::uint64_t exchange(std::uint64_t bucket) {
    const std::uint64_t mine = lowest(bucket);
    if (!workers_.is_distributed()) return mine;
    const bool early = is_early(bucket, mine);
    active_ = {};
    tell_owners(early ? mine : kNoBucket, bucket, {mine, early ? 1U : 0U});
    std::uint64_t next = mine;
    bool complete = early;  // whether all owners of vertices in `next` have been told
    for (int peer = 0; peer < job_.bootstrap().size(); ++peer) {
      if (peer == job_.bootstrap().rank()) continue;
      const auto& said = job_.records().note(0, peer);
      if (said[0] <= next) complete = said[1] != 0 && (said[0] < next || complete);
      next = std::min(next, said[0]);
    }
    if (next != kNoBucket && !complete) tell_owners(next, next, {});
    return next;
  }
  /// Returns whether to tell the owners of a bucket, the lowest one here, before it is known to be next.
  bool is_early(std::uint64_t bucket, std::uint64_t mine) const {
    if (mine == kNoBucket || mine - bucket > Buckets::kEarly) return false;
    std::size_t others = 0;
    for (const Waiting& one : state_.waiting_in_order_) others += one.others.size(mine);
    return mine - bucket <= kNext || others <= kFewRecords;
  }
  /// Tells the owners of the boundary vertices in the bucket, and hears the others. No bucket below `base`
  /// gets anything from now on. `note`: the note of this process; a lane adds who has vertices.
  void tell_owners(std::uint64_t bucket, std::uint64_t base, const frontier::Records::Note& note) {
    std::vector<frontier::Active> told(state_.news_.size());  // processes told, by worker
    workers_.run_workers(
        [&](int w) { told[static_cast<std::size_t>(w)] = tell_owners(w, bucket, base, note); });
    for (int lane = 0; lane < job_.pool().workers(); ++lane) {
      active_.add(told[static_cast<std::size_t>(lane)]);
      for (int peer = 0; peer < job_.bootstrap().size(); ++peer)
        if (peer != job_.bootstrap().rank())
          active_.add(
              frontier::Active::of_code(static_cast<std::uint32_t>(job_.records().note(lane, peer)[2])));
    }
  }
  frontier::Active tell_owners(int worker, std::uint64_t bucket, std::uint64_t base,
                               frontier::Records::Note note) {
    Waiting& own = waiting(worker);
    const bool has_more = std::min(own.owned.lowest(base), own.others.lowest(base)) != kNoBucket;
    if (bucket != kNoBucket) {
      Record record{};
      for (const KnownNumber v : own.others.take(bucket, base))
        if (calls_.say(v, record)) workers_.tell(worker, v, record, calls_);
    }
    frontier::Active told = workers_.take_told(worker);
    if (has_more) told.add(state_.rank());
    note[2] = told.code();
    job_.records().finish_bytes(worker, workers_.hears(worker, calls_), note);
    return told;
  }
  Waiting& waiting(int worker) noexcept { return state_.waiting_in_order_[static_cast<std::size_t>(worker)]; }

  Workers& workers_;
  FrontierState& state_;
  const Calls& calls_;
  frontier::Job& job_;
  frontier::Active active_;  ///< processes that have vertices in buckets
};

}  // namespace edgewire::detail
