#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/parallel.h"
#include "bounds/bound.h"
#include "bounds/frontier_bound.h"
#include "bounds/memory.h"
#include "cli/bound_load.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/files.h"
#include "cli/graph_files.h"
#include "cli/job_options.h"
#include "cli/kernel_options.h"
#include "cli/option.h"
#include "edgewire/graph.h"
#include "options/measures.h"
#include "partition/ownership.h"
#include "report/progress.h"

namespace edgewire::cli {

namespace {

/// The arguments as they are typed.
struct BoundArguments {
  std::vector<std::string> inputs;
  const std::string& graph_path() const { return inputs.front(); }
  std::string processes = "2,4,8,16";
  Reading reading;
  std::string workers = "8";
  std::string rates = "1G,10G,25G,100G";
  std::string ownerships = "hash,ranges,hilbert,grid";
  std::string strategies = "edge,worker,process,slots,cover";
  std::string framing = "tcp1500";
  std::string memory = "4G";
  std::string threads = "0";
  bool as_published_2015 = false;
  std::string compute_rate, cores, latency = "0us", memory_rate;
  std::string csv_path, json_path;
  std::string precision = "f32";
  std::string kernel = "pagerank";
  std::string source;
  std::uint64_t iterations = 10;
  LoadArguments load;
};

std::size_t framing_index(const std::string& name) {
  std::string known;
  for (std::size_t f = 0; f < plan::kFramings.size(); ++f) {
    if (plan::kFramings[f].name == name) return f;
    known.append(f == 0 ? "" : ", ").append(plan::kFramings[f].name);
  }
  throw UsageError(fmt::format("--framing: no '{}' (known: {})", name, known));
}

bounds::Rates model_rates(const BoundArguments& arguments, int workers) {
  bounds::Rates rates;
  rates.edges_per_core_s = amount_from(arguments.compute_rate, "--compute-rate", "1e9 or 1G");
  rates.cores = arguments.cores.empty() ? workers : whole_number(arguments.cores, 1, 1 << 16, "--cores");
  rates.latency_s =
      with_unit(arguments.latency, {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}}, "--latency", "20us");
  rates.memory_bytes_per_s = amount_from(arguments.memory_rate, "--memory-rate", "34e9 or 34G");
  return rates;
}

/// Returns the numbers of processes in ascending order.
std::vector<int> processes_of(const BoundArguments& arguments) {
  std::vector<int> processes;
  for (const auto& item : split(arguments.processes, "--processes"))
    processes.push_back(whole_number(item, 1, static_cast<int>(partition::kMaxProcesses), "--processes"));
  std::sort(processes.begin(), processes.end());
  return processes;
}

bounds::BoundOptions understand(const BoundArguments& arguments) {
  bounds::BoundOptions options;
  options.processes = processes_of(arguments);
  options.workers = whole_number(arguments.workers, 1, 1024, "--workers");
  for (const auto& item : split(arguments.rates, "--rate")) {
    options.rates.emplace_back(item, plan::line_rate_bits(item));
  }
  options.ownerships = split(arguments.ownerships, "--ownership");
  bounds::check_ownerships(options.ownerships, options.processes, false);
  for (const auto& item : split(arguments.strategies, "--strategy")) {
    options.strategies.push_back(plan::strategy_from(item));
  }
  if (arguments.precision == "f64")
    options.encodings = {plan::Encoding::f64};
  else if (arguments.kernel != "pagerank")  // pagerank alone sends values in 2 bytes
    options.encodings = {plan::Encoding::f32};
  options.framing = framing_index(arguments.framing);
  options.as_published_2015 = arguments.as_published_2015;
  options.threads = workers_or_default(whole_number(arguments.threads, 0, 1024, "--threads"));
  const double memory =
      with_unit(arguments.memory, {{"k", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"T", 0x1p40}}, "--memory",
                "512M or 4G");
  options.memory_bytes =
      static_cast<std::uint64_t>(std::min(above_zero(memory, arguments.memory, "--memory"), 1e18));
  if (!arguments.compute_rate.empty()) {
    options.model = model_rates(arguments, options.workers);
  } else if ((!arguments.cores.empty() && arguments.load.load.empty()) || !arguments.memory_rate.empty() ||
             arguments.latency != "0us") {
    throw UsageError("--cores, --latency and --memory-rate need --compute-rate");
  }
  return options;
}

void verify(const Graph& file, int threads) {
  constexpr std::uint64_t kRows = 1 << 16;
  file.expect_all_rows();
  parallel_for(threads, (file.vertices() + kRows - 1) / kRows, [&](int /*thread*/, std::uint64_t block) {
    file.verify_rows(block * kRows, std::min(file.vertices(), (block + 1) * kRows));
  });
}

bounds::Bound count(const Graph& file, const bounds::BoundOptions& options) {
  return bounds::compute_bound({file.offsets(), file.targets()}, options, report::progress_on_stderr());
}

/// Computes and shows the bound of kernels that follow a frontier.
void run_frontier_bound(const BoundArguments& arguments, const bounds::BoundOptions& options,
                        const Graph& file) {
  const auto count = kernels::count_of({arguments.kernel, arguments.source, arguments.iterations}, file);
  const auto bounds = bounds::frontier_bound(file, count, options, report::progress_on_stderr());
  if (!arguments.json_path.empty()) write_whole(arguments.json_path, bounds::to_json(bounds, options));
  if (arguments.json_path == "-") return;
  const auto from = arguments.source.empty() ? "" : fmt::format(" from {}", arguments.source);
  show(fmt::format("{}{}, {}: {} vertices, {} edges\n\n{}", arguments.kernel, from, file.path(),
                   file.vertices(), file.edges(), bounds::to_text(bounds, options)));
}

/// Refuses options that a kernel does not have, and ownerships of edges.
void check_kernel(CLI::App& command, BoundArguments& arguments) {
  const kernels::Descriptor& kernel = kernels::descriptor_of(arguments.kernel);
  if (!kernel.has_source && !arguments.source.empty())
    throw UsageError(fmt::format("--source belongs to --kernel {}, not to {}",
                                 kernels_with(&kernels::Descriptor::has_source), arguments.kernel));
  if (kernel.has_source && arguments.source.empty())
    throw UsageError(fmt::format("--kernel {} needs --source", arguments.kernel));
  if ((kernel.dense || !kernel.has_iterations) && command.count("--iterations") > 0)
    throw UsageError("--iterations belongs to --kernel cdlp, not to " + arguments.kernel);
  if (kernel.dense) return;
  for (const char* option :
       {"--workers", "--strategy", "--precision", "--as-published-2015", "--compute-rate", "--csv"}) {
    if (command.count(option) > 0)
      throw UsageError(fmt::format("{} belongs to --kernel {}, not to {}", option,
                                   kernels_with(&kernels::Descriptor::dense), arguments.kernel));
  }
  if (command.count("--ownership") == 0) arguments.ownerships = "hash,ranges";
  kernels::check_frontier_ownerships(arguments.kernel, split(arguments.ownerships, "--ownership"));
}

void run(const BoundArguments& arguments) {
  check_writable(arguments.csv_path);
  check_writable(arguments.json_path);
  auto options = understand(arguments);
  const auto opened = open_graph(arguments.graph_path(), arguments.reading);
  const Graph& file = opened.file;
  verify(file, options.threads);
  if (!kernels::descriptor_of(arguments.kernel).dense) {
    run_frontier_bound(arguments, options, file);
    return;
  }
  if (arguments.kernel == "spmv" && file.weighted())
    options.weight_bytes = file.float_weights() ? sizeof(float) : sizeof(double);
  const auto bound = count(file, options);
  if (!arguments.csv_path.empty()) write_whole(arguments.csv_path, bounds::to_csv(bound, options));
  if (!arguments.json_path.empty()) write_whole(arguments.json_path, bounds::to_json(bound, options));
  if (arguments.csv_path == "-" || arguments.json_path == "-") return;
  show(fmt::format("{}: {} vertices, {} edges\n\n{}", file.path(), file.vertices(), file.edges(),
                   bounds::to_text(bound, options)));
}

/// Predicts a load. Its defaults differ where those of loads differ from those of graphs.
void run_load(const CLI::App& command, BoundArguments& arguments) {
  bounds::LoadTask& task = arguments.load.task;
  const bool on_machines = arguments.load.load == "sort" || task.parts;
  if (command.count("--processes") == 0) arguments.processes = on_machines ? "1,2,4,8,16" : "1";
  if (command.count("--memory") == 0) arguments.memory = "1G";
  task.options = understand(arguments);
  if (!on_machines) task.options.rates = {{"no wire", 1}};
  task.inputs = arguments.inputs;
  task.cores =
      arguments.cores.empty() ? task.options.workers : whole_number(arguments.cores, 1, 1 << 16, "--cores");
  arguments.load.run(arguments.json_path);
}

/// The options of a prediction without a graph.
constexpr const char* kOfMemory[] = {"--kernel", "--processes",  "--vertices",
                                     "--edges",  "--undirected", "--json"};

/// Prints the memory that a run on a graph of a given size would take, or writes it as JSON. Throws Error.
void run_memory_bound(const CLI::App& command, const BoundArguments& arguments) {
  const auto numbers = processes_of(arguments);
  for (const CLI::Option* const option : command.get_options())
    if (option->count() > 0 && std::ranges::find(kOfMemory, option->get_name()) == std::end(kOfMemory))
      throw UsageError(fmt::format("{} does not belong to a prediction without a GRAPH", option->get_name()));
  const LoadArguments& size = arguments.load;
  if (size.edges.empty()) throw UsageError("--vertices: give the number of edges, too (--edges)");
  check_writable(arguments.json_path);
  const std::uint64_t edges =
      count_from(size.edges, graph::kMaxEdges, "--edges") * (size.task.undirected ? 2 : 1);
  const std::uint64_t vertices = count_from(size.vertices, graph::kMaxVertices, "--vertices");
  std::vector<bounds::GraphShares> estimates;
  for (const int number : numbers)
    estimates.push_back(bounds::estimate_shares(vertices, edges, size.task.undirected, number));
  const std::string& json = arguments.json_path;
  if (!json.empty()) write_whole(json, bounds::memory_json(arguments.kernel, estimates));
  if (json != "-") show(bounds::memory_text(arguments.kernel, estimates));
}

}  // namespace

