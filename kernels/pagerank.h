// PageRank by power iteration (Page, Brin, Motwani, Winograd: "The PageRank Citation Ranking", 1999).
#pragma once

#include <cstdint>
#include <span>

#include "engine/iteration.h"
#include "kernels/checkpoint.h"
#include "kernels/dense_job.h"
#include "topology/memory.h"

namespace edgewire::kernels {

struct PageRankOptions {
  int iterations = 20;
  double damping = 0.85;
  double tolerance = 0;  ///< stop when the ranks have changed by less in sum; 0: never
  /// The form of McSherry's posts of 2015: start 0, new rank = 1 - damping + damping * sum, dangling mass
  /// dropped. Otherwise: start 1/n, new rank = (1 - damping) / n + damping * (sum + dangling mass / n), so
  /// that the ranks sum to 1.
  bool form_2015 = false;
};

/// Most that the ranks can change, in sum and relative to their sum, when every value that crosses the wire
/// is rounded to the encoding with error feedback. A value is then wrong by its own rounding and the last
/// one's; an iteration passes on `damping` of all earlier error.
double rounding_bound(const PageRankOptions& options, plan::Encoding encoding);

/// The kernel's values in one process: 16 bytes a vertex. A source's value is its rank divided by its
/// out-degree.
class PageRank final : public engine::Step {
 public:
  PageRank(DenseJob& job, const PageRankOptions& options);

  /// Goes on from there instead of from the start.
  void take_up(const ResumedState& state);
  int taken_up() const noexcept { return done_; }  ///< iterations that were done there
  /// Writes a checkpoint after iterations whose number `every` divides. `checkpoint` outlives this.
  void keep(Checkpoint& checkpoint, int every);
  /// The iterations that are left. `progress` is told of all that are done.
  std::vector<engine::IterationRecord> run(const std::function<void(int done)>& progress = {},
                                           engine::Observer* observer = nullptr);
  /// By index of the owned vertices.
  std::span<const float> ranks() const noexcept { return ranks_.as<const float>().first(count_); }

  void compute(int worker, std::size_t column, std::span<double> sums) override;
  std::span<const float> values() const override { return values_.as<const float>().first(count_); }
  double largest_value() const override {
    return options_.form_2015 ? static_cast<double>(job_.graph().vertices()) : 1;
  }
  void add_mirrors(int peer, const float* mirrors, std::size_t column, std::span<double> sums) override;
  engine::Scalars finish(std::uint32_t first, std::span<const double> sums,
                         const engine::Scalars& totals) override;
  void keep(std::uint32_t first, std::span<const double> sums) override;
  void take(std::uint32_t first, std::span<double> sums) override;
  void advance() override { std::swap(values_, next_); }
  bool reached(const engine::Scalars& totals) const override { return totals[1] < options_.tolerance; }

 private:
  DenseJob& job_;
  PageRankOptions options_;
  std::uint32_t count_;
  topology::NodeMemory ranks_;
  topology::NodeMemory inverse_degrees_;  ///< 0 for dangling vertices
  topology::NodeMemory values_;           ///< rank / out-degree
  topology::NodeMemory next_;
  engine::Scalars start_{};
  int done_ = 0;  ///< before run()
  Checkpoint* checkpoint_ = nullptr;
  int every_ = 0;
};

}  // namespace edgewire::kernels
