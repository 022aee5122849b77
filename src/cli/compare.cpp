#include <fmt/core.h>
#include <unistd.h>
#include <csignal>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/files.h"
#include "cli/graph_files.h"
#include "cli/job_options.h"
#include "error.h"
#include "graph/graph_file.h"
#include "launch/hosts.h"
#include "launch/launcher.h"
#include "launch/local_hosts.h"
#include "launch/program.h"
#include "perf/compare.h"
#include "topology/machine.h"

namespace edgewire::cli {

namespace {

/// As typed.
struct CompareArguments {
  std::string graph_path, processes, rates, interfaces;
  Reading reading;
  std::string workers = "1", transports = "tcp", strategies = "worker,process,slots,cover";
  std::string encoding = "f32", ownership = "hash", layout = "auto";
  int repeat = 3;
  int iterations = 20;
  std::string hosts_path, rank, secret_path, port;
  std::string html_path, json_path, csv_path;

  bool local() const { return hosts_path.empty(); }
};

/// Line rate of a network card, as the kernel knows it.
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

perf::Matrix matrix_of(const CompareArguments& arguments) {
  perf::Matrix matrix;
  matrix.processes = processes_of(arguments);
  for (const auto& item : split(arguments.workers, "--workers"))
    matrix.workers.push_back(whole_number(item, 1, 1024, "--workers"));
  matrix.transports = split(arguments.transports, "--transport");
  for (const auto& item : split(arguments.strategies, "--strategy"))
    matrix.strategies.push_back(plan::strategy_from(item));
  matrix.links = links_of(arguments);
  matrix.ownerships = split(arguments.ownership, "--ownership");
  return matrix;
}

/// This program, run as one cell wants it.
std::vector<std::string> command_of(const perf::Cell& cell, const CompareArguments& arguments,
                                    const std::string& graph, int iterations) {
  std::vector<std::string> words{"/proc/self/exe",
                                 "pagerank",
                                 graph,
                                 fmt::format("--processes={}", cell.processes),
                                 fmt::format("--workers={}", cell.workers),
                                 fmt::format("--iterations={}", iterations),
                                 "--layout=" + arguments.layout,
                                 "--json=-"};
  if (cell.processes == 1 || arguments.local()) words.push_back("--launcher=none");
  if (cell.processes == 1) return words;
  words.insert(words.end(), {"--transport=" + cell.transport, "--strategy=" + cell.strategy_name(),
                             "--ownership=" + cell.ownership, "--wire=" + arguments.encoding});
  if (arguments.local()) {
    words.insert(words.end(), {"--local-hosts", "--rate=" + cell.link.rate});
    return words;
  }
  // Others may still be at a run that this host is through with.
  words.insert(words.end(), {"--hosts=" + arguments.hosts_path, "--start-timeout=600"});
  if (!arguments.rank.empty()) words.push_back("--rank=" + arguments.rank);
  if (!arguments.secret_path.empty()) words.push_back("--secret-file=" + arguments.secret_path);
  if (!arguments.port.empty()) words.push_back("--port=" + arguments.port);
  if (!cell.link.interface.empty()) words.push_back("--interface=" + cell.link.interface);
  return words;
}

class Comparing {
 public:
  Comparing(const CompareArguments& arguments, const perf::Matrix& matrix, const OpenGraph& graph)
      : arguments_(arguments),
        graph_(graph),
        cells_(perf::cells_of(matrix)),
        runs_(cells_.size()),
        iterations_(cells_.size(), arguments.iterations) {
    const auto& asked = matrix.processes;
    if (std::find(asked.begin(), asked.end(), 1) == asked.end())
      note("one process was added: predictions take the compute rate from it");
  }

  /// All runs, every cell taking its turn in each round. False where another rank has the results.
  bool run() {
    bool reports = true;
    for (int round = 0; round < arguments_.repeat; ++round)
      for (std::size_t c = 0; c < cells_.size(); ++c) reports = run_cell(round, c) && reports;
    return reports;
  }

