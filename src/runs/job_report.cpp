#include "runs/job_report.h"

#include <algorithm>

#include "base/usage.h"
#include "launch/packing.h"

namespace edgewire::runs {

namespace {

struct Summary {
  ProcessFigures figures;
  std::uint64_t peak_rss_bytes;
  transport::Counters link;
};

/// Returns the connections of this process, without the sums over all processes.
report::LinkReport describe(const transport::Transport& link, const std::string& reason) {
  report::LinkReport report;
  report.transport = link.name();
  report.transport_reason = reason;
  report.path = link.path();
  const auto counters = link.counters();
  if (report.transport == "dpdk") report.sending = counters.sends_in_place ? "in place" : "copied once";
  report.queue_frames.assign(counters.queue_frames.begin(), counters.queue_frames.end());
  while (!report.queue_frames.empty() && report.queue_frames.back() == 0) report.queue_frames.pop_back();
  return report;
}

}  // namespace

report::JobReport gather_job(launch::Bootstrap& bootstrap, const process::LocalProcess& process,
                             const std::string& reason, const ProcessFigures& mine) {
  report::JobReport report;
  report.processes = bootstrap.size();
  report.workers = process.pool().workers();
  report.link = describe(process.link(), reason);
  const std::string cards = process.link().describe();
  report.placement = bootstrap.gather(cards.empty() ? process.place() : process.place() + "; " + cards);
  const auto summaries = bootstrap.gather(
      launch::pack(std::vector{Summary{mine, peak_memory_bytes(), process.link().counters()}}));
  for (std::size_t p = 0; p < summaries.size(); ++p) {
    if (summaries[p].empty()) continue;  // this process was lost
    const auto one = launch::unpack<Summary>(summaries[p], p, 1)[0];
    report.seconds_load = std::max(report.seconds_load, one.figures.seconds_load);
    report.seconds_plan = std::max(report.seconds_plan, one.figures.seconds_plan);
    report.seconds_total = std::max(report.seconds_total, one.figures.seconds_total);
    report.peak_rss_bytes = std::max(report.peak_rss_bytes, one.peak_rss_bytes);
    report.checksum += one.figures.checksum;
    report.link.refused_connections += one.link.refused_connections;
    report.link.refused_frames += one.link.refused_frames;
    report.link.retransmitted_bytes += one.link.retransmitted_bytes;
    report.link.duplicate_frames += one.link.duplicate_frames;
    report.link.reordered_frames += one.link.reordered_frames;
    report.link.corrupt_frames += one.link.corrupt_frames;
    report.link.foreign_frames += one.link.foreign_frames;
    report.link.missed_frames += one.link.missed_frames;
  }
  return report;
}

report::RunReport::Disk gather_disk(launch::Bootstrap& bootstrap, const disk::SegmentFiles& files,
                                    const disk::ReadFigures& mine, profile::BalanceWatch& watch) {
  const profile::Balance balance = watch.gather();
  report::RunReport::Disk disk;
  disk.direct = files.direct();
  disk.bytes_read_of_devices.resize(files.paths().size());
  disk.seconds_busy = balance.all.disk_s;
  disk.seconds_cores = balance.all.cores_s;
  disk.seconds_wire = balance.all.wire_s;
  disk.balance = std::make_shared<const profile::Balance>(balance);
  bool limit_known = true;
  const auto all = bootstrap.gather(launch::pack(std::vector{mine}));
  const auto by_device = bootstrap.gather(launch::pack(files.bytes_read()));
  for (std::size_t p = 0; p < all.size(); ++p) {
    const auto one = launch::unpack<disk::ReadFigures>(all[p], p, 1)[0];
    disk.stored_bytes += one.stored_bytes;
    disk.bytes_read += one.bytes_read;
    const auto read = launch::unpack<std::uint64_t>(by_device[p], p, disk.bytes_read_of_devices.size());
    for (std::size_t d = 0; d < read.size(); ++d) disk.bytes_read_of_devices[d] += read[d];
    disk.bytes_written += one.bytes_written;
    disk.seconds = std::max(disk.seconds, one.seconds);
    disk.limit_bytes_per_second += one.limit_bytes_per_s;
    limit_known = limit_known && one.limit_bytes_per_s > 0;
    disk.block_bytes = std::max(disk.block_bytes, one.block_bytes);
    disk.depth = std::max(disk.depth, one.depth);
  }
  disk.seconds_busy = std::min(disk.seconds_busy, disk.seconds);  // the disk may have been busy before
  if (!limit_known) disk.limit_bytes_per_second = 0;
  return disk;
}

}  // namespace edgewire::runs
