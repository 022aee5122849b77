#include "cli/kernel_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/control_group.h"
#include "base/error.h"
#include "base/units.h"
#include "cli/common.h"
#include "cli/files.h"
#include "cli/option.h"
#include "cli/suggest.h"
#include "dense/plan/block_plan.h"
#include "frontier/frontier_job.h"
#include "graph/read/formats.h"
#include "library/job_options.h"
#include "options/kernels.h"
#include "options/measures.h"

namespace edgewire::cli {

namespace {

/// Returns the bytes that edges and vertices take in memory, roughly. `tiles`: the needs of tiles, values and
/// messages, somewhat more than was seen on Kronecker graphs of scale 20 (2.3 to 2.5 bytes an edge, 32 to 37
/// a vertex); else those of mapped rows, with the bytes that most kernels keep of a vertex.
double memory_needed(const Graph& graph, bool tiles, bool weighted) {
  constexpr double kWeight = 4;
  const double an_edge = (tiles ? 2.7 : 4) + (weighted ? kWeight : 0), a_vertex = tiles ? 50 : 24;
  return static_cast<double>(graph.edges()) * an_edge + static_cast<double>(graph.vertices()) * a_vertex;
}

/// Returns an option that goes with edges in memory only; or an empty text.
std::string needs_memory(const job::DenseOptions& options) {
  if (options.strategy == plan::Strategy::cover) return "--strategy cover";
  if (partition::owns_edges(options.ownership)) return fmt::format("--ownership {}", options.ownership);
  if (options.order.order != tiles::Order::strips)
    return fmt::format("--order {}", to_name(options.order.order));
  return "";
}

/// Returns the message for a name that another part of this program knows; else an empty text.
std::string other_command(const std::string& name) {
  if (name == "sort" || name == "convert")
    return name + " is no kernel on a graph: edgewire bound --load " + name + " predicts its time";
  if (name == "tasks")
    return "tasks is no kernel on a graph, and the bytes of tasks depend on which workers are idle: edgewire "
           "tasks metg "
           "measures them";
  return {};
}

}  // namespace

void EdgePlace::add_to(CLI::App& command, launch::StartOptions& launch) {
  launch.less_memory = "--edges disk with a smaller --memory";
  command.option_defaults()->group("Edges on disks");
  add(command, opt::edges, edges);
  writes(add(command, opt::devices, devices)->delimiter(','), Form::folder, inside(kept_names()));
  add(command, opt::memory, memory_bytes);
}

void EdgePlace::check() const {
  if (edges == "memory" && !devices.empty()) throw UsageError("--devices needs --edges disk or auto");
  std::set<std::string> seen;
  for (const auto& folder : devices)
    if (!seen.insert(place_of(folder)).second)
      throw UsageError(fmt::format("--devices: {} is named twice; name a folder on each disk", folder));
}

/// Returns whether edges are on disks. `bytes_in_memory`: the bytes that all processes together need for
/// edges in memory. `option`: an option that excludes edges on disks, to which auto gives way; or empty.
bool EdgePlace::on_disks(double bytes_in_memory, launch::Bootstrap& bootstrap,
                         const std::string& option) const {
  if (edges != "auto") return edges == "disk";
  const auto free = memory_bytes > 0 ? static_cast<double>(memory_bytes)
                                     : static_cast<double>(available_memory()) / bootstrap.local_size();
  const double needed = bytes_in_memory / bootstrap.size();
  const auto answers = bootstrap.allgather(needed > free ? "disk" : "memory");
  const bool disk = std::ranges::find(answers, "disk") != answers.end();
  if (disk && bootstrap.rank() == 0)
    note(fmt::format(
        "{}: in memory a process would need about {}, and a process has not that much (rank 0: {})",
        option.empty() ? "edges are on disk" : fmt::format("edges stay in memory, as {} needs it", option),
        readable_bytes(static_cast<std::uint64_t>(needed)),
        readable_bytes(static_cast<std::uint64_t>(free))));
  return disk && option.empty();
}

void EdgePlace::apply_to(job::DenseOptions& options, launch::Bootstrap& bootstrap, const Graph& graph,
                         const runs::Kernel& kernel) const {
  const bool tiles = kernel.has_tiles(), weighted = kernel.weighted() && graph.weighted();
  const double needed = memory_needed(graph, tiles, weighted);
  if (!on_disks(needed, bootstrap, tiles ? needs_memory(options) : "")) return;
  options.choose_strategy = false;  // no choice between slots and cover
  options.memory_bytes = memory_bytes;
  if (options.plan_cache.empty()) options.plan_cache = std::filesystem::path(graph.path()).parent_path();
  if (options.plan_cache.empty()) options.plan_cache = ".";
  options.devices = devices.empty() ? std::vector{options.plan_cache} : devices;
}

void KernelOptions::add_to(CLI::App& command) {
  owner = &command;
  if (of_house) {
    python_call = fmt::format("edgewire.{}(...)", command.get_name());
    command.footer(
        command.get_footer() +
        "\nWeights: sssp and spmv are defined with weights and use those of the graph. pagerank, ppr "
        "and bc use them with --weighted. The other kernels do not use them.");
  }
  add_graph_input(command, graph_path, reading);
  JobOptions::add_to(command);
  command.option_defaults()->group("Processes");
  add_choice(command, opt::rows, common.rows);
}

void KernelOptions::add_ownership(CLI::App& command, std::span<const std::string_view> offered,
                                  const std::string& help) {
  const auto check = [offered](const std::string& how) {
    partition::check_ownership_name(how, offered);
    return std::string();
  };
  reads(add(command, opt::ownership, common.ownership, help)->check(check), partition_files);
}

void KernelOptions::add_output_options(CLI::App& command, const std::string& result, const std::string& check,
                                       const std::string& listed, std::uint64_t by_default) {
  command.option_defaults()->group("Output");
  const std::string help = fmt::format(
      "write {}; a name in .csv makes it a table, with empty fields where there is no value, and .json an "
      "array of records; - is stdout; .gz and .zst are compressed",
      result);
  writes(add(command, opt::output, output_path, help), Form::text, [this](const std::string& path) {
    return std::vector{output_parts ? parts_of(path) : NamedFile{path}};
  });
  add(command, opt::output_parts, output_parts);
  CLI::Option* const quiet = add_report_options(command, json_path, "run report");
  add(command, opt::verbose, verbose)->excludes(quiet);
  add(command, opt::top, top,
      fmt::format("list the K {}; by default {}", listed,
                  by_default == 0 ? "none" : fmt::format("{}", by_default)));
  if (!check.empty()) add(command, opt::verify, common.verify, check);
}

void KernelOptions::add_checkpoint_options(CLI::App& command, const std::string& value,
                                           const std::string& step) {
  checkpoint_step = step;
  command.option_defaults()->group("Checkpoints");
  CLI::Option* const written =
      add(command, opt::checkpoint, checkpoints.folder,
          fmt::format("keep the {}s in this folder, which all hosts see, whole or not at all", value));
  writes(written, Form::folder, inside(checkpoint_names()));
  add(command, opt::every, checkpoints.every, fmt::format("number of {}s between two checkpoints", step))
      ->needs(written);
  reads(add(command, opt::resume, checkpoints.resume), inside(checkpoint_names()));
}

runs::CheckpointOptions KernelOptions::checkpoint_options() const {
  auto asked = checkpoints;
  asked.resumed_at = [this](std::uint64_t done) {
    if (stdout_is_free())
      show(fmt::format("continues after {} {} from the checkpoint in {}\n", checkpoint_step, done,
                       checkpoints.resume));
  };
  return asked;
}

void KernelOptions::check_result_name(const std::string& path) const {
  const std::string ending = graph::ending_of(path);
  const auto graph_format = ending == ".txt" ? std::nullopt : graph::format_of_name(path);
  const bool is_graph = graph_format.has_value() && graph_format != graph::Format::csv;
  if (!is_graph && !graph::is_foreign_ending(ending)) return;
  const std::string call = python_call.empty() ? "" : graph::python_writes(path, python_call + ".to_frame()");
  throw UsageError(fmt::format(
      "-o {}: results are not written as {}; use .csv (a table with a header), .json (records) or "
      ".tsv (lines of vertex, tab and value){}",
      path, ending, call.empty() ? "" : "; Python writes it: " + call));
}

void KernelOptions::check() const {
  check_result_name(output_path);
  expect_stdout_for("--top", top.value_or(0) > 0);
  const bool elsewhere = is_quiet() && !(profile_path.empty() && trace_path.empty());
  expect_stdout_for("--profile", profile && !elsewhere);
  const std::string name = std::filesystem::path(output_path).filename().string();
  if (output_parts && (name.empty() || name == "-" || name == "." || name == ".."))
    throw UsageError("--output-parts needs -o with the name that the parts begin with");
  edge_place.check();
}

void KernelOptions::check_job(const Graph& graph, const runs::Kernel& /*kernel*/) const {
  if (common.ownership == "auto" || common.ownership.starts_with("auto,"))
    throw UsageError("--ownership auto counts the bytes of pagerank: name hash, ranges or a partition file");
  frontier::Options known;
  known.ownership = common.ownership;
  frontier::check(known, graph);
}

job::DenseOptions KernelOptions::job(launch::Bootstrap& bootstrap) const {
  job::DenseOptions options;
  set_graph_options(options, common);
  options.process = process(bootstrap);
  options.link_bits_per_s = launch.link_bits_per_s;
  return options;
}

void KernelOptions::expect_stdout_for(const char* option, bool given) const {
  if (!given || !json_path.empty()) return;
  if (is_quiet())
    throw UsageError(fmt::format(
        "{} and --quiet: the output would not be seen: give --json FILE, or leave one out", option));
  if (output_path == "-")
    throw UsageError(
        fmt::format("{} and -o -: only one of them can have stdout: give --json FILE, or -o FILE", option));
}

runs::Tools KernelOptions::tools() const {
  runs::Tools tools;
  tools.top = top;
  tools.verify = common.verify;
  tools.bound = common.bound;
  tools.parts = parts();
  tools.gather = !output_path.empty() && !parts();
  if (profiled()) tools.profile = profile_options(*this);
  return tools;
}

std::string kernels_with(bool kernels::Descriptor::*property) {
  std::vector<std::string> names;
  for (const auto& one : kernels::descriptors())
    if (one.*property) names.emplace_back(one.name);
  return list_of(names, " and ");
}

void add_kernel_name(CLI::App& command, std::string& kernel, const std::string& help) {
  std::vector<std::string> names;
  for (const auto& one : kernels::descriptors()) names.emplace_back(one.name);
  add(command, opt::kernel, kernel, help)->check(other_command)->check(one_of(names));
}

void add_frontier_options(CLI::App& command, KernelOptions& options, const std::function<void()>& own,
                          const FrontierWords& words) {
  command.footer(words.footer);
  options.add_to(command);
  command.option_defaults()->group("Kernel");
  own();
  command.option_defaults()->group("What is sent");
  options.add_ownership(command, partition::kVertexOwnershipNames);
  if (options.of_house)
    add(command, opt::deterministic, options.deterministic,
        "give bit-identical results from run to run: bfs --parents takes the smallest of several "
        "parents, bc adds up in a fixed order; the other kernels always do");
  options.add_output_options(command, words.output, words.verify, words.listed, words.listed_by_default);
  if (options.of_house) add(command, opt::bound, options.common.bound);
  add_profile_options(command, options);
}

KernelOptions& add_frontier_kernel(
    CLI::App& app, const std::string& name, const std::string& description, const FrontierWords& words,
    bool on_disks, const std::function<std::unique_ptr<runs::Kernel>(const KernelOptions&)>& make) {
  auto options = std::make_shared<KernelOptions>();
  CLI::App* command = app.add_subcommand(name, description);
  const auto own = [&] {
    if (on_disks) options->edge_place.add_to(*command, options->launch);
  };
  add_frontier_options(*command, *options, own, words);
  command->callback([options, make] { run_kernel(*options, [&](const Graph&) { return make(*options); }); });
  return *options;
}

}  // namespace edgewire::cli
