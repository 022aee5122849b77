// This file has edgewire diskbench, which measures how fast disks read.
#include "perf/diskbench/diskbench.h"

#include <memory>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/files.h"
#include "cli/job_options.h"
#include "cli/option.h"
#include "options/measures.h"

namespace edgewire::cli {

void add_diskbench(CLI::App& app) {
  struct Arguments {
    perf::DiskbenchOptions bench;
    std::string json_path;
  };
  auto arguments = std::make_shared<Arguments>();
  auto& bench = arguments->bench;
  CLI::App* command =
      app.add_subcommand("diskbench", "how fast disks read, by block size and by reads under way");
  writes(command->add_option(
             "folders", bench.folders,
             "measure the disks of these folders together; each gets a file that goes with the run"),
         Form::folder, no_names);
  command->option_defaults()->group("Measurement");
  add(*command, opt::read_sizes, bench.blocks)->delimiter(',')->default_str("4k,64k,256k,1M");
  add(*command, opt::depths, bench.depths)->delimiter(',')->default_str("1,4,16,64");
  add(*command, opt::places, bench.order);
  add(*command, opt::file_size, bench.file_bytes)->default_str("256M");
  add(*command, opt::seconds, bench.seconds);
  add_report_options(*command, arguments->json_path, "rows");
  command->callback([arguments] {
    const std::string& json_path = arguments->json_path;
    check_writable(json_path);
    const auto found = perf::diskbench(arguments->bench, [&](const std::string& text) {
      if (json_path != "-") show(text);
    });
    if (!json_path.empty()) write_whole(json_path, report::json_text(found, 2) + "\n");
  });
}

}  // namespace edgewire::cli
