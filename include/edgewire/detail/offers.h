// This file says how the workers of a process hand over what they tell of vertices, so that one worker at a
// time hears what is for a vertex. Otherwise cores would pass on the cache lines of its values for nearly
// each vertex: a line has the bits of 512 vertices.
//
// Along few edges each worker keeps some of the vertices, and hears what the others have found for them when
// all have looked. Along more edges there is online binning: workers put what they offer to vertices into
// bins, one for each range of vertices. A full bin goes to one worker at a time, which gathers the range: it
// alone changes the values of these vertices, without atomic operations, and they stay in its cache
// meanwhile.
//
// Bins are those of Kim, Swanson: "Blaze: Fast Graph Processing on Fast SSDs" (SC 2022), where some threads
// only gather. Here the worker that has filled a bin gathers, unless another one does so already and takes
// that bin, too. Beamer, Asanovic, Patterson, "Reducing PageRank communication via propagation blocking"
// (IPDPS 2017), have bins whose layout is known before, see edgewire/detail/bins.h.
#pragma once

#include <algorithm>
#include <bit>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "edgewire/numbering.h"

#pragma GCC visibility push(default)

namespace edgewire::detail {

/// A worker offers a value to a vertex.
template <class Value>
struct Offer {
  KnownNumber vertex;
  Value value;
};

/// Bins of Offers. Functions with a worker belong to that worker.
template <class Value>
class OfferBins {
 public:
  static constexpr std::size_t kOffers = 512;     ///< offers in a full bin
  static constexpr std::size_t kMostWaiting = 4;  ///< full bins of a range that a worker gathers
  static constexpr std::uint32_t kMostRanges = 1024;

  /// `numbers`: how many numbers vertices have, from 0. `bytes`: the size of what a gatherer changes for a
  /// vertex. Memory: a bin for each worker and range that it has offers for, and a few more for each worker.
  OfferBins(int workers, std::uint32_t numbers, std::size_t bytes)
      : shift_(shift_for(workers, numbers, kCached / bytes)),
        ranges_(((std::max(numbers, 1U) - 1) >> shift_) + 1) {
    open_.resize(static_cast<std::size_t>(workers));
    for (auto& bins : open_) bins.resize(ranges_.size());
  }

  std::size_t ranges() const noexcept { return ranges_.size(); }

  /// Puts an offer into its bin. When the bin is full, calls apply(offer) for all offers in it and in other
  /// full bins of the range, or leaves that to the worker that is doing so. Waits while too many full bins
  /// wait for that one. `apply` puts nothing, and waits for nobody.
  template <class Apply>
  void put(int worker, const Offer<Value>& offer, const Apply& apply) {
    const std::size_t range = offer.vertex >> shift_;
    Bin& bin = open_[static_cast<std::size_t>(worker)][range];
    if (bin.size == kOffers) empty(ranges_[range], bin, apply);
    bin.offers[bin.size++] = offer;
  }
  /// Does the same for bins that are not full. When all workers have returned, all offers were applied.
  template <class Apply>
  void finish(int worker, const Apply& apply) {
    auto& bins = open_[static_cast<std::size_t>(worker)];
    const std::size_t first = bins.size() * static_cast<std::size_t>(worker) / open_.size();
    for (std::size_t i = 0; i < bins.size(); ++i) {
      const std::size_t range = (first + i) % bins.size();  // workers begin at different ones
      if (bins[range].offers != nullptr && bins[range].size > 0) empty(ranges_[range], bins[range], apply);
    }
  }

 private:
  /// With this shift no worker shares a cache line of values with those of the next range, even if a value is
  /// a bit.
  static constexpr int kLeastShift = 9;
  static constexpr std::uint64_t kRangesAWorker = 4;
  /// The bytes of a range: they fit in the L2 cache of a core, and leave room for the bins that are filled.
  /// From half to four times as many made little difference (Zen, L2 of 1 MiB, Kronecker 20 and 22).
  static constexpr std::uint64_t kCached = 256 << 10;

  /// A bin without memory counts as full, so that put() looks at the size alone.
  struct Bin {
    std::unique_ptr<Offer<Value>[]> offers;
    std::size_t size = kOffers;
  };
  struct alignas(128) Range {
    std::mutex mutex;
    std::condition_variable fewer;  ///< bins wait, or nobody gathers
    bool gathered = false;          ///< a worker does so now
    std::vector<Bin> waiting{};     ///< bins that wait for this worker
  };
  /// Gathers the range for a worker, as long as it lives. Gathering also ends when memory ends in apply().
  class Gathering {
   public:
    Gathering(Range& range, std::unique_lock<std::mutex>& lock) : range_(range), lock_(lock) {
      range.gathered = true;
    }
    Gathering(const Gathering&) = delete;
    Gathering& operator=(const Gathering&) = delete;
    ~Gathering() {
      if (!lock_.owns_lock()) lock_.lock();
      range_.gathered = false;
      range_.fewer.notify_all();
    }

