#include "base/rooms.h"
#include "base/units.h"
#include "dense/job/dense_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "base/seconds.h"
#include "dense/tiles/build_tiles.h"
#include "edgewire/detail/sweep.h"
#include "launch/packing.h"

namespace edgewire::job {

namespace {

constexpr std::uint32_t kVertices = 2 * tiles::kStripWidth;
constexpr std::uint32_t kDegree = 8;

class Synthetic final : public plan::EdgeReader {
 public:
  std::uint32_t sources() const override { return kVertices; }
  std::uint64_t edges(std::uint32_t first, std::uint32_t last) const override {
    return std::uint64_t{last - first} * kDegree;
  }
  void read(std::uint32_t first, std::uint32_t last, plan::EdgeRows& rows) const override {
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
        tiles::sweep_column<tiles::WeightedSum<>>(tiles, c, x.data(), sums.data());
      const double taken = seconds_since(start);
      best = sweep == 0 ? taken : std::min(best, taken);
    }
    seconds[worker] = best;
  });
  return static_cast<double>(tiles.edges()) / *std::max_element(seconds.begin(), seconds.end());
}

double Rates::link() {
  if (link_ == 0) link_ = task_.process.measure_link(task_.bootstrap);
  return link_;
}

double Rates::compute() {
  if (compute_ == 0)
    compute_ =
        launch::allreduce(task_.bootstrap, measure_compute_rate(task_.process.pool()), std::ranges::min);
  return compute_;
}

bool Rates::wire_limits(std::uint64_t values, std::uint64_t edges, Choices& choices) {
  const DenseOptions& options = task_.options;
  const auto bytes = static_cast<double>(plan::ValueSize{plan::value_bits(options.encoding)}.bytes(values));
  const std::vector<double> mine{bytes / link(), static_cast<double>(edges) / compute_all()};
  const auto most = launch::allreduce(task_.bootstrap, mine, std::ranges::max);
  const bool limits = most[0] > most[1];
  choices.strategy = limits ? plan::Strategy::cover : plan::Strategy::slots;
  choices.strategy_reason = fmt::format(
      "{}: sending all sums would take {} at the link's {:.2f} Gbit/s ({}), computing {} at {:.2g} edges/s a "
      "worker ({})",
      plan::to_name(choices.strategy), readable_seconds(most[0]), link() * 8e-9,
      options.assumed_link_rate > 0 ? "assumed" : "measured", readable_seconds(most[1]), compute(),
      options.assumed_compute_rate > 0 ? "assumed" : "measured");
  return limits;
}

}  // namespace edgewire::job
