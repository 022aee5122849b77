#include "cli/job_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include "base/control_group.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "cli/common.h"
#include "cli/files.h"
#include "launch/packing.h"
#include "options/jobs.h"
#include "process/settle.h"

namespace edgewire::cli {

namespace {

/// Returns the text that is compared. Numbers are compared by their value. A file is only called "a file",
/// since it may have another path on another host.
std::string comparable(const CLI::Option& option, const std::string& value) {
  if (value.find('/') != value.npos || names_files(&option, value)) return "a file";
  double number = 0;
  const auto [end, bad] = std::from_chars(value.data(), value.data() + value.size(), number);
  return bad == std::errc() && end == value.data() + value.size() ? fmt::format("{}", number) : value;
}

std::string given_or_default(const CLI::Option& option) {
  if (option.count() == 0) {
    const std::string value = option.get_default_str();
    return value.empty() ? value : comparable(option, value);
  }
  std::string text;
  for (const std::string& one : option.results()) text += (text.empty() ? "" : ",") + comparable(option, one);
  return text == "false" ? "" : text;
}

/// Returns whether the command is profiled: rank 0 alone shows a profile, but all processes measure for it.
bool is_profiled(const CLI::App& command) {
  return std::ranges::any_of(std::array{"--profile", "--profile-page", "--trace"}, [&](const char* name) {
    const CLI::Option* option = command.get_option_no_throw(name);
    return option != nullptr && option->count() > 0;
  });
}

}  // namespace

std::vector<launch::Fact> alike(const CLI::App& command) {
  std::string name = command.get_name();
  const CLI::App* parent = command.get_parent();
  if (parent != nullptr && parent->get_parent() != nullptr) name = parent->get_name() + " " + name;
  std::vector<launch::Fact> facts{{"the command", name}, {"the version", EDGEWIRE_VERSION}};
  facts.push_back({"--profile, --profile-page or --trace", is_profiled(command) ? "given" : ""});
  for (const CLI::Option* option : command.get_options()) {
    const options::Option* const row = row_of(option);
    if (!option->get_positional() && (row == nullptr || row->scope == options::Scope::job))
      facts.push_back({option->get_name(), given_or_default(*option)});
  }
  return facts;
}

CLI::Option* add_quiet_option(CLI::App& command) {
  const auto set = [](std::int64_t) { be_quiet(); };
  return describe(command.add_flag_function(names_of(opt::quiet), set), opt::quiet);
}

CLI::Option* add_report_options(CLI::App& command, std::string& path, const std::string& what) {
  writes(add(command, opt::json, path, fmt::format("write the {} to this file as JSON; - is stdout", what)),
         Form::text);
  return add_quiet_option(command);
}

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

void add_launch_options(CLI::App& command, launch::StartOptions& launch) {
  command.parse_complete_callback([&] { launch.alike = alike(command); });
  command.option_defaults()->group("Processes");
  add(command, opt::processes, launch.processes);
  add(command, opt::local_hosts, launch.local_hosts);
  add_rate(command, opt::rate, launch.link_bits_per_s);
  reads(add(command, opt::hosts, launch.hosts_file), itself, "EDGEWIRE_HOSTS");
  add(command, opt::rank, launch.rank);
  reads(add(command, opt::secret_file, launch.secret_file), itself, "EDGEWIRE_SECRET_FILE");
  add(command, opt::port, launch.port);
  add(command, opt::peer_timeout, launch.peer_timeout_s);
  add(command, opt::start_timeout, launch.start_timeout_s);
  add(command, opt::launcher, launch.join_launcher);
  add(command, opt::interface, launch.interface);
}

void add_transport_options(CLI::App& command, process::ProcessOptions& process) {
  command.option_defaults()->group("Transport");
  add(command, opt::transport, process.transport);
  add(command, opt::integrity, process.integrity);
  add(command, opt::verbs_device, process.verbs.device);
  add(command, opt::verbs_traffic_class, process.verbs.traffic_class);
  add(command, opt::verbs_memory, process.verbs.memory);
  add(command, opt::verbs_progress, process.verbs.progress_thread);
  command.add_flag("!--verbs-no-immediates", process.verbs.immediates)->group("");  // for tests
  add(command, opt::dpdk_port, process.dpdk.port);
  add(command, opt::dpdk_udp, process.dpdk.udp);
  add(command, opt::dpdk_args, process.dpdk.args);
  add_rate(command, opt::dpdk_rate, process.dpdk.bits_per_s);
  add(command, opt::dpdk_faults, process.dpdk.faults)->group("");
}

void JobOptions::add_to(CLI::App& command) {
  add_launch_options(command, launch);
  command.parse_complete_callback([&] {
    const CLI::Option* interval = command.get_option_no_throw("--sample-interval");
    if (interval != nullptr && interval->count() > 0 && !profiled())
      throw UsageError(
          "--sample-interval belongs to a profile: give --profile, --profile-page or --trace, too");
    launch.alike = alike(command);
  });
  if (command.get_option_no_throw("--workers") == nullptr) add(command, opt::workers, process_asked.workers);
  add_transport_options(command, process_asked);
}

process::ProcessOptions JobOptions::process(launch::Bootstrap& bootstrap) const {
  auto asked = process_asked;
  asked.peer_timeout_s = launch.peer_timeout_s;
  asked.warn = warn_on_stderr;
  return process::settle(asked, bootstrap);
}

void add_profile_options(CLI::App& command, JobOptions& options) {
  command.option_defaults()->group("Profile");
  add(command, opt::profile, options.profile);
  writes(add(command, opt::profile_page, options.profile_path), Form::text);
  writes(add(command, opt::trace, options.trace_path), Form::text);
  add(command, opt::sample_interval, options.sample_interval_s);
}

profile::ProfileOptions profile_options(const JobOptions& options, const profile::Words& words) {
  const std::chrono::duration<double> interval(options.sample_interval_s);
  profile::ProfileOptions asked;
  asked.sample_interval = std::chrono::duration_cast<std::chrono::milliseconds>(interval);
  asked.given_bits_per_s = static_cast<double>(options.launch.link_bits_per_s);
  asked.words = words;
  return asked;
}

void check_report_files(const JobOptions& options) {
  check_writable(options.json_path);
  check_writable(options.profile_path);
  check_writable(options.trace_path);
}

void write_profile_files(const report::JobReport& report, const JobOptions& options,
                         const std::string& title) {
  if (!report.profile) return;
  if (!options.profile_path.empty())
    write_whole(options.profile_path, report.profile->to_html(title, report.describe()));
  if (!options.trace_path.empty()) write_whole(options.trace_path, profile::to_trace(*report.profile));
}

void run_job(const launch::StartOptions& options, const std::function<void(launch::Bootstrap&)>& body) {
  const int status = launch::start(options, [&](launch::Bootstrap& bootstrap) {
    try {
      body(bootstrap);
    } catch (...) {
      refuse_changed_files();
      throw;
    }
  });
  if (status != 0) throw CLI::RuntimeError(status);
}

void run_job_into(const std::string& folder, OutputFolder::Parents parents, launch::StartOptions options,
                  const std::function<void(launch::Bootstrap&)>& body) {
  OutputFolder of_parent(folder, parents);
  options.before_fork = [&] { of_parent.make(); };
  run_job(options, body);
}

}  // namespace edgewire::cli
