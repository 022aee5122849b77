#include "disk/page_cache.h"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

namespace edgewire::disk {

namespace {

using Page = std::array<std::byte, kAlignment>;

Page page_of(std::uint64_t number) {
  Page page;
  page.fill(static_cast<std::byte>(number * 37 + 11));
  std::memcpy(page.data(), &number, sizeof number);
  return page;
}

}  // namespace

TEST_CASE("a cache gives the pages that it was given, or none") {
  PageCache cache(10 * kAlignment + 5);
  Page found{};
  for (std::uint64_t page = 0; page < 10; ++page) {
    CHECK(!cache.find(page, found.data()));
    cache.keep(page, page_of(page).data());
  }
  for (std::uint64_t page = 0; page < 10; ++page) {
    CHECK(cache.find(page, found.data()));
    CHECK((found == page_of(page)));
  }
  cache.keep(13, page_of(13).data());
  CHECK(cache.find(13, found.data()));
  CHECK((found == page_of(13)));
  CHECK(!cache.find(3, found.data()));  // it had the same place
}

TEST_CASE("a cache without room keeps nothing") {
  PageCache cache(kAlignment - 1);
  Page found{};
  cache.keep(0, page_of(0).data());
  CHECK(!cache.find(0, found.data()));
}

TEST_CASE("threads that share a cache never see half a page") {
  PageCache cache(4 * kAlignment);
  std::atomic<int> wrong{0}, hits{0};
  const auto work = [&](std::uint64_t seed) {
    Page found{};
    for (std::uint64_t turn = 0; turn < 1500; ++turn) {
      const std::uint64_t page = (turn * 7 + seed) % 12;
      if (cache.find(page, found.data())) {
        ++hits;
        if (found != page_of(page)) ++wrong;
      } else {
        cache.keep(page, page_of(page).data());
      }
    }
  };
  std::vector<std::thread> threads;
  for (std::uint64_t seed = 0; seed < 3; ++seed) threads.emplace_back(work, seed);
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(hits > 0);
}

}  // namespace edgewire::disk
