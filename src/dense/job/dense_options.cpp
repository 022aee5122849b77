// This file says which options of a dense job make sense, alone and beside each other.
#include "dense/job/dense_options.h"

#include <fmt/core.h>

#include "base/options.h"
#include "dense/plan/block_plan.h"

namespace edgewire::job {

namespace {

/// Checks the options where processes hold blocks of edges.
void check_ownership(const DenseOptions& options) {
  partition::check_ownership_name(options.ownership);
  if (!partition::owns_edges(options.ownership)) return;
  if (!options.choose_strategy && !plan::goes_with(options.strategy, options.ownership)) {
    throw UsageError(fmt::format(
        "--strategy {}: with --ownership {} processes own edges and send mirrors and partial sums, which is "
        "--strategy {}",
        plan::to_name(options.strategy), options.ownership, plan::strategies_for(options.ownership)));
  }
  if (!options.devices.empty())
    throw UsageError(fmt::format(
        "--ownership {} needs --edges memory; with edges on disk take hash or ranges", options.ownership));
}

void check_disks(const DenseOptions& options) {
  constexpr std::uint64_t kLeastBytes = std::uint64_t{1} << 20;
  if (options.memory_bytes > 0)
    check_range("memory_bytes", options.memory_bytes, kLeastBytes, std::uint64_t{1} << 60);
  if (options.devices.empty()) return;
  if (options.strategy == plan::Strategy::cover && !options.choose_strategy)
    throw UsageError("--strategy cover needs --edges memory; with edges on disk take slots");
  if (!options.order.choose && options.order.order != tiles::Order::strips)
    throw UsageError(fmt::format("--order {} needs --edges memory; with edges on disk take strips",
                                 to_name(options.order.order)));
  if (options.plan_cache.empty())
    throw UsageError("disks: edges on disks need a plan cache, and plan_cache is empty");
}

}  // namespace

void check(const DenseOptions& options, const graph::GraphFile& graph) {
  constexpr double kMostRate = 1e15;
  process::check(options.process);
  check_range("assumed_compute_rate", options.assumed_compute_rate, 0, kMostRate);
  check_range("assumed_link_rate", options.assumed_link_rate, 0, kMostRate);
  check_ownership(options);
  check_disks(options);
  if (!options.choose_strategy && !plan::go_together(options.strategy, options.encoding))
    throw UsageError(fmt::format("--wire {} needs --strategy slots or cover, not {}",
                                 plan::to_name(options.encoding), plan::to_name(options.strategy)));
  if (!options.weighted) return;
  graph::expect_weights(graph, "leave out --weighted");
  if (!options.order.choose && options.order.order == tiles::Order::bins)
    throw UsageError("--order bins: bins hold no weights of edges; take strips or hilbert");
}

}  // namespace edgewire::job
