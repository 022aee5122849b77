#include "frontier/known_rows.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

#include "partition/vertex_set.h"

namespace edgewire::frontier {

namespace {

constexpr std::uint64_t kRowsNumberedAtOnce = 1 << 12;
constexpr std::size_t kIdsNumberedAtOnce = 1 << 12;

/// The numbers of known vertices by id.
class Numbering {
 public:
  /// Makes the numbers. `boundary`: null where this process owns all vertices, whose ids are numbers.
  explicit Numbering(const Boundary* boundary) {
    if (boundary != nullptr) numbers_ = boundary->numbers();
  }
  /// Sets `numbers` to the numbers of `ids`. Both may lie in the same memory where they are as wide.
  void number(std::span<const PlainId> ids, std::span<std::uint32_t> numbers) const {
    if (numbers_)
      partition::look_up(*numbers_, ids, numbers);
    else
      std::ranges::transform(ids, numbers.begin(), [](PlainId id) { return static_cast<std::uint32_t>(id); });
  }

 private:
  std::optional<partition::VertexNumbers> numbers_;
};

}  // namespace

OwnKnownRows::OwnKnownRows(std::uint32_t owned, const Boundary* boundary, topology::WorkerPool& pool,
                           const RowOf& row_of) {
  auto& begins = memory_.begins;
  begins.resize(owned + std::size_t{1});
  for (LocalNumber local{}; local < owned; ++local)
    begins[local + std::size_t{1}] = begins[local] + row_of(local).size();
  memory_.entries = topology::NodeMemory(begins.back() * sizeof(KnownNumber), -1, "rows of known vertices");
  const auto entries = memory_.entries.as<std::uint32_t>();
  const Numbering numbering(boundary);
  pool.for_each((owned + kRowsNumberedAtOnce - 1) / kRowsNumberedAtOnce, [&](int, std::uint64_t piece) {
    const std::uint64_t last = std::min<std::uint64_t>(owned, (piece + 1) * kRowsNumberedAtOnce);
    std::vector<PlainId> ids;  // ids of several rows, so that look-ups can be fetched ahead
    std::uint64_t done = begins[piece * kRowsNumberedAtOnce];
    for (std::uint64_t local = piece * kRowsNumberedAtOnce; local < last; ++local) {
      const auto row = plain(row_of(LocalNumber(static_cast<std::uint32_t>(local))));
      ids.insert(ids.end(), row.begin(), row.end());
      if (ids.size() < kIdsNumberedAtOnce && local + 1 < last) continue;
      numbering.number(ids, entries.subspan(done, ids.size()));
      done += ids.size();
      ids.clear();
    }
  });
}

/// Each worker turns a part of the ids into numbers, at its front; then parts of wider ids move together.
OwnKnownRows::OwnKnownRows(RowMemory ids, const Boundary* boundary, topology::WorkerPool& pool)
    : memory_(std::move(ids)) {
  constexpr bool kAsWide = sizeof(PlainId) == sizeof(KnownNumber);
  if (kAsWide && boundary == nullptr) return;  // ids are the numbers
  const auto bytes = memory_.entries.as<std::byte>();
  const std::uint64_t count = memory_.begins.back();
  const Numbering numbering(boundary);
  pool.run([&](int lane) {
    const auto part = pool.part(lane, count);
    std::array<PlainId, kIdsNumberedAtOnce> some_ids;
    std::array<std::uint32_t, kIdsNumberedAtOnce> numbers;
    std::byte* out = bytes.data() + part.first * sizeof(PlainId);
    for (std::uint64_t e = part.first; e < part.last; e += kIdsNumberedAtOnce) {
      const std::size_t some = std::min<std::uint64_t>(part.last - e, kIdsNumberedAtOnce);
      std::memcpy(some_ids.data(), bytes.data() + e * sizeof(PlainId), some * sizeof(PlainId));
      numbering.number(std::span(some_ids).first(some), std::span(numbers).first(some));
      std::memcpy(out, numbers.data(), some * sizeof(KnownNumber));
      out += some * sizeof(KnownNumber);
    }
  });
  if (kAsWide) return;
  for (int lane = 0; lane < pool.workers(); ++lane) {
    const auto part = pool.part(lane, count);
    if (part.first == part.last) continue;
    std::memmove(bytes.data() + part.first * sizeof(KnownNumber), bytes.data() + part.first * sizeof(PlainId),
                 (part.last - part.first) * sizeof(KnownNumber));
  }
  memory_.entries.shrink(count * sizeof(KnownNumber));
}

}  // namespace edgewire::frontier