  perf::Comparison result() {
    const graph::GraphFile& file = graph_.file;
    perf::Comparison comparison;
    comparison.graph = arguments_.graph_path;
    comparison.vertices = file.vertices();
    comparison.edges = file.edges();
    comparison.cores = topology::usable_cores(topology::discover());
    comparison.local_hosts = arguments_.local();
    comparison.iterations = arguments_.iterations;
    comparison.rows = perf::aggregate(cells_, runs_);
    perf::add_predictions(comparison, {file.offsets(), file.targets()},
                          plan::encoding_from(arguments_.encoding));
    if (comparison.local_hosts) explain_local_hosts(comparison.cores);
    comparison.notes = notes_;
    comparison.lost = watch_.lost();
    return comparison;
  }

 private:
  bool run_cell(int round, std::size_t c) {
    const perf::Cell& cell = cells_[c];
    const std::string turn = fmt::format("compare: round {} of {}, {} of {}: {}", round + 1,
                                         arguments_.repeat, c + 1, cells_.size(), cell.name());
    const std::string output = run_once(c);
    if (output.empty()) {
      say(turn + "\n");
      return false;
    }
    perf::RunFigures run = perf::figures_from(output);
    if (arguments_.local() && cell.processes > 1) {
      const int needed =
          perf::iterations_needed(run, cell.link.bits_per_s, launch::burst_bytes(cell.link.bits_per_s));
      if (needed > 0) {
        note(
            fmt::format("{}: {} iterations a run instead of {}: in fewer it would count what an idle link "
                        "passes at once",
                        cell.name(), needed, run.iterations));
        iterations_[c] = needed;
        run = perf::figures_from(run_once(c));
      }
    }
    say(fmt::format("{}: {:.2f} ms an iteration\n", turn, run.seconds_per_iteration * 1e3));
    runs_[c].push_back(std::move(run));
    return true;
  }

  /// What a run of a cell printed. Passes on how it failed; keeps what it had to say.
  std::string run_once(std::size_t c) {
    watch_.begin();
    const auto end =
        launch::run_program(command_of(cells_[c], arguments_, graph_.path_for_others, iterations_[c]));
    watch_.end();
    if (end.status != 0) {
      say(end.diagnostics);
      if (end.status <= 128) edgewire::note(fmt::format("compare: the run {} failed", cells_[c].name()));
      if (end.status == 128 + SIGKILL)
        edgewire::note(
            fmt::format("compare: the run {} was killed: perhaps the kernel ran out of memory (dmesg "
                        "says so)",
                        cells_[c].name()));
      throw CLI::RuntimeError(end.status);
    }
    for (std::size_t first = 0; first < end.diagnostics.size();) {
      const std::size_t last = std::min(end.diagnostics.find('\n', first), end.diagnostics.size());
      const std::string line = end.diagnostics.substr(first, last - first);
      note(line.starts_with("edgewire: ") ? line.substr(10) : line);
      first = last + 1;
    }
    return end.output;
  }

  void explain_local_hosts(int cores) {
    int most = 0;
    for (const auto& cell : cells_) most = std::max(most, cell.processes * cell.workers);
    note(fmt::format(
        "the hosts are network namespaces of this machine and share its {} core{}, its memory and its "
        "caches; what a network card would do for TCP, their cores do{}",
        cores, cores == 1 ? "" : "s",
        most > cores ? fmt::format("; with up to {} workers they compute in turns", most) : ""));
  }

  /// Runs call a graph that was converted by another name.
  void note(std::string text) {
    const std::string& alias = graph_.path_for_others;
    if (const auto at = text.find(alias); at != text.npos)
      text.replace(at, alias.size(), arguments_.graph_path);
    if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) notes_.push_back(text);
  }

