#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "disk/queue.h"

namespace edgewire::disk {

/// Copies of pages of kAlignment bytes that were read, for those who ask for the same ones soon. A page has
/// one place, which the last one that came has. Thread safe.
class PageCache {
 public:
  /// `bytes`: for pages; with less than a page nothing is kept.
  explicit PageCache(std::size_t bytes);

  /// Copies a page to `to`. False when it is not there.
  bool find(std::uint64_t page, std::byte* to) noexcept;
  void keep(std::uint64_t page, const std::byte* from) noexcept;

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  struct Place {
    std::atomic_flag taken;  ///< by whoever copies from or to it
    std::uint64_t page = kNone;
  };
  struct Free {
    void operator()(std::byte* memory) const noexcept;
  };
  std::size_t place_of(std::uint64_t page) const noexcept;
  std::byte* memory_of(std::size_t place) const noexcept { return memory_.get() + place * kAlignment; }

  std::vector<Place> places_;
  std::unique_ptr<std::byte, Free> memory_;
};

}  // namespace edgewire::disk
