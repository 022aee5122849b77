#include "cli/frontier_command.h"

#include "cli/option.h"
#include "options/kernels.h"
#include "partition/ownership.h"

namespace edgewire::cli {

void add_frontier_options(CLI::App& command, KernelOptions& options, const std::function<void()>& own,
                          const FrontierWords& words) {
  command.footer(words.footer);
  options.add_to(command);
  command.option_defaults()->group("Kernel");
  own();
  command.option_defaults()->group("What is sent");
  options.add_ownership(command, partition::kVertexOwnershipNames);
  if (words.of_house)
    add(command, opt::deterministic, options.deterministic,
        "give bit-identical results from run to run: bfs --parents takes the smallest of several "
        "parents, bc adds up in a fixed order; the other kernels always do");
  options.add_output_options(command, words.output, words.verify, words.listed, words.listed_by_default);
  if (words.of_house) add(command, opt::bound, options.common.bound);
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
