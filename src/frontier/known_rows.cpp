#include "frontier/known_rows.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

namespace edgewire::frontier {

namespace {

constexpr std::uint64_t kNumberedAtOnce = 1 << 12;

/// Calls work(known) with the numbers of vertices; `boundary` is null where this process owns all of them.
template <class Work>
void with_known(const Boundary* boundary, const Work& work) {
  if (boundary != nullptr)
    boundary->visit(work);
  else
    work(AllKnown{});
}

/// Calls work(known, first, last) for ranges of owned vertices, by all workers.
template <class Work>
void for_each_rows(std::uint32_t owned, const Boundary* boundary, topology::WorkerPool& pool,
                   const Work& work) {
  pool.for_each((owned + kNumberedAtOnce - 1) / kNumberedAtOnce, [&](int, std::uint64_t piece) {
    const auto last =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(owned, (piece + 1) * kNumberedAtOnce));
    with_known(boundary, [&](const auto& known) {
      work(known, LocalNumber(static_cast<std::uint32_t>(piece * kNumberedAtOnce)), LocalNumber(last));
    });
  });
}

RowMemory make_rows(std::uint32_t owned, const Boundary* boundary, topology::WorkerPool& pool,
                    const OwnKnownRows::RowOf& row_of) {
  RowMemory memory;
  auto& begins = memory.begins;
  begins.resize(owned + std::size_t{1});
  for (LocalNumber local{}; local < owned; ++local)
    begins[local + std::size_t{1}] = begins[local] + row_of(local).size();
  memory.entries = topology::NodeMemory(begins.back() * sizeof(KnownNumber), -1, "rows of known vertices");
  const auto entries = memory.entries.as<KnownNumber>();
  for_each_rows(owned, boundary, pool, [&](const auto& known, LocalNumber first, LocalNumber last) {
    for (LocalNumber local = first; local < last; ++local) {
      KnownNumber* out = entries.data() + begins[local];
      for (const VertexId v : row_of(local)) *out++ = known.number(v);
    }
  });
  return memory;
}

}  // namespace

OwnKnownRows::OwnKnownRows(const Boundary& boundary, topology::WorkerPool& pool, const RowOf& row_of)
    : memory_(make_rows(boundary.owned(), &boundary, pool, row_of)) {}

OwnKnownRows::OwnKnownRows(std::uint32_t owned, topology::WorkerPool& pool, const RowOf& row_of)
    : memory_(make_rows(owned, nullptr, pool, row_of)) {}

OwnKnownRows::OwnKnownRows(RowMemory ids, const Boundary* boundary, topology::WorkerPool& pool)
    : memory_(std::move(ids)) {
  to_numbers<PlainId>(boundary, pool);
}

/// Where ids are wider, each worker packs a part of the entries to the front of that part, and then the parts
/// move together.
template <class Id>
void OwnKnownRows::to_numbers(const Boundary* boundary, topology::WorkerPool& pool) {
  if constexpr (std::is_same_v<Id, std::uint32_t>) {
    if (boundary == nullptr) return;  // ids are numbers
    const auto entries = memory_.entries.as<std::uint32_t>();
    for_each_rows(boundary->owned(), boundary, pool,
                  [&](const auto& known, LocalNumber first, LocalNumber last) {
                    for (std::uint64_t e = memory_.begins[first]; e < memory_.begins[last]; ++e)
                      entries[e] = known.number(VertexId(entries[e]));
                  });
  } else {
    const auto bytes = memory_.entries.as<std::byte>();
    const std::uint64_t count = memory_.begins.back();
    const auto number_of = [&](std::uint64_t part) { return bytes.data() + part * sizeof(Id); };
    pool.run([&](int lane) {
      const auto part = pool.part(lane, count);
      with_known(boundary, [&](const auto& known) {
        std::byte* out = number_of(part.first);
        for (std::uint64_t e = part.first; e < part.last; ++e, out += sizeof(KnownNumber)) {
          Id id;
          std::memcpy(&id, bytes.data() + e * sizeof id, sizeof id);
          const KnownNumber number = known.number(VertexId(id));
          std::memcpy(out, &number, sizeof number);
        }
      });
    });
    for (int lane = 0; lane < pool.workers(); ++lane) {
      const auto part = pool.part(lane, count);
      if (part.first == part.last) continue;
      std::memmove(bytes.data() + part.first * sizeof(KnownNumber), number_of(part.first),
                   (part.last - part.first) * sizeof(KnownNumber));
    }
    memory_.entries.shrink(count * sizeof(KnownNumber));
  }
}

}  // namespace edgewire::frontier
