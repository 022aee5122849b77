#include "library/job_options.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "dense/plan/volume.h"
#include "options/options.h"
#include "partition/row_loader.h"
#include "process/settle.h"

namespace edgewire {

namespace {

template <class Value, std::size_t Count>
using Words = std::array<std::pair<std::string_view, Value>, Count>;

/// Returns the value that a word stands for. Throws UsageError with all words where it is none of them.
template <class Value, std::size_t Count>
Value value_of(const options::Option& option, const std::string& word, const Words<Value, Count>& words) {
  std::string all;
  for (const auto& [name, value] : words) {
    if (word == name) return value;
    all += fmt::format("{}{}", all.empty() ? "" : ", ", name);
  }
  throw UsageError(fmt::format("{} is none of {}", option(word), all));
}

constexpr Words<plan::Layout, 3> kLayouts{
    {{"auto", plan::Layout::degree}, {"given", plan::Layout::given}, {"degree", plan::Layout::degree}}};
constexpr Words<tiles::Order, 4> kOrders{{{"auto", tiles::Order::strips},
                                          {"strips", tiles::Order::strips},
                                          {"hilbert", tiles::Order::hilbert},
                                          {"bins", tiles::Order::bins}}};
constexpr std::array<std::string_view, 7> kTransports{"auto",  "shm",       "tcp", "shm+tcp",
                                                      "verbs", "shm+verbs", "dpdk"};

void check_transport(const std::string& word) {
  if (std::ranges::find(kTransports, word) == kTransports.end())
    throw UsageError(fmt::format("{} is none of {}", opt::transport(word), fmt::join(kTransports, ", ")));
}

void check_disks(const std::vector<std::string>& disks) {
  if (std::ranges::find(disks, "") != disks.end())
    throw UsageError(fmt::format("{}: one of them has no name", opt::devices));
}

/// An option, and what it was set to.
struct Asked {
  const options::Option* option;
  bool is_set;
  std::string value{};  ///< empty: it is on
};

}  // namespace

void expect_only(const JobOptions& asked, std::string_view job, const Has& has) {
  const JobOptions usual;
  std::vector<Asked> others;
  const auto add = [&](bool had, std::initializer_list<Asked> options) {
    if (!had) others.insert(others.end(), options);
  };
  add(has.graph, {{&opt::ownership, asked.ownership != usual.ownership, asked.ownership},
                  {&opt::rows, asked.rows != usual.rows, asked.rows},
                  {&opt::devices, !asked.disks.empty(), fmt::format("{}", fmt::join(asked.disks, ","))},
                  {&opt::memory, asked.memory_bytes != 0, fmt::format("{}", asked.memory_bytes)}});
  add(has.weights, {{&opt::edges_weighted, asked.weighted}});
  add(has.tiles, {{&opt::strategy, asked.strategy != usual.strategy, asked.strategy},
                  {&opt::wire, asked.wire != usual.wire, asked.wire},
                  {&opt::layout, asked.layout != usual.layout, asked.layout},
                  {&opt::order, asked.order != usual.order, asked.order},
                  {&opt::plan_cache, !asked.plan_cache.empty(), asked.plan_cache}});
  add(has.tools, {{&opt::verify, asked.verify}, {&opt::profile, asked.profile}});
  add(has.count, {{&opt::bound, asked.bound}});
  for (const Asked& one : others)
    if (one.is_set)
      throw options::wrong(one.value.empty() ? one.option->said() : one.option->with(one.value),
                           fmt::format("{} has no such option", job), "leave it out");
}

process::ProcessOptions process_options(launch::Bootstrap& bootstrap, const JobOptions& options) {
  check_transport(options.transport);
  process::ProcessOptions process;
  process.workers = options.workers;
  process.transport = options.transport;
  process.peer_timeout_s = options.peer_timeout_s;
  process.integrity = options.integrity;
  process.verbs.device = options.verbs_device;
  process.dpdk.port = options.dpdk_port;
  process.dpdk.args = options.dpdk_args;
  return process::settle(process, bootstrap);
}

job::DenseOptions job_options(launch::Bootstrap& bootstrap, const JobOptions& options) {
  check_disks(options.disks);
  job::DenseOptions job;
  job.process = process_options(bootstrap, options);
  job.choose_strategy = options.strategy == "auto";
  if (!job.choose_strategy) job.strategy = plan::strategy_from(options.strategy);
  job.encoding = plan::encoding_from(options.wire);
  job.weighted = options.weighted;
  job.ownership = options.ownership;
  job.rows = partition::row_reading_from(options.rows);
  job.layout = value_of(opt::layout, options.layout, kLayouts);
  job.choose_layout = options.layout == "auto";
  job.order = {value_of(opt::order, options.order, kOrders), options.order == "auto"};
  job.plan_cache = options.plan_cache;
  job.devices = options.disks;
  job.memory_bytes = options.memory_bytes;
  job.progress = options.progress;
  return job;
}

}  // namespace edgewire
