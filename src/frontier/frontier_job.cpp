#include "frontier/frontier_job.h"

#include <fmt/core.h>

#include <algorithm>

#include "exchange/exchange.h"
#include "launch/agreement.h"

namespace edgewire::frontier {

namespace {

constexpr std::uint32_t kRange = 1 << 14;  // vertices that a worker takes at a time

}  // namespace

FrontierJob::FrontierJob(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const Options& options)
    : bootstrap_(bootstrap),
      graph_(graph),
      seat_(bootstrap, options.seat),
      listener_(options.listener),
      weighted_(options.disks.weighted) {
  launch::check_agreement(bootstrap,
                          {{"the kernel", options.kernel},
                           {"the graph", fmt::format("{:016x} ({} vertices, {} edges)", graph.checksum(),
                                                     graph.vertices(), graph.edges())},
                           {"the ownership", options.ownership},
                           {"the transport", std::string(link().name())},
                           {"the number of workers", std::to_string(options.seat.workers)},
                           {"the check of integrity", options.seat.integrity ? "yes" : "no"},
                           {"the number of disks for edges", std::to_string(options.disks.devices.size())}});
  graph.verify_offsets(0, graph.vertices());
  ownership_ = plan::Ownership::create(options.ownership, graph.offsets(), bootstrap.size());
  if (options.for_tasks) {
    pool().for_each((graph.vertices() + kRange - 1) / kRange, [&](int, std::uint64_t piece) {
      graph_.verify_rows(piece * kRange, std::min(graph_.vertices(), (piece + 1) * kRange));
    });
  } else if (!options.disks.devices.empty()) {
    open_rows(options.disks);
  } else {
    for_each_range([&](int, std::uint32_t first, std::uint32_t last) {
      graph_.verify_rows(ownership_->vertex(rank(), first),
                         std::uint64_t{ownership_->vertex(rank(), last - 1)} + 1);
    });
  }
  if (!options.for_tasks)
    records_.emplace(bootstrap, link(), options.seat.workers, seat_.oversubscribed(), options.record_bytes);
  seconds_load = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

FrontierJob::FrontierJob(launch::Bootstrap& alone, const graph::GraphFile& graph)
    : bootstrap_(alone),
      graph_(graph),
      seat_(alone),
      listener_(Options{}.listener),
      ownership_(plan::Ownership::hash(graph.vertices(), 1)),
      weighted_(false) {
  records_.emplace(alone, link(), 1, false, sizeof(Record));
}

void FrontierJob::open_rows(const RowDisks& disks) {
  constexpr std::uint64_t kCache = std::uint64_t{256} << 20;
  const auto workers = static_cast<std::size_t>(pool().workers());
  pages_ = std::make_unique<RowPages>(pool(), graph_, *ownership_, bootstrap_.rank(), disks);
  cache_.emplace(std::min(pages_->bytes(), disks.memory_bytes == 0 ? kCache : disks.memory_bytes / 4));
  const std::size_t ahead = disk::read_ahead_bytes(disks.memory_bytes, workers);
  for (std::size_t w = 0; w < workers; ++w)
    readers_.push_back(std::make_unique<RowReader>(*pages_, *cache_, ahead, bootstrap_.health()));
}

disk::ReadFigures FrontierJob::measure_disks() {
  disk::ReadFigures figures;
  figures.stored_bytes = pages_->bytes();
  for (const auto& reader : readers_) figures.bytes_read += reader->bytes_read();
  readers_.clear();
  bootstrap_.allgather("");  // all read at the same time
  figures.measure_limit(pages_->files().paths(), static_cast<std::size_t>(pool().workers()));
  return figures;
}

void FrontierJob::for_each_range(const std::function<void(int, std::uint32_t, std::uint32_t)>& work) {
  pool().for_each((std::uint64_t{owned()} + kRange - 1) / kRange, [&](int worker, std::uint64_t piece) {
    const auto first = static_cast<std::uint32_t>(piece * kRange);
    work(worker, first,
         static_cast<std::uint32_t>(std::min<std::uint64_t>(owned(), first + std::uint64_t{kRange})));
  });
}

}  // namespace edgewire::frontier
