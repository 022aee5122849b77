#include "disk/page_cache.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace edgewire::disk {

void PageCache::Free::operator()(std::byte* memory) const noexcept {
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc): so it was taken
}

PageCache::PageCache(std::size_t bytes) : places_(bytes / kAlignment) {
  if (places_.empty()) return;
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, places_.size() * kAlignment)));
  if (!memory_) throw std::bad_alloc();
}

/// Pages side by side have places side by side, so that a range smaller than the cache fits.
std::size_t PageCache::place_of(std::uint64_t page) const noexcept { return page % places_.size(); }

bool PageCache::find(std::uint64_t page, std::byte* to) noexcept {
  if (places_.empty()) return false;
  const std::size_t at = place_of(page);
  Place& place = places_[at];
  if (place.taken.test_and_set(std::memory_order_acquire)) return false;  // it is just being replaced
  const bool there = place.page == page;
  if (there) std::memcpy(to, memory_of(at), kAlignment);
  place.taken.clear(std::memory_order_release);
  return there;
}

void PageCache::keep(std::uint64_t page, const std::byte* from) noexcept {
  if (places_.empty()) return;
  const std::size_t at = place_of(page);
  Place& place = places_[at];
  if (place.taken.test_and_set(std::memory_order_acquire)) return;
  if (place.page != page) {
    std::memcpy(memory_of(at), from, kAlignment);
    place.page = page;
  }
  place.taken.clear(std::memory_order_release);
}

}  // namespace edgewire::disk
