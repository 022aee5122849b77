#pragma once

#include <algorithm>
#include <limits>

namespace edgewire::kernels {

/// Says why a run ended.
enum class Ending {
  iterations,  ///< as many as were asked for
  tolerance,   ///< the values changed by less than the tolerance
  stalled      ///< their change has not fallen for ten iterations: rounding hides any progress
};

/// Decides, after each iteration, whether the values have changed little enough.
class Convergence {
 public:
  /// `tolerance`: of the sum of all changes.
  explicit Convergence(double tolerance) : tolerance_(tolerance) {}
  /// Returns whether the run ends. `change`: that of the iteration, in sum.
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
  double least_ = std::numeric_limits<double>::infinity();  ///< change so far
  int without_progress_ = 0;                                ///< iterations since then
  Ending ending_ = Ending::iterations;
};

}  // namespace edgewire::kernels
