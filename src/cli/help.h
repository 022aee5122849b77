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
/// Their names.
std::vector<std::string> names_below(const CLI::App& command);
/// The words of `text` in lines of at most 80 columns, `indent` blanks before each. A line break stays.
std::string wrapped(const std::string& text, std::size_t indent);
/// Adds --version to the program and, unseen in help, to all commands.
void add_version(CLI::App& app);
/// The files of the program's man pages, such as "edgewire-pagerank.1": one for itself, one for the options
/// that all jobs have, and one for each command.
std::vector<std::string> man_pages(const CLI::App& app);
/// One of them, in man(7).
std::string man_page(const CLI::App& app, const std::string& page);
/// The program's completion for a shell.
std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

}  // namespace edgewire::cli
