#include "perf/diskbench/diskbench.h"

#include <fmt/format.h>

#include "base/error.h"
#include "disk/read_probe.h"
#include "options/measures.h"

namespace edgewire::perf {

namespace {

constexpr double kEnough = 0.95;  ///< part of the highest rate

report::Json row_of(const disk::ReadRate& rate) {
  return {{"block_bytes", rate.pattern.block_bytes},
          {"depth", rate.pattern.depth},
          {"reads", rate.reads},
          {"seconds", rate.seconds},
          {"bytes_per_second", rate.bytes_per_s()},
          {"cores", rate.cores},
          {"latency_seconds", {{"median", rate.median_s}, {"p99", rate.p99_s}}}};
}

std::string to_line(const disk::ReadRate& rate) {
  return fmt::format("{:>10} {:>6} {:>10.3f} {:>10.0f} {:>10.1f} {:>10.1f} {:>6.2f}\n",
                     rate.pattern.block_bytes, rate.pattern.depth, rate.bytes_per_s() * 1e-9,
                     static_cast<double>(rate.reads) / rate.seconds, rate.median_s * 1e6, rate.p99_s * 1e6,
                     rate.cores);
}

void check(const DiskbenchOptions& options) {
  for (const std::size_t bytes : options.blocks) {
    if (bytes == 0 || bytes % disk::kAlignment != 0)
      throw UsageError(fmt::format("{}: {} bytes are no multiple of {}, by which disks are read",
                                   opt::read_sizes, bytes, disk::kAlignment));
    if (bytes > options.file_bytes)
      throw UsageError(fmt::format("{}: {} bytes are more than the file of {} has, {}", opt::read_sizes,
                                   bytes, opt::file_size, options.file_bytes));
  }
}

}  // namespace

report::Json diskbench(const DiskbenchOptions& options, const std::function<void(const std::string&)>& tell) {
  check(options);
  disk::ReadProbe probe(options.folders, options.file_bytes);
  tell(fmt::format(
      "{} reads of {}, {} MiB in each; {}, {}\n{:>10} {:>6} {:>10} {:>10} {:>10} {:>10} {:>6}\n",
      options.order, fmt::join(options.folders, ", "), probe.bytes() >> 20,
      probe.direct() ? "past the page cache" : "through the page cache (O_DIRECT is not possible there)",
      probe.asynchronous() ? "io_uring" : "one after the other (io_uring is not allowed)", "bytes", "depth",
      "GB/s", "reads/s", "median us", "p99 us", "cores"));
  std::vector<disk::ReadRate> rates;
  report::Json rows = report::Json::array();
  for (const std::size_t bytes : options.blocks)
    for (const int depth : options.depths) {
      rates.push_back(probe.measure({bytes, depth, options.order == "random"}, options.seconds));
      rows.push_back(row_of(rates.back()));
      tell(to_line(rates.back()));
    }
  const auto& best = disk::cheapest(rates, kEnough);
  tell(
      fmt::format("{:.0f} % of the highest rate, or more, with the fewest bytes under way: {} bytes, depth "
                  "{}: {:.3f} GB/s\n",
                  kEnough * 100, best.pattern.block_bytes, best.pattern.depth, best.bytes_per_s() * 1e-9));
  return {{"folders", options.folders}, {"order", options.order},           {"file_bytes", probe.bytes()},
          {"direct", probe.direct()},   {"io_uring", probe.asynchronous()}, {"rows", rows},
          {"enough", row_of(best)}};
}

}  // namespace edgewire::perf
