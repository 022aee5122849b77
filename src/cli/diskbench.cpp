// This file has edgewire diskbench, which measures how fast disks read, by block size and by reads under
// way.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/files.h"
#include "cli/job_options.h"
#include "cli/option.h"
#include "disk/read_probe.h"
#include "options/measures.h"
#include "report/json_text.h"

namespace edgewire::cli {

namespace {

constexpr double kEnough = 0.95;  ///< part of the highest rate that is enough

struct DiskbenchOptions {
  std::vector<std::string> folders{"."};
  std::vector<std::size_t> blocks{std::size_t{4} << 10, std::size_t{64} << 10, std::size_t{256} << 10,
                                  std::size_t{1} << 20};
  std::vector<int> depths{1, 4, 16, 64};
  std::uint64_t bytes = std::uint64_t{256} << 20;
  double seconds = 0.25;
  std::string order = "random";
  std::string json_path;
};

void check(const DiskbenchOptions& options) {
  for (const std::size_t bytes : options.blocks) {
    if (bytes == 0 || bytes % disk::kAlignment != 0)
      throw UsageError(fmt::format("--blocks: {} bytes are no multiple of {}, the unit of reads from disks",
                                   bytes, disk::kAlignment));
    if (bytes > options.bytes)
      throw UsageError(
          fmt::format("--blocks: {} bytes are more than a file has by --size, {}", bytes, options.bytes));
  }
}

nlohmann::json to_json(const disk::ReadRate& rate) {
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

void run(const DiskbenchOptions& options) {
  check(options);
  check_writable(options.json_path);
  const bool table = options.json_path != "-";
  const auto tell = [&](const std::string& text) {
    if (table) show(text);
  };
  disk::ReadProbe probe(options.folders, options.bytes);
  tell(fmt::format(
      "{} reads of {}, {} MiB in each; {}, {}\n{:>10} {:>6} {:>10} {:>10} {:>10} {:>10} {:>6}\n",
      options.order, fmt::join(options.folders, ", "), probe.bytes() >> 20,
      probe.direct() ? "past the page cache" : "through the page cache (O_DIRECT is not possible there)",
      probe.asynchronous() ? "io_uring" : "one after the other (io_uring is not allowed)", "bytes", "depth",
      "GB/s", "reads/s", "median us", "p99 us", "cores"));
  std::vector<disk::ReadRate> rates;
  for (const std::size_t bytes : options.blocks)
    for (const int depth : options.depths) {
      rates.push_back(probe.measure({bytes, depth, options.order == "random"}, options.seconds));
      tell(to_line(rates.back()));
    }
  const auto& best = disk::cheapest(rates, kEnough);
  tell(
      fmt::format("{:.0f} % of the highest rate, or more, with the fewest bytes under way: {} bytes, depth "
                  "{}: {:.3f} GB/s\n",
                  kEnough * 100, best.pattern.block_bytes, best.pattern.depth, best.bytes_per_s() * 1e-9));
  if (options.json_path.empty()) return;
  nlohmann::json rows = nlohmann::json::array();
  for (const auto& rate : rates) rows.push_back(to_json(rate));
  const nlohmann::json report{{"folders", options.folders},       {"order", options.order},
                              {"file_bytes", probe.bytes()},      {"direct", probe.direct()},
                              {"io_uring", probe.asynchronous()}, {"rows", rows},
                              {"enough", to_json(best)}};
  write_whole(options.json_path, report::json_text(report, 2) + "\n");
}

}  // namespace

void add_diskbench(CLI::App& app) {
  auto options = std::make_shared<DiskbenchOptions>();
  CLI::App* command =
      app.add_subcommand("diskbench", "how fast disks read, by block size and by reads under way");
  writes(command->add_option(
             "folders", options->folders,
             "measure the disks of these folders together; each gets a file that goes with the run"),
         Form::folder, no_names);
  command->option_defaults()->group("Measurement");
  add(*command, opt::read_sizes, options->blocks)->delimiter(',')->default_str("4k,64k,256k,1M");
  add(*command, opt::depths, options->depths)->delimiter(',')->default_str("1,4,16,64");
  add(*command, opt::places, options->order);
  add(*command, opt::file_size, options->bytes)->default_str("256M");
  add(*command, opt::seconds, options->seconds);
  add_report_options(*command, options->json_path, "rows");
  command->callback([options] { run(*options); });
}

}  // namespace edgewire::cli
