// What kernels send that read edges from disks, beside the counts of what they must send.
#include <map>
#include <string>

#include "drawn_graph.h"
#include "kernels/count/count.h"
#include "runs/frontier_kernel.h"

namespace edgewire::runs {

namespace {

/// Runs a kernel once, with edges on disks, and compares what it sends with its counts. It runs without a
/// report, for which disks would be measured.
template <class Make>
void check_from_disks(const Drawn& drawn, int processes, const std::string& device, const Make& make) {
  const auto bootstraps = launch::bootstraps(processes);
  std::map<std::string, std::uint64_t> sent, least;  // [phase]: bytes
  bool exact = false;
  transport::parallel(processes, [&](int p) {
    const auto made = make();
    auto& kernel = dynamic_cast<FrontierKernel&>(*made);
    frontier::Options options;
    options.process.workers = processes < 3 ? 2 : 1;
    options.ownership = drawn.ownership;
    options.record_bytes = kernel.record_bytes();
    options.disks = {.devices = {device}, .weighted = kernel.weighted(), .kernel = kernel.vertex_bytes()};
    options.kernel = kernel.describe();
    kernel.choose_tasks(drawn.graph(), processes, options.process.workers, true);
    frontier::Job job(*bootstraps[static_cast<std::size_t>(p)], drawn.graph(), options);
    kernel.prepare(job, {});
    job.make_rows();
    kernel.choose(0);
    for (const auto& step : kernel.supersteps(job)) {
      const std::uint64_t bytes = job.sum_of_all(step.sent.record_bytes);
      if (p == 0) sent[kernel.phase(step)] += bytes;
    }
    if (p > 0) return;
    for (const auto& count : kernel.counts(drawn.graph(), true)) {
      exact = count.exactness == kernels::Exactness::exact;
      for (const auto& step : count.count(job.ownership()))
        least[step.phase] += step.load.records() * count.record_bytes;
    }
  });
  const auto sum = [](const auto& all) {
    std::uint64_t bytes = 0;
    for (const auto& [phase, some] : all) bytes += some;
    return bytes;
  };
  INFO(make()->describe());
  if (exact)
    CHECK(sent == least);
  else
    CHECK(sum(least) <= sum(sent));
}

void check_all_from_disks(const Drawn& drawn, int processes) {
  const graph::TemporaryDirectory folder;
  const std::string device = folder / "";
  check_from_disks(drawn, processes, device, [&] {
    return make_bfs(drawn.named_sources(),
                    {.deterministic = drawn.deterministic, .parallel = Parallel::levels});
  });
  check_from_disks(drawn, processes, device, [&] {
    return make_sssp(drawn.graph(), drawn.named_sources(), {{.unit_weights = drawn.deterministic}});
  });
  check_from_disks(drawn, processes, device, make_wcc);
  check_from_disks(drawn, processes, device,
                   [&] { return make_bc({drawn.sources}, {.parallel = Parallel::levels}); });
}

}  // namespace

TEST_CASE("what is sent with edges on disks is what was counted: cliques, stars and paths") {
  for_each_shape(check_all_from_disks);
}

TEST_CASE("what is sent with edges on disks is what was counted: graphs drawn at random") {
  for_each_drawn(check_all_from_disks);
}

}  // namespace edgewire::runs
