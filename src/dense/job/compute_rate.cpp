#include "dense/job/compute_rate.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/random.h"
#include "base/seconds.h"
#include "dense/tiles/sweep.h"
#include "dense/tiles/tile.h"

namespace edgewire::job {

namespace {

constexpr std::uint32_t kVertices = 2 * tiles::kStripWidth;
constexpr std::uint32_t kDegree = 8;

class Synthetic final : public tiles::EdgeReader {
 public:
  std::uint32_t sources() const override { return kVertices; }
  std::uint64_t edges(std::uint32_t first, std::uint32_t last) const override {
    return std::uint64_t{last - first} * kDegree;
  }
  void read(int, std::uint32_t first, std::uint32_t last, plan::EdgeRows& rows) const override {
    auto &destinations = rows.destinations, &ends = rows.ends;
    destinations.clear();
    ends.clear();
    for (std::uint32_t s = first; s < last; ++s) {
      IndexedRandom random(1, s);
      for (std::uint32_t i = 0; i < kDegree; ++i) {
        // A third draw below a second one below a first one.
        const std::uint64_t below = random.below(random.below(kVertices) + 1) + 1;
        destinations.push_back(static_cast<std::uint32_t>(random.below(below)));
      }
      ends.push_back(static_cast<std::uint32_t>(destinations.size()));
    }
  }
};

}  // namespace

double measure_compute_rate(topology::WorkerPool& pool) {
  constexpr int kSweeps = 3;
  std::vector<std::uint32_t> bounds;
  for (std::uint32_t begin = 0; begin <= kVertices; begin += tiles::kColumnWidth) bounds.push_back(begin);
  const tiles::Tiles tiles = tiles::build_tiles(pool, Synthetic(), bounds);
  std::vector<double> seconds(static_cast<std::size_t>(pool.workers()));
  pool.run([&](int worker) {
    const std::vector<float> x(kVertices, 1);
    std::vector<double> sums(tiles::kColumnWidth);
    double best = 0;
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      pool.barrier();
      const auto start = Clock::now();
      for (std::size_t c = 0; c < tiles.columns(); ++c)
        tiles::sweep_column<tiles::PlainSum<>>(tiles, c, x.data(), sums.data());
      const double taken = seconds_since(start);
      best = sweep == 0 ? taken : std::min(best, taken);
    }
    seconds[static_cast<std::size_t>(worker)] = best;
  });
  return static_cast<double>(tiles.edges()) / *std::max_element(seconds.begin(), seconds.end());
}

}  // namespace edgewire::job
