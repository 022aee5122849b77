#include "library/job_options.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "dense/plan/volume.h"
#include "options/jobs.h"
#include "options/kernels.h"
#include "partition/row_loader.h"
#include "process/settle.h"

namespace edgewire {

namespace {

/// An option, and what it was set to.
struct Asked {
  const options::Option* option;
  bool is_set;
  std::string value{};  ///< empty: it is on
};

}  // namespace

void expect_only(const JobOptions& asked, std::string_view job, std::initializer_list<options::Part> parts) {
  const JobOptions usual;
  const Asked all[] = {
      {&opt::ownership, asked.ownership != usual.ownership, asked.ownership},
      {&opt::rows, asked.rows != usual.rows, word_of(opt::rows, asked.rows)},
      {&opt::devices, !asked.disks.empty(), fmt::format("{}", fmt::join(asked.disks, ","))},
      {&opt::memory, asked.memory_bytes != 0, fmt::format("{}", asked.memory_bytes)},
      {&opt::edges_weighted, asked.weighted},
      {&opt::strategy, asked.strategy != usual.strategy, word_of(opt::strategy, asked.strategy)},
      {&opt::wire, asked.wire != usual.wire, word_of(opt::any_wire, asked.wire)},
      {&opt::layout, asked.layout != usual.layout, word_of(opt::layout, asked.layout)},
      {&opt::order, asked.order != usual.order, word_of(opt::order, asked.order)},
      {&opt::plan_cache, !asked.plan_cache.empty(), asked.plan_cache},
      {&opt::verify, asked.verify},
      {&opt::profile, asked.profile},
      {&opt::bound, asked.bound}};
  for (const Asked& one : all)
    if (one.is_set && std::ranges::find(parts, one.option->part) == parts.end())
      throw options::wrong(one.value.empty() ? one.option->said() : one.option->with(one.value),
                           fmt::format("{} has no such option", job), "leave it out");
}

process::ProcessOptions process_options(launch::Bootstrap& bootstrap, const JobOptions& options) {
  process::ProcessOptions process;
  process.workers = options.workers;
  process.transport = word_of(opt::transport, options.transport);
  process.peer_timeout_s = options.peer_timeout_s;
  process.integrity = options.integrity;
  process.verbs.device = options.verbs_device;
  process.dpdk.port = options.dpdk_port;
  process.dpdk.args = options.dpdk_args;
  return process::settle(process, bootstrap);
}

void set_graph_options(job::DenseOptions& job, const JobOptions& asked) {
  if (std::ranges::find(asked.disks, "") != asked.disks.end())
    throw UsageError(fmt::format("{}: one of them has no name", opt::devices));
  job.choose_strategy = asked.strategy == Strategy::automatic;
  if (!job.choose_strategy) job.strategy = plan::strategy_from(word_of(opt::strategy, asked.strategy));
  job.encoding = asked.wire;
  job.weighted = asked.weighted;
  job.ownership = asked.ownership;
  job.rows = asked.rows;
  job.layout = asked.layout == Layout::given ? plan::Layout::given : plan::Layout::degree;
  job.choose_layout = asked.layout == Layout::automatic;
  job.order.order = asked.order == SweepOrder::hilbert ? tiles::Order::hilbert
                    : asked.order == SweepOrder::bins  ? tiles::Order::bins
                                                       : tiles::Order::strips;
  job.order.choose = asked.order == SweepOrder::automatic;
  job.plan_cache = asked.plan_cache;
  job.devices = asked.disks;
  job.memory_bytes = asked.memory_bytes;
  job.progress = asked.progress;
}

job::DenseOptions job_options(launch::Bootstrap& bootstrap, const JobOptions& options) {
  job::DenseOptions job;
  set_graph_options(job, options);
  job.process = process_options(bootstrap, options);
  return job;
}

}  // namespace edgewire
