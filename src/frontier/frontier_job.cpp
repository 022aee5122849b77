#include "frontier/frontier_job.h"

#include <fmt/core.h>

#include "exchange/exchange.h"

namespace edgewire::frontier {

FrontierJob::FrontierJob(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const Options& options)
    : bootstrap_(bootstrap), graph_(graph), seat_(bootstrap, options.seat), listener_(options.listener) {
  exchange::check_agreement(
      bootstrap,
      fmt::format("{}; graph {:016x}, {} vertices, {} edges; {}, {}, {} workers{}", options.kernel,
                  graph.checksum(), graph.vertices(), graph.edges(), options.ownership, link().name(),
                  options.seat.workers, options.seat.integrity ? "" : "; integrity off"));
  graph.verify_offsets(0, graph.vertices());
  ownership_ = plan::Ownership::create(options.ownership, graph.offsets(), bootstrap.size());
  for_each_range([&](int, std::uint32_t first, std::uint32_t last) {
    graph_.verify_rows(ownership_->vertex(rank(), first),
                       std::uint64_t{ownership_->vertex(rank(), last - 1)} + 1);
  });
  records_.emplace(bootstrap, link(), options.seat.workers, seat_.oversubscribed(), options.record_bytes);
  seconds_load = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void FrontierJob::for_each_range(const std::function<void(int, std::uint32_t, std::uint32_t)>& work) {
  constexpr std::uint32_t kRange = 1 << 14;
  pool().for_each((std::uint64_t{owned()} + kRange - 1) / kRange, [&](int worker, std::uint64_t piece) {
    const auto first = static_cast<std::uint32_t>(piece * kRange);
    work(worker, first,
         static_cast<std::uint32_t>(std::min<std::uint64_t>(owned(), first + std::uint64_t{kRange})));
  });
}

}  // namespace edgewire::frontier
