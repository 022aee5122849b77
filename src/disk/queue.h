// The disk folder reads and writes large blocks past the page cache, several at a time (this file). It also
// has files of segments with checksums on several devices, measures how fast devices are, and says what a
// limit of memory leaves for edges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "base/rooms.h"
#include "edgewire/detail/memory.h"
#include "topology/worker_pool.h"

struct io_uring;

namespace edgewire::disk {

/// Memory, offset and size of reads and writes past the page cache must be multiples of this.
constexpr std::size_t kAlignment = 4096;

/// Transfers that are under way, through io_uring (Axboe: "Efficient IO with io_uring", 2019). Where the
/// system does not allow that (some containers do not), each transfer is done when it is started. One thread
/// at a time uses it.
class Queue {
 public:
  /// Makes a queue. `allowed`: whether it may use io_uring.
  explicit Queue(bool allowed = true);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// Returns whether transfers go through io_uring.
  bool asynchronous() const noexcept { return ring_ != nullptr; }
  /// Waits until the system has done some work for one of the transfers, and starts what is left of it. At
  /// least one is under way. When the system takes no more requests, all transfers end with its error.
  void wait_for_one() noexcept;
  /// Tells the system of the memory and of the files that reads will use, so that it does not look them up
  /// for each read (io_uring_register(2)). Each may be called once at most. Registered files stay open while
  /// this lives. Other memory and files can be used as well. Where the system refuses, as with a low limit of
  /// locked memory, reads work as without.
  void register_memory(std::span<std::byte> memory) noexcept;
  void register_files(std::span<const int> descriptors) noexcept;
  /// Transfers that are started while it lives go to the system together, at its end at the latest.
  class Batch {
   public:
    explicit Batch(Queue& queue) noexcept : queue_(queue) { ++queue_.batches_; }
    ~Batch() {
      if (--queue_.batches_ == 0) queue_.submit();
    }
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

   private:
    Queue& queue_;
  };
  /// Tells the observer from here on how long this worker waits for transfers. Null: there is no observer.
  void watch(topology::Observer* observer, int worker) noexcept {
    observer_ = observer;
    pool_ = nullptr;
    worker_ = worker;
  }
  /// Does the same for the observer that the pool has at the time. `pool` outlives this.
  void watch(const topology::WorkerPool& pool, int worker) noexcept {
    pool_ = &pool;
    worker_ = worker;
  }

 private:
  friend class Transfer;
  void submit() noexcept;
  topology::Observer* observer() const noexcept { return pool_ != nullptr ? pool_->observer() : observer_; }
  bool has_registered(std::span<const std::byte> memory) const noexcept;
  struct Close {
    void operator()(io_uring* ring) const noexcept;
  };
  std::unique_ptr<io_uring, Close> ring_;  ///< ring; null: there is none
  int error_ = 0;                          ///< error with which the system takes no more requests; 0: it does
  unsigned under_way_ = 0;                 ///< number of transfers in the ring
  int batches_ = 0;                        ///< number of open batches
  std::span<std::byte> memory_;            ///< the registered memory
  std::vector<int> files_;                 ///< the registered files
  topology::Observer* observer_ = nullptr;
  const topology::WorkerPool* pool_ = nullptr;
  int worker_ = 0;
};

/// A read or a write. It and its memory stay where they are until it has ended; the destructor waits.
class Transfer {
 public:
  /// Makes a transfer that has not started. `queue` outlives this.
  explicit Transfer(Queue& queue) noexcept : queue_(queue) {}
  ~Transfer() { wait(); }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  /// Starts a transfer. No other one may be under way.
  void read(int descriptor, std::span<std::byte> to, std::uint64_t offset) noexcept {
    start(descriptor, to, offset, false);
  }
  void write(int descriptor, std::span<const std::byte> from, std::uint64_t offset) noexcept;
  /// Waits until it has ended, if it was started. Returns 0 or an errno: ENODATA where the file ends before.
  int wait() noexcept;
  /// Returns whether it was started and has not ended, as far as this process has seen.
  bool under_way() const noexcept { return under_way_ && queue_.error_ == 0; }
  Queue& queue() const noexcept { return queue_; }

 private:
  friend class Queue;
  void start(int descriptor, std::span<std::byte> memory, std::uint64_t offset, bool writes) noexcept;
  void go_on() noexcept;
  /// Takes the result of the system: bytes, or an error number below 0.
  void advance(int result) noexcept;

  Queue& queue_;
  int descriptor_ = -1, error_ = 0;
  bool writes_ = false;
  bool under_way_ = false;  ///< whether it is under way, as far as the queue has said
  std::byte* memory_ = nullptr;
  std::size_t left_ = 0;
  std::uint64_t offset_ = 0;
};

/// Aligned memory for reads. Blocks are given back in the order in which they were taken. For one thread.
class BlockRing {
 public:
  /// Makes a ring. `capacity`: the bytes, rounded up to a multiple of kAlignment. `queue`: reads into the
  /// blocks; outlives this.
  BlockRing(std::size_t capacity, Queue& queue);

  /// Returns a block, in one piece, or null while there is no room. `bytes`: a multiple of kAlignment, at
  /// most the capacity. The first call takes the memory from the system, so that it is near the thread, and
  /// registers it with the queue. Throws Error.
  std::byte* take(std::size_t bytes);
  /// Gives the oldest block back.
  void give_back() noexcept { blocks_.pop_front(); }

 private:
  struct Block {
    std::size_t begin, end;
  };
  std::size_t capacity_;
  Queue& queue_;
  topology::NodeMemory memory_;
  std::deque<Block> blocks_;  ///< oldest first
};

}  // namespace edgewire::disk
