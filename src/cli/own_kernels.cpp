#include "cli/own_kernels.h"

#include <fmt/format.h>

#include <list>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "base/error.h"
#include "cli/dense_command.h"
#include "cli/option.h"
#include "graph/file/vertex_names.h"
#include "library/own_kernel.h"
#include "options/kernels.h"
#include "runs/answers.h"

namespace edgewire::cli {

namespace {

/// A kernel, and its settings.
template <class Settings, class Own>
struct OwnSettings : Settings {
  explicit OwnSettings(const Own& said) : own(said) {}

  /// Adds the kernel's own options. This object outlives the command.
  void add_own_options(CLI::App& command) {
    command.option_defaults()->group("Kernel");
    for (const auto& one : own.words.options) {
      rows.push_back({.name = one.name, .help = one.help});
      if (const auto* const number = std::get_if<double*>(&one.value)) {
        rows.back().least = one.least;
        rows.back().most = one.most;
        add(command, rows.back(), **number);
      } else {
        rows.back().value_name = "ID";
        vertices.emplace_back(std::get<VertexId*>(one.value), std::string());
        add(command, rows.back(), vertices.back().second)->required();
      }
    }
  }
  /// Returns the kernel for a run on this graph, with the vertices of its options.
  std::unique_ptr<runs::Kernel> make(const Graph& graph) const {
    const graph::VertexNames names(graph);
    for (const auto& [vertex, name] : vertices) {
      const auto found = names.find(name);
      if (!found) throw Error(fmt::format("{}: {} has no vertex {}", own.words.name, graph.path(), name));
      *vertex = *found;
    }
    return make_kernel(own, graph);
  }

  Own own;
  std::list<options::Option> rows{};                        ///< rows of the kernel's own options
  std::list<std::pair<VertexId*, std::string>> vertices{};  ///< vertices of options, and their names
};

std::string listed(const OwnWords& words) { return fmt::format("vertices of the highest {}s", words.value); }

/// Returns the text of --verify, where the kernel has it.
template <class Own>
std::string verify_text(const Own& own) {
  if (!own.can_verify()) return {};
  return fmt::format("check the {}s by other code of this program, and exit with 1 when they are wrong",
                     own.words.value);
}

template <class Own>
void add_own(CLI::App& app, const Own& own) {
  constexpr bool kDense = std::is_same_v<Own, detail::AnyProgram>;
  using Base = std::conditional_t<kDense, DenseSettings, KernelOptions>;
  auto settings = std::make_shared<OwnSettings<Base, Own>>(own);
  CLI::App& command = *app.add_subcommand(own.words.name, own.words.summary);
  settings->of_house = false;
  if constexpr (kDense) {
    settings->doubles = own.doubles;
    settings->direction = own.direction;
    command.option_defaults()->group("Kernel");
    add(command, opt::iterations, settings->own.iterations);
    settings->add_own_options(command);
    add_dense_options(command, *settings, own.words.value, listed(own.words), verify_text(own));
  } else {
    constexpr bool kNumbers = std::is_same_v<Own, detail::AnySearch<double>>;
    add_frontier_options(
        command, *settings, [&] { settings->add_own_options(command); },
        {.footer = "",
         .output = "the result to this file as lines of id, tab and value",
         .verify = verify_text(own),
         .listed = kNumbers ? listed(own.words) : "largest groups, by label and number of vertices",
         .listed_by_default = kNumbers ? runs::kTop : 0});
  }
  command.callback(
      [settings] { run_kernel(*settings, [&](const Graph& graph) { return settings->make(graph); }); });
}

}  // namespace

Command command_of(const OwnKernel& own) {
  std::visit([](const auto& one) { edgewire::check(one); }, own);
  const OwnWords& words = std::visit([](const auto& one) -> const OwnWords& { return one.words; }, own);
  std::string most_used = std::holds_alternative<detail::AnyProgram>(own) ? "--iterations" : "";
  for (const auto& one : words.options) most_used += " --" + one.name;
  const auto add = [own, name = words.name](CLI::App& app) {
    try {
      std::visit([&](const auto& one) { add_own(app, one); }, own);
    } catch (const CLI::OptionAlreadyAdded& error) {
      throw UsageError(
          fmt::format("{}: {}: an option of all kernels, or another one, has this name; choose another one",
                      name, error.what()));
    }
  };
  return {
      .path = words.name, .add = add, .kind = Kind::kernel, .most_used = most_used, .purpose = words.summary};
}

}  // namespace edgewire::cli
