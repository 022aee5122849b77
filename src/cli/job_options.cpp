#include "cli/job_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "base/control_group.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "base/nearest.h"
#include "base/quiet.h"
#include "cli/common.h"
#include "cli/files.h"
#include "cli/suggest.h"
#include "dense/plan/volume.h"
#include "launch/packing.h"
#include "perf/trace.h"
#include "process/settle.h"

namespace edgewire::cli {

CLI::Validator between(double least, double most) {
  return {[least, most](std::string& text) {
            double value = 0;
            const bool is_number = CLI::detail::lexical_cast(text, value);
            return is_number && value >= least && value <= most
                       ? std::string()
                       : fmt::format("{} is not a number from {} to {}", text, least, most);
          },
          fmt::format("{} to {}", least, most)};
}

CLI::Validator one_of(std::vector<std::string> words,
                      std::function<std::string(const std::string& word)> hint) {
  const std::string description = fmt::format("{{{}}}", fmt::join(words, ","));
  return {[words = std::move(words), hint = std::move(hint)](const std::string& word) {
            if (std::ranges::find(words, word) != words.end()) return std::string();
            std::string meant = hint ? hint(word) : "";
            if (meant.empty()) meant = did_you_mean(nearest(word, words));
            return fmt::format("{} is not one of {}{}", word, list_of(words),
                               meant.empty() ? "" : "; " + meant);
          },
          description};
}

CLI::Validator sizes() {
  return {[](std::string& text) {
            constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 60;
            constexpr std::string_view kUnits = "kmgtp";
            const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
            std::uint64_t bytes = 0;
            const bool is_number =
                std::from_chars(text.data(), text.data() + digits, bytes).ec == std::errc{};
            std::string unit = CLI::detail::to_lower(text.substr(digits));
            std::size_t power = unit.empty() ? kUnits.npos : kUnits.find(unit[0]);
            power = power == kUnits.npos ? 0 : power + 1;
            if (power > 0) unit.erase(0, 1);
            const bool is_unit = unit.empty() || unit == "b" || (power > 0 && (unit == "i" || unit == "ib"));
            if (!is_number || !is_unit || bytes > kMostBytes >> 10 * power)
              return fmt::format("{} is not a number of bytes up to 1024P, such as 512M or 4G", text);
            text = std::to_string(bytes << 10 * power);
            return std::string();
          },
          ""};
}

CLI::Option* add_choice(CLI::App& command, const std::string& name, std::string& value,
                        const std::string& help, const std::vector<std::string>& words) {
  return add_checked(command, name, value, help, one_of(words));
}

CLI::Option* add_quiet_option(CLI::App& command) {
  return command.add_flag_callback("-q,--quiet", be_quiet,
                                   "print nothing but outputs that go to stdout, and on stderr only errors");
}

CLI::Option* add_report_options(CLI::App& command, std::string& path, const std::string& what) {
  writes(
      command.add_option("--json", path, fmt::format("write the {} to this file as JSON; - is stdout", what)),
      Form::text);
  return add_quiet_option(command);
}

CLI::Validator memory_range() { return whole(std::uint64_t{1}, std::uint64_t{1} << 60); }

void warn_on_stderr(const std::string& line) { note("warning: " + line); }

std::uint64_t usual_share(std::uint64_t available_bytes, int processes_of_host) noexcept {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20, kUsual = 1024 * kMiB;
  const std::uint64_t share = available_bytes / static_cast<std::uint64_t>(processes_of_host) / 4 * 3;
  return std::min(kUsual, share / kMiB * kMiB);
}

std::uint64_t usual_memory(launch::Bootstrap& bootstrap, std::uint64_t least) {
  const auto mine = usual_share(available_memory(), bootstrap.local_size());
  return std::max(least, launch::allreduce(bootstrap, mine, std::ranges::min));
}

void add_launch_options(CLI::App& command, launch::LaunchOptions& launch) {
  command.parse_complete_callback([&] { launch.alike = alike(command); });
  command.option_defaults()->group("Processes");
  command.add_option("-p,--processes", launch.processes, "start this many processes on this machine")
      ->capture_default_str();
  command.add_flag("--local-hosts", launch.local_hosts,
                   "give each process a host of its own: a network namespace of this machine (needs root)");
  command
      .add_option_function<std::string>(
          "--rate",
          [&launch](const std::string& text) { launch.link_bits_per_s = plan::line_rate_bits(text); },
          "shape the links of --local-hosts to this line rate in bit/s, such as 1G; by default they are not "
          "shaped")
      ->type_name("RATE");
  reads(command.add_option("--hosts", launch.hosts_file,
                           "run on the hosts of this list: line i is address[:port] of rank i"),
        itself, "EDGEWIRE_HOSTS");
  command.add_option("--rank", launch.rank, "this process has this line of the host list, counted from 0");
  reads(command.add_option("--secret-file", launch.secret_file,
                           "read the secret that the processes of a host list share from this file"),
        itself, "EDGEWIRE_SECRET_FILE");
  command.add_option("--port", launch.port, "use this TCP port where the host list names none")
      ->check(whole(1, 65535));
  add_checked(command, "--peer-timeout", launch.peer_timeout_s,
              "give up a process that has been silent for this many seconds", between(0.1, 86400));
  add_checked(command, "--start-timeout", launch.start_timeout_s,
              "wait this many seconds for all processes of a host list or launcher to start",
              between(0.1, 86400));
  add_choice(command, "--launcher", launch.launcher,
             "auto joins the processes that srun or mpirun started; none does not", {"auto", "none"});
  command.add_option(
      "--interface", launch.interface,
      "use this network interface, or network such as 10.0.0.0/24, between hosts; of several (a,b) each "
      "process of a host takes one near its cores");
}

namespace {

void add_verbs_options(CLI::App& command, transport::VerbsChoice& verbs) {
  command.add_option(
      "--verbs-device", verbs.device,
      "use this RDMA device, NAME[:PORT[:GID_INDEX]], or several (a,b) that share the workers' traffic; by "
      "default the nearest one, and RoCE v2");
  command
      .add_option(
          "--verbs-traffic-class", verbs.traffic_class,
          "mark RoCE packets with this traffic class (DSCP times 4), by which switches choose a queue")
      ->check(whole(0, 255));
  add_choice(command, "--verbs-memory", verbs.memory,
             "pin memory for the card, or let the card page it in (on-demand); auto pins, and pages in where "
             "pinning fails",
             {"auto", "pinned", "on-demand"});
  command
      .add_option_function<std::string>(
          "--verbs-progress", [&verbs](const std::string& who) { verbs.progress_thread = who == "thread"; },
          "who takes completions: the workers while they wait, or a thread of its own, on a spare core where "
          "there is one")
      ->check(one_of({"worker", "thread"}))
      ->default_str("worker");
  command.add_flag("!--verbs-no-immediates", verbs.immediates)->group("");  // for tests
}

void add_dpdk_options(CLI::App& command, transport::DpdkChoice& dpdk) {
  command.add_option("--dpdk-port", dpdk.port,
                     "use this port: a PCI address[,mtu=BYTES], or a virtual device such as "
                     "net_af_packet0,iface=eth0; several processes of a host need a list, divided by ;");
  command.add_option(
      "--dpdk-udp", dpdk.udp,
      "put frames into IPv4 and UDP, so that they pass routers and are spread over queues, from this "
      "address: ADDRESS[/PREFIX][@MAC of the gateway], auto, or a list");
  command.add_option("--dpdk-args", dpdk.args, "hand these arguments to DPDK (EAL), all in one word");
  command
      .add_option_function<std::string>(
          "--dpdk-rate", [&dpdk](const std::string& text) { dpdk.bits_per_s = plan::line_rate_bits(text); },
          "send no faster than this many bit/s, such as 10G; by default as fast as the port's link")
      ->type_name("RATE");
  command.add_option("--dpdk-faults", dpdk.faults)->group("");  // for tests
}

}  // namespace

void add_transport_options(CLI::App& command, process::ProcessOptions& process) {
  command.option_defaults()->group("Transport");
  add_choice(command, "--transport", process.transport,
             "send by shared memory (shm), TCP, RDMA (verbs) or Ethernet frames (dpdk); auto takes shm "
             "inside a host and the fastest that all hosts have between hosts",
             {"auto", "shm", "tcp", "verbs", "dpdk"});
  command
      .add_option_function<std::string>(
          "--integrity", [&process](const std::string& word) { process.integrity = word == "on"; },
          "check all that arrives over TCP by a CRC-32C, and end the run when bytes were changed on their "
          "way; "
          "off saves some time. Messages that control the run are always checked")
      ->check(one_of({"on", "off"}))
      ->default_str("on");
  add_verbs_options(command, process.verbs);
  add_dpdk_options(command, process.dpdk);
}

void JobOptions::add_to(CLI::App& command) {
  add_launch_options(command, launch);
  command.parse_complete_callback([&] {
    const CLI::Option* interval = command.get_option_no_throw("--sample-interval");
    if (interval != nullptr && interval->count() > 0 && !profiled())
      throw UsageError("--sample-interval is of a profile: say --profile, --profile-page or --trace, too");
    launch.alike = alike(command);
  });
  if (command.get_option_no_throw("--workers") == nullptr) add_workers_option(command, process_asked.workers);
  add_transport_options(command, process_asked);
}

void add_workers_option(CLI::App& command, int& workers) {
  command
      .add_option("-w,--workers", workers,
                  "this many workers (threads) in each process; by default one for each core, shared out "
                  "among the processes of a host")
      ->check(whole(1, 1024));
}

process::ProcessOptions JobOptions::process(launch::Bootstrap& bootstrap) const {
  auto asked = process_asked;
  asked.peer_timeout_s = launch.peer_timeout_s;
  asked.warn = warn_on_stderr;
  return process::settle(asked, bootstrap);
}

void add_profile_options(CLI::App& command, JobOptions& options) {
  command.option_defaults()->group("Profile");
  command.add_flag("--profile", options.profile, "say where the time went, and what limited the run");
  writes(command.add_option("--profile-page", options.profile_path,
                            "say the same on an HTML page with charts, in this file"),
         Form::text);
  writes(
      command.add_option("--trace", options.trace_path,
                         "write what workers and chunks did to this file, as JSON for trace viewers (Chrome, "
                         "Perfetto); .json.gz is compressed"),
      Form::text);
  add_checked(command, "--sample-interval", options.sample_interval_s,
              "look at the machine every so many seconds", between(0.01, 3600));
}

perf::ProfileOptions profile_options(const JobOptions& options, const perf::Words& words) {
  const std::chrono::duration<double> interval(options.sample_interval_s);
  perf::ProfileOptions asked;
  asked.sample_interval = std::chrono::duration_cast<std::chrono::milliseconds>(interval);
  asked.given_bits_per_s = static_cast<double>(options.launch.link_bits_per_s);
  asked.words = words;
  return asked;
}

void check_profile_files(const JobOptions& options) {
  check_writable(options.profile_path);
  check_writable(options.trace_path);
}

void write_profile_files(const report::JobReport& report, const JobOptions& options,
                         const std::string& title) {
  if (!report.profile) return;
  if (!options.profile_path.empty())
    write_whole(options.profile_path, report.profile->to_html(title, report.describe()));
  if (!options.trace_path.empty()) write_whole(options.trace_path, perf::to_trace(*report.profile));
}

void run_job(const launch::LaunchOptions& options, const std::function<void(launch::Bootstrap&)>& body) {
  const int status = launch::run(options, [&](launch::Bootstrap& bootstrap) {
    try {
      body(bootstrap);
    } catch (...) {
      refuse_changed_files();
      throw;
    }
  });
  if (status != 0) throw CLI::RuntimeError(status);
}

void run_job_into(const std::string& folder, OutputFolder::Parents parents, launch::LaunchOptions options,
                  const std::function<void(launch::Bootstrap&)>& body) {
  OutputFolder of_parent(folder, parents);
  options.before_fork = [&] { of_parent.make(); };
  run_job(options, body);
}

}  // namespace edgewire::cli
