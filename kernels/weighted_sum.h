#pragma once

namespace edgewire::kernels {

/// Programs that add up messages times the weights of their edges have this part in common. `Offered`: float
/// or double.
template <class Offered>
struct WeightedSum {
  using Message = Offered;
  using Accumulator = double;

  static constexpr double identity() { return 0; }
  static double along(Message message) { return static_cast<double>(message); }
  static double along(Message message, double weight) { return static_cast<double>(message) * weight; }
  static double combine(double a, double b) { return a + b; }
};

}  // namespace edgewire::kernels
