#include "dense/plan/owner_filter.h"

#include <doctest/doctest.h>

#include <random>
#include <vector>

using edgewire::partition::Ownership;
using edgewire::plan::OwnerFilter;

namespace {

using Numbers = std::vector<edgewire::PlainId>;
using Locals = std::vector<edgewire::LocalNumber>;
constexpr std::uint32_t kEnd = 0xEEEEEEEE;  // behind what may be written

/// All three loops against home(), one vertex after the other.
void check(const Ownership& ownership, const std::vector<edgewire::VertexId>& vertices, bool wide) {
  const auto processes = static_cast<std::size_t>(ownership.processes());
  const OwnerFilter filter(ownership, wide);
  std::vector<Locals> locals(processes);
  std::vector<std::uint8_t> kept(processes);
  for (std::size_t p = 0; p < processes; p += 2) kept[p] = 1;
  Numbers picked;
  for (const auto v : vertices) {
    const auto home = ownership.home(v);
    locals[home.owner].push_back(home.local);
    if (home.owner % 2 == 0) picked.push_back(v);
  }

  Numbers out(vertices.size() + OwnerFilter::kSlack + 1, kEnd);
  auto* const end = filter.pick(vertices, kept, out.data());
  CHECK(out.back() == kEnd);
  CHECK(Numbers(out.data(), end) == picked);

  std::vector<std::uint64_t> counts(processes, 7);
  filter.count(vertices, counts);
  std::vector<Locals> dealt;
  std::vector<edgewire::LocalNumber*> next;
  for (std::size_t p = 0; p < processes; ++p) {
    REQUIRE(counts[p] == locals[p].size() + 7);
    dealt.emplace_back(locals[p].size() + 1, edgewire::LocalNumber(kEnd));
  }
  for (auto& list : dealt) next.push_back(list.data());
  filter.deal(vertices, next);
  for (std::size_t p = 0; p < processes; ++p) {
    CHECK(next[p] == &dealt[p].back());
    locals[p].emplace_back(kEnd);
    CHECK(dealt[p] == locals[p]);
  }
}

}  // namespace

TEST_CASE("vertices are picked, counted and dealt as one by one, however many") {
  std::mt19937 random(1);
  for (const int processes : {1, 2, 3, 4, 5, 7, 16, 17, 31, 32, 33, 100}) {
    for (const std::uint64_t vertices : {1000ULL, 1ULL << 31, 0xFFFFFFFEULL}) {
      const auto ownership = Ownership::hash(vertices, processes);
      std::uniform_int_distribution<std::uint32_t> any(0, static_cast<std::uint32_t>(vertices - 1));
      for (const std::size_t size : {0, 1, 15, 16, 17, 31, 33, 1000}) {
        std::vector<edgewire::VertexId> some(size);
        for (auto& v : some) v = edgewire::VertexId(any(random));
        for (const bool wide : {false, true}) check(ownership, some, wide);
      }
    }
  }
}

TEST_CASE("ranges are not hashed") {
  const std::vector<std::uint64_t> offsets{0, 3, 4, 9, 9, 12};
  const auto ranges = Ownership::ranges(offsets, 3);
  CHECK(!OwnerFilter(ranges).wide());
  check(ranges, {4, 0, 1, 2, 3, 3, 4, 1}, true);
}
