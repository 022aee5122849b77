#include "frontier/frontier_job.h"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>

#include "exchange/exchange.h"
#include "topology/machine.h"
#include "topology/placement.h"

namespace edgewire::frontier {

namespace {

transport::Settings settings(launch::Bootstrap& bootstrap, const Options& options) {
  transport::Settings settings;
  settings.rank = bootstrap.rank();
  settings.size = bootstrap.size();
  settings.lanes = options.workers;
  settings.kinds = exchange::kinds_for_rings(options.workers);
  settings.secret = bootstrap.secret();
  settings.address = bootstrap.address();
  settings.process_index = bootstrap.local_rank();
  settings.peer_timeout_s = options.peer_timeout_s;
  settings.health = &bootstrap.health();
  settings.nodes = bootstrap.nodes();
  settings.integrity = options.integrity;
  settings.verbs = options.verbs;
  settings.dpdk = options.dpdk;
  return settings;
}

}  // namespace

FrontierJob::FrontierJob(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const Options& options)
    : bootstrap_(bootstrap), graph_(graph), listener_(options.listener) {
  const auto start = std::chrono::steady_clock::now();
  const auto machine = topology::discover();
  pool_ = std::make_unique<topology::WorkerPool>(
      topology::place(machine, bootstrap.local_rank(), bootstrap.local_size(), options.workers));
  char name[256] = "?";
  gethostname(name, sizeof name - 1);
  place_ = fmt::format("{}: {}", name, topology::describe(pool_->placement(), machine));
  link_ = transport::create(options.transport, settings(bootstrap, options));
  exchange::check_agreement(
      bootstrap, fmt::format("{}; graph {:016x}, {} vertices, {} edges; {}, {}, {} workers{}", options.kernel,
                             graph.checksum(), graph.vertices(), graph.edges(), options.ownership,
                             link_->name(), options.workers, options.integrity ? "" : "; integrity off"));
  graph.verify_offsets(0, graph.vertices());
  ownership_ = plan::Ownership::create(options.ownership, graph.offsets(), bootstrap.size());
  for_each_range([&](int, std::uint32_t first, std::uint32_t last) {
    graph_.verify_rows(ownership_->vertex(rank(), first),
                       std::uint64_t{ownership_->vertex(rank(), last - 1)} + 1);
  });
  records_.emplace(bootstrap, *link_, options.workers, pool_->placement().oversubscribed,
                   options.record_bytes);
  seconds_load = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void FrontierJob::for_each_range(const std::function<void(int, std::uint32_t, std::uint32_t)>& work) {
  constexpr std::uint32_t kRange = 1 << 14;
  pool_->for_each((std::uint64_t{owned()} + kRange - 1) / kRange, [&](int worker, std::uint64_t piece) {
    const auto first = static_cast<std::uint32_t>(piece * kRange);
    work(worker, first,
         static_cast<std::uint32_t>(std::min<std::uint64_t>(owned(), first + std::uint64_t{kRange})));
  });
}

}  // namespace edgewire::frontier
