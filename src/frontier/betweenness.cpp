#include "frontier/betweenness.h"

#include <utility>

namespace edgewire::frontier {

Betweenness::Betweenness(FrontierJob& job, bool endpoints)
    : job_(job), endpoints_(endpoints), doubles_(std::in_place, job, endpoints) {
  sums_.scores.resize(job.owned());
}

std::vector<Superstep> Betweenness::run(std::span<const std::uint32_t> sources) {
  for (const std::uint32_t source : sources) job_.expect_vertex(source);
  for (const std::uint32_t source : sources) {
    if (doubles_ && doubles_->add(source, sums_)) continue;
    doubles_.reset();
    if (!scaled_) scaled_.emplace(job_, endpoints_);
    scaled_->add(source, sums_);
  }
  job_.wait_for_all();
  auto steps = std::exchange(sums_.forward, {});
  const auto& backward = sums_.backward;
  if (!backward.empty()) steps.insert(steps.end(), backward.rbegin(), backward.rend() - 1);
  sums_.backward.clear();
  return steps;
}

}  // namespace edgewire::frontier
