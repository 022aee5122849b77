#include "perf/link_figures.h"

#include <cstdint>
#include <vector>

#include "launch/packing.h"

namespace edgewire::perf {

namespace {

struct Figures {
  std::uint64_t refused_connections, refused_frames;
  report::LinkReport::Losses losses;
};

}  // namespace

report::LinkReport gather_link(launch::Bootstrap& bootstrap, const transport::Transport& link,
                               const std::string& reason) {
  const auto sent = link.counters();
  report::LinkReport report;
  report.transport = link.name();
  report.transport_reason = reason;
  report.path = link.path();
  if (report.transport == "dpdk") report.sending = sent.sends_in_place ? "in place" : "copied once";
  report.queue_frames.assign(sent.queue_frames.begin(), sent.queue_frames.end());
  while (!report.queue_frames.empty() && report.queue_frames.back() == 0) report.queue_frames.pop_back();
  const std::vector<Figures> mine{{sent.refused_connections,
                                   sent.refused_frames,
                                   {sent.retransmitted_bytes, sent.duplicate_frames, sent.reordered_frames,
                                    sent.corrupt_frames, sent.foreign_frames, sent.missed_frames}}};
  const auto all = bootstrap.gather(launch::pack(mine));
  for (std::size_t p = 0; p < all.size(); ++p) {
    if (all[p].empty()) continue;  // this process was lost
    const auto one = launch::unpack<Figures>(all[p], p, 1)[0];
    report.refused_connections += one.refused_connections;
    report.refused_frames += one.refused_frames;
    report.losses += one.losses;
  }
  return report;
}

}  // namespace edgewire::perf