   private:
    Range& range_;
    std::unique_lock<std::mutex>& lock_;
  };

  /// `cached`: numbers whose values fit in the cache.
  static int shift_for(int workers, std::uint32_t numbers, std::uint64_t cached) {
    const std::uint64_t ranges = kRangesAWorker * static_cast<std::uint64_t>(workers);
    const std::uint64_t most = std::max<std::uint64_t>(1, std::min(cached, numbers / ranges));
    const int least = std::max(kLeastShift, static_cast<int>(std::bit_width(numbers / kMostRanges)));
    return std::max(least, static_cast<int>(std::bit_width(most)) - 1);
  }

  template <class Apply>
  void empty(Range& range, Bin& bin, const Apply& apply) {
    if (bin.offers == nullptr) {
      bin = new_bin();
      return;
    }
    std::unique_lock lock(range.mutex);
    range.fewer.wait(lock, [&] { return !range.gathered || range.waiting.size() < kMostWaiting; });
    if (range.gathered) {
      range.waiting.push_back(std::exchange(bin, spare()));
      return;
    }
    const Gathering gathering(range, lock);
    lock.unlock();
    apply_all(bin, apply);
    lock.lock();
    while (!range.waiting.empty()) {
      auto bins = std::exchange(range.waiting, {});
      range.fewer.notify_all();
      lock.unlock();
      for (Bin& one : bins) apply_all(one, apply);
      give_back(bins);
      lock.lock();
    }
  }
  template <class Apply>
  static void apply_all(Bin& bin, const Apply& apply) {
    const std::size_t size = std::exchange(bin.size, 0);
    for (std::size_t i = 0; i < size; ++i) apply(bin.offers[i]);
  }

  static Bin new_bin() { return {std::make_unique_for_overwrite<Offer<Value>[]>(kOffers), 0}; }
  Bin spare() {
    const std::lock_guard lock(spare_mutex_);
    // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): the bin owns its memory, also when it is moved
    if (spare_.empty()) return new_bin();
    Bin bin = std::move(spare_.back());
    spare_.pop_back();
    return bin;
  }
  void give_back(std::vector<Bin>& bins) {
    const std::lock_guard lock(spare_mutex_);
    for (Bin& bin : bins) spare_.push_back(std::move(bin));
  }

  int shift_;                           ///< a range has 2^shift_ numbers
  std::vector<Range> ranges_;           ///< [number >> shift_]
  std::vector<std::vector<Bin>> open_;  ///< [worker][range]
  std::mutex spare_mutex_;
  std::vector<Bin> spare_;  ///< empty ones; as many as have waited at the same time
};

/// A worker says how what it tells of a vertex is heard.
enum class Hearing {
  at_once,     ///< by itself; others may hear of the same vertex at this time
  by_keepers,  ///< by the worker that keeps the vertex, when all have told what they have to
  in_bins,     ///< by the worker that gathers the vertex
};

/// The offers of a superstep. Functions with a worker belong to that worker.
template <class Value>
class Offers {
 public:
  /// The arguments are those of OfferBins.
  Offers(int workers, std::uint32_t numbers, std::size_t bytes)
      : bins_(workers, numbers, bytes), kept_(static_cast<std::size_t>(workers)) {
    for (Lists& lists : kept_) lists.of.resize(kept_.size());
  }

  /// Hands over an offer. `hear`: is called with offers of its range where this worker gathers one.
  template <Hearing kHearing, class Hear>
  void put(int worker, const Offer<Value>& offer, const Hear& hear) {
    if constexpr (kHearing == Hearing::in_bins)
      bins_.put(worker, offer, hear);
    else
      kept_[static_cast<std::size_t>(worker)].of[keeper(offer.vertex)].push_back(offer);
  }
  /// Hears what is left for this worker to hear. Where keepers hear, all have put their offers before.
  template <class Hear>
  void finish(int worker, Hearing hearing, const Hear& hear) {
    if (hearing == Hearing::in_bins) return bins_.finish(worker, hear);
    for (Lists& from : kept_) {
      auto& offers = from.of[static_cast<std::size_t>(worker)];
      for (const Offer<Value>& one : offers) hear(one);
      offers.clear();
    }
  }

 private:
  static constexpr std::uint32_t kKept = 1024;  ///< vertices side by side that one worker keeps
  struct alignas(128) Lists {
    std::vector<std::vector<Offer<Value>>> of;  ///< [keeper]
  };

  std::size_t keeper(KnownNumber vertex) const noexcept {
    constexpr std::uint32_t kGolden = 0x9e3779b1;  // spreads neighbouring pieces over all workers
    const std::uint32_t spread = vertex / kKept * kGolden;
    return spread * std::uint64_t{kept_.size()} >> 32;
  }

  OfferBins<Value> bins_;
  std::vector<Lists> kept_;  ///< [worker that has put them]
};

}  // namespace edgewire::detail

#pragma GCC visibility pop
