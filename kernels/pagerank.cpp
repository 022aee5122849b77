#include "kernels/pagerank.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "error.h"
#include "exchange/codec.h"

namespace edgewire::kernels {

namespace {

template <class Value>
std::size_t bytes_of(std::uint32_t count) {
  return std::max<std::size_t>(count, 1) * sizeof(Value);
}

/// Iterations without a smaller change after which a run with a tolerance ends.
constexpr int kPatience = 10;

}  // namespace

ErrorBound error_bound(const PageRankOptions& options, int iterations, plan::Encoding encoding,
                       int processes) {
  constexpr double kSumming = 1e-13;  // doubles added in another order
  const double unit = encoding == plan::Encoding::f64 ? 0x1p-53 : 0x1p-24;
  const bool travels = processes > 1;
  const bool rounded = travels && plan::is_rounded(encoding);
  const double more =
      kSumming + (travels ? 4 : 2) * unit + (rounded ? 2 * exchange::Codec::rounding(encoding) : 0);
  ErrorBound bound;
  for (int t = 0; t < iterations; ++t) {
    const double next = options.damping * (bound.in_sum + more);
    if (next == bound.in_sum) break;
    bound.in_sum = next;
  }
  bound.vertex = rounded ? std::numeric_limits<double>::infinity() : iterations * more;
  return bound;
}

template <class Message>
PageRank<Message>::PageRank(job::DenseJob& job, const PageRankOptions& options)
    : job_(job),
      options_(options),
      count_(job.owned().count()),
      ranks_(bytes_of<double>(count_), -1, "ranks"),
      inverse_degrees_(bytes_of<Message>(count_), -1, "degrees"),
      values_(bytes_of<Message>(count_), -1, "source values"),
      next_(bytes_of<Message>(count_), -1, "source values") {
  const auto ids = job.owned().ids();
  const double start = options.form_2015 ? 0 : 1.0 / static_cast<double>(job.graph().vertices());
  const auto ranks = ranks_.as<double>();
  const auto inverse_degrees = inverse_degrees_.as<Message>();
  const auto values = values_.as<Message>();
  constexpr std::uint32_t kPiece = 1 << 16;
  job.pool().for_each((count_ + std::uint64_t{kPiece} - 1) / kPiece, [&](int, std::uint64_t piece) {
    const std::uint64_t end = std::min<std::uint64_t>(count_, (piece + 1) * kPiece);
    for (std::uint64_t i = piece * kPiece; i < end; ++i) {
      const double degree = out_degree(ids[i]);
      ranks[i] = start;
      inverse_degrees[i] = degree == 0 ? 0 : static_cast<Message>(1.0 / degree);
      values[i] = static_cast<Message>(start * static_cast<double>(inverse_degrees[i]));
    }
  });
  job.graph().release_rows(0, job.graph().vertices());
  const auto dangling = std::count(inverse_degrees.begin(), inverse_degrees.begin() + count_, Message{0});
  start_[0] = static_cast<double>(dangling) * start;
}

/// Number of edges, or sum of their weights.
template <class Message>
double PageRank<Message>::out_degree(std::uint32_t v) const {
  const auto& graph = job_.graph();
  const std::uint64_t begin = graph.offsets()[v], end = graph.offsets()[v + std::size_t{1}];
  if (!options_.weighted) return static_cast<double>(end - begin);
  double sum = 0;
  for (std::uint64_t e = begin; e < end; ++e) {
    const float weight = graph.weights()[e];
    if (weight < 0) {
      throw Error(
          fmt::format("{}: edge {} -> {} has weight {}; --weighted needs weights that are not negative",
                      graph.path(), graph.original_id(v), graph.original_id(graph.targets()[e]), weight));
    }
    sum += static_cast<double>(weight);
  }
  // Beyond, a float might not hold rank / sum.
  constexpr double kMost = 1e25;
  if (sizeof(Message) == sizeof(float) && sum != 0 && (sum > kMost || sum < 1 / kMost)) {
    throw Error(fmt::format("{}: the weights of vertex {} sum to {:g}: --precision f64 takes such sums",
                            graph.path(), graph.original_id(v), sum));
  }
  return sum;
}

template <class Message>
void PageRank<Message>::take_up(const job::ResumedState& state) {
  const auto ranks = ranks_.as<double>();
  const auto inverse_degrees = inverse_degrees_.as<Message>();
  const auto values = values_.as<Message>();
  double dangling = 0;
  for (std::uint32_t i = 0; i < count_; ++i) {
    ranks[i] = state.values[i];
    values[i] = static_cast<Message>(ranks[i] * static_cast<double>(inverse_degrees[i]));
    if (inverse_degrees[i] == 0) dangling += ranks[i];
  }
  start_ = state.has_scalars ? state.scalars : exchange::Scalars{dangling, 0};
  done_ = static_cast<int>(state.iteration);
}

template <class Message>
void PageRank<Message>::keep(job::Checkpoint& checkpoint, int every) {
  checkpoint_ = &checkpoint;
  every_ = every;
}

template <class Message>
std::vector<engine::IterationRecord> PageRank<Message>::run(const std::function<void(int done)>& progress,
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
    options.keep = [this, before](int done, const exchange::Scalars& mine) {
      checkpoint_->start(before + static_cast<std::uint64_t>(done), ranks(), mine);
    };
    options.kept = [this](bool wait) { return checkpoint_->kept(wait); };
    options.all_kept = [this] { checkpoint_->commit(); };
  }
  auto result = job_.iterate(*this, options);
  change_ = result.totals[1];
  if (checkpoint_ != nullptr) checkpoint_->finish();
  return std::move(result.records);
}

