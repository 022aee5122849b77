// This file checks whether the options of a dense job make sense, alone and beside each other.
#include "dense/job/dense_options.h"

#include <fmt/core.h>

#include "dense/plan/block_plan.h"
#include "options/kernels.h"

namespace edgewire::job {

namespace {

/// Checks the options where processes hold blocks of edges.
void check_ownership(const DenseOptions& options) {
  partition::check_ownership_name(options.ownership);
  if (!partition::owns_edges(options.ownership)) return;
  if (!options.choose_strategy && !plan::goes_with(options.strategy, options.ownership))
    throw UsageError(
        fmt::format("{}: with {} processes own edges and send mirrors and partial sums, which is {}",
                    opt::strategy(plan::to_name(options.strategy)), opt::ownership(options.ownership),
                    opt::strategy(plan::strategies_for(options.ownership))));
  if (!options.devices.empty())
    throw UsageError(fmt::format("{} needs {}; with edges on disk take hash or ranges",
                                 opt::ownership(options.ownership), opt::edges("memory")));
}

void check_disks(const DenseOptions& options) {
  if (options.memory_bytes > 0) check_range(opt::memory, options.memory_bytes);
  if (options.devices.empty()) return;
  if (options.strategy == plan::Strategy::cover && !options.choose_strategy)
    throw UsageError(fmt::format("{} needs {}; with edges on disk take slots", opt::strategy("cover"),
                                 opt::edges("memory")));
  if (!options.order.choose && options.order.order != tiles::Order::strips)
    throw UsageError(fmt::format("{} needs {}; with edges on disk take strips",
                                 opt::order(to_name(options.order.order)), opt::edges("memory")));
  if (options.plan_cache.empty())
    throw UsageError(
        fmt::format("{}: edges on disks need {}, which is empty", opt::devices, opt::plan_cache));
}

}  // namespace

void check(const DenseOptions& options, const Graph& graph) {
  constexpr double kMostRate = 1e15;
  process::check(options.process);
  check_range("assumed_compute_rate", options.assumed_compute_rate, 0, kMostRate);
  check_range("assumed_link_rate", options.assumed_link_rate, 0, kMostRate);
  check_ownership(options);
  check_disks(options);
  if (!options.choose_strategy && !plan::go_together(options.strategy, options.encoding))
    throw UsageError(fmt::format("{} needs {} or cover, not {}", opt::wire(plan::to_name(options.encoding)),
                                 opt::strategy("slots"), plan::to_name(options.strategy)));
  if (!options.weighted) return;
  graph::expect_weights(graph, fmt::format("leave out {}", opt::weighted));
  if (!options.order.choose && options.order.order == tiles::Order::bins)
    throw UsageError(
        fmt::format("{}: bins hold no weights of edges; take strips or hilbert", opt::order("bins")));
}

}  // namespace edgewire::job
