#include "job/ownership_choice.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "graph/parallel.h"
#include "plan/balance.h"
#include "plan/count.h"
#include "plan/ownership.h"

namespace edgewire::job {

namespace {

struct Candidate {
  double seconds = 0;
  std::string line;
};

Candidate judge(const graph::GraphFile& graph, const std::string& name, int processes,
                const OwnershipCosts& costs, int threads) {
  const auto ownership = plan::Ownership::create(name, graph.offsets(), processes);
  plan::CountOptions count;
  count.threads = threads;
  const auto traffic = plan::count_owned({graph.offsets(), graph.targets()}, ownership, count);
  const auto volume = plan::volume(traffic.process, costs.value_bytes);
  const auto edges = plan::computed_edges(traffic.edges);
  const auto most = static_cast<double>(*std::max_element(edges.begin(), edges.end()));
  const double mean = static_cast<double>(graph.edges()) / processes;
  const double wire_s = static_cast<double>(volume.wire_bytes_max[0]) / costs.link_bytes_per_s;
  const double compute_s = most / costs.edges_per_s;
  return {std::max(wire_s, compute_s),
          fmt::format(
              "{}: {} values sent, {} by one process; edges of one process up to {:.1f} % above the mean; "
              "sending {:.6f} s, computing {:.6f} s",
              name, volume.values_sent_total, volume.values_sent_max, mean == 0 ? 0 : 100 * (most / mean - 1),
              wire_s, compute_s)};
}

void verify(const graph::GraphFile& graph, int threads) {
  constexpr std::uint64_t kRows = 1 << 16;
  graph::parallel_for(threads, (graph.vertices() + kRows - 1) / kRows, [&](int, std::uint64_t block) {
    graph.verify_rows(block * kRows, std::min(graph.vertices(), (block + 1) * kRows));
  });
}

}  // namespace

OwnershipChoice choose_ownership(launch::Bootstrap& bootstrap, const topology::WorkerPool& pool,
                                 const graph::GraphFile& graph, const std::vector<std::string>& candidates,
                                 const OwnershipCosts& costs) {
  OwnershipChoice choice;
  if (bootstrap.rank() == 0) {
    std::vector<Candidate> judged;
    // The processes wait for this one, so it may use all cores. It is asked inside how many these are.
    pool.run_unpinned([&] {
      const int threads = graph::workers_or_default(0);
      verify(graph, threads);
      for (const auto& name : candidates)
        judged.push_back(judge(graph, name, bootstrap.size(), costs, threads));
    });
    const auto best =
        std::min_element(judged.begin(), judged.end(),
                         [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; }) -
        judged.begin();
    choice.ownership = candidates[static_cast<std::size_t>(best)];
    for (std::size_t i = 0; i < judged.size(); ++i) {
      choice.table += fmt::format("ownership {}{}\n", judged[i].line,
                                  i == static_cast<std::size_t>(best) ? "  <- taken" : "");
    }
    graph.release_rows(0, graph.vertices());
  }
  choice.ownership = bootstrap.allgather(choice.ownership)[0];
  return choice;
}

}  // namespace edgewire::job