template <class Message>
void PageRank<Message>::compute(int, std::size_t column, std::span<double> sums) {
  tiles::compute_column(job_.tiles(), column, values_.as<const Message>().data(), sums.data());
}

template <class Message>
void PageRank<Message>::add_mirrors(int peer, const Message* mirrors, std::size_t column,
                                    std::span<double> sums) {
  tiles::add_column(job_.mirror_tiles(peer), column, mirrors, sums.data());
}

template <class Message>
exchange::Scalars PageRank<Message>::finish(std::uint32_t first, std::span<const double> sums,
                                            const exchange::Scalars& totals) {
  const double d = options_.damping;
  const double vertices = static_cast<double>(job_.graph().vertices());
  const double base = options_.form_2015 ? 1 - d : (1 - d + d * totals[0]) / vertices;
  double* ranks = ranks_.as<double>().data() + first;
  Message* next = next_.as<Message>().data() + first;
  const Message* inverse_degrees = inverse_degrees_.as<const Message>().data() + first;
  // Eight partial sums, so that the additions do not wait for each other.
  constexpr std::size_t kLanes = 8;
  double dangling[kLanes] = {}, change[kLanes] = {};
  const auto vertex = [&](std::size_t i, std::size_t lane) {
    const double rank = base + d * sums[i];
    change[lane] += std::fabs(rank - ranks[i]);
    dangling[lane] += inverse_degrees[i] == 0 ? rank : 0.0;
    ranks[i] = rank;
    next[i] = static_cast<Message>(rank * static_cast<double>(inverse_degrees[i]));
  };
  std::size_t i = 0;
  for (; i + kLanes <= sums.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) vertex(i + lane, lane);
  }
  for (; i < sums.size(); ++i) vertex(i, 0);
  exchange::Scalars scalars{};
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    scalars[0] += dangling[lane];
    scalars[1] += change[lane];
  }
  return scalars;
}

template <class Message>
void PageRank<Message>::keep(std::uint32_t first, std::span<const double> sums) {
  Message* next = next_.as<Message>().data() + first;
  for (std::size_t i = 0; i < sums.size(); ++i) next[i] = static_cast<Message>(sums[i]);
}

template <class Message>
void PageRank<Message>::take(std::uint32_t first, std::span<double> sums) {
  const Message* next = next_.as<const Message>().data() + first;
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = static_cast<double>(next[i]);
}

template <class Message>
bool PageRank<Message>::reached(const exchange::Scalars& totals) {
  const double change = totals[1];
  without_progress_ = change < least_change_ ? 0 : without_progress_ + 1;
  least_change_ = std::min(least_change_, change);
  if (change < options_.tolerance)
    ending_ = Ending::tolerance;
  else if (without_progress_ >= kPatience)
    ending_ = Ending::stalled;
  return ending_ != Ending::iterations;
}

template class PageRank<float>;
template class PageRank<double>;

}  // namespace edgewire::kernels
