#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "bounds/bound.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/files.h"
#include "cli/graph_files.h"
#include "cli/job_options.h"
#include "cli/kernel_options.h"
#include "cli/option.h"
#include "cli/program.h"
#include "dense/plan/volume.h"
#include "edgewire/graph.h"
#include "launch/hosts.h"
#include "launch/launcher.h"
#include "launch/local_hosts.h"
#include "options/jobs.h"
#include "options/kernels.h"
#include "options/measures.h"
#include "perf/compare/compare.h"
#include "perf/compare/runs.h"

namespace edgewire::cli {

namespace {

/// What is compared, as it is typed, and where the runs are.
struct CompareArguments : perf::CompareSettings {
  launch::StartOptions launch;
  Reading reading;
  std::string processes, rates, interfaces;
  std::string workers = "1", transports = "tcp", strategies = "worker,process,slots,cover";
  std::string ownership = "hash";
  Layout layout = Layout::automatic;
  Wire wire = Wire::f32;
  int repeat = 3;
  std::string html_path, json_path, csv_path;

  bool local() const { return launch.hosts_file.empty(); }
};

/// Returns the file that a word of the kernel's options may name: @FILE, --option=FILE or FILE.
std::vector<NamedFile> files_in(const std::string& word) {
  std::string path =
      word.starts_with('-') ? word.substr(std::min(word.find('='), word.size() - 1) + 1) : word;
  if (path.starts_with('@')) path.erase(0, 1);
  if (path.empty() || path == "-") return {};
  return {{path}};
}

/// Returns the line rate of a network card, as the kernel knows it.
std::string rate_of(const std::string& interface) {
  long megabits = 0;
  std::ifstream file(fmt::format("/sys/class/net/{}/speed", interface));
  if (interface.find('/') != std::string::npos || !(file >> megabits) || megabits <= 0)
    throw UsageError(fmt::format(
        "--interface: the line rate of {} is not known here: give one --rate for each interface", interface));
  return fmt::format("{}M", megabits);
}

std::vector<perf::Matrix::Link> links_of(const CompareArguments& arguments) {
  std::vector<std::string> rates, interfaces;
  if (!arguments.rates.empty()) rates = split(arguments.rates, "--rate");
  if (!arguments.interfaces.empty()) interfaces = split(arguments.interfaces, "--interface");
  if (arguments.local() && !interfaces.empty()) throw UsageError("--interface is for a host list (--hosts)");
  if (interfaces.empty() && rates.empty()) rates = {"1G", "10G"};
  if (interfaces.empty() && !arguments.local() && rates.size() > 1)
    throw UsageError(
        "--rate: the links of a host list are what they are: give one rate, or one for each --interface");
  if (!interfaces.empty() && !rates.empty() && rates.size() != interfaces.size())
    throw UsageError(fmt::format("--rate: {} rates for {} interfaces", rates.size(), interfaces.size()));
  if (rates.empty()) std::ranges::transform(interfaces, std::back_inserter(rates), rate_of);
  interfaces.resize(rates.size());
  std::vector<perf::Matrix::Link> links;
  for (std::size_t i = 0; i < rates.size(); ++i)
    links.push_back({rates[i], plan::line_rate_bits(rates[i]), interfaces[i]});
  return links;
}

std::vector<int> processes_of(const CompareArguments& arguments) {
  const std::string& file = arguments.launch.hosts_file;
  const int hosts = arguments.local() ? 0 : static_cast<int>(launch::read_hosts(file, 1).size());
  std::vector<int> processes;
  if (hosts > 0) processes = {hosts};
  if (hosts == 0 && arguments.processes.empty()) processes = {1, 2};
  if (!arguments.processes.empty())
    for (const auto& item : split(arguments.processes, "--processes")) {
      const int p = whole_number(item, 1, hosts > 0 ? 4096 : launch::kMaxLocalHosts, "--processes");
      if (hosts > 0 && p != 1 && p != hosts)
        throw UsageError(fmt::format("--processes {}: {} lists {} hosts; a comparison runs on all of them", p,
                                     file, hosts));
      if (hosts == 0) processes.push_back(p);
    }
  if (std::ranges::all_of(processes, [](int p) { return p == 1; }))
    throw UsageError("--processes: nothing to compare with one process; say 2 or more");
  return processes;
}

/// Returns the numbers that are more than one: nobody else has a share of what one process owns.
std::vector<int> several(std::vector<int> processes) {
  std::erase(processes, 1);
  return processes;
}

perf::Matrix matrix_of(const CompareArguments& arguments) {
  perf::Matrix matrix;
  matrix.processes = processes_of(arguments);
  for (const auto& item : split(arguments.workers, "--workers"))
    matrix.workers.push_back(whole_number(item, 1, 1024, "--workers"));
  matrix.transports = split(arguments.transports, "--transport");
  for (const auto& transport : matrix.transports) check_word(opt::transport, transport);
  if (arguments.dense())
    for (const auto& item : split(arguments.strategies, "--strategy"))
      matrix.strategies.push_back(plan::strategy_from(item));
  matrix.links = links_of(arguments);
  matrix.loopback = arguments.local() && arguments.dense();
  matrix.ownerships = split(arguments.ownership, "--ownership");
  bounds::check_ownerships(matrix.ownerships, several(matrix.processes), true);
  const auto cells = perf::cells_of(matrix);
  if (std::ranges::none_of(cells, [](const perf::Cell& cell) { return cell.processes > 1; }))
    throw UsageError("--strategy: nothing remains to compare: " + perf::left_out(matrix));
  return matrix;
}

/// These are options of runs that compare answers for, although it has none of that name.
constexpr std::array kOfCompare{
    std::pair{"--launcher", "compare starts the processes"},
    std::pair{"--local-hosts", "compare does so without a host list"},
    std::pair{"--start-timeout", "compare gives its runs ten minutes"},
    std::pair{"--output-parts --checkpoint --every", "compare keeps no results"},
    std::pair{"--resume", "compare starts each run anew"},
    std::pair{"--verbose -v", "compare shows no reports of runs"},
    std::pair{"--profile-page --trace", "each run would write over that of the one before"},
    std::pair{"--direction", "compare follows edges as the file has them"},
};

/// Throws UsageError where the words behind -- are no options of the kernel, or ones that compare sets.
void check_kernel_options(const CLI::App& command, const CompareArguments& arguments) {
  const auto& words = arguments.kernel_options;
  if (!words.empty() && !words[0].starts_with('-'))
    throw UsageError(
        fmt::format("compare reads one graph, {}: {} is too many, and options of {} begin with -",
                    arguments.graph, words[0], arguments.kernel));
  for (const std::string& word : words) {
    if (word == "--") throw UsageError("-- stands once, before the options of the kernel");
    if (word.size() < 2 || word[0] != '-' || std::isdigit(static_cast<unsigned char>(word[1])) != 0) continue;
    const std::string name = word[1] == '-' ? word.substr(0, word.find('=')) : word.substr(0, 2);
    if (command.get_option_no_throw(name) != nullptr)
      throw UsageError(fmt::format("{} is an option of compare, for all runs: write it before --", name));
    for (const auto& [names, why] : kOfCompare)
      if (options::has_word(names, name))
        throw UsageError(fmt::format("{}: {}: leave it out behind --", name, why));
  }
}

/// Throws UsageError for options of compare that the kernel does not have.
void check_kernel(const CLI::App& command, const CLI::App& of_kernel, const CompareArguments& arguments) {
  for (const char* option : {"--strategy", "--layout", "--wire", "--iterations"})
    if (command.count(option) > 0 && of_kernel.get_option_no_throw(option) == nullptr)
      throw UsageError(fmt::format("{}: {} has no such option: leave it out", option, arguments.kernel));
  if (!arguments.dense())
    kernels::check_frontier_ownerships(arguments.kernel, split(arguments.ownership, "--ownership"));
}

/// Sets what a cell wants of a run.
void set(KernelOptions& asked, const CompareArguments& arguments, const perf::Cell& cell, int iterations) {
  const bool several = cell.processes > 1;
  launch::StartOptions& launch = asked.launch;
  launch.processes = cell.processes;
  launch.join_launcher = several && !arguments.local();
  asked.process_asked.workers = cell.workers;
  asked.common.layout = arguments.layout;
  if (asked.set_iterations) asked.set_iterations(iterations);
  if (!several) unsetenv("EDGEWIRE_HOSTS");  // they are of the other runs
  if (!several) return;
  asked.process_asked.transport = cell.transport;
  asked.common.ownership = cell.ownership;
  asked.common.wire = arguments.wire;
  if (cell.strategy) asked.common.strategy = meant_by<Strategy>(opt::strategy, cell.strategy_name());
  launch.local_hosts = arguments.local() && !cell.loopback();
  if (launch.local_hosts) launch.link_bits_per_s = cell.link.bits_per_s;
  if (arguments.local()) return;
  const launch::StartOptions& list = arguments.launch;
  launch.hosts_file = list.hosts_file;
  launch.rank = list.rank;
  launch.secret_file = list.secret_file;
  launch.port = list.port;
  launch.interface = cell.link.interface;
  launch.start_timeout_s = 600;  // others may still be at a run that this host is through with
  launch.alike.insert(launch.alike.begin(), list.alike.begin(), list.alike.end());
}

/// Makes the runs. Returns nothing where another rank has the results.
std::optional<perf::Comparison> compare(const CompareArguments& arguments, const perf::Matrix& matrix,
                                        KernelOptions& asked, const MakeKernel& make) {
  const auto graph = open_graph(arguments.graph, arguments.reading);
  bounds::check_partition_files(matrix.ownerships, several(matrix.processes), graph.file.vertices());
  make(graph.file);  // says before the first run what is wrong
  const auto run_cell = [&](const perf::Cell& cell, int iterations, const perf::TakeReport& take) {
    return status_of([&] {  // of a child: the next run finds the options as they were
      be_quiet(false);      // its notes are those of the comparison
      asked.take_report = take;
      set(asked, arguments, cell, iterations);
      asked.check();
      run_on(graph, asked, make);
    });
  };
  perf::CompareRuns runs(arguments, matrix, graph.file, run_cell);
  try {
    if (!runs.run(arguments.repeat)) return {};
  } catch (const perf::RunFailed& failed) {
    throw CLI::RuntimeError(failed.status);
  }
  return runs.result();
}

/// Compares a kernel, and writes what it found.
void run(const CompareArguments& arguments, KernelOptions& asked, const MakeKernel& make) {
  const auto outputs = {arguments.html_path, arguments.json_path, arguments.csv_path};
  std::ranges::for_each(outputs, check_writable);
  const perf::Matrix matrix = matrix_of(arguments);
  // Each copy would compare on its own, all at once.
  if (const auto launcher = launch::find_launcher(); launcher && arguments.local())
    throw UsageError(
        fmt::format("compare cannot run under {}: start it once, or on every host with --hosts and --rank",
                    launcher->name));
  if (arguments.local() && geteuid() != 0)
    throw Error(
        "compare needs root for local hosts with shaped links; without root: real hosts (--hosts, --rank), "
        "`edgewire bound --rate`, or `edgewire pagerank -p 2 --transport tcp`");
  const auto comparison = compare(arguments, matrix, asked, make);
  if (!comparison) return;
  if (!arguments.json_path.empty()) write_whole(arguments.json_path, perf::to_json(*comparison));
  if (!arguments.csv_path.empty()) write_whole(arguments.csv_path, perf::to_csv(*comparison));
  if (!arguments.html_path.empty()) write_whole(arguments.html_path, perf::to_html(*comparison));
  if (std::ranges::count(outputs, "-") == 0) show(perf::to_text(*comparison));
}

}  // namespace

void add_compare(CLI::App& app) {
  auto* command = app.add_subcommand(
      "compare",
      "run a kernel over several links and strategies, interleaved and repeated; say how near each came to "
      "what its link allows, and what was predicted");
  command->footer(
      "Without a host list the hosts are network namespaces of this machine (root); with one, every host "
      "runs the same command and rank 0 reports. What is compared is the time of an iteration of pagerank, "
      "ppr and spmv, and the time of the kernel of all others, which send records: these have no strategies, "
      "and no predictions.");
  auto arguments = std::make_shared<CompareArguments>();
  auto& a = *arguments;
  a.iterations = 20;
  add_graph_input(*command, a.graph, a.reading);
  add_kernel_name(*command, a.kernel, "what is run");
  add(*command, opt::bound_processes, a.processes,
      "numbers of processes (default: 1,2, or the hosts of the list); 1 is always run");
  add(*command, opt::bound_workers, a.workers, "numbers of workers (threads) in each process");
  add(*command, opt::rates, a.rates,
      "line rates of the links, as 100M, 2.5G (default: 1G,10G); of a host list: what they are");
  add(*command, opt::interface, a.interfaces,
      "of a host list: network interfaces to compare, of the same name on every host");
  const std::string dense = kernels_with(&kernels::Descriptor::dense);
  add(*command, opt::strategies, a.strategies, fmt::format("of {}: what is sent", dense));
  add(*command, opt::compared_transports, a.transports);
  reads(add(*command, opt::ownerships, a.ownership,
            "who owns a vertex, or (hilbert, grid) an edge: several with commas between them, partition "
            "files, too, {} in the name standing for the number of processes"),
        [&a](const std::string& list) { return partition_files_of(list, several(processes_of(a))); });
  add_choice(*command, opt::layout, a.layout, {Layout::automatic, Layout::given, Layout::degree},
             fmt::format("of {}: order of a process's vertices", dense));
  add_choice(*command, opt::wire, a.wire, {Wire::f32, Wire::bf16, Wire::f16, Wire::u16},
             "pagerank: how values travel");
  add(*command, opt::compare_repeat, a.repeat);
  add(*command, opt::iterations, a.iterations,
      "of each run of " + kernels_with(&kernels::Descriptor::has_iterations));
  reads(add(*command, opt::hosts, a.launch.hosts_file)->envname("EDGEWIRE_HOSTS"));
  add(*command, opt::rank, a.launch.rank);
  reads(add(*command, opt::secret_file, a.launch.secret_file), itself, "EDGEWIRE_SECRET_FILE");
  add(*command, opt::port, a.launch.port);
  writes(add(*command, opt::output, a.html_path, "write a page with tables and charts (HTML)"), Form::text);
  add_report_options(*command, a.json_path, "rows");
  writes(add(*command, opt::csv, a.csv_path), Form::text);
  reads(command->add_option("options", a.kernel_options,
                            "behind --: options of the kernel, as --source 5; they are passed on"),
        files_in);
  command->callback([arguments, command] {
    auto& asked = *arguments;
    check_kernel_options(*command, asked);
    asked.local_hosts = asked.local();
    asked.launch.alike = alike(*command);
    std::vector<std::string> words{asked.kernel, asked.graph};
    words.insert(words.end(), asked.kernel_options.begin(), asked.kernel_options.end());
    run_words(words, [&](KernelOptions& of_kernel, const MakeKernel& make) {
      check_kernel(*command, *of_kernel.owner, asked);
      if (!of_kernel.set_iterations) asked.iterations = 0;
      run(asked, of_kernel, make);
    });
  });
}

}  // namespace edgewire::cli
