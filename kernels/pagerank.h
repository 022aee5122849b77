// PageRank by power iteration (Page, Brin, Motwani, Winograd: "The PageRank Citation Ranking", 1999).
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "engine/iteration.h"
#include "job/checkpoint.h"
#include "job/dense_job.h"
#include "topology/memory.h"

namespace edgewire::kernels {

/// Edges that occur several times count several times.
struct PageRankOptions {
  int iterations = 20;
  double damping = 0.85;
  double tolerance = 0;  ///< stop when the ranks have changed by less in sum; 0: never
  /// The form of McSherry's posts of 2015: start 0, new rank = 1 - damping + damping * sum, dangling mass
  /// dropped. Otherwise: start 1/n, new rank = (1 - damping) / n + damping * (sum + dangling mass / n), so
  /// that the ranks sum to 1.
  bool form_2015 = false;
  /// A vertex shares its rank among its edges in proportion to their weights, none of which is negative. A
  /// vertex whose weights sum to 0 is dangling. Otherwise the shares are equal.
  bool weighted = false;
};

/// Most that rounding can change the ranks after some iterations.
struct ErrorBound {
  double in_sum = 0;  ///< sum of all changes / sum of all ranks; about rounding / (1 - damping)
  double vertex = 0;  ///< of any rank, relative to it; infinite where values travel in 16 bits
};
/// A message is rounded twice, as is its inverse degree, and once or twice more on its way to another process
/// (16 bits: with error feedback by its own rounding and the last one's); an iteration passes on `damping` of
/// all earlier error, to a single vertex at most all of it.
ErrorBound error_bound(const PageRankOptions& options, int iterations, plan::Encoding encoding,
                       int processes);

/// Why a run ended.
enum class Ending {
  iterations,  ///< as many as were asked for
  tolerance,   ///< the ranks changed by less than the tolerance
  stalled      ///< their change has not fallen for ten iterations: rounding hides any progress
};

/// The kernel's values in one process: ranks in double, and messages, rank / out-degree, as `Message` (float
/// or double, as DenseOptions::encoding says). 20 or 32 bytes a vertex.
template <class Message>
class PageRank final : public engine::Step<Message> {
 public:
  /// Throws Error when a weight is negative.
  PageRank(job::DenseJob& job, const PageRankOptions& options);

  /// Goes on from there instead of from the start.
  void take_up(const job::ResumedState& state);
  int taken_up() const noexcept { return done_; }  ///< iterations that were done there
  /// Writes a checkpoint after iterations whose number `every` divides. `checkpoint` outlives this.
  void keep(job::Checkpoint& checkpoint, int every);
  /// The iterations that are left. `progress` is told of all that are done.
  std::vector<engine::IterationRecord> run(const std::function<void(int done)>& progress = {},
                                           engine::Observer* observer = nullptr);
  /// By index of the owned vertices.
  std::span<const double> ranks() const noexcept { return ranks_.as<const double>().first(count_); }
  /// The memory of ranks(), which are gone then.
  topology::NodeMemory take_ranks() noexcept { return std::move(ranks_); }
  /// After run(): sum of the changes of all ranks in the last iteration (L1), in all processes.
  double change() const noexcept { return change_; }
  Ending ending() const noexcept { return ending_; }

  void compute(int worker, std::size_t column, std::span<double> sums) override;
  std::span<const Message> values() const override { return values_.as<const Message>().first(count_); }
  double largest_value() const override {
    return options_.form_2015 ? static_cast<double>(job_.graph().vertices()) : 1;
  }
  void add_mirrors(int peer, const Message* mirrors, std::size_t column, std::span<double> sums) override;
  exchange::Scalars finish(std::uint32_t first, std::span<const double> sums,
                           const exchange::Scalars& totals) override;
  void keep(std::uint32_t first, std::span<const double> sums) override;
  void take(std::uint32_t first, std::span<double> sums) override;
  void advance() override { std::swap(values_, next_); }
  bool reached(const exchange::Scalars& totals) override;

 private:
  double out_degree(std::uint32_t v) const;

  job::DenseJob& job_;
  PageRankOptions options_;
  std::uint32_t count_;
  topology::NodeMemory ranks_;
  topology::NodeMemory inverse_degrees_;  ///< 0 for dangling vertices
  topology::NodeMemory values_;           ///< rank / out-degree
  topology::NodeMemory next_;
  exchange::Scalars start_{};  ///< dangling mass, change
  int done_ = 0;               ///< before run()
  job::Checkpoint* checkpoint_ = nullptr;
  int every_ = 0;
  double change_ = 0;
  double least_change_ = std::numeric_limits<double>::infinity();
  int without_progress_ = 0;  ///< iterations since least_change_
  Ending ending_ = Ending::iterations;
};

extern template class PageRank<float>;
extern template class PageRank<double>;

}  // namespace edgewire::kernels
