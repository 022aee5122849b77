#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/bits.h"
#include "frontier/row_pages.h"

namespace edgewire::frontier {

/// Copies of pages that were read, for readers that need rows on them later. A page is kept whole as long as
/// there is room. When room is short, rows that have been followed are dropped from all pages, and no others
/// are: a kernel that follows each row once never needs a dropped row again. Thread safe.
class RowCache {
 public:
  enum class Found { nothing, rows, page };

  /// Makes a cache. `bytes`: the bytes for copies; with less than a page nothing is cached. Besides, it takes
  /// 16 bytes for each page of the rows, and a bit for each vertex. `pages` outlive it.
  RowCache(const RowPages& pages, std::uint64_t bytes);

  /// Copies the cached parts of a page to their places in `to`. Where the result is `rows`, all rows are
  /// there of which followed() returns false after the call.
  Found find(std::uint64_t page, std::byte* to) noexcept;
  /// Keeps a page, if there is room; if not, its rows that have not been followed.
  void keep(std::uint64_t page, const std::byte* from);

  /// Notes that the row of an owned vertex has been followed, and is hardly needed again.
  void follow(VertexId vertex) noexcept;
  bool followed(VertexId vertex) const noexcept;

 private:
  /// Bytes side by side on a page.
  struct Piece {
    std::uint16_t begin, bytes;
  };
  struct CachedPage {
    std::atomic_flag taken;  ///< held by the thread that uses the other members
    /// Whether rows on the page may have been followed since it was looked through.
    std::atomic<bool> older{true};
    std::uint16_t pieces = 0;             ///< number of pieces; 0: the whole page
    std::uint16_t bytes = 0;              ///< size of the memory: the pieces, and their content
    std::unique_ptr<std::byte[]> memory;  ///< copy; null: nothing is kept
  };
  bool reserve(std::uint64_t bytes) noexcept;
  void release(CachedPage& cached) noexcept;
  void make_room();
  static Found copy(const CachedPage& cached, std::byte* to) noexcept;
  void store_page(CachedPage& cached, const std::byte* from);
  void keep_rows(std::uint64_t page, const std::byte* from);

  const RowPages& rows_;
  std::uint64_t capacity_;
  bool ample_;  ///< whether all pages fit
  std::atomic<std::uint64_t> used_{0}, hand_{0};
  std::vector<CachedPage> pages_;  ///< cached pages by page
  Bits followed_;                  ///< followed rows, by local number, where pages may not all fit
};

}  // namespace edgewire::frontier
