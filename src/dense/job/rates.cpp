#include "dense/job/rates.h"

#include <fmt/core.h>

#include <algorithm>

#include "dense/job/compute_rate.h"
#include "launch/packing.h"

namespace edgewire::job {

double Rates::link() {
  if (link_ == 0) link_ = task_.seat.measure_link(task_.bootstrap);
  return link_;
}

double Rates::compute() {
  if (compute_ == 0)
    compute_ = launch::allreduce(task_.bootstrap, measure_compute_rate(task_.seat.pool()), std::ranges::min);
  return compute_;
}

bool Rates::wire_limits(std::uint64_t values, std::uint64_t edges, Choices& choices) {
  const DenseOptions& options = task_.options;
  const auto bytes = static_cast<double>(values * plan::value_bytes(options.encoding));
  const std::vector<double> mine{bytes / link(), static_cast<double>(edges) / compute_all()};
  const auto most = launch::allreduce(task_.bootstrap, mine, std::ranges::max);
  const bool limits = most[0] > most[1];
  choices.strategy = limits ? plan::Strategy::cover : plan::Strategy::slots;
  choices.strategy_reason = fmt::format(
      "{}: sending all sums would take {:.4f} s at the link's {:.2f} Gbit/s ({}), computing {:.4f} s at "
      "{:.2g} "
      "edges/s a worker ({})",
      plan::to_name(choices.strategy), most[0], link() * 8e-9,
      options.assumed_link_rate > 0 ? "assumed" : "measured", most[1], compute(),
      options.assumed_compute_rate > 0 ? "assumed" : "measured");
  return limits;
}

}  // namespace edgewire::job
