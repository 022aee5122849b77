#include "kernels/pagerank.h"

#include <algorithm>
#include <cmath>

#include "engine/codec.h"

namespace edgewire::kernels {

namespace {
std::size_t float_bytes(std::uint32_t count) { return std::max<std::size_t>(count, 1) * sizeof(float); }
}  // namespace

double rounding_bound(const PageRankOptions& options, plan::Encoding encoding) {
  double bound = 0;
  for (int t = 0; t < options.iterations; ++t) {
    const double next = options.damping * (bound + 2 * engine::Codec::rounding(encoding));
    if (next == bound) break;
    bound = next;
  }
  return bound;
}

PageRank::PageRank(DenseJob& job, const PageRankOptions& options)
    : job_(job),
      options_(options),
      count_(job.owned().count()),
      ranks_(float_bytes(count_), -1, "ranks"),
      inverse_degrees_(float_bytes(count_), -1, "degrees"),
      values_(float_bytes(count_), -1, "source values"),
      next_(float_bytes(count_), -1, "source values") {
  const auto offsets = job.graph().offsets();
  const auto ids = job.owned().ids();
  const double start = options.form_2015 ? 0 : 1.0 / static_cast<double>(job.graph().vertices());
  const auto ranks = ranks_.as<float>();
  const auto inverse_degrees = inverse_degrees_.as<float>();
  const auto values = values_.as<float>();
  constexpr std::uint32_t kPiece = 1 << 16;
  job.pool().for_each((count_ + std::uint64_t{kPiece} - 1) / kPiece, [&](int, std::uint64_t piece) {
    const std::uint64_t end = std::min<std::uint64_t>(count_, (piece + 1) * kPiece);
    for (std::uint64_t i = piece * kPiece; i < end; ++i) {
      const std::uint64_t degree = offsets[ids[i] + std::uint64_t{1}] - offsets[ids[i]];
      ranks[i] = static_cast<float>(start);
      inverse_degrees[i] = degree == 0 ? 0 : static_cast<float>(1.0 / static_cast<double>(degree));
      values[i] = ranks[i] * inverse_degrees[i];
    }
  });
  job.graph().release_rows(0, job.graph().vertices());
  const auto dangling = std::count(inverse_degrees.begin(), inverse_degrees.begin() + count_, 0.0F);
  start_[0] = static_cast<double>(dangling) * start;
}

void PageRank::take_up(const ResumedState& state) {
  const auto ranks = ranks_.as<float>();
  const auto inverse_degrees = inverse_degrees_.as<float>();
  const auto values = values_.as<float>();
  double dangling = 0;
  for (std::uint32_t i = 0; i < count_; ++i) {
    ranks[i] = state.values[i];
    values[i] = ranks[i] * inverse_degrees[i];
    if (inverse_degrees[i] == 0) dangling += ranks[i];
  }
  start_ = state.has_scalars ? state.scalars : engine::Scalars{dangling, 0};
  done_ = static_cast<int>(state.iteration);
}

void PageRank::keep(Checkpoint& checkpoint, int every) {
  checkpoint_ = &checkpoint;
  every_ = every;
}

std::vector<engine::IterationRecord> PageRank::run(const std::function<void(int done)>& progress,
                                                   engine::Observer* observer) {
  engine::IterationOptions options;
  options.iterations = std::max(0, options_.iterations - done_);
  options.has_goal = options_.tolerance > 0;
  options.start = start_;
  options.observer = observer;
  if (progress) options.progress = [this, progress](int done) { progress(done_ + done); };
  if (checkpoint_ != nullptr) {
    options.keeps = [this](int done) { return (done_ + done) % every_ == 0; };
    const auto before = static_cast<std::uint64_t>(done_);
    options.keep = [this, before](int done, const engine::Scalars& mine) {
      checkpoint_->start(before + static_cast<std::uint64_t>(done), ranks(), mine);
    };
    options.kept = [this](bool wait) { return checkpoint_->kept(wait); };
    options.all_kept = [this] { checkpoint_->commit(); };
  }
  auto records = job_.iterate(*this, options);
  if (checkpoint_ != nullptr) checkpoint_->finish();
  return records;
}

void PageRank::compute(int, std::size_t column, std::span<double> sums) {
  compute_column(job_.tiles(), column, values_.as<const float>().data(), sums.data());
}

void PageRank::add_mirrors(int peer, const float* mirrors, std::size_t column, std::span<double> sums) {
  add_column(job_.mirror_tiles(peer), column, mirrors, sums.data());
}

engine::Scalars PageRank::finish(std::uint32_t first, std::span<const double> sums,
                                 const engine::Scalars& totals) {
  const double d = options_.damping;
  const double vertices = static_cast<double>(job_.graph().vertices());
  const double base = options_.form_2015 ? 1 - d : (1 - d + d * totals[0]) / vertices;
  float* ranks = ranks_.as<float>().data() + first;
  float* next = next_.as<float>().data() + first;
  const float* inverse_degrees = inverse_degrees_.as<const float>().data() + first;
  // Eight partial sums, so that the additions do not wait for each other.
  constexpr std::size_t kLanes = 8;
  double dangling[kLanes] = {}, change[kLanes] = {};
  const auto vertex = [&](std::size_t i, std::size_t lane) {
    const auto rank = static_cast<float>(base + d * sums[i]);
    change[lane] += std::fabs(rank - ranks[i]);
    dangling[lane] += inverse_degrees[i] == 0 ? rank : 0.0F;
    ranks[i] = rank;
    next[i] = rank * inverse_degrees[i];
  };
  std::size_t i = 0;
  for (; i + kLanes <= sums.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) vertex(i + lane, lane);
  }
  for (; i < sums.size(); ++i) vertex(i, 0);
  engine::Scalars scalars{};
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    scalars[0] += dangling[lane];
    scalars[1] += change[lane];
  }
  return scalars;
}

void PageRank::keep(std::uint32_t first, std::span<const double> sums) {
  float* next = next_.as<float>().data() + first;
  for (std::size_t i = 0; i < sums.size(); ++i) next[i] = static_cast<float>(sums[i]);
}

void PageRank::take(std::uint32_t first, std::span<double> sums) {
  const float* next = next_.as<const float>().data() + first;
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = next[i];
}

}  // namespace edgewire::kernels
