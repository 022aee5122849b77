#include "base/rooms.h"
#include "dense/job/dense_plan.h"
#include "dense/tiles/build_tiles.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/seconds.h"
#include "edgewire/detail/page_vector.h"
#include "edgewire/detail/sweep.h"
#include "launch/packing.h"
#include "partition/column_addresses.h"

namespace edgewire::job {

namespace {

using plan::kRowBlock;

struct Subject {
  const partition::OwnedRows& rows;
  const partition::Ownership& ownership;
  std::uint32_t rank;
};

/// Returns which row blocks are in the sample runs, [block].
std::vector<bool> sample_blocks(const plan::OwnedVertices& owned) {
  constexpr std::uint64_t kRuns = 4;
  const std::uint64_t wanted = std::max<std::uint64_t>(owned.edges() / 8, 1 << 21);
  std::vector<bool> sampled((owned.count() + kRowBlock - 1) / kRowBlock);
  std::uint64_t before = 0, taken = 0;  // edges before the run, and in it
  std::uint64_t run = 0;
  for (std::uint32_t b = 0; b < sampled.size(); ++b) {
    const std::uint64_t edges = owned.edges(b * kRowBlock, std::min((b + 1) * kRowBlock, owned.count()));
    while (run + 1 < kRuns && before >= owned.edges() / kRuns * (run + 1)) ++run, taken = 0;
    if (taken < wanted / kRuns) {
      sampled[b] = true;
      taken += edges;
    }
    before += edges;
  }
  return sampled;
}

/// The edges between owned vertices whose sources lie in sampled blocks.
class SampleReader final : public plan::EdgeReader {
 public:
  SampleReader(const Subject& subject, const plan::OwnedVertices& owned)
      : subject_(subject), owned_(owned), sampled_(sample_blocks(owned)) {}

  /// Cuts the destinations into columns as a plan would, by every eighth block. Call it first.
  const std::vector<std::uint32_t>& cut_columns(std::uint32_t width, int workers) {
    std::vector<std::uint64_t> counts(owned_.count() / partition::kColumnGranule + 1);
    std::vector<std::uint32_t> ends;
    std::uint64_t all = 0;
    for (std::uint32_t b = 0; b < sampled_.size(); b += 8)
      visit(b * kRowBlock, std::min((b + 1) * kRowBlock, owned_.count()), ends,
            [&](std::uint32_t destination) { ++counts[destination / partition::kColumnGranule], ++all; });
    const std::uint64_t most = all / (tiles::kColumnsPerWorker * static_cast<std::uint64_t>(workers));
    partition::cut_columns(bounds_, 0, owned_.count(), width, most, counts);
    address_.emplace(bounds_);
    return bounds_;
  }

  std::uint32_t sources() const override { return owned_.count(); }
  std::uint64_t edges(std::uint32_t first, std::uint32_t last) const override {
    std::uint64_t sum = 0;
    for (std::uint32_t b = first; b < last; b += kRowBlock)
      if (sampled_[b / kRowBlock]) sum += owned_.edges(b, std::min(b + kRowBlock, last));
    return sum;
  }
  void read(std::uint32_t first, std::uint32_t last, plan::EdgeRows& rows) const override {
    rows.destinations.clear();
    visit(first, last, rows.ends,
          [&](std::uint32_t destination) { rows.destinations.push_back((*address_)(destination)); });
  }

 private:
  /// Calls edge(index of the destination) for the edges; sets ends as read() does.
  template <class Edge>
  void visit(std::uint32_t first, std::uint32_t last, std::vector<std::uint32_t>& ends,
             const Edge& edge) const {
    ends.assign(last - first, 0);
    if (!sampled_[first / kRowBlock]) return;
    std::uint32_t edges = 0;
    subject_.ownership.visit([&](const auto& scheme) {
      for (OwnedIndex i(first); i < last; ++i) {
        const VertexId v = owned_.ids()[i];
        for (const VertexId target : subject_.rows.row(v)) {
          const Home home = scheme.home(target);
          if (home.owner != subject_.rank) continue;
          edge(owned_.indexes()[home.local]);
          ++edges;
        }
        ends[i - first] = edges;
      }
    });
  }

