#include "cli/frontier_command.h"

#include <fmt/format.h>

#include "base/error.h"
#include "cli/files.h"
#include "partition/ownership.h"

namespace edgewire::cli {

namespace {

/// Says what is wrong with options of kernels that sweep tiles, where others are asked for the same.
void refuse_tile_options(CLI::App& command) {
  for (const std::string option : {"--order", "--layout", "--strategy", "--wire"}) {
    const auto refuse = [option, kernel = command.get_name()](const std::string&) {
      throw UsageError(
          fmt::format("{} is of pagerank, ppr and spmv, which have tiles; {} follows the edges of a "
                      "frontier: leave it out",
                      option, kernel));
    };
    command.add_option_function<std::string>(option, refuse)->group("");
  }
}

}  // namespace

void add_frontier_options(CLI::App& command, KernelOptions& options, const std::function<void()>& own,
                          const FrontierWords& words) {
  command.footer(words.footer);
  options.add_to(command);
  command.option_defaults()->group("Kernel");
  own();
  command.option_defaults()->group("What is sent");
  reads(command
            .add_option("--ownership", options.ownership,
                        "who owns a vertex: hash, ranges, or a partition file with a part for each line")
            ->check([](const std::string& how) {
              partition::check_ownership_name(how, partition::kVertexOwnershipNames);
              return std::string();
            })
            ->capture_default_str(),
        partition_files);
  command.add_flag("--deterministic", options.deterministic,
                   "give bit-identical results from run to run: bfs --parents takes the smallest of several "
                   "parents, bc adds up in a fixed order; the other kernels always do");
  refuse_tile_options(command);
  options.add_output_options(command, words.output, words.verify, words.listed, words.listed_by_default);
  command.add_flag("--bound", options.bound,
                   "also count what had to be sent, as `edgewire bound` does, in sequence at rank 0, and "
                   "report it beside what was sent");
  add_profile_options(command, options);
}

void add_frontier_kernel(CLI::App& app, const std::string& name, const std::string& description,
                         const FrontierWords& words, bool on_disks,
                         std::unique_ptr<runs::Kernel> (*make)(const KernelOptions&)) {
  auto options = std::make_shared<KernelOptions>();
  CLI::App* command = app.add_subcommand(name, description);
  const auto own = [&] {
    if (on_disks) options->edge_place.add_to(*command, options->launch);
  };
  add_frontier_options(*command, *options, own, words);
  command->callback(
      [options, make] { run_kernel(*options, [&](const graph::GraphFile&) { return make(*options); }); });
}

}  // namespace edgewire::cli