  const CompareArguments& arguments_;
  const OpenGraph& graph_;
  std::vector<perf::Cell> cells_;
  std::vector<std::vector<perf::RunFigures>> runs_;
  std::vector<int> iterations_;  ///< [cell]: of a run
  perf::CoreWatch watch_;
  std::vector<std::string> notes_;
};

void run(const CompareArguments& arguments) {
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
  const auto graph = open_graph(arguments.graph_path, arguments.reading);  // converted once for all runs
  Comparing comparing(arguments, matrix, graph);
  if (!comparing.run()) return;
  const auto comparison = comparing.result();
  if (!arguments.json_path.empty()) write_whole(arguments.json_path, perf::to_json(comparison));
  if (!arguments.csv_path.empty()) write_whole(arguments.csv_path, perf::to_csv(comparison));
  if (!arguments.html_path.empty()) write_whole(arguments.html_path, perf::to_html(comparison));
  if (on_stdout == 0) write_whole("-", perf::to_text(comparison));
}

}  // namespace

void add_compare(CLI::App& app) {
  auto* command = app.add_subcommand(
      "compare",
      "run PageRank over several links and strategies, interleaved and repeated; say how near each came to "
      "what its link allows, and what was predicted");
  command->footer(
      "Without a host list the hosts are network namespaces of this machine (root); with one, every host "
      "runs the same command and rank 0 reports.");
  auto arguments = std::make_shared<CompareArguments>();
  auto& a = *arguments;
  add_graph_input(*command, a.graph_path, a.reading);
  a.reading.keeps_names = false;  // which every run would look for
  command->add_option("-p,--processes", a.processes,
                      "numbers of processes (default: 1,2, or the hosts of the list); 1 is always run");
  command->add_option("-w,--workers", a.workers, "numbers of workers (threads) in each process")
      ->capture_default_str();
  command->add_option(
      "--rate", a.rates,
      "line rates of the links, as 100M, 2.5G (default: 1G,10G); of a host list: what they are");
  command->add_option("--interface", a.interfaces,
                      "of a host list: network interfaces to compare, of the same name on every host");
  command->add_option("--strategy", a.strategies, "what is sent")->capture_default_str();
  command->add_option("--transport", a.transports, "between the hosts")->capture_default_str();
  reads(command
            ->add_option("--ownership", a.ownership,
                         "who owns a vertex, or (hilbert, grid) an edge; several with commas between them")
            ->capture_default_str(),
        [](const std::string& list) {
          std::vector<NamedFile> files;
          for (const std::string& one : split(list, "--ownership"))
            for (NamedFile& file : partition_files(one)) files.push_back(std::move(file));
          return files;
        });
  command->add_option("--layout", a.layout, "order of a process's vertices")->capture_default_str();
  command->add_option("--wire", a.encoding, "how values travel")->capture_default_str();
  command->add_option("--repeat", a.repeat, "runs of each")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--iterations", a.iterations, "of each run")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  reads(command
            ->add_option("--hosts", a.hosts_path,
                         "run on the hosts of this list: line i is address[:port] of rank i")
            ->envname("EDGEWIRE_HOSTS"));
  command->add_option("--rank", a.rank, "this process has this line of the host list, counted from 0");
  reads(command->add_option("--secret-file", a.secret_path,
                            "read the secret that the processes of a host list share from this file"),
        itself, "EDGEWIRE_SECRET_FILE");
  command->add_option("--port", a.port, "use this TCP port where the host list names none");
  writes(command->add_option("-o,--output", a.html_path, "write a page with tables and charts (HTML)"),
         Form::text);
  writes(command->add_option("--json", a.json_path, "write the rows to this file as JSON; - is stdout"),
         Form::text);
  writes(command->add_option("--csv", a.csv_path, "write the rows to this file as CSV; - is stdout"),
         Form::text);
  command->callback([arguments] { run(*arguments); });
}

}  // namespace edgewire::cli