  const Subject& subject_;
  const plan::OwnedVertices& owned_;
  std::vector<bool> sampled_;
  std::vector<std::uint32_t> bounds_{0};
  std::optional<partition::ColumnAddresses> address_;
};

/// Returns the seconds that a sweep over all edges of owned vertices would take, by the sample.
double sweep_seconds(const Subject& subject, const plan::OwnedVertices& owned, topology::WorkerPool& pool,
                     const tiles::TileSizes& sizes) {
  constexpr int kSweeps = 3;
  SampleReader reader(subject, owned);
  const auto& bounds = reader.cut_columns(sizes.column_width, pool.workers());
  const tiles::Tiles tiles = tiles::build_tiles(pool, reader, bounds, {}, sizes);
  const topology::PageVector<float> x(owned.count(), 1.0F);
  std::vector<std::vector<double>> sums(static_cast<std::size_t>(pool.workers()));
  for (auto& one : sums) one.resize(tiles::kColumnWidth);
  double best = 0;
  for (int sweep = 0; sweep <= kSweeps; ++sweep) {
    const auto start = Clock::now();
    pool.for_each(tiles.columns(), [&](int worker, std::uint64_t column) {
      tiles::sweep_column<tiles::WeightedSum<>>(tiles, column, x.data(), sums[worker].data());
    });
    const double seconds = seconds_since(start);
    if (sweep <= 1 || seconds < best) best = seconds;  // the first sweep only warms the caches
  }
  return tiles.edges() == 0 ? 0
                            : best / static_cast<double>(tiles.edges()) * static_cast<double>(owned.edges());
}

/// Returns how likely it is that two edges between owned vertices lie in the same tile, in given and in
/// degree order. It takes an edge of one row in each block.
std::pair<double, double> density(const Subject& subject, const plan::OwnedVertices& by_degree,
                                  const ForEach& for_each) {
  constexpr std::uint32_t kStep = kRowBlock / 2 + 1;
  constexpr std::uint64_t kPiece = 1 << 11;
  struct Sample {
    std::array<std::uint64_t, 2> tiles;
    double weight = 0;
  };
  std::vector<Sample> samples(by_degree.count() / kStep + std::size_t{1});
  for_each((samples.size() + kPiece - 1) / kPiece, [&](int, std::uint64_t piece) {
    const auto end = std::min<std::uint64_t>(samples.size(), (piece + 1) * kPiece);
    subject.ownership.visit([&](const auto& scheme) {
      for (std::uint64_t i = piece * kPiece; i < end && i * kStep < by_degree.count(); ++i) {
        const LocalNumber local(static_cast<std::uint32_t>(i * kStep));
        const auto row = subject.rows.row(scheme.vertex(subject.rank, local));
        const std::uint64_t degree = row.size();
        if (degree == 0) continue;
        const Home target = scheme.home(row[local % degree]);
        if (target.owner != subject.rank) continue;
        const auto tile = [](std::uint64_t s, std::uint64_t d) {
          return s / tiles::kStripWidth << 32 | d / tiles::kColumnWidth;
        };
        const auto indexes = by_degree.indexes();
        samples[i] = {{tile(local, target.local), tile(indexes[local], indexes[target.local])},
                      static_cast<double>(degree)};
      }
    });
  });
  std::array<std::unordered_map<std::uint64_t, double>, 2> weights;
  double all = 0;
  for (const Sample& sample : samples) {
    if (sample.weight == 0) continue;
    for (std::size_t i = 0; i < 2; ++i) weights[i][sample.tiles[i]] += sample.weight;
    all += sample.weight;
  }
  std::array<double, 2> sums{};
  for (std::size_t i = 0; i < 2; ++i)
    for (const auto& [tile, weight] : weights[i]) sums[i] += weight / all * (weight / all);
  return {sums[0], sums[1]};
}

/// Returns whether the given order may be the better one.
bool worth_measuring(const Subject& subject, const plan::OwnedVertices& by_degree, const ForEach& for_each) {
  if (by_degree.count() <= tiles::kStripWidth) return false;  // with one strip, all of it lies in the cache
  const double tiles = static_cast<double>(by_degree.count()) / tiles::kStripWidth *
                       static_cast<double>(by_degree.count()) / tiles::kColumnWidth;
  const auto [given, degree] = density(subject, by_degree, for_each);
  return given > std::max(1.25 / tiles, degree / 2);
}

}  // namespace

plan::OwnedVertices choose_layout(const PlanTask& task, const partition::OwnedRows& rows,
                                  const partition::Ownership& ownership, Choices& choices,
                                  const ForEach& for_each) {
  const Subject subject{rows, ownership, task.rank()};
  const auto order = [&](plan::Layout layout) {
    return plan::OwnedVertices(rows, ownership, task.bootstrap.rank(), layout, for_each);
  };
  auto owned = order(plan::Layout::degree);
  std::vector<double> seconds(2);  // seconds of the given order, and of degree order
  std::optional<plan::OwnedVertices> given;
  if (worth_measuring(subject, owned, for_each)) {
    given = order(plan::Layout::given);
    seconds = {sweep_seconds(subject, *given, task.process.pool(), task.tile_sizes()),
               sweep_seconds(subject, owned, task.process.pool(), task.tile_sizes())};
  }
  seconds = launch::allreduce(task.bootstrap, seconds, std::plus<>());
  choices.layout = seconds[0] < 0.95 * seconds[1] ? plan::Layout::given : plan::Layout::degree;
  if (seconds[1] == 0)
    choices.layout_reason = "degree: the given order does not keep neighbours together";
  else
    choices.layout_reason = fmt::format(
        "{}: by a sample, a sweep takes {:.4g} ms in given order, {:.4g} ms by degree",
        choices.layout == plan::Layout::given ? "given" : "degree", 1e3 * seconds[0], 1e3 * seconds[1]);
  if (choices.layout == plan::Layout::degree) return owned;
  return given ? std::move(*given) : order(plan::Layout::given);
}

}  // namespace edgewire::job
