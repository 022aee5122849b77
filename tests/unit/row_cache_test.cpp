// What the cache of pages of rows keeps, and what it drops when room is short.
#include "frontier/row_cache.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "bootstraps.h"
#include "graph_test.h"
#include "process/local_process.h"
#include "schedule.h"

namespace edgewire::frontier {

namespace {

constexpr std::uint32_t kRowVertices = 15000;

using Bytes = std::array<std::byte, kPageBytes>;

/// Rows of a graph on a disk: every third vertex has none, some are short, and one covers several pages.
class RowCacheFixture {
 protected:
  RowCacheFixture() {
    std::mt19937 random(7);
    std::vector<graph::Edge> edges;
    for (std::uint32_t u = 0; u < kRowVertices; ++u)
      for (std::uint32_t e = u == 4001 ? 20000 : u % 3 * (u % 20); e > 0; --e)
        edges.emplace_back(u, static_cast<std::uint32_t>(random() % kRowVertices), 1.0F);
    graph::build(folder_ / "g.ew", kRowVertices, edges, {});
    graph_.emplace(Graph::open(folder_ / "g.ew"));
    ownership_.emplace(partition::Ownership::hash(kRowVertices, 1));
    rows_.emplace(process_.pool(), partition::OwnedRows(*graph_), *ownership_, 0,
                  RowDisks{.devices = {folder_ / "."}});
    REQUIRE(pages() > 30);
  }

  std::uint64_t pages() const { return rows_->bytes() / kPageBytes; }
  static Bytes page_of(std::uint64_t number) {
    Bytes page;
    for (std::size_t i = 0; i < page.size(); ++i)
      page[i] = static_cast<std::byte>(number * 37 + i * 11 + i / 256);
    return page;
  }
  /// Whether all of the row's bytes on the page are right in what was found.
  bool has(std::uint64_t page, const Bytes& found, VertexId vertex) const {
    const auto [begin, end] = rows_->range(vertex);
    const Bytes right = page_of(page);
    const std::uint64_t first = std::max(begin, page * kPageBytes),
                        last = std::min(end, (page + 1) * kPageBytes);
    return first < last && std::equal(found.begin() + static_cast<std::ptrdiff_t>(first - page * kPageBytes),
                                      found.begin() + static_cast<std::ptrdiff_t>(last - page * kPageBytes),
                                      right.begin() + static_cast<std::ptrdiff_t>(first - page * kPageBytes));
  }
  /// The vertices whose rows begin, lie or end on the page; from where all rows are, not from the order of
  /// vertices.
  std::vector<VertexId> on(std::uint64_t page) const {
    std::vector<VertexId> all;
    for (VertexId v{}; v < kRowVertices; ++v)
      if (const auto [begin, end] = rows_->range(v);
          begin < end && begin < (page + 1) * kPageBytes && end > page * kPageBytes)
        all.push_back(v);
    return all;
  }

