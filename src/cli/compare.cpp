#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
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
#include "dense/plan/volume.h"
#include "edgewire/graph.h"
#include "launch/hosts.h"
#include "launch/launcher.h"
#include "options/jobs.h"
#include "options/kernels.h"
#include "options/measures.h"
#include "perf/compare/compare.h"
#include "perf/compare/runs.h"

namespace edgewire::cli {

namespace {

/// What the runs have in common, and what is compared, as it is typed.
struct CompareArguments : perf::CompareSettings {
  std::string processes, rates, interfaces;
  Reading reading;
  std::string workers = "1", transports = "tcp", strategies = "worker,process,slots,cover";
  std::string ownership = "hash";
  std::string html_path, json_path, csv_path;
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
  std::vector<perf::Matrix::Link> links;
  std::vector<std::string> rates;
  if (!arguments.rates.empty()) rates = split(arguments.rates, "--rate");
  if (arguments.interfaces.empty()) {
    if (rates.empty()) rates = {"1G", "10G"};
    if (!arguments.local() && rates.size() > 1)
      throw UsageError(
          "--rate: the links of a host list are what they are: give one rate, or one for each --interface");
    for (const auto& rate : rates) links.push_back({rate, plan::line_rate_bits(rate), {}});
    return links;
  }
  if (arguments.local()) throw UsageError("--interface is for a host list (--hosts)");
  const auto interfaces = split(arguments.interfaces, "--interface");
  if (!rates.empty() && rates.size() != interfaces.size())
    throw UsageError(fmt::format("--rate: {} rates for {} interfaces", rates.size(), interfaces.size()));
  for (std::size_t i = 0; i < interfaces.size(); ++i) {
    const std::string rate = rates.empty() ? rate_of(interfaces[i]) : rates[i];
    links.push_back({rate, plan::line_rate_bits(rate), interfaces[i]});
  }
  return links;
}

std::vector<int> processes_of(const CompareArguments& arguments) {
  std::vector<int> processes;
  if (arguments.local()) {
    const std::string list = arguments.processes.empty() ? "1,2" : arguments.processes;
    for (const auto& item : split(list, "--processes"))
      processes.push_back(whole_number(item, 1, 250, "--processes"));
  } else {
    const auto hosts = static_cast<int>(launch::read_hosts(arguments.hosts_path, 1).size());
    processes = {hosts};
    if (!arguments.processes.empty()) {
      for (const auto& item : split(arguments.processes, "--processes")) {
        if (const int p = whole_number(item, 1, 4096, "--processes"); p != 1 && p != hosts)
          throw UsageError(fmt::format("--processes {}: {} lists {} hosts; a comparison runs on all of them",
                                       p, arguments.hosts_path, hosts));
      }
    }
  }
  if (std::all_of(processes.begin(), processes.end(), [](int p) { return p == 1; }))
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
  if (kernels::descriptor_of(arguments.kernel).dense)
    for (const auto& item : split(arguments.strategies, "--strategy"))
      matrix.strategies.push_back(plan::strategy_from(item));
  matrix.links = links_of(arguments);
  matrix.loopback = arguments.local() && kernels::descriptor_of(arguments.kernel).dense;
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
    std::pair{"--output-parts", "compare keeps no results"},
    std::pair{"--checkpoint", "compare keeps no results"},
    std::pair{"--every", "compare keeps no results"},
    std::pair{"--resume", "compare starts each run anew"},
    std::pair{"--verbose", "compare shows no reports of runs"},
    std::pair{"-v", "compare shows no reports of runs"},
    std::pair{"--profile-page", "each run would write over that of the one before"},
    std::pair{"--trace", "each run would write over that of the one before"},
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
    for (const auto& [option, why] : kOfCompare)
      if (name == option) throw UsageError(fmt::format("{}: {}: leave it out behind --", name, why));
  }
}

/// Throws UsageError where the kernel needs the names of vertices, which the runs would not find.
void refuse_names(const CompareArguments& arguments) {
  const std::string& kernel = arguments.kernel;
  if (kernel != "ppr" && kernel != "spmv" && !kernels::descriptor_of(kernel).has_source) return;
  throw UsageError(
      fmt::format("{0}: the runs would not find the names of vertices: `edgewire convert {0} --labels "
                  "-o g.ew`, and compare with g.ew",
                  arguments.graph));
}

/// Throws UsageError for options that the kernel does not have.
void check_kernel(const CLI::App& command, const CompareArguments& arguments) {
  const std::string& kernel = arguments.kernel;
  const auto refuse = [&](const char* option, const std::string& owners) {
    if (command.count(option) > 0)
      throw UsageError(fmt::format("{} is of --kernel {}, not of {}: leave it out", option, owners, kernel));
  };
  if (arguments.reading.labels) refuse_names(arguments);
  if (kernel != "pagerank") refuse("--wire", "pagerank");
  const kernels::Descriptor& known = kernels::descriptor_of(kernel);
  if (known.dense) return;
  for (const char* option : {"--strategy", "--layout"})
    refuse(option, kernels_with(&kernels::Descriptor::dense));
  if (!known.has_iterations) refuse("--iterations", kernels_with(&kernels::Descriptor::has_iterations));
  kernels::check_frontier_ownerships(kernel, split(arguments.ownership, "--ownership"));
}

/// Runs the comparison. Returns nothing where another rank has the results.
std::optional<perf::Comparison> compare(const perf::CompareSettings& settings, const perf::Matrix& matrix,
                                        const Graph& graph) {
  try {
    perf::CompareRuns runs(settings, matrix, graph);
    if (!runs.run()) return {};
    return runs.result();
  } catch (const perf::RunFailed& failed) {
    throw CLI::RuntimeError(failed.status);
  }
}

void run(CompareArguments& arguments) {
  const int on_stdout =
      (arguments.html_path == "-") + (arguments.json_path == "-") + (arguments.csv_path == "-");
  for (const auto& path : {arguments.html_path, arguments.json_path, arguments.csv_path})
    check_writable(path);
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
  const auto graph = open_graph(arguments.graph, arguments.reading);  // converted once for all runs
  if (graph.names_lost) refuse_names(arguments);
  arguments.graph_path = graph.path_for_others;
  bounds::check_partition_files(matrix.ownerships, several(matrix.processes), graph.file.vertices());
  const auto comparison = compare(arguments, matrix, graph.file);
  if (!comparison) return;
  if (!arguments.json_path.empty()) write_whole(arguments.json_path, perf::to_json(*comparison));
  if (!arguments.csv_path.empty()) write_whole(arguments.csv_path, perf::to_csv(*comparison));
  if (!arguments.html_path.empty()) write_whole(arguments.html_path, perf::to_html(*comparison));
  if (on_stdout == 0) show(perf::to_text(*comparison));
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
  add_graph_input(*command, a.graph, a.reading);
  a.reading.keeps_names = false;  // which every run would look for
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
  add(*command, opt::compared_layout, a.layout, fmt::format("of {}: order of a process's vertices", dense));
  add(*command, opt::compared_wire, a.encoding);
  add(*command, opt::compare_repeat, a.repeat);
  add(*command, opt::iterations, a.iterations,
      "of each run of " + kernels_with(&kernels::Descriptor::has_iterations));
  reads(add(*command, opt::hosts, a.hosts_path)->envname("EDGEWIRE_HOSTS"));
  add(*command, opt::rank, a.rank);
  reads(add(*command, opt::secret_file, a.secret_path), itself, "EDGEWIRE_SECRET_FILE");
  add(*command, opt::port, a.port);
  writes(add(*command, opt::output, a.html_path, "write a page with tables and charts (HTML)"), Form::text);
  add_report_options(*command, a.json_path, "rows");
  writes(add(*command, opt::csv, a.csv_path), Form::text);
  reads(command->add_option("options", a.kernel_options,
                            "behind --: options of the kernel, as --source 5; they are passed on"),
        files_in);
  command->callback([arguments, command] {
    check_kernel(*command, *arguments);
    check_kernel_options(*command, *arguments);
    run(*arguments);
  });
}

}  // namespace edgewire::cli
