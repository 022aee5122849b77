#include "base/units.h"
#include "dense/job/dense_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/parallel.h"
#include "dense/plan/block_plan.h"
#include "dense/plan/count.h"
#include "dense/plan/edge_partition.h"
#include "partition/ownership.h"

namespace edgewire::job {

namespace {

constexpr double kTwoSteps = 1.05;  // factor for two steps, a guess: waiting for mirrors may cost this

struct Candidate {
  std::string name;
  double seconds = 0;
  std::string line{};
};

/// The load of processes: the values that they send to each other, and the edges that each one computes.
struct Load {
  plan::Traffic values;
  std::vector<std::uint64_t> edges;
};

Load count(const plan::Rows& rows, const std::string& name, int processes, int threads) {
  plan::CountOptions options;
  options.threads = threads;
  if (partition::owns_edges(name)) {
    auto counted = plan::count_blocks(rows, plan::partition_edges(name, rows, processes, threads),
                                      plan::Strategy::slots, options);
    return {std::move(counted.values), std::move(counted.computed_edges)};
  }
  auto traffic =
      plan::count_owned(rows, partition::Ownership::create(name, rows.offsets, processes), options);
  return {std::move(traffic.process), plan::computed_edges(traffic.edges)};
}

Candidate judge(const PlanTask& task, const std::string& name, Rates& rates, int threads) {
  const plan::Rows rows{task.graph.offsets(), task.graph.targets()};
  const auto load = count(rows, name, task.bootstrap.size(), threads);
  const auto volume = plan::volume(load.values, {plan::value_bits(task.options.encoding)});
  const auto most = static_cast<double>(*std::ranges::max_element(load.edges));
  const double mean = static_cast<double>(rows.edges()) / task.bootstrap.size();
  const double wire_s = static_cast<double>(volume.wire_bytes_max[0]) / rates.link();
  const double compute_s = most / rates.compute_all();
  return {name, std::max(wire_s, compute_s) * (partition::owns_edges(name) ? kTwoSteps : 1),
          fmt::format(
              "{}: {} values sent, {} by one process; edges of one process up to {:.1f} % above the mean; "
              "sending {}, computing {}",
              name, volume.values_sent_total, volume.values_sent_max, mean == 0 ? 0 : 100 * (most / mean - 1),
              readable_seconds(wire_s), readable_seconds(compute_s))};
}

std::vector<std::string> candidates_of(const PlanTask& task) {
  const DenseOptions& options = task.options;
  const bool fit = plan::block_bytes({task.graph.offsets(), task.graph.targets()}, task.bootstrap.size()) <=
                   plan::CountOptions().memory_bytes;
  std::vector<std::string> candidates{"hash", "ranges"};
  if (const auto file = partition::partition_file(options.ownership); !file.empty())
    candidates.push_back(file);
  const bool slots_or_cover = options.choose_strategy || !plan::sends_ids(options.strategy);
  if (slots_or_cover && options.devices.empty() && fit)
    candidates.insert(candidates.end(), {"grid", "hilbert"});
  return candidates;
}

void verify(const Graph& graph, int threads) {
  constexpr std::uint64_t kRows = 1 << 16;
  parallel_for(threads, (graph.vertices() + kRows - 1) / kRows, [&](int, std::uint64_t block) {
    graph.verify_rows(block * kRows, std::min(graph.vertices(), (block + 1) * kRows));
  });
}

}  // namespace

Choices choose_ownership(const PlanTask& task, Rates& rates) {
  const std::string& wanted = task.options.ownership;
  Choices choices{.ownership = wanted, .ownership_table = {}};
  if (wanted != "auto" && !wanted.starts_with("auto,")) return choices;
  choices.ownership = "hash";
  if (task.bootstrap.size() == 1) return choices;
  rates.link();  // all processes measure it, before rank 0 counts alone
  rates.compute();
  if (task.bootstrap.rank() == 0) {
    std::vector<Candidate> judged;
    // The processes wait for this one, so it may use all cores. Their number is determined inside.
    task.process.pool().run_unpinned([&] {
      const int threads = workers_or_default(0);
      verify(task.graph, threads);
      for (const auto& name : candidates_of(task)) judged.push_back(judge(task, name, rates, threads));
    });
    const auto best = std::ranges::min_element(judged, {}, &Candidate::seconds);
    choices.ownership = best->name;
    for (auto one = judged.begin(); one != judged.end(); ++one)
      choices.ownership_table += fmt::format("ownership {}{}\n", one->line, one == best ? "  <- taken" : "");
    task.graph.release_rows(0, task.graph.vertices());
  }
  choices.ownership = task.bootstrap.allgather(choices.ownership)[0];
  return choices;
}

}  // namespace edgewire::job