  graph::TemporaryDirectory folder_;
  std::unique_ptr<launch::Bootstrap> bootstrap_ = std::move(launch::bootstraps(1)[0]);
  process::LocalProcess process_{*bootstrap_, {.workers = 1}};
  std::optional<Graph> graph_;
  std::optional<partition::Ownership> ownership_;
  std::optional<RowPages> rows_;
};

}  // namespace

TEST_CASE_FIXTURE(RowCacheFixture, "pages name the rows that are on them") {
  for (std::uint64_t page = 0; page < pages(); ++page) {
    std::vector<VertexId> named;
    rows_->each_on(page, [&](LocalNumber local, std::uint16_t begin, std::uint16_t bytes) {
      const VertexId v(PlainId{local});
      const auto [first, last] = rows_->range(v);
      CHECK(page * kPageBytes + begin == std::max(first, page * kPageBytes));
      CHECK(page * kPageBytes + begin + bytes == std::min(last, (page + 1) * kPageBytes));
      named.push_back(v);
    });
    std::ranges::sort(named);
    CHECK((named == on(page)));
  }
}

TEST_CASE_FIXTURE(RowCacheFixture, "a cache with ample room keeps pages whole, whatever was followed") {
  RowCache cache(*rows_, rows_->bytes());
  Bytes found{};
  for (std::uint64_t page = 0; page < pages(); ++page) {
    CHECK(cache.find(page, found.data()) == RowCache::Found::nothing);
    for (const VertexId v : on(page)) cache.follow(v);
    cache.keep(page, page_of(page).data());
  }
  for (std::uint64_t page = 0; page < pages(); ++page) {
    CHECK(cache.find(page, found.data()) == RowCache::Found::page);
    CHECK((found == page_of(page)));
  }
}

TEST_CASE_FIXTURE(RowCacheFixture, "a cache without room keeps nothing") {
  RowCache cache(*rows_, kPageBytes - 1);
  Bytes found{};
  cache.keep(0, page_of(0).data());
  CHECK(cache.find(0, found.data()) == RowCache::Found::nothing);
}

TEST_CASE_FIXTURE(RowCacheFixture, "when room is short, rows that were followed go, and the others stay") {
  constexpr std::uint64_t kRoom = 10;
  RowCache cache(*rows_, kRoom * kPageBytes);
  for (std::uint64_t page = 0; page < 2 * kRoom; ++page) {
    const auto rows = on(page);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (i % 4 != 0) cache.follow(rows[i]);
    cache.keep(page, page_of(page).data());
  }
  std::uint64_t stripped = 0;
  for (std::uint64_t page = 0; page < 2 * kRoom; ++page) {
    Bytes found{};
    const auto kept = cache.find(page, found.data());
    REQUIRE(kept != RowCache::Found::nothing);  // a quarter of twice the room fits
    for (const VertexId v : on(page))
      if (!cache.followed(v)) CHECK(has(page, found, v));
    if (kept == RowCache::Found::rows) ++stripped;
  }
  CHECK(stripped >= kRoom);
}

TEST_CASE_FIXTURE(RowCacheFixture, "pages with rows left stay when others come") {
  constexpr std::uint64_t kRoom = 10;
  RowCache cache(*rows_, kRoom * kPageBytes);
  for (std::uint64_t page = 0; page < pages(); ++page) cache.keep(page, page_of(page).data());
  Bytes found{};
  for (std::uint64_t page = 0; page < pages(); ++page)
    CHECK((cache.find(page, found.data()) != RowCache::Found::nothing) == (page < kRoom));
  for (const VertexId v : on(3)) cache.follow(v);
  cache.keep(20, page_of(20).data());  // the place of page 3 is its own
  CHECK(cache.find(20, found.data()) != RowCache::Found::nothing);
  CHECK((found == page_of(20)));
  CHECK(cache.find(3, found.data()) == RowCache::Found::nothing);
}

TEST_CASE_FIXTURE(RowCacheFixture, "pages whose rows were all followed make room for the next ones") {
  constexpr std::uint64_t kRoom = 10;
  RowCache cache(*rows_, kRoom * kPageBytes);
  for (VertexId v{}; v < kRowVertices; ++v) cache.follow(v);
  for (std::uint64_t page = 0; page < pages(); ++page) cache.keep(page, page_of(page).data());
  Bytes found{};
  CHECK(cache.find(pages() - 1, found.data()) == RowCache::Found::page);
  CHECK((found == page_of(pages() - 1)));
}

TEST_CASE_FIXTURE(RowCacheFixture,
                  "threads that share a cache find every row that none of them had followed" *
                      doctest::test_suite("schedules")) {
  constexpr std::uint64_t kPages = 20;  // of all pages, and room for fewer
  RowCache cache(*rows_, 5 * kPageBytes);
  std::vector<std::vector<VertexId>> rows;
  for (std::uint64_t page = 0; page < kPages; ++page) rows.push_back(on(page));
  std::atomic<int> wrong{0}, hits{0};
  const auto work = [&](std::uint32_t seed) {
    std::mt19937 random(seed);
    Bytes found{};
    for (int turn = 0; turn < rounds(3000); ++turn) {
      const std::uint64_t page = random() % kPages;
      found.fill({});
      const auto kept = cache.find(page, found.data());
      if (kept == RowCache::Found::nothing) {
        cache.keep(page, page_of(page).data());
      } else {
        ++hits;
        for (const VertexId v : rows[page])
          if ((kept == RowCache::Found::page || !cache.followed(v)) && !has(page, found, v)) ++wrong;
      }
      if (turn % 4 == 0) cache.follow(rows[page][random() % rows[page].size()]);
    }
  };
  std::vector<std::thread> threads;
  for (std::uint32_t seed = 0; seed < 3; ++seed) threads.emplace_back(work, seed);
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(hits > 0);
}

}  // namespace edgewire::frontier
