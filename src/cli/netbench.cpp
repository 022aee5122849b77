// This file has edgewire netbench, which measures a transport between two processes.
#include "perf/netbench/netbench.h"

#include <fmt/core.h>

#include <cstdlib>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/job_options.h"
#include "cli/option.h"
#include "launch/launcher.h"
#include "options/measures.h"
#include "process/interrupt.h"
#include "process/settle.h"
#include "report/progress.h"

namespace edgewire::cli {

namespace {

constexpr std::size_t kLargestBytes = 1 << 23;  ///< largest size when none are named

struct Arguments {
  launch::StartOptions launch;
  perf::NetbenchOptions bench;
  std::string test = "all";
  std::string json_path;
};

void run(launch::Bootstrap& bootstrap, const Arguments& arguments) {
  perf::check_two_processes(bootstrap);
  auto options = arguments.bench;
  options.process.warn = warn_on_stderr;
  options.process = process::settle(options.process, bootstrap);
  if (bootstrap.rank() == 0) check_writable(arguments.json_path);
  std::optional<process::InterruptLine> interrupt_line;
  std::optional<report::Ticker> ticker;
  if (bootstrap.rank() == 0) {
    interrupt_line.emplace();
    ticker.emplace(process::InterruptLine::listen_if_shown(report::progress_on_terminal()));
    options.progress = process::InterruptLine::listen([&](const Step& step) { ticker->tell(step); });
  }
  std::string section;
  const auto show_row = [&](const perf::NetbenchRow& row) {
    ticker->tell({});  // makes room for the row
    if (arguments.json_path == "-") return;
    if (section != perf::to_name(row.test)) {
      show(fmt::format("{}{}\n{}\n", section.empty() ? "" : "\n", perf::to_title(row.test, options),
                       perf::to_heading(row.test)));
      section = perf::to_name(row.test);
    }
    show(perf::to_text(row) + "\n");
  };
  const auto rows = perf::netbench(bootstrap, options, show_row);
  ticker.reset();
  interrupt_line.reset();
  if (bootstrap.rank() == 0 && !arguments.json_path.empty())
    write_whole(arguments.json_path, perf::to_json(rows, options));
}

}  // namespace

void add_netbench(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  auto& bench = arguments->bench;
  CLI::App* command = app.add_subcommand(
      "netbench", "bandwidth, message rate and latency of a transport between two processes");
  arguments->launch.processes = 2;
  add_launch_options(*command, arguments->launch);
  add_transport_options(*command, bench.process);
  command->option_defaults()->group("Measurement");
  add(*command, opt::sizes, bench.sizes)->delimiter(',');
  add(*command, opt::test, arguments->test);
  CLI::Option* const seconds = add(*command, opt::seconds, bench.seconds);
  add(*command, opt::messages, bench.count)->excludes(seconds);
  add(*command, opt::lanes, bench.process.workers);
  add(*command, opt::bidirectional, bench.bidirectional);
  add(*command, opt::busy_poll, bench.busy_poll);
  add_report_options(*command, arguments->json_path, "rows");
  command->callback([arguments, command] {
    using perf::NetbenchTest;
    auto& asked = arguments->bench;
    for (const auto test : {NetbenchTest::bandwidth, NetbenchTest::rate, NetbenchTest::latency})
      if (arguments->test == "all" || arguments->test == perf::to_name(test)) asked.tests.push_back(test);
    if (asked.sizes.empty())
      for (std::size_t bytes = 2; bytes <= kLargestBytes; bytes *= 2) asked.sizes.push_back(bytes);
    asked.process.peer_timeout_s = arguments->launch.peer_timeout_s;
    asked.check();
    // The default is for processes of this machine: a host list or a launcher has its own number.
    auto& launch = arguments->launch;
    const bool listed = !launch.hosts_file.empty() || std::getenv("EDGEWIRE_HOSTS") != nullptr;
    const bool launched = launch.join_launcher && !launch.local_hosts && launch::find_launcher();
    if (command->count("--processes") == 0 && (listed || launched)) launch.processes = 1;
    run_job(arguments->launch, [&](launch::Bootstrap& bootstrap) { run(bootstrap, *arguments); });
  });
}

}  // namespace edgewire::cli
