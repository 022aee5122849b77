#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "disk/queue.h"
#include "frontier/row_cache.h"
#include "frontier/row_pages.h"
#include "transport/health.h"

namespace edgewire::frontier {

/// The out-edges of a vertex, valid as long as work on them lasts.
struct Edges {
  VertexId vertex;
  std::span<const VertexId> targets;
  graph::Weights weights;  ///< weights; empty where none were asked for
};

/// A reader of rows from disks for one worker. While it works on a row, many of the next ones are on their
/// way. Rows that lie side by side are read at once, so vertices are best asked for in ascending order.
class RowReader {
 public:
  /// Makes a reader. `memory_bytes`: the bytes for rows under way; more when the longest one needs more. A
  /// failure of a read fails the job. All outlive it.
  RowReader(const RowPages& pages, RowCache& cache, std::size_t memory_bytes, transport::Health& health);

  using Take = std::function<std::span<const VertexId>()>;
  /// Does the same as Job::each_row(). RowCache::follow() describes what work() returns. Throws Error with
  /// path and byte offset. It must not be called again after it has thrown.
  void each(const Take& take, const std::function<bool(const Edges&)>& work);
  /// Does the same as Job::each_row_once(). Rows have no weights. Throws as each() does.
  void each_once(const Take& take, std::size_t first, const std::function<bool(VertexId)>& wants,
                 const std::function<void(const Edges&)>& work);
  /// Does the same as disk::Queue::watch().
  void watch(const topology::WorkerPool& pool, int worker) noexcept { queue_.watch(pool, worker); }

 private:
  /// Pages [first, first + count), which lie in one piece in a file.
  struct Read {
    Read(std::uint64_t f, std::uint64_t c, disk::Queue& queue) : first(f), count(c), transfer(queue) {}
    std::uint64_t first, count;
    disk::Transfer transfer;
  };
  /// Rows side by side, and the pages that hold them.
  struct Request {
    std::vector<VertexId> vertices;
    std::uint64_t first = 0, end = 0;  ///< first page and the end
    std::byte* memory = nullptr;       ///< memory of the pages; null when no row has edges
    std::deque<Read> reads{};          ///< reads of pages that are not in the cache
  };
  bool ask(VertexId vertex);
  bool add(Request& request, VertexId vertex) const;
  bool start(Request& request);
  void read(Request& request);
  void fill(const Take& take);
  template <class Work>
  void each_request(const Take& take, const Work& work);
  void finish(Request& request);
  void keep(const Request& request);
  Edges decode(const Request& request, VertexId vertex, std::uint64_t count);
  [[noreturn]] void fail(std::uint64_t page, const std::string& what);

  const RowPages& pages_;
  RowCache& cache_;
  transport::Health& health_;
  disk::Queue queue_;
  disk::BlockRing memory_;
  std::span<const VertexId> chunk_;     ///< vertices that were taken, and are in no request yet
  std::array<Request, 2> open_;         ///< requests for long and for short rows; more rows may be added
  std::deque<Request> requests_;        ///< requests, oldest first
  std::vector<RowCache::Found> found_;  ///< results of the cache, by page of a request
  std::vector<VertexId> targets_;
  std::vector<std::uint64_t> weights_;  ///< memory for the weights of a row
};

}  // namespace edgewire::frontier