void add_bound(CLI::App& app) {
  auto* command = app.add_subcommand(
      "bound",
      "count the fewest bytes that each process must send in an iteration, and how long the wire takes");
  command->footer(
      "Counts are exact, take one pass over the file for each number of processes and ownership and "
      "(workers + 1) x processes bits a vertex, or more passes with less memory. cover reads the file once "
      "more, and says how near to the minimum it is proved to be. hilbert and grid take 40 bytes for each "
      "edge "
      "of the blocks that are counted together, at least of one.");
  auto arguments = std::make_shared<BoundArguments>();
  auto& a = *arguments;
  reads(command->add_option("GRAPH", a.inputs, std::string(kGraphHelp) + "; with --load files to load"),
        graph_and_labels);
  command->option_defaults()->group("Input");
  a.reading.add_to(*command);
  command->option_defaults()->group("Options");
  add_kernel_name(*command, a.kernel,
                  kernels_with(&kernels::Descriptor::dense) +
                      ": bytes of an iteration; the others: of a run, by superstep");
  add(*command, opt::bound_source, a.source,
      fmt::format("of {}: start at this vertex, by its id or label",
                  kernels_with(&kernels::Descriptor::has_source)));
  add(*command, opt::bound_iterations, a.iterations);
  add(*command, opt::bound_processes, a.processes);
  add(*command, opt::bound_workers, a.workers);
  add(*command, opt::rates, a.rates);
  reads(add(*command, opt::ownerships, a.ownerships),
        [&a](const std::string&) { return partition_files_of(a.ownerships, processes_of(a)); });
  add(*command, opt::strategies, a.strategies);
  add(*command, opt::bound_precision, a.precision);
  add(*command, opt::framing, a.framing);
  add(*command, opt::as_published_2015, a.as_published_2015);
  add(*command, opt::bound_memory, a.memory);
  add(*command, opt::threads, a.threads);
  add(*command, opt::core_edges, a.compute_rate);
  add(*command, opt::cores, a.cores);
  add(*command, opt::latency, a.latency);
  add(*command, opt::memory_rate, a.memory_rate);
  writes(add(*command, opt::csv, a.csv_path), Form::text);
  add_report_options(*command, a.json_path, "rows");
  a.load.add_to(*command);
  command->callback([arguments, command] {
    const LoadArguments& load = arguments->load;
    if (load.load.empty() && arguments->inputs.empty() && !load.vertices.empty())
      return run_memory_bound(*command, *arguments);
    load.check(*command);
    if (!load.load.empty()) return run_load(*command, *arguments);
    if (arguments->inputs.size() != 1)
      throw UsageError(arguments->inputs.empty() ? "GRAPH is required" : "GRAPH: give only one");
    check_kernel(*command, *arguments);
    run(*arguments);
  });
}

}  // namespace edgewire::cli
