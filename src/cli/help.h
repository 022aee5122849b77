#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace edgewire::cli {

/// Help in 80 columns: each option's names, values and default, and below them what it does.
class Help final : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_description(const CLI::App* command) const override;
  std::string make_footer(const CLI::App* command) const override;
};

/// "-p, --processes N (default 1)"; of a positional "GRAPH".
std::string heading(const CLI::Option& option);
/// The values of an option that takes one of a set; else empty.
std::vector<std::string> choices(const CLI::Option& option);
/// The commands below `command` that are not hidden.
std::vector<const CLI::App*> visible_commands(const CLI::App& command);
/// Adds --version to the program and, unseen in help, to all commands.
void add_version(CLI::App& app);
/// The man page of the program, in man(7).
std::string man_page(const CLI::App& app);
/// The program's completion for bash.
std::string bash_completion(const CLI::App& app);

}  // namespace edgewire::cli
