#pragma once

#include <algorithm>
#include <limits>

namespace edgewire::kernels {

/// The reason why a run ended.
enum class Ending {
  iterations,  ///< after as many as were asked for
  tolerance,   ///< because the values changed by less than the tolerance
  stalled      ///< because their change has not fallen for ten iterations: rounding hides any progress
};

/// The decision, after each iteration, whether the values have changed little enough.
class Convergence {
 public:
  /// Begins a run. `tolerance`: the limit of the sum of all changes.
  explicit Convergence(double tolerance) : tolerance_(tolerance) {}
  /// Returns whether the run ends. `change`: the sum of the changes in the iteration.
  bool reached(double change) {
    constexpr int kPatience = 10;
    without_progress_ = change < least_ ? 0 : without_progress_ + 1;
    least_ = std::min(least_, change);
    if (change < tolerance_)
      ending_ = Ending::tolerance;
    else if (without_progress_ >= kPatience)
      ending_ = Ending::stalled;
    return ending_ != Ending::iterations;
  }
  Ending ending() const { return ending_; }

 private:
  double tolerance_;
  double least_ = std::numeric_limits<double>::infinity();  ///< least change so far
  int without_progress_ = 0;                                ///< number of iterations since then
  Ending ending_ = Ending::iterations;
};

}  // namespace edgewire::kernels
