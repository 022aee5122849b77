#include "frontier/row_cache.h"

#include <array>
#include <cstring>
#include <span>

namespace edgewire::frontier {

RowCache::RowCache(const RowPages& pages, std::uint64_t bytes)
    : rows_(pages),
      capacity_(bytes),
      ample_(bytes >= pages.bytes()),
      pages_(pages.bytes() / kPageBytes),
      followed_(ample_ ? 0 : pages.owned()) {}

RowCache::Found RowCache::find(std::uint64_t page, std::byte* to) noexcept {
  CachedPage& cached = pages_[page];
  // The page is just being replaced.
  if (cached.taken.test_and_set(std::memory_order_acquire)) return Found::nothing;
  const Found found = copy(cached, to);
  cached.taken.clear(std::memory_order_release);
  return found;
}

RowCache::Found RowCache::copy(const CachedPage& cached, std::byte* to) noexcept {
  const std::byte* from = cached.memory.get();
  if (from == nullptr) return Found::nothing;
  if (cached.pieces == 0) {
    std::memcpy(to, from, kPageBytes);
    return Found::page;
  }
  const std::byte* bytes = from + cached.pieces * sizeof(Piece);
  for (std::uint16_t p = 0; p < cached.pieces; ++p) {
    Piece piece{};
    std::memcpy(&piece, from + p * sizeof(Piece), sizeof(Piece));
    std::memcpy(to + piece.begin, bytes, piece.bytes);
    bytes += piece.bytes;
  }
  return Found::rows;
}

void RowCache::keep(std::uint64_t page, const std::byte* from) {
  if (capacity_ < kPageBytes) return;
  CachedPage& cached = pages_[page];
  if (cached.taken.test_and_set(std::memory_order_acquire)) return;
  if (!cached.memory || cached.pieces > 0) {
    release(cached);
    if (!ample_) make_room();
    if (reserve(kPageBytes))
      store_page(cached, from);
    else
      keep_rows(page, from);
  }
  cached.taken.clear(std::memory_order_release);
}

void RowCache::store_page(CachedPage& cached, const std::byte* from) {
  cached.memory = std::make_unique_for_overwrite<std::byte[]>(kPageBytes);
  std::memcpy(cached.memory.get(), from, kPageBytes);
  cached.pieces = 0;
  cached.bytes = kPageBytes;
  cached.older.store(true, std::memory_order_relaxed);
}

/// Keeps the rows that have not been followed, where there is room.
void RowCache::keep_rows(std::uint64_t page, const std::byte* from) {
  CachedPage& cached = pages_[page];
  cached.older.store(false, std::memory_order_relaxed);
  std::array<Piece, kPageBytes / 2> pieces;  // a row that has been followed lies between two pieces
  std::size_t count = 0, bytes = 0;
  rows_.each_on(page, [&](LocalNumber local, std::uint16_t begin, std::uint16_t size) {
    if (followed_.test(local)) return;
    if (count > 0 && pieces[count - 1].begin + pieces[count - 1].bytes == begin)
      pieces[count - 1].bytes = static_cast<std::uint16_t>(pieces[count - 1].bytes + size);
    else if (count < pieces.size())
      pieces[count++] = {begin, size};
    else
      return;
    bytes += size;
  });
  bytes += count * sizeof(Piece);
  if (bytes >= kPageBytes) {
    if (reserve(kPageBytes)) store_page(cached, from);
    return;
  }
  if (count == 0 || !reserve(bytes)) return;
  cached.memory = std::make_unique_for_overwrite<std::byte[]>(bytes);
  std::memcpy(cached.memory.get(), pieces.data(), count * sizeof(Piece));
  std::byte* to = cached.memory.get() + count * sizeof(Piece);
  for (const Piece& piece : std::span(pieces).first(count)) {
    std::memcpy(to, from + piece.begin, piece.bytes);
    to += piece.bytes;
  }
  cached.pieces = static_cast<std::uint16_t>(count);
  cached.bytes = static_cast<std::uint16_t>(bytes);
}

/// Drops rows that have been followed, from some of the pages in turn.
void RowCache::make_room() {
  constexpr int kVisits = 64;  // number of pages that are looked at for the room of one
  std::array<std::byte, kPageBytes> bytes;
  for (int i = 0; i < kVisits && used_.load(std::memory_order_relaxed) + kPageBytes > capacity_; ++i) {
    const std::uint64_t page = hand_.fetch_add(1, std::memory_order_relaxed) % pages_.size();
    CachedPage& cached = pages_[page];
    if (!cached.older.load(std::memory_order_relaxed)) continue;
    if (cached.taken.test_and_set(std::memory_order_acquire)) continue;
    if (copy(cached, bytes.data()) != Found::nothing) {
      release(cached);
      keep_rows(page, bytes.data());
    }
    cached.taken.clear(std::memory_order_release);
  }
}

/// Reserves memory for copies. Returns false when there is no room.
bool RowCache::reserve(std::uint64_t bytes) noexcept {
  if (used_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= capacity_) return true;
  used_.fetch_sub(bytes, std::memory_order_relaxed);
  return false;
}

void RowCache::release(CachedPage& cached) noexcept {
  if (!cached.memory) return;
  cached.memory.reset();
  used_.fetch_sub(cached.bytes, std::memory_order_relaxed);
}

void RowCache::follow(VertexId vertex) noexcept {
  if (ample_) return;
  followed_.set(rows_.local(vertex));
  const auto [begin, end] = rows_.range(vertex);
  for (std::uint64_t page = begin / kPageBytes; begin < end && page * kPageBytes < end; ++page)
    pages_[page].older.store(true, std::memory_order_relaxed);
}

bool RowCache::followed(VertexId vertex) const noexcept {
  return !ample_ && followed_.test(rows_.local(vertex));
}

}  // namespace edgewire::frontier
