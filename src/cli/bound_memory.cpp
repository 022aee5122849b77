#include "cli/bound_memory.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"
#include "cli/common.h"
#include "kernels/count.h"
#include "perf/frontier_memory.h"

namespace edgewire::cli {

namespace {

constexpr std::array<std::string_view, 6> kOptions{"--kernel", "--processes",  "--vertices",
                                                   "--edges",  "--undirected", "--json"};

}  // namespace

bool wants_memory(const LoadArguments& arguments, const std::vector<std::string>& inputs) {
  return arguments.load.empty() && inputs.empty() && !arguments.vertices.empty();
}

void run_memory_bound(const CLI::App& command, const LoadArguments& arguments, const std::string& kernel,
                      const std::vector<int>& processes, const std::string& json_path) {
  for (const CLI::Option* const option : command.get_options())
    if (option->count() > 0 && std::ranges::find(kOptions, option->get_name()) == kOptions.end())
      throw UsageError(fmt::format("{} is not of a prediction without a GRAPH", option->get_name()));
  if (arguments.edges.empty()) throw UsageError("--vertices: say how many edges there are (--edges)");
  check_writable(json_path);
  const std::uint64_t edges = count_from(arguments.edges, "--edges") * (arguments.undirected ? 2 : 1);
  const std::uint64_t vertices = count_from(arguments.vertices, "--vertices");
  std::vector<perf::GraphShares> estimates;
  for (const int number : processes)
    estimates.push_back(perf::estimate_shares(vertices, edges, arguments.undirected, number));
  if (!json_path.empty()) write_whole(json_path, perf::memory_json(kernel, estimates));
  if (json_path != "-") write_whole("-", perf::memory_text(kernel, estimates));
}

}  // namespace edgewire::cli
