#include "runs/job_report.h"

#include <algorithm>

#include "base/usage.h"
#include "launch/packing.h"
#include "perf/link_figures.h"

namespace edgewire::runs {

namespace {

struct Summary {
  ProcessFigures figures;
  std::uint64_t peak_rss_bytes;
};

}  // namespace

report::JobReport gather_job(launch::Bootstrap& bootstrap, const exchange::Seat& seat,
                             const std::string& reason, const ProcessFigures& mine) {
  report::JobReport report;
  report.processes = bootstrap.size();
  report.workers = seat.pool().workers();
  report.link = perf::gather_link(bootstrap, seat.link(), reason);
  const std::string cards = seat.link().describe();
  report.placement = bootstrap.gather(cards.empty() ? seat.place() : seat.place() + "; " + cards);
  const auto summaries = bootstrap.gather(launch::pack(std::vector{Summary{mine, peak_memory_bytes()}}));
  for (std::size_t p = 0; p < summaries.size(); ++p) {
    if (summaries[p].empty()) continue;
    const auto one = launch::unpack<Summary>(summaries[p], p, 1)[0];
    report.seconds_load = std::max(report.seconds_load, one.figures.seconds_load);
    report.seconds_plan = std::max(report.seconds_plan, one.figures.seconds_plan);
    report.seconds_total = std::max(report.seconds_total, one.figures.seconds_total);
    report.peak_rss_bytes = std::max(report.peak_rss_bytes, one.peak_rss_bytes);
    report.checksum += one.figures.checksum;
  }
  return report;
}

report::RunReport::Disk gather_disk(launch::Bootstrap& bootstrap, std::size_t devices,
                                    const disk::ReadFigures& mine) {
  report::RunReport::Disk disk;
  disk.devices = devices;
  bool limit_known = true;
  const auto all = bootstrap.gather(launch::pack(std::vector{mine}));
  for (std::size_t p = 0; p < all.size(); ++p) {
    const auto one = launch::unpack<disk::ReadFigures>(all[p], p, 1)[0];
    disk.stored_bytes += one.stored_bytes;
    disk.bytes_read += one.bytes_read;
    disk.bytes_written += one.bytes_written;
    disk.seconds = std::max(disk.seconds, one.seconds);
    disk.seconds_busy = std::max(disk.seconds_busy, one.seconds_busy);
    disk.limit_bytes_per_second += one.limit_bytes_per_s;
    limit_known = limit_known && one.limit_bytes_per_s > 0;
    disk.block_bytes = std::max(disk.block_bytes, one.block_bytes);
    disk.depth = std::max(disk.depth, one.depth);
  }
  if (!limit_known) disk.limit_bytes_per_second = 0;
  return disk;
}

}  // namespace edgewire::runs
