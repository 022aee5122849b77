#include "frontier/row_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/checksum.h"
#include "base/error.h"
#include "frontier/row_code.h"

namespace edgewire::frontier {

namespace {

constexpr std::uint64_t kRequestPages = 64;  // most pages of a request, where rows side by side are shorter
constexpr std::size_t kMostRequests = 128;   // most requests under way
static_assert(kCodeSlack <= disk::kAlignment);

}  // namespace

RowReader::RowReader(const RowPages& pages, RowCache& cache, std::size_t memory_bytes,
                     transport::Health& health)
    : pages_(pages),
      cache_(cache),
      health_(health),
      memory_(std::max(std::min(memory_bytes, 2 * pages.bytes()),
                       pages.longest() + 2 * kRequestPages * kPageBytes),
              queue_) {
  queue_.register_files(pages.files().descriptors());
}

/// Calls work(request) for each request when all its pages are there.
template <class Work>
void RowReader::each_request(const Take& take, const Work& work) {
  for (fill(take); !requests_.empty(); fill(take)) {
    Request& request = requests_.front();
    finish(request);
    work(request);
    if (request.memory != nullptr) memory_.give_back();
    requests_.pop_front();
  }
}

void RowReader::each(const Take& take, const std::function<bool(const Edges&)>& work) {
  each_request(take, [&](const Request& request) {
    for (const VertexId v : request.vertices)
      if (work(decode(request, v, pages_.degree(v)))) cache_.follow(v);
    keep(request);
  });
}

void RowReader::each_once(const Take& take, std::size_t first, const std::function<bool(VertexId)>& wants,
                          const std::function<void(const Edges&)>& work) {
  each_request(take, [&](const Request& request) {
    for (const VertexId v : request.vertices) {
      const std::uint64_t degree = pages_.degree(v);
      work(decode(request, v, std::min<std::uint64_t>(first, degree)));
      if (degree > first && wants(v)) work({v, decode(request, v, degree).targets.subspan(first), {}});
    }
  });
}

/// Starts requests while there are room and vertices to ask for.
void RowReader::fill(const Take& take) {
  const disk::Queue::Batch batch(queue_);
  while (requests_.size() < kMostRequests) {
    if (chunk_.empty()) chunk_ = take();
    if (chunk_.empty()) break;
    if (!ask(chunk_.front())) return;
    chunk_ = chunk_.subspan(1);
  }
  if (!chunk_.empty()) return;
  for (Request& request : open_)
    if (!request.vertices.empty() && !start(request)) return;
}

/// Adds a vertex to the request that is open for rows like its own; first starts that one where the row is
/// not beside the others. Returns false while there is no room.
bool RowReader::ask(VertexId vertex) {
  Request& request = open_[is_short_row(pages_.degree(vertex)) ? 1 : 0];
  if (add(request, vertex)) return true;
  return start(request) && add(request, vertex);
}

/// Adds a vertex to the request. Returns false when its row is not beside the others.
bool RowReader::add(Request& request, VertexId vertex) const {
  const auto [begin, end] = pages_.range(vertex);
  if (begin < end) {
    const std::uint64_t first = begin / kPageBytes, last = (end - 1) / kPageBytes + 1;
    if (request.end == 0) {
      request.first = first;
    } else if (first < request.first || first > request.end || last > request.first + kRequestPages) {
      return false;
    }
    request.end = std::max(request.end, last);
  }
  request.vertices.push_back(vertex);
  return true;
}

/// Moves the request to those that are under way. Returns false while there is no room.
bool RowReader::start(Request& request) {
  const std::uint64_t pages = request.end - request.first;
  if (pages > 0) {
    request.memory = memory_.take(pages * kPageBytes);
    if (request.memory == nullptr) return false;
  }
  read(requests_.emplace_back(std::exchange(request, {})));
  return true;
}

/// Takes pages from the cache, and starts to read the others.
void RowReader::read(Request& request) {
  const auto memory = [&](std::uint64_t page) {
    return request.memory + (page - request.first) * kPageBytes;
  };
  found_.clear();
  for (std::uint64_t page = request.first; page < request.end; ++page)
    found_.push_back(cache_.find(page, memory(page)));
  for (const VertexId v : request.vertices) {
    if (!cache_.followed(v)) continue;
    const auto [begin, end] = pages_.range(v);
    for (std::uint64_t page = begin / kPageBytes; begin < end && page * kPageBytes < end; ++page)
      if (auto& found = found_[page - request.first]; found == RowCache::Found::rows)
        found = RowCache::Found::nothing;
  }
  const auto missing = [&](std::uint64_t page) {
    return found_[page - request.first] == RowCache::Found::nothing;
  };
  for (std::uint64_t page = request.first; page < request.end; ++page) {
    if (!missing(page)) continue;
    const auto [segment, most] = pages_.piece(page, request.end - page);
    std::uint64_t count = 1;
    while (count < most && missing(page + count)) ++count;
    Read& one = request.reads.emplace_back(page, count, queue_);
    one.transfer.read(pages_.files().descriptor(segment.file), {memory(page), count * kPageBytes},
                      segment.offset);
    page += count - 1;
  }
}

/// Waits until all has been read, and checks it.
void RowReader::finish(Request& request) {
  for (Read& one : request.reads) {
    const disk::Segment segment = pages_.piece(one.first, one.count).first;
    if (const int error = one.transfer.wait(); error != 0)
      fail(one.first, pages_.files().cause_of(segment, error));
    pages_.files().count_read(segment);
    for (std::uint64_t page = one.first; page < one.first + one.count; ++page)
      if (checksum(request.memory + (page - request.first) * kPageBytes, kPageBytes) != pages_.checksum(page))
        fail(page, disk::SegmentFiles::kDamaged);
  }
}

/// Gives the pages that were read to the cache.
void RowReader::keep(const Request& request) {
  for (const Read& one : request.reads)
    for (std::uint64_t page = one.first; page < one.first + one.count; ++page)
      cache_.keep(page, request.memory + (page - request.first) * kPageBytes);
}

/// Returns the first `count` edges of the row; where rows have weights, it returns all of them.
Edges RowReader::decode(const Request& request, VertexId vertex, std::uint64_t count) {
  const auto [begin, end] = pages_.range(vertex);
  const std::uint64_t degree = pages_.degree(vertex);
  if (count == 0) return {vertex, {}, {}};
  if (targets_.size() < degree) {
    targets_.resize(degree);
    if (pages_.weighted()) weights_.resize(degree);
  }
  const graph::WeightType type = pages_.graph().weights().type();
  const std::uint64_t tail = pages_.weighted() ? degree * graph::bytes_of(type) : 0;
  const auto targets = std::span(targets_).first(count);
  const std::byte* const row = request.memory + (begin - request.first * kPageBytes);
  if (end - begin < tail ||
      !decode_row(vertex, {row, end - begin - tail}, pages_.graph().vertices(), targets, count < degree))
    fail(begin / kPageBytes,
         "the row here is out of range; remove the file, and the next run writes it anew");
  if (tail == 0) return {vertex, targets, {}};
  std::memcpy(weights_.data(), row + (end - begin - tail), tail);
  return {vertex, targets, graph::Weights(type, weights_.data(), degree)};
}

void RowReader::fail(std::uint64_t page, const std::string& what) {
  try {
    pages_.files().fail(pages_.piece(page, 1).first, what);
  } catch (const Error& error) {
    health_.fail(-1, error.what());  // the job fails, so that no process waits for this one
    throw;
  }
}

}  // namespace edgewire::frontier
