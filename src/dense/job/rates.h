// What choices of a dense job go by: how fast the link and the workers are.
#pragma once

#include <string>

#include "dense/job/dense_plan.h"

namespace edgewire::job {

/// As the options say, or measured when first asked for. Collective.
class Rates {
 public:
  explicit Rates(const PlanTask& task)
      : task_(task), link_(task.options.assumed_link_rate), compute_(task.options.assumed_compute_rate) {}
  /// Bytes per second of a process.
  double link();
  /// Edges per second and worker.
  double compute();
  /// Edges per second of a process.
  double compute_all() { return compute() * task_.workers(); }

  /// Whether the most loaded process needs longer for sending `values` than for computing `edges`, both of
  /// this process. Then `cover` is the better strategy, else `slots`; sets both in `choices`. Collective.
  bool wire_limits(std::uint64_t values, std::uint64_t edges, Choices& choices);

 private:
  const PlanTask& task_;
  double link_, compute_;
};

}  // namespace edgewire::job
